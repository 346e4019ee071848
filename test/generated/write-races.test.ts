/** Nobody slips a row below one that changes hands meanwhile: on PostgreSQL what a rule of a write has found is held until the commit. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { dialect } from '#engines/postgres/dialect.ts'
import { sql } from '#sql/sql.ts'
import { connected } from '../postgres/tools/ask.ts'
import { noDatabase } from '../postgres/tools/database.ts'
import { type Kitchen, kitchenOn } from '../support/cooking.ts'
import { until } from '../support/wait.ts'
import { engines } from './compare.ts'
import { makerIn, raceChildren } from './write-races.ts'

for (const on of engines)
  test(`what is below a recipe when it is taken from its cooks is all there ever is, on ${on}`, async t => {
    const { made, refused } = await raceChildren(on, 24)
    t.diagnostic(`${made} made, ${refused} refused`)
    assert.ok(made > 0 && refused > 0)
  })

describe('on PostgreSQL', { skip: noDatabase }, () => {
  let kitchen: Kitchen
  let client: Awaited<ReturnType<typeof connected>>
  before(async () => {
    kitchen = await kitchenOn('postgres')
    client = await connected(kitchen.url as string)
  })
  after(async () => {
    await client.end()
    await kitchen.close()
  })

  const waiting = async (type: string) => {
    const { rowCount } = await client.query(
      `select 1 from pg_locks as l join pg_stat_activity as a using (pid)
        where l.locktype = $1 and not l.granted and a.datname = current_database()`,
      [type],
    )
    return rowCount !== 0
  }

  type Asked = ReturnType<Kitchen['say']>
  type Case = {
    readonly name: string
    /** What the write and what the change of what its rule looks at do, as triggers say it. */
    readonly writes: string
    readonly changes: string
    readonly make: () => Promise<{ readonly write: () => Asked; readonly change: () => Asked }>
    /** What the write is told after the change. */
    readonly refused: number
  }
  const say: Kitchen['say'] = (...asked) => kitchen.say(...asked)
  const salt = (as: number, recipeId: number) =>
    say(as, 'POST /api/ingredients', { name: 'salt', recipeId })

  const cases: readonly Case[] = [
    {
      name: 'an owner who is changed while a child is made',
      writes: 'insert on ingredients',
      changes: 'update on recipes',
      refused: 404,
      make: async () => {
        const id = await makerIn(kitchen).recipe(1, { title: crypto.randomUUID().slice(0, 20) })
        const change = () => say(2, `PATCH /api/recipes/${id}`, { ownerId: 3 })
        return { write: () => salt(1, id), change }
      },
    },
    {
      name: 'a recipe that is put away while a child is made',
      writes: 'insert on ingredients',
      changes: 'update on recipes',
      refused: 403,
      make: async () => {
        const id = await makerIn(kitchen).recipe(1, { title: crypto.randomUUID().slice(0, 20) })
        const change = () => say(2, `PATCH /api/recipes/${id}`, { status: 'archived' })
        return { write: () => salt(1, id), change }
      },
    },
    {
      name: 'a recipe that is no longer published while it is remarked on',
      writes: 'insert on remarks',
      changes: 'update on recipes',
      refused: 403,
      // An editor sees all recipes, and what lets it write is that this one is no draft.
      make: async () => {
        const title = crypto.randomUUID().slice(0, 20)
        const id = await makerIn(kitchen).recipe(1, { title, status: 'published' })
        const change = () => say(2, `PATCH /api/recipes/${id}`, { status: 'draft' })
        return {
          write: () => say(5, 'POST /api/remarks', { text: 'hello', recipeId: id }),
          change,
        }
      },
    },
    {
      name: 'an owner who is changed while a child is changed',
      writes: 'update on ingredients',
      changes: 'update on recipes',
      refused: 404,
      make: async () => {
        const maker = makerIn(kitchen)
        const id = await maker.recipe(1, { title: crypto.randomUUID().slice(0, 20) })
        const child = await maker.made('ingredients', { name: 'salt', recipeId: id })
        return {
          write: () => say(1, `PATCH /api/ingredients/${child}`, { name: 'sugar' }),
          change: () => say(2, `PATCH /api/recipes/${id}`, { ownerId: 3 }),
        }
      },
    },
    {
      name: 'a member who leaves while it makes a child',
      writes: 'insert on ingredients',
      changes: 'delete on seats',
      refused: 403,
      make: async () => {
        const { made, recipe, team } = makerIn(kitchen)
        const teamId = await team()
        const seat = await made('seats', { memberId: 3, teamId, rank: 'cook' })
        const title = crypto.randomUUID().slice(0, 20)
        const id = await recipe(1, { title, teamId, status: 'published' })
        return { write: () => salt(3, id), change: () => say(2, `DELETE /api/seats/${seat}`) }
      },
    },
  ]

  /** Runs the second request while the first one is held before its commit: whether it waits for that, and the status of each. */
  const raced = async (held: string, first: () => Asked, second: () => Asked) => {
    await client.query(`create function hold() returns trigger language plpgsql as
      $$ begin perform pg_advisory_xact_lock_shared(7); return null; end $$`)
    await client.query(
      `create trigger held after ${held} for each statement execute function hold()`,
    )
    await client.query('select pg_advisory_lock(7)')
    const letGo = () => client.query('select pg_advisory_unlock_all()')
    try {
      const one = first()
      await until('the first is held', () => waiting('advisory'))
      let isAnswered = false
      const two = second().finally(() => {
        isAnswered = true
      })
      await until(
        'the second waits or is answered',
        async () => isAnswered || (await waiting('transactionid')),
      )
      const didWait = !isAnswered
      await letGo()
      const [{ status }, later] = [await one, await two]
      return [didWait, status, later.status]
    } finally {
      await letGo()
      await client.query('drop function hold cascade')
    }
  }

  for (const { name, writes, changes, make, refused } of cases) {
    test(`${name}: what is first is done first`, async () => {
      const earlier = await make()
      const [didWait, written, changed] = await raced(writes, earlier.write, earlier.change)
      assert.deepEqual(
        [didWait, Math.floor(Number(written) / 100), Math.floor(Number(changed) / 100)],
        [true, 2, 2],
      )
      const later = await make()
      const [isHeld, done, told] = await raced(changes, later.change, later.write)
      assert.deepEqual([isHeld, Math.floor(Number(done) / 100), told], [true, 2, refused])
    })
  }

  describe('without the lock', () => {
    const { shareClause } = dialect
    let locked: readonly [Kitchen, typeof client]
    before(async () => {
      locked = [kitchen, client]
      Object.assign(dialect, { shareClause: sql`` })
      // A service keeps the statements of its writes, so that one with the lock would go on with it.
      kitchen = await kitchenOn('postgres')
      client = await connected(kitchen.url as string)
    })
    after(async () => {
      Object.assign(dialect, { shareClause })
      await client.end()
      await kitchen.close()
      ;[kitchen, client] = locked
    })

    for (const { name, writes, changes, make } of cases)
      test(`${name}: the race is lost`, async () => {
        const earlier = await make()
        assert.equal((await raced(writes, earlier.write, earlier.change))[0], false)
        const later = await make()
        const [isHeld, , told] = await raced(changes, later.change, later.write)
        assert.deepEqual([isHeld, Math.floor(Number(told) / 100)], [false, 2])
      })
  })

  test('a child that moves to another recipe while it is changed is judged below that', async () => {
    const { made, recipe } = makerIn(kitchen)
    for (const [owner, expected] of [
      [1, 200],
      [3, 404],
    ] as const) {
      const from = await recipe(1, { title: crypto.randomUUID().slice(0, 20) })
      const to = await recipe(owner, { title: crypto.randomUUID().slice(0, 20) })
      const child = await made('ingredients', { name: 'salt', recipeId: from })
      await client.query('begin')
      await client.query('update ingredients set recipe_id = $1 where id = $2', [to, child])
      const writing = say(1, `PATCH /api/ingredients/${child}`, { name: 'sugar' })
      await until('the write waits', () => waiting('transactionid'))
      await client.query('commit')
      const { status, text } = await writing
      assert.equal(status, expected, text)
    }
  })

  test('a write that deadlocks by what its rule looks at is run again', async () => {
    const { recipe } = makerIn(kitchen)
    const base = await recipe(1, { title: 'base', status: 'published' })
    const id = await recipe(4, { title: 'above', status: 'published', baseId: base })
    await client.query("set deadlock_timeout = '30s'")
    await client.query('begin')
    await client.query('select 1 from recipes where id = $1 for no key update', [id])
    const writing = say(1, `PATCH /api/recipes/${id}`, { servings: 9 })
    await until('the write waits', () => waiting('transactionid'))
    const { rows: before } = await client.query(deadlocks)
    // It waits for the write, which looks at this row and waits for the other one.
    await client.query('update recipes set servings = 5 where id = $1', [base])
    await client.query('commit')
    const { status, text } = await writing
    assert.equal(status, 200, text)
    await until('the deadlock is counted', async () => {
      const { rows } = await client.query(deadlocks)
      return rows[0].deadlocks > before[0].deadlocks
    })
  })
})

const deadlocks = `select deadlocks::int from pg_stat_database where datname = current_database()`
