/** Writes that come between two steps of another: the test holds a statement at its end until they are done. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { noDatabase } from '#test/postgres/tools/database.ts'
import { forAllTests } from '#test/support/fixture.ts'
import { inTime, until } from '#test/support/wait.ts'
import { codeOf } from '../graphql.ts'
import { refuses } from '../rest.ts'
import { createWorld, type World } from '../world.ts'

describe('on PostgreSQL', { skip: noDatabase }, () => {
  const world = forAllTests(() => createWorld({ on: 'postgres', file: 'races' }))

  /** Whether a session waits for a lock of this type. */
  const someWaitFor = async (type: string) => {
    const waiting = await world.rows(
      `select 1 from pg_locks as l join pg_stat_activity as a using (pid)
        where l.locktype = ?1 and not l.granted and a.datname = current_database()`,
      type,
    )
    return waiting.length > 0
  }

  /** Holds every statement that does this, such as `insert on likes`, before the next of its transaction begins. */
  const holding = async (t: TestContext, what: string) => {
    await world.change(`create function hold() returns trigger language plpgsql as
      $$ begin perform pg_advisory_xact_lock_shared(7); return null; end $$`)
    await world.change(
      `create trigger held after ${what} for each statement execute function hold()`,
    )
    const letGo = () => world.rows('select pg_advisory_unlock_all()')
    t.after(async () => {
      await letGo()
      await world.change('drop function hold cascade')
    })
    await world.rows('select pg_advisory_lock(7)')
    return { letGo, held: () => until('the statement is held', () => someWaitFor('advisory')) }
  }

  test('a like that is taken back while it is given again was there: 200, and none is left', async t => {
    assert.equal((await world.ask('GET /api/comments/1/likes')).json.data.length, 2)
    const { letGo, held } = await holding(t, 'insert on likes')
    const liking = world.ask('POST /api/comments/1/likes', { as: 2 })
    await held()
    assert.equal((await world.ask('DELETE /api/comments/1/likes', { as: 2 })).status, 204)
    await letGo()
    const liked = await liking
    assert.equal(liked.status, 200, liked.text)
    assert.equal(liked.json.commentId, 1)
    assert.equal((await world.ask('GET /api/comments/1/likes')).json.data.length, 1)
  })

  test('a like that is given again while it is taken back is a new one: 201, with the row that is left', async t => {
    const before = await world.ask('POST /api/comments/1/likes', { as: 2 })
    assert.equal(before.status, 201)
    const { letGo, held } = await holding(t, 'delete on likes')
    const unliking = world.ask('DELETE /api/comments/1/likes', { as: 2 })
    await held()
    const liking = world.ask('POST /api/comments/1/likes', { as: 2 })
    await until('it waits for the other', () => someWaitFor('transactionid'))
    await letGo()
    assert.equal((await unliking).status, 204)
    const liked = await liking
    assert.equal(liked.status, 201, liked.text)
    const left = await world.rows(
      'select created_at from likes where user_id = 2 and comment_id = 1',
    )
    assert.deepEqual(left.map(Number), [Date.parse(liked.json.createdAt)])
    assert.notEqual(liked.json.createdAt, before.json.createdAt)
  })

  test('an order whose user is deleted while it is placed is refused as any write of theirs is then', async t => {
    const place = () =>
      world.ask('POST /api/orders', { as: 3, body: { items: [{ productId: 3, quantity: 1 }] } })
    const stock = async () => (await world.ask('GET /api/products/3')).json.stock
    // Only the first order makes a customer.
    assert.equal((await place()).status, 201)
    const before = await stock()
    const { letGo, held } = await holding(t, 'update on products')
    const placing = place()
    await held()
    assert.equal((await world.ask('DELETE /api/users/3', { as: 1 })).status, 204)
    await letGo()
    const refused = await placing
    refuses(refused, 403, 'FORBIDDEN')
    assert.match(refused.json.error.message, /does not exist \(any more\)/)
    assert.equal(await stock(), before)
  })

  test('of 300 orders of one product at one moment one holds a connection while it waits, other writes pass them, and none is refused but for the stock [B13]', async t => {
    const body = { name: 'Vase', category: 'c', price: 5, stock: 200 }
    const vase = (await world.ask('POST /api/products', { as: 1, body })).json.id
    const items = [{ productId: vase, quantity: 1 }]
    const { letGo, held } = await holding(t, 'update on products')
    const placing = Array.from({ length: 300 }, () =>
      world.ask('POST /api/orders', { as: 2, body: { items } }),
    )
    await held()
    // Where each of them had a connection none would be left for this one.
    const other = world.ask('PATCH /api/users/2', { as: 2, body: { name: 'Busy' } })
    assert.equal((await inTime('another row is written', other)).status, 200)
    const [row] = await world.rows(
      "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    )
    assert.equal(Number(row?.[0]), 1)
    await letGo()
    const statuses = (await Promise.all(placing)).map(({ status }) => status)
    assert.equal(statuses.filter(status => status === 201).length, 200)
    assert.equal(statuses.filter(status => status === 409).length, 100)
    assert.equal((await world.ask(`GET /api/products/${vase}`)).json.stock, 0)
  })

  test('an operation with a key that another service uses at the moment for another one is refused', async t => {
    const other = await createWorld({ on: 'postgres', file: 'races' })
    t.after(() => other.close())
    const signUp = ({ gql }: World, field: string) =>
      gql(
        `mutation { ${field}: createUser(input: { name: "${field}", email: "${field}@example.org" }) { id } }`,
        { headers: { 'Idempotency-Key': 'at-once' } },
      )
    const { letGo, held } = await holding(t, 'insert on users')
    const first = signUp(world, 'first')
    await held()
    const second = signUp(other, 'second')
    await until('it waits for the first', () => someWaitFor('transactionid'))
    await letGo()
    assert.equal(codeOf(await first), undefined)
    assert.equal(codeOf(await second), 'IDEMPOTENCY_KEY_REUSED')
    assert.equal((await world.rows("select 1 from users where name = 'second'")).length, 0)
  })
})
