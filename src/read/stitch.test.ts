import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ApiError } from '#errors.ts'
import type { Column } from '#read/condition.ts'
import type { Part } from '#read/parts.ts'
import type { Level, PlannedRoot, ReadPlan, Source } from '#read/plan.ts'
import { type Limits, stitcher } from '#read/stitch.ts'

const integer = (name: string): Column => ({ name, scalar: 'id', nullable: false })
const words = (name: string): Column => ({ name, scalar: 'text', nullable: true })
const text = (piece: string): Part => ({ kind: 'text', text: piece })
const value = (column: number): Part => ({ kind: 'column', column, as: 'value' })
const child = (level: number, key: number, many: boolean): Part => ({
  kind: 'child',
  level,
  key,
  many,
})

const level = (source: Source, columns: readonly Column[], parts: readonly Part[]): Level => ({
  table: 't',
  columns,
  where: [],
  source,
  parts,
  bulky: false,
})
const list: Source = { kind: 'root', order: [], page: null, many: true, peek: false }
const root = (more: Partial<PlannedRoot> = {}): PlannedRoot => ({
  level: 0,
  many: true,
  page: null,
  peek: false,
  total: null,
  exists: [],
  revision: null,
  key: undefined,
  at: undefined,
  ...more,
})

const roomy: Limits = { objects: 1000, bytes: 100_000 }

/** Authors with their books, each with its author's name: two levels down and one up again. */
const library: ReadPlan = {
  encoding: 'rest',
  roots: [root()],
  levels: [
    level(
      list,
      [integer('id'), words('name')],
      [text('{"name":'), value(1), text(',"books":'), child(1, 0, true), text('}')],
    ),
    level(
      { kind: 'many', parent: 0, by: 'author_id', page: null, oldestFirst: false },
      [integer('id'), integer('author_id'), words('title')],
      [text('{"title":'), value(2), text(',"author":'), child(2, 1, false), text('}')],
    ),
    level(
      { kind: 'one', parent: 1, column: 1 },
      [integer('id'), words('name')],
      [text('{"name":'), value(1), text('}')],
    ),
  ],
}

test('rows of three levels become one text, each under the row it belongs to', () => {
  const [made] = stitcher(
    library,
    2,
    roomy,
  )([
    [
      [1, 'Ann'],
      [2, 'Bob'],
      [3, null],
    ],
    [
      [12, 1, 'Late'],
      [11, 1, 'Early'],
      [13, 3, '"'],
    ],
    [
      [3, null],
      [1, 'Ann'],
    ],
  ])
  assert.equal(
    made?.text,
    '[{"name":"Ann","books":[{"title":"Late","author":{"name":"Ann"}},{"title":"Early","author":{"name":"Ann"}}]},' +
      '{"name":"Bob","books":[]},{"name":null,"books":[{"title":"\\"","author":{"name":null}}]}]',
  )
  assert.equal(made?.objects, 9)
})

test('what is not there is null alone and [] as a list', () => {
  assert.equal(stitcher(library, 2, roomy)([[], [], []])[0]?.text, '[]')
  const single = { ...library, roots: [root({ many: false })] }
  assert.deepEqual(stitcher(single, 2, roomy)([[], [], []])[0], { text: 'null', objects: 0 })
  const [made] = stitcher(library, 2, roomy)([[[1, 'Ann']], [[11, 1, 'x']], []])
  assert.equal(made?.text, '[{"name":"Ann","books":[{"title":"x","author":null}]}]')
})

test('several roots of one plan stand apart and count together', () => {
  const pair: ReadPlan = {
    encoding: 'graphql',
    levels: [level(list, [integer('id')], [value(0)]), level(list, [integer('id')], [value(0)])],
    roots: [root(), root({ level: 1, many: false })],
  }
  assert.deepEqual(stitcher(pair, 2, roomy)([[[1], [2]], [[3]]]), [
    { text: '["1","2"]', objects: 2 },
    { text: '"3"', objects: 1 },
  ])
  assert.throws(() => stitcher(pair, 2, { objects: 2, bytes: 100 })([[[1], [2]], [[3]]]), {
    code: 'RESPONSE_TOO_LARGE',
  })
})

test('any tree of rows is stitched to what a plain nesting of objects makes of it', () => {
  const names = fc.option(fc.string())
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.record({ id: fc.nat(20), name: names }), {
        selector: ({ id }) => id,
        maxLength: 8,
      }),
      fc.uniqueArray(fc.record({ id: fc.nat(50), author: fc.nat(20), title: names }), {
        selector: ({ id }) => id,
        maxLength: 20,
      }),
      (authors, books) => {
        const ofSomebody = books
          .filter(({ author }) => authors.some(({ id }) => id === author))
          .sort((a, b) => a.author - b.author || b.id - a.id)
        const plain = authors.map(({ id, name }) => ({
          name,
          books: ofSomebody
            .filter(({ author }) => author === id)
            .map(({ title }) => ({ title, author: { name } })),
        }))
        const [made] = stitcher(
          library,
          2,
          roomy,
        )([
          authors.map(({ id, name }) => [id, name]),
          ofSomebody.map(({ id, author, title }) => [id, author, title]),
          authors.map(({ id, name }) => [id, name]),
        ])
        assert.equal(made?.text, JSON.stringify(plain))
        assert.equal(made?.objects, authors.length + 2 * ofSomebody.length)
      },
    ),
    { numRuns: 500 },
  )
})

const tooLarge = (error: unknown) =>
  error instanceof ApiError && error.code === 'RESPONSE_TOO_LARGE'

test('the limit of objects is met exactly, and passed by one more', () => {
  const rows = [
    [
      [1, 'Ann'],
      [2, 'Bob'],
    ],
    [[11, 1, 'x']],
    [[1, 'Ann']],
  ] as const
  assert.ok(stitcher(library, 2, { objects: 4, bytes: 1000 })(rows))
  assert.throws(() => stitcher(library, 2, { objects: 3, bytes: 1000 })(rows), tooLarge)
})

test('few rows that repeat below many others are refused before their text has grown', () => {
  // 1,000 rows, each with the same 1,000 below: a million objects from 2,000 rows.
  const wide: ReadPlan = {
    encoding: 'rest',
    roots: [root()],
    levels: [
      level(list, [integer('id'), integer('of')], [child(1, 1, false)]),
      level({ kind: 'one', parent: 0, column: 1 }, [integer('id')], [child(2, 0, true)]),
      level(
        { kind: 'many', parent: 1, by: 'of', page: null, oldestFirst: false },
        [integer('id'), integer('of')],
        [value(0)],
      ),
    ],
  }
  const many = Array.from({ length: 1000 }, (_, index) => [index, 7])
  const begun = performance.now()
  assert.throws(
    () => stitcher(wide, 2, { objects: 10_000, bytes: 1e9 })([many, [[7]], many]),
    tooLarge,
  )
  assert.ok(performance.now() - begun < 500)
})

test('a text that passes the limit of bytes is refused', () => {
  const long = 'x'.repeat(600)
  const rows = [
    [
      [1, long],
      [2, long],
    ],
    [],
    [],
  ]
  assert.throws(() => stitcher(library, 2, { objects: 100, bytes: 1000 })(rows), tooLarge)
  assert.ok(stitcher(library, 2, { objects: 100, bytes: 2000 })(rows))
})
