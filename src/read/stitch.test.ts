import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ApiError } from '#errors.ts'
import { type Limits, stitcher } from '#read/stitch.ts'
import type { Rows } from '#sql/engine.ts'
import {
  type ChildLevel,
  levelsOf,
  type PlannedRoot,
  type ReadField,
  type ReadPlan,
  type RootLevel,
  type RowPart,
  type RowSet,
} from './plan.ts'

const integer = (name: string): ReadField => ({ name, scalar: 'id', nullable: false })
const words = (name: string): ReadField => ({ name, scalar: 'text', nullable: true })
const text = (piece: string): RowPart => ({ kind: 'text', text: piece })
const value = (field: string): RowPart => ({ kind: 'field', field, as: 'value' })
const child = (level: ChildLevel): RowPart => ({ kind: 'child', level })

const level = <Source extends { readonly kind: string }>(
  from: Source,
  fields: readonly ReadField[],
  parts: readonly RowPart[],
): Source & RowSet => ({ ...from, table: 't', fields, where: [], parts, longText: 0 })

const list = {
  kind: 'root',
  order: [],
  page: null,
  many: true,
  fetchOneMore: false,
  isIndexed: true,
} as const
const childrenOf = (by: string) =>
  ({ kind: 'children of', by, page: null, oldestFirst: false }) as const
const byIds = (by: string) => ({ kind: 'by ids', by }) as const

const root = (rows: RootLevel): PlannedRoot => ({
  rows,
  hasRevision: false,
  total: null,
  exists: [],
})

/** The texts of a plan whose levels have these rows, in the order of the levels. */
const stitched = (plan: ReadPlan, limits: Limits, rows: readonly Rows[]) =>
  stitcher(
    plan,
    2,
    limits,
  )(new Map(levelsOf(plan).map(({ level }, index) => [level, rows[index] ?? []])))

const roomy: Limits = { objects: 1000, bytes: 100_000 }

const author = level(
  byIds('author'),
  [integer('id'), words('name')],
  [text('{"name":'), value('name'), text('}')],
)
const books = level(
  childrenOf('author'),
  [integer('id'), integer('author'), words('title')],
  [text('{"title":'), value('title'), text(',"author":'), child(author), text('}')],
)
const authors = level(
  list,
  [integer('id'), words('name')],
  [text('{"name":'), value('name'), text(',"books":'), child(books), text('}')],
)
/** Authors with their books, each with its author's name: two levels down and one up again. */
const library: ReadPlan = { encoding: 'rest', roots: [root(authors)] }

test('rows of three levels become one text, each under the row it belongs to', () => {
  const [made] = stitched(library, roomy, [
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

test('a row that does not exist is null, and a list without rows is []', () => {
  assert.equal(stitched(library, roomy, [])[0]?.text, '[]')
  const single = { ...library, roots: [root({ ...authors, many: false })] }
  assert.deepEqual(stitched(single, roomy, [])[0], { text: 'null', objects: 0 })
  const [made] = stitched(library, roomy, [[[1, 'Ann']], [[11, 1, 'x']]])
  assert.equal(made?.text, '[{"name":"Ann","books":[{"title":"x","author":null}]}]')
})

test('several roots of one plan have a text each, and their objects and bytes are counted together', () => {
  const pair: ReadPlan = {
    encoding: 'graphql',
    roots: [
      root(level(list, [integer('id')], [value('id')])),
      root(level({ ...list, many: false }, [integer('id')], [value('id')])),
    ],
  }
  assert.deepEqual(stitched(pair, roomy, [[[1], [2]], [[3]]]), [
    { text: '["1","2"]', objects: 2 },
    { text: '"3"', objects: 1 },
  ])
  assert.throws(() => stitched(pair, { objects: 2, bytes: 100 }, [[[1], [2]], [[3]]]), {
    code: 'RESPONSE_TOO_LARGE',
  })
  assert.ok(stitched(pair, { objects: 9, bytes: 12 }, [[[1], [2]], [[3]]]))
  assert.throws(() => stitched(pair, { objects: 9, bytes: 11 }, [[[1], [2]], [[3]]]), {
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
        const [made] = stitched(library, roomy, [
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

test('a plan that was sent to a thread is stitched to the same text', () => {
  const rows = [[[1, 'Ann']], [[11, 1, 'x']], [[1, 'Ann']]]
  assert.deepEqual(stitched(structuredClone(library), roomy, rows), stitched(library, roomy, rows))
})

test('the limit of objects is met exactly, and passed by one more', () => {
  const rows = [
    [
      [1, 'Ann'],
      [2, 'Bob'],
    ],
    [[11, 1, 'x']],
    [[1, 'Ann']],
  ] as const
  assert.ok(stitched(library, { objects: 4, bytes: 1000 }, rows))
  assert.throws(() => stitched(library, { objects: 3, bytes: 1000 }, rows), tooLarge)
})

test('the limits of one row with all below it are met exactly, and passed by one more', () => {
  const single = { ...library, roots: [root({ ...authors, many: false })] }
  const rows = [[[1, 'Ann']], [[11, 1, 'x']], [[1, 'Ann']]]
  const [made] = stitched(single, roomy, rows)
  const limits = { objects: 3, bytes: made?.text.length ?? 0 }
  assert.equal(stitched(single, limits, rows)[0]?.objects, 3)
  assert.throws(() => stitched(single, { ...limits, objects: 2 }, rows), tooLarge)
  assert.throws(() => stitched(single, { ...limits, bytes: limits.bytes - 1 }, rows), tooLarge)
})

test('few rows that repeat below many others are refused before their text has grown', () => {
  // 1,000 rows, each with the same 1,000 below: a million objects from 2,000 rows.
  const below = level(childrenOf('of'), [integer('id'), integer('of')], [value('id')])
  const one = level(byIds('of'), [integer('id')], [child(below)])
  const wide: ReadPlan = {
    encoding: 'rest',
    roots: [root(level(list, [integer('id'), integer('of')], [child(one)]))],
  }
  const many = Array.from({ length: 1000 }, (_, index) => [index, 7])
  let written = 0
  const counted = many.map(row =>
    Object.defineProperty([...row], 1, {
      get: () => {
        written++
        return 7
      },
    }),
  )
  assert.throws(
    () => stitched(wide, { objects: 10_000, bytes: 1e9 }, [counted, [[7]], many]),
    tooLarge,
  )
  assert.equal(written, 10)
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
  assert.throws(() => stitched(library, { objects: 100, bytes: 1000 }, rows), tooLarge)
  assert.ok(stitched(library, { objects: 100, bytes: 2000 }, rows))
})
