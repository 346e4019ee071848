import assert from 'node:assert/strict'
import { constants } from 'node:sqlite'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { connect } from '#engines/sqlite/connection.ts'
import { dialect, searchTable } from '#engines/sqlite/dialect.ts'
import { createMemory } from '#http/memory.ts'
import type { Role } from '#model/policy.ts'
import { answerCache } from '#read/cache.ts'
import { tablesOf } from '#read/depends.ts'
import { plan } from '#read/plan.ts'
import { prepare } from '#read/read.ts'
import type { Root } from '#read/selection.ts'
import { type Changes, drive } from '#sql/engine.ts'
import type { SqlValue } from '#sql/sql.ts'
import { field, goldens, relation, root } from '../../test/goldens.ts'
import { createWorld, usualModel, type World } from '../../test/world.ts'

let world: World
before(async () => {
  world = await createWorld({ on: 'sqlite' })
})
after(() => world.close())

const prepared = (roots: readonly Root[], role: Role = 'user') =>
  prepare(plan({ encoding: 'rest', roots }, usualModel, role), dialect, 2, {
    objects: 100,
    bytes: 10_000,
  })

const orders = [root('order', [field('id'), relation('items', [field('name')], null)])]
const oneUser = root('user', [field('name')], {
  many: false,
  page: null,
  where: [{ field: 'id', is: 'equals', slot: 1 }],
})

test('SQLite asks leave to read no table for a plan that is not told as one of its tables', () => {
  const reads = [...goldens, { title: 'own orders', roots: orders, slots: [2, 10, 0] }]
  // Counts and search indexes change with the table that they are of, and with nothing else.
  const derived = ['counts', 'json_each', searchTable('products', 'name_key')]
  for (const { title, roots, slots } of reads) {
    const asked = new Set<string>()
    const { database, query, close } = connect(world.file, { readOnly: true })
    database.function('duet_interrupt_check', () => 1)
    database.setAuthorizer((action, table) => {
      if (action === constants.SQLITE_READ && table !== null) asked.add(table)
      return constants.SQLITE_OK
    })
    const { plan, work } = prepared(roots)
    drive(work(slots), query)
    close()
    const unknown = [...asked].filter(
      table =>
        !tablesOf(plan).has(table) &&
        !derived.some(name => table === name || table.startsWith(`${name}_`)),
    )
    assert.ok(asked.size > 0, title)
    assert.deepEqual(unknown, [], title)
  }
})

/** Changes of a store with one cell. */
const oneCell = ({ now = () => 0, isUnchanged = () => true, era = () => 0 }: Partial<Changes>) => ({
  cellOf: () => 1,
  cellsBy: () => undefined,
  now,
  isUnchanged,
  era,
})

const cacheOf = (bytes = 1e6, changes: Partial<Changes> = {}) =>
  answerCache(oneCell(changes), createMemory({ cached: bytes }).cached)

const counted = (bytes = 1) => {
  let made = 0
  return { make: () => ({ value: ++made, bytes }), made: () => made }
}

test('the id of the viewer matters only where a rule looks at the row', () => {
  const cache = cacheOf()
  const madeFor = (roots: readonly Root[], role: Role) => {
    const { make, made } = counted()
    const one = prepared(roots, role)
    for (const viewer of [2, 3, 2, 3, 2, 3]) cache(one, [viewer, 1, 0], '', make)
    return made()
  }
  assert.equal(madeFor([oneUser], 'user'), 2)
  assert.equal(madeFor(orders, 'user'), 4)
  assert.equal(madeFor([oneUser, ...orders], 'user'), 4)
  assert.equal(madeFor(orders, 'admin'), 2)
})

test('what was made when it was asked for again is given while nothing changes, and never while it is being written', () => {
  let [now, changed] = [2, 1]
  const cache = cacheOf(1e6, { now: () => now, isUnchanged: (_, since) => changed <= since })
  const { make } = counted()
  const one = prepared([oneUser])
  const ask = () => cache(one, [2, 1], '', make)
  assert.deepEqual([ask(), ask(), ask()], [1, 2, 2])
  changed = 3
  assert.deepEqual([ask(), ask()], [3, 4])
  now = 3
  assert.deepEqual([ask(), ask()], [5, 5])
})

