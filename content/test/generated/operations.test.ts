/** Generated query operations, answered by Duet and by graphql-js over the same rows: the answers are equal to the letter, and each is one read. */
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import fc from 'fast-check'
import { fillWith } from '#kit/check/rows.ts'
import { documentOf, drawing, numbers, type Shape } from '#test/operations.ts'
import { forAllTests } from '#test/support/fixture.ts'
import { library } from '#test/support/library/index.ts'
import { rounds } from '#test/support/rounds.ts'
import { type Asked, watchReader } from '#test/support/watched-reader.ts'
import { createWorld, modelAsUsual, onPostgres, type WorldOptions } from '../world.ts'
import {
  expectedOf,
  largeRows,
  resolversOf,
  roomy,
  seed,
  sideOf,
  small,
  usual,
} from './answered-operations.ts'

/** The levels that an answer shows: distinct paths, without indexes, of objects and of lists, empty ones too. */
const levelsOf = (data: Record<string, unknown>): Set<string> => {
  const paths = new Set<string>()
  const visit = (value: unknown, path: string): void => {
    if (Array.isArray(value)) {
      paths.add(path)
      for (const item of value) visit(item, path)
    } else if (typeof value === 'object' && value !== null) {
      paths.add(path)
      for (const [key, member] of Object.entries(value)) visit(member, `${path}.${key}`)
    }
  }
  for (const [key, value] of Object.entries(data)) {
    paths.add(key)
    visit(value, key)
  }
  return paths
}

const answeredAlike = (
  name: string,
  most: number,
  shape: Shape,
  options: WorldOptions,
  side = usual,
) =>
  describe(name, () => {
    // The statements are others there, plan and stitch are the same.
    const runs = onPostgres ? Math.ceil(most / 7) : most
    const kept: (Asked & { readonly levels: number | undefined })[] = []
    const world = forAllTests(() => createWorld({ ...roomy, ...options }))
    let root: object
    let look: () => Asked
    before(async () => {
      root = await resolversOf(world)
      look = watchReader(world.core)
    })
    test(`${runs} generated operations are answered to the letter as by graphql-js [G21]`, async t => {
      t.diagnostic(`seed ${seed}`)
      let letters = 0
      let errors = 0
      await fc.assert(
        fc.asyncProperty(numbers, async stream => {
          const operation = documentOf(drawing(stream), shape, side.vocabulary)
          const expected = expectedOf(side, root, operation)
          const { query, ...rest } = operation
          const { json, text } = await world.gql(query, { as: 2, ...rest })
          if (text !== expected) t.diagnostic(JSON.stringify(operation))
          assert.equal(text, expected)
          kept.push({ ...look(), levels: json.data ? levelsOf(json.data).size : undefined })
          letters += text.length
          if (text.startsWith('{"errors"')) errors++
        }),
        { seed, numRuns: runs, endOnFailure: true },
      )
      t.diagnostic(`${Math.round(letters / runs)} characters an answer, ${errors} errors`)
      // A few may all be of next to nothing.
      if (runs >= 50) assert.ok(letters / runs > 100, 'the answers hold something')
    })
    test('each asked the store once, in one moment, with one statement a level at the most [D17]', t => {
      for (const { reads, texts, levels } of kept) {
        assert.ok(reads <= 1, 'one read')
        // On PostgreSQL, where each statement is a round trip, all levels are one.
        if (onPostgres) assert.equal(texts.length, reads)
        else if (levels !== undefined) {
          // The author of a list is looked up by a separate statement.
          const exists = texts.filter(text => text.startsWith('select 1 ')).length
          const others = texts.length - exists
          assert.ok(others <= levels, `${others} statements for ${levels} levels`)
        }
      }
      const most = Math.max(...kept.map(({ texts }) => texts.length))
      t.diagnostic(`at most ${most} statements`)
      assert.ok(onPostgres || runs < 100 || most > 5)
    })
  })

test('ten users, their posts, comments and authors are a statement a level, or one for them all [D17]', async t => {
  const world = await createWorld({ rows: largeRows() })
  t.after(() => world.close())
  // Run as a whole in another thread, its statements would not be seen.
  const { runInThread: _, ...here } = world.core.reader
  Object.assign(world.core, { reader: here })
  const look = watchReader(world.core)
  const query = '{ users { name posts { title comments { text author { name } } } } }'
  const { json } = await world.gql(query, { as: 2 })
  assert.equal(json.data.users.length, 10)
  assert.equal(look().texts.length, onPostgres ? 1 : 4)
})

answeredAlike('a small world', rounds(120, 5000), small, {})
answeredAlike(
  'a large world in pages',
  rounds(40, 1500),
  { ids: 220, levels: 5, width: 4, whole: false },
  { rows: largeRows() },
)
answeredAlike(
  'a large world in whole lists',
  rounds(7, 200),
  { ids: 40, levels: 2, width: 3, whole: true },
  { rows: largeRows() },
)

const other = sideOf(modelAsUsual(library))

answeredAlike(
  'another content',
  rounds(34, 1500),
  { ids: 12, levels: 4, width: 4, whole: true },
  {
    content: library,
    model: other.model,
    rows: {},
    also: async store => assert.deepEqual(await fillWith(other.model, store), []),
  },
  other,
)
