/** Generated query operations, answered by Duet and by graphql-js over the same rows: the answers are equal to the letter. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { fillWith } from '../generic/rows.ts'
import { documentOf, drawing, numbers, type Shape } from '../operations.ts'
import { library } from '../support/library/index.ts'
import { rounds } from '../support/rounds.ts'
import { createWorld, modelAsUsual, onPostgres, type World, type WorldOptions } from '../world.ts'
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

const differential = (
  name: string,
  most: number,
  shape: Shape,
  options: WorldOptions,
  side = usual,
) =>
  describe(name, () => {
    // The statements are others there, plan and stitch are the same; test/postgres/equal.test.ts asks more.
    const runs = onPostgres ? Math.ceil(most / 10) : most
    let world: World
    let root: object
    before(async () => {
      world = await createWorld({ ...roomy, ...options })
      root = await resolversOf(world)
    })
    after(() => world.close())
    test(`${runs} generated operations are answered to the letter as by graphql-js`, async t => {
      t.diagnostic(`seed ${seed}`)
      let letters = 0
      let errors = 0
      await fc.assert(
        fc.asyncProperty(numbers, async stream => {
          const operation = documentOf(drawing(stream), shape, side.vocabulary)
          const expected = expectedOf(side, root, operation)
          const { query, ...rest } = operation
          const { text } = await world.gql(query, { as: 2, ...rest })
          if (text !== expected) t.diagnostic(JSON.stringify(operation))
          assert.equal(text, expected)
          letters += text.length
          if (text.startsWith('{"errors"')) errors++
        }),
        { seed, numRuns: runs, endOnFailure: true },
      )
      t.diagnostic(`${Math.round(letters / runs)} characters an answer, ${errors} errors`)
      // A few may all be of next to nothing.
      if (runs >= 50) assert.ok(letters / runs > 100, 'the answers hold something')
    })
  })

differential('a small world', rounds(350, 5000), small, {})
differential(
  'a large world in pages',
  rounds(120, 1500),
  { ids: 220, levels: 5, width: 4, whole: false },
  { rows: largeRows() },
)
differential(
  'a large world in whole lists',
  rounds(20, 200),
  { ids: 40, levels: 2, width: 3, whole: true },
  { rows: largeRows() },
)

const other = sideOf(modelAsUsual(library))

differential(
  'another content',
  rounds(100, 1500),
  { ids: 12, levels: 4, width: 4, whole: true },
  { content: library, model: other.model, rows: {}, also: fillWith(other.model) },
  other,
)
