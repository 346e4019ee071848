import assert from 'node:assert/strict'
import { constants } from 'node:sqlite'
import { test } from 'node:test'
import fc from 'fast-check'
import { connect } from '#engines/sqlite/connection.ts'
import { dialect } from '#engines/sqlite/dialect.ts'
import { createMemory } from '#http/memory.ts'
import type { Role } from '#model/policy.ts'
import { containsIndex } from '#model/words.ts'
import { answerCache, dependsOf, tablesOf } from '#read/cache.ts'
import { levelsOf, type Results } from '#read/plan.ts'
import { plan } from '#read/planner.ts'
import { prepare } from '#read/read.ts'
import type { Root } from '#read/selection.ts'
import { comparing } from '#read/selection.ts'
import { type Changes, drive, type Rows } from '#sql/engine.ts'
import type { SqlValue } from '#sql/sql.ts'
import { field, goldens, relation, root } from '#test/goldens.ts'
import { countReads } from '../support/answers-race.ts'
import { createWorld, forAllTests, usualModel } from '../world.ts'

const world = forAllTests(() => createWorld({ on: 'sqlite' }))

const prepared = (roots: readonly Root[], role: Role = 'user') =>
  prepare(plan({ encoding: 'rest', roots }, usualModel, role), dialect, 2, {
    objects: 100,
    bytes: 10_000,
  })

const orders = [root('order', [field('id'), relation('items', [field('name')], null)])]
const oneUser = root('user', [field('name')], {
  many: false,
  page: null,
  where: [comparing('id', 'eq', 1)],
})

test('SQLite asks leave to read no table for a plan that is not told as one of its tables', () => {
  const reads = [...goldens, { title: 'own orders', roots: orders, parameters: [2, 10, 0] }]
  // Counts and search indexes change with the table that they are of, and with nothing else.
  const derived = ['counts', 'json_each', containsIndex('products', 'name_key').name]
  for (const { title, roots, parameters } of reads) {
    const asked = new Set<string>()
    const { database, query, close } = connect(world.file, { readOnly: true })
    database.function('duet_interrupt_check', () => 1)
    database.setAuthorizer((action, table) => {
      if (action === constants.SQLITE_READ && table !== null) asked.add(table)
      return constants.SQLITE_OK
    })
    const { plan, script } = prepared(roots)
    drive(script(parameters), query)
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

/** Changes of a store with one version. */
const oneVersion = ({
  now = () => 0,
  isUnchanged = () => true,
  epoch = () => 0,
}: Partial<Changes>) => ({
  versionOf: () => 1,
  versionsBy: () => undefined,
  now,
  isUnchanged,
  epoch,
})

const cacheOf = (bytes = 1e6, changes: Partial<Changes> = {}) =>
  answerCache(oneVersion(changes), createMemory({ cached: bytes }).cached)

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
  let epoch = 1
  const memory = createMemory({ cached: 10_000 })
  const cache = answerCache(oneVersion({ epoch: () => epoch }), memory.cached)
  const one = prepared([oneUser])
  const made = (value: string) => () => ({ value, bytes: 2000 })
  const ask = (value: string) => cache(one, [2, 1], '', made(value))
  assert.deepEqual(['a', 'b', 'c'].map(ask), ['a', 'b', 'b'])
  const { promise, resolve } = Promise.withResolvers<{ value: string; bytes: number }>()
  cache(one, [2, 2], '', made('once'))
  const waiting = cache(one, [2, 2], '', () => promise)
  epoch = 2
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
    parameters: fc.tuple(value, value, value),
    by: fc.constantFrom('', '1', ' 1', '1:1', 'a'),
  })
  fc.assert(
    fc.property(run, run, (one, other) => {
      const cache = cacheOf()
      const { make, made } = counted()
      const source = prepared([oneUser])
      for (const { parameters, by } of [one, one, other, other])
        cache(source, [9, ...parameters], by, make)
      assert.equal(made(), JSON.stringify(one) === JSON.stringify(other) ? 2 : 4)
    }),
  )
})

