/** Effects of writes: each is in the store with its write, and done at least once. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { After } from '#model/entity.ts'
import type { Model } from '#model/model.ts'
import { createWorld, usualModel, type World } from '#test/market.ts'
import { until } from '#test/support/wait.ts'
import { type Occasion, startOutbox } from '#write/outbox.ts'
import shop from '../../examples/shop/duet.config.ts'

type Run = (occasion: Occasion, row: Readonly<Record<string, unknown>>) => void | Promise<void>

/** The usual model, whose users have this done after each write. */
const modelWith = (run: Run): Model => {
  const { user } = usualModel.entities
  assert.ok(user)
  const after = (occasion: Occasion): After => ({
    fields: ['name', 'revision'],
    run: row => run(occasion, row),
  })
  const all = { create: after('create'), update: after('update'), delete: after('delete') }
  return {
    ...usualModel,
    entities: { ...usualModel.entities, user: { ...user, after: all } },
  }
}

const outbox = { every: 5, retryAfter: 1 }

const worldWith = (run: Run, options: { every: number; retryAfter: number } = outbox) =>
  createWorld({ model: modelWith(run), outbox: options })

let count = 0
const signUp = (world: World, name: string, headers: Record<string, string> = {}) =>
  world.ask('POST /api/users', { body: { name, email: `effect${++count}@example.org` }, headers })

const left = async (world: World): Promise<number> =>
  (await world.rows('select id from outbox')).length

test('an effect is run after each write with the row as it was written, of a delete as it was; not for a change that changes nothing', async () => {
  const seen: unknown[] = []
  await using world = await worldWith((occasion, row) => void seen.push([occasion, row]))
  const { json } = await signUp(world, 'Ann')
  await until('it is made', () => seen.length === 1)
  await world.ask(`PATCH /api/users/${json.id}`, { as: json.id, body: {} })
  await world.ask(`PATCH /api/users/${json.id}`, { as: json.id, body: { name: 'Anna' } })
  await until('it is changed', () => seen.length === 2)
  await world.ask(`DELETE /api/users/${json.id}`, { as: json.id })
  await until('it is deleted', () => seen.length === 3)
  const { id } = json
  assert.deepEqual(seen, [
    ['create', { id, name: 'Ann', revision: 1 }],
    ['update', { id, name: 'Anna', revision: 2 }],
    ['delete', { id, name: 'Anna', revision: 2 }],
  ])
  await until('nothing is left', async () => (await left(world)) === 0)
})

test('a write that is refused has no effect, and one that is repeated under a key has one', async () => {
  const seen: unknown[] = []
  await using world = await worldWith((_, row) => void seen.push(row.name))
  const body = { name: 'Twin', email: 'ada@example.org' }
  assert.equal((await world.ask('POST /api/users', { body })).status, 409)
  const first = {
    as: 1,
    body: { name: 'Once', email: 'once.effect@example.org' },
    headers: { 'Idempotency-Key': 'one-effect' },
  }
  await world.ask('POST /api/users', first)
  const again = await world.ask('POST /api/users', first)
  assert.deepEqual([again.status, again.headers.get('idempotency-replayed')], [201, 'true'])
  await signUp(world, 'Last')
  await until('the last one is done', () => seen.includes('Last'))
  await until('nothing is left', async () => (await left(world)) === 0)
  assert.deepEqual(seen.toSorted(), ['Last', 'Once'])
})

test('an effect that fails is tried again until it is done, and holds up no other', async () => {
  const tries: unknown[] = []
  await using world = await worldWith((_, { name }) => {
    tries.push(name)
    if (name === 'Bad' && tries.filter(one => one === 'Bad').length < 5) throw new Error('not yet')
  })
  await signUp(world, 'Bad')
  await signUp(world, 'Good')
  await until('both are done', async () => (await left(world)) === 0)
  assert.equal(tries.filter(one => one === 'Bad').length, 5)
  assert.equal(tries.filter(one => one === 'Good').length, 1)
  const failures = world.events.filter(event => event.kind === 'effect failed')
  assert.equal(failures.length, 4)
  assert.ok(failures.every(({ again, reason }) => again && reason === 'not yet'))
})

test('an effect is given up after 20 tries, said so once, and kept for the operator', async () => {
  let tries = 0
  await using world = await worldWith(
    () => {
      tries++
      throw new Error('never')
    },
    { every: 1, retryAfter: 0 },
  )
  await signUp(world, 'Lost')
  const givenUp = () => world.events.filter(event => event.kind === 'effect failed' && !event.again)
  await until('it is given up', () => givenUp().length > 0)
  await signUp(world, 'Later')
  await until('the later one is given up', () => givenUp().length === 2)
  assert.equal(tries, 40)
  const reasons = givenUp().map(event => 'reason' in event && event.reason)
  assert.deepEqual(reasons, ['never', 'never'])
  assert.deepEqual(await world.rows('select effect, due_at from outbox'), [
    ['user create', null],
    ['user create', null],
  ])
})

/** Another service on the store of a world. */
const another = ({ core, events }: World) =>
  startOutbox({
    ...core,
    entities: core.model.entities,
    observe: event => void events.push(event),
    every: 1,
  })

