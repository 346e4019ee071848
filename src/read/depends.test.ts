/** What an answer depends on, with a store whose cells are named by their tables and values. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dependsOf } from '#read/depends.ts'
import { levelsOf, type Results } from '#read/level.ts'
import { plan } from '#read/plan.ts'
import type { Root } from '#read/selection.ts'
import type { Changes, Rows } from '#sql/engine.ts'
import type { SqlValue } from '#sql/sql.ts'
import { field, relation, root } from '../../test/goldens.ts'
import { usualModel } from '../../test/world.ts'

/** A store that gives numbers to what it is asked for, and tells them apart by these columns. */
const storeOf = (told: readonly string[], unknown?: string) => {
  const names: string[] = []
  const cell = (name: string) => {
    const at = names.indexOf(name)
    return at < 0 ? names.push(name) - 1 : at
  }
  const changes: Changes = {
    cellOf: table => (table === unknown ? undefined : cell(table)),
    cellsBy: (table, column) =>
      told.includes(`${table}.${column}`)
        ? value => (value === 'odd' ? undefined : cell(`${table}.${column}=${value}`))
        : undefined,
    now: () => 0,
    isUnchanged: () => true,
    era: () => 0,
  }
  return { names, changes }
}

/** The names of the cells of an answer, whose levels found these rows, by the fields that are read. */
const cellsOf = (
  roots: readonly Root[],
  slots: readonly SqlValue[],
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
  const cells = dependsOf(made, changes)?.(slots, results)
  return cells && [...cells].map(cell => names[cell])
}

const equals = (name: string) => ({ field: name, is: 'equals', slot: 1 }) as const
const posts = (more: Partial<Root> = {}) => [root('post', [field('id')], { page: null, ...more })]
const withAuthors = [root('post', [relation('author', [field('name')], null)], { page: null })]
const withComments = [root('post', [relation('comments', [field('id')], null)], { page: null })]

test('an answer of rows with a value depends on the rows that have it, where the store tells these apart', () => {
  const told = ['posts.author_id']
  assert.deepEqual(cellsOf(posts({ where: [equals('authorId')] }), [1, 7], { told }), [
    'posts.author_id=7',
  ])
  assert.deepEqual(cellsOf(posts({ where: [equals('authorId')] }), [1, 7]), ['posts'])
  const odd = cellsOf(posts({ where: [equals('authorId')] }), [1, 'odd'], { told })
  assert.deepEqual(odd, ['posts'])
})

test('an answer of rows in a range depends on all rows', () => {
  const where = [{ field: 'authorId', is: 'at least', slot: 1 }] as const
  assert.deepEqual(cellsOf(posts({ where }), [1, 7], { told: ['posts.author_id'] }), ['posts'])
})

test('an answer below a thing that must exist depends on that thing too', () => {
  const below = posts({ where: [equals('authorId')], exists: [{ entity: 'user', slot: 1 }] })
  const told = ['posts.author_id', 'users.id']
  assert.deepEqual(cellsOf(below, [1, 7], { told }), ['posts.author_id=7', 'users.id=7'])
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
  assert.deepEqual(cellsOf(withAuthors, [1], { told, found }), [
    'posts',
    'users.id=7',
    'users.id=8',
  ])
  assert.deepEqual(cellsOf(withComments, [1], { told, found: [[[4], [5]]] }), [
    'posts',
    'comments.post_id=4',
    'comments.post_id=5',
  ])
  assert.deepEqual(cellsOf(withAuthors, [1], { told }), ['posts', 'users'])
  assert.deepEqual(cellsOf(withAuthors, [1], { found }), ['posts', 'users'])
  assert.deepEqual(cellsOf(withAuthors, [1], { told, found: [[[1, 'odd']]] }), ['posts', 'users'])
})

test('an answer depends on 500 cells at the most, then on whole tables', () => {
  const told = ['users.id', 'comments.post_id']
  const rows = (count: number) => Array.from({ length: count }, (_, at) => [at, at + 1])
  const countOf = (roots: readonly Root[], count: number) =>
    cellsOf(roots, [1], { told, found: [rows(count), rows(count)] })?.length
  assert.equal(countOf(withAuthors, 499), 500)
  assert.equal(countOf(withAuthors, 500), 2)
  const sameAuthor = (count: number) =>
    cellsOf(withAuthors, [1], { told, found: [Array.from({ length: count }, (_, at) => [at, 7])] })
  assert.deepEqual(sameAuthor(500), ['posts', 'users.id=7'])
  assert.deepEqual(sameAuthor(501), ['posts', 'users'])
})

test('an answer from a table that the store tells nothing of depends on what nobody knows', () => {
  assert.equal(cellsOf(withAuthors, [1], { unknown: 'users' }), undefined)
  assert.deepEqual(cellsOf(withAuthors, [1], { unknown: 'orders' }), ['posts', 'users'])
})