test('answers take up no more than their bytes: what was not asked for again goes first', () => {
  const memory = createMemory({ cached: 10_000 })
  const cache = answerCache(oneVersion({}), memory.cached)
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

/** A store that gives numbers to what it is asked for, and tells them apart by these columns. */
const storeOf = (told: readonly string[], unknown?: string) => {
  const names: string[] = []
  const version = (name: string) => {
    const at = names.indexOf(name)
    return at < 0 ? names.push(name) - 1 : at
  }
  const changes: Changes = {
    versionOf: table => (table === unknown ? undefined : version(table)),
    versionsBy: (table, column) =>
      told.includes(`${table}.${column}`)
        ? value => (value === 'odd' ? undefined : version(`${table}.${column}=${value}`))
        : undefined,
    now: () => 0,
    isUnchanged: () => true,
    epoch: () => 0,
  }
  return { names, changes }
}

/** The names of the versions of an answer, whose levels found these rows, by the fields that are read. */
const versionsOf = (
  roots: readonly Root[],
  parameters: readonly SqlValue[],
  {
    told = [],
    found,
    unknown,
  }: { told?: string[]; found?: readonly Rows[]; unknown?: string } = {},
) => {
  const { names, changes } = storeOf(told, unknown)
  const made = plan({ encoding: 'rest', roots }, usualModel, 'admin')
  const results: Results | undefined =
    found && new Map(levelsOf(made).map(({ level }, at) => [level, found[at] ?? []]))
  const versions = dependsOf(made, changes)?.(parameters, results)
  return versions && [...versions].map(version => names[version])
}

const equals = (name: string) => comparing(name, 'eq', 1)
const posts = (more: Partial<Root> = {}) => [root('post', [field('id')], { page: null, ...more })]
const withAuthors = [root('post', [relation('author', [field('name')], null)], { page: null })]
const withComments = [root('post', [relation('comments', [field('id')], null)], { page: null })]

test('an answer of rows with a value depends on the rows that have it, where the store tells these apart', () => {
  const told = ['posts.author_id']
  assert.deepEqual(versionsOf(posts({ where: [equals('authorId')] }), [1, 7], { told }), [
    'posts.author_id=7',
  ])
  assert.deepEqual(versionsOf(posts({ where: [equals('authorId')] }), [1, 7]), ['posts'])
  const odd = versionsOf(posts({ where: [equals('authorId')] }), [1, 'odd'], { told })
  assert.deepEqual(odd, ['posts'])
})

test('an answer of rows in a range depends on all rows', () => {
  const where = [comparing('authorId', 'gte', 1)] as const
  assert.deepEqual(versionsOf(posts({ where }), [1, 7], { told: ['posts.author_id'] }), ['posts'])
})

test('an answer below a thing that must exist depends on that thing too', () => {
  const below = posts({ where: [equals('authorId')], exists: [{ entity: 'user', slot: 1 }] })
  const told = ['posts.author_id', 'users.id']
  assert.deepEqual(versionsOf(below, [1, 7], { told }), ['posts.author_id=7', 'users.id=7'])
})

test('rows below others depend on the ids that were found above, and on whole tables where these are not known', () => {
  const told = ['users.id', 'comments.post_id']
  const found = [
    [
      [1, 7],
      [2, 8],
      [3, null],
    ],
  ]
  assert.deepEqual(versionsOf(withAuthors, [1], { told, found }), [
    'posts',
    'users.id=7',
    'users.id=8',
  ])
  assert.deepEqual(versionsOf(withComments, [1], { told, found: [[[4], [5]]] }), [
    'posts',
    'comments.post_id=4',
    'comments.post_id=5',
  ])
  assert.deepEqual(versionsOf(withAuthors, [1], { told }), ['posts', 'users'])
  assert.deepEqual(versionsOf(withAuthors, [1], { found }), ['posts', 'users'])
  assert.deepEqual(versionsOf(withAuthors, [1], { told, found: [[[1, 'odd']]] }), [
    'posts',
    'users',
  ])
})

test('an answer depends on 500 versions at the most, then on whole tables', () => {
  const told = ['users.id', 'comments.post_id']
  const rows = (count: number) => Array.from({ length: count }, (_, at) => [at, at + 1])
  const countOf = (roots: readonly Root[], count: number) =>
    versionsOf(roots, [1], { told, found: [rows(count), rows(count)] })?.length
  assert.equal(countOf(withAuthors, 499), 500)
  assert.equal(countOf(withAuthors, 500), 2)
  const sameAuthor = (count: number) =>
    versionsOf(withAuthors, [1], {
      told,
      found: [Array.from({ length: count }, (_, at) => [at, 7])],
    })
  assert.deepEqual(sameAuthor(500), ['posts', 'users.id=7'])
  assert.deepEqual(sameAuthor(501), ['posts', 'users'])
})

test('an answer from a table that the store tells nothing of depends on what nobody knows', () => {
  assert.equal(versionsOf(withAuthors, [1], { unknown: 'users' }), undefined)
  assert.deepEqual(versionsOf(withAuthors, [1], { unknown: 'orders' }), ['posts', 'users'])
})

test('a whole list of GraphQL is not read again when one comes to another list', async () => {
  await using own = await createWorld({ on: 'sqlite', engine: { isWatched: true } })
  const reads = countReads(own)
  const ask = () => own.gql('{ post(id: 1) { comments { text } } }')
  for (const _ of [1, 2]) await ask()
  await own.ask('POST /api/posts/4/comments', { as: 1, body: { text: 'x' } })
  const before = reads()
  await ask()
  assert.equal(reads(), before)
})