test('of several services on one store one does each effect', async () => {
  const seen: unknown[] = []
  await using world = await worldWith(async (_, { id }) => {
    seen.push(id)
    await new Promise(resolve => setImmediate(resolve))
  })
  const others = [1, 2, 3].map(() => another(world))
  await Promise.all(Array.from({ length: 30 }, (_, n) => signUp(world, `Many ${n}`)))
  await until('all are done', async () => seen.length >= 30 && (await left(world)) === 0)
  await Promise.all(others.map(other => other.close(0)))
  assert.equal(new Set(seen).size, 30)
  assert.equal(seen.length, 30)
})

test('what a killed service had begun is done by another once its lease has ended', async () => {
  let runs = 0
  await using world = await worldWith(async () => {
    if (++runs === 1) await new Promise<never>(() => {})
  })
  await signUp(world, 'Held')
  await until('it is begun', () => runs === 1)
  // The service that began it says nothing more of it, as if it were killed.
  const other = another(world)
  await signUp(world, 'Next')
  await until('the next one is done', async () => runs === 2 && (await left(world)) === 1)
  await world.change('update outbox set due_at = due_at - 60001')
  await until('the other took it', async () => runs === 3 && (await left(world)) === 0)
  await other.close(0)
})

test('an effect that waits is done if the clock was set back by three hours meanwhile', async () => {
  let runs = 0
  const fail = () => {
    if (++runs === 1) throw new Error('not yet')
  }
  await using world = await worldWith(fail, { every: 5, retryAfter: 3_600_000 })
  await signUp(world, 'Ahead')
  await until('it waits', () => world.events.some(({ kind }) => kind === 'effect failed'))
  await world.change('update outbox set due_at = due_at + 10800000')
  await until('it is done', async () => runs === 2 && (await left(world)) === 0)
})

test('what ends its process in each try is given up too, said so once, and tried once more if an operator wants it', async () => {
  let runs = 0
  await using world = await worldWith(async () => {
    if (++runs <= 2) await new Promise<never>(() => {})
  })
  await signUp(world, 'Deadly')
  await until('it is begun', () => runs === 1)
  const endLease = (tries: number) =>
    world.change(`update outbox set due_at = due_at - 60001, tries = ${tries}`)
  await endLease(19)
  await until('its last try is begun', () => runs === 2)
  await endLease(20)
  await until('it is given up', async () => {
    const [row] = await world.rows('select due_at from outbox')
    return row?.[0] === null
  })
  assert.equal(runs, 2)
  const failures = () => world.events.filter(event => event.kind === 'effect failed')
  await until('it is said', () => failures().length > 0)
  assert.deepEqual(
    failures().map(({ again, reason }) => [again, reason]),
    [[false, 'its process ended in the last try']],
  )
  await world.change('update outbox set due_at = 0')
  await until('it is done', async () => runs === 3 && (await left(world)) === 0)
})

test('an effect has fields of the rows that its row refers to, and a message is sent to whom it names, five times an hour', async () => {
  const { post } = usualModel.entities
  assert.ok(post)
  const fields = ['title', 'author.name', 'author.email']
  const run: After['run'] = (row, { mail }, signal) =>
    mail.send(
      {
        to: { name: String(row['author.name']), address: String(row['author.email']) },
        subject: `You wrote ${row.title}`,
        text: 'Well done',
      },
      signal,
    )
  const entities = { ...usualModel.entities, post: { ...post, after: { create: { fields, run } } } }
  await using world = await createWorld({ model: { ...usualModel, entities }, outbox })
  const { json } = await signUp(world, 'Mary')
  const sent = () => world.letters.filter(({ to }) => to === json.email)
  await until('she is welcome', () => sent().length === 1)
  const write = (title: string) =>
    world.ask(`POST /api/users/${json.id}/posts`, { as: json.id, body: { title, content: 'x' } })
  for (const title of ['One', 'Two', 'Three', 'Four', 'Five']) await write(title)
  await until('nothing is left', async () => (await left(world)) === 0)
  assert.equal(sent().length, 5)
  assert.ok(
    sent().every(({ subject }) => /^Welcome|^You wrote (One|Two|Three|Four|Five)$/.test(subject)),
  )
  const refused = world.events.filter(({ kind }) => kind === 'mail failed')
  assert.deepEqual(
    refused.map(event => ({ ...event })),
    [{ kind: 'mail failed', recipient: null, reason: 'too many', again: false }],
  )
})

test('a step names what is done after its change, in place of what is done after each', async () => {
  const rows = {
    customer: [{ name: 'Grace', email: 'grace@example.org' }],
    product: [{ name: 'Cup', price: 475, stock: 5 }],
  }
  await using world = await createWorld({ content: shop, rows, outbox })
  const bought = await world.ask('POST /api/products/1/buy', { as: 1, body: { pieces: 2 } })
  assert.equal(bought.status, 201, bought.text)
  await world.ask(`POST /api/orders/${bought.json.id}/cancel`, { as: 1 })
  await until('both are sent', () => world.letters.length === 2)
  const mails = world.letters.map(({ to, subject, text }) => [to, subject, text.split('\n')[0]])
  assert.deepEqual(mails.toSorted(), [
    ['grace@example.org', 'Thank you for your order', 'You ordered: 2 × Cup'],
    ['grace@example.org', 'Your order is cancelled', 'You cancelled: 2 × Cup'],
  ])
})