test('what was found unchanged is next compared with what was written since then alone', () => {
  let now = 1
  const compared: number[] = []
  const isUnchanged = (_: Int32Array, since: number) => compared.push(since) > 0
  const cache = cacheOf(1e6, { now: () => now, isUnchanged })
  const { make, made } = counted()
  const one = prepared([oneUser])
  for (now of [1, 2, 5, 5, 9]) cache(one, [2, 1], '', make)
  assert.equal(made(), 2)
  // When it is cached, and at each look.
  assert.deepEqual(compared, [2, 2, 5, 5])
})

test('where anything may have changed, all is dropped, also what was asked for before and came since', async () => {
  let era = 1
  const memory = createMemory({ cached: 10_000 })
  const cache = answerCache(oneCell({ era: () => era }), memory.cached)
  const one = prepared([oneUser])
  const made = (value: string) => () => ({ value, bytes: 2000 })
  const ask = (value: string) => cache(one, [2, 1], '', made(value))
  assert.deepEqual(['a', 'b', 'c'].map(ask), ['a', 'b', 'b'])
  const { promise, resolve } = Promise.withResolvers<{ value: string; bytes: number }>()
  cache(one, [2, 2], '', made('once'))
  const waiting = cache(one, [2, 2], '', () => promise)
  era = 2
  assert.equal(ask('d'), 'd')
  resolve({ value: 'late', bytes: 2000 })
  assert.equal(await waiting, 'late')
  assert.equal(cache(one, [2, 2], '', made('new')), 'new')
})

test('two runs share what was made only where all their values and the purpose are the same', () => {
  const value = fc.oneof(
    fc.constantFrom<SqlValue>(null, 'null', 1, '1', 12, '2:12', ' 1', 'a 1', '1:a', ''),
    fc.string({ maxLength: 4 }),
    fc.integer(),
  )
  const run = fc.record({
    slots: fc.tuple(value, value, value),
    by: fc.constantFrom('', '1', ' 1', '1:1', 'a'),
  })
  fc.assert(
    fc.property(run, run, (one, other) => {
      const cache = cacheOf()
      const { make, made } = counted()
      const source = prepared([oneUser])
      for (const { slots, by } of [one, one, other, other]) cache(source, [9, ...slots], by, make)
      const isSame = JSON.stringify(one) === JSON.stringify(other)
      assert.equal(made(), isSame ? 2 : 4)
    }),
  )
})

test('answers take up no more than their bytes: what was not asked for again goes first', () => {
  const memory = createMemory({ cached: 10_000 })
  const cache = answerCache(oneCell({}), memory.cached)
  const one = prepared([oneUser])
  const isKept = (id: number) => {
    let isMade = false
    cache(one, [2, id], '', () => {
      isMade = true
      return { value: id, bytes: 2000 }
    })
    return !isMade
  }
  // What is asked for once is not cached.
  for (const id of [1, 2, 3, 4, 5]) isKept(id)
  assert.deepEqual([1, 2, 3, 4].map(isKept), [false, false, false, false])
  assert.equal(isKept(1), true)
  assert.equal(isKept(5), false)
  assert.equal(isKept(1), true)
  assert.equal(isKept(2), false)
  assert.equal(memory.cached.take(5000), false)
})

test('what takes up more than a mebibyte is not cached, and nothing is dropped for it', () => {
  const cache = cacheOf(10_000)
  const one = prepared([oneUser])
  const madeOf = (id: number, bytes: number) => {
    const { make, made } = counted(bytes)
    for (const _ of [1, 2, 3]) cache(one, [2, id], '', make)
    return made()
  }
  assert.deepEqual([madeOf(1, 100), madeOf(2, 2_000_000), madeOf(1, 100)], [2, 3, 0])
  const largest = counted(1_048_576)
  const roomy = cacheOf(1e7)
  for (const _ of [1, 2, 3]) roomy(one, [2, 1], '', largest.make)
  assert.equal(largest.made(), 2)
})

test('a promise of an answer is cached when it is kept, by what was as it is when it was asked for', async () => {
  let now = 2
  const cache = cacheOf(1e6, { now: () => now, isUnchanged: (_, since) => since >= now })
  const one = prepared([oneUser])
  cache(one, [2, 1], '', () => ({ value: 'asked for once', bytes: 1 }))
  const { promise, resolve } = Promise.withResolvers<{ value: string; bytes: number }>()
  const waiting = cache(one, [2, 1], '', () => promise)
  now = 4
  resolve({ value: 'old', bytes: 1 })
  assert.equal(await waiting, 'old')
  assert.equal(
    cache(one, [2, 1], '', () => ({ value: 'new', bytes: 1 })),
    'new',
  )
})
