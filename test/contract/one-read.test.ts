/** One operation is one read: how often a store is asked, and with how many statements. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { Query, QueryScript } from '#sql/engine.ts'
import { documentOf, drawing, numbers } from '../operations.ts'
import { rounds } from '../support/rounds.ts'
import { createWorld, onPostgres, type World } from '../world.ts'
import {
  expectedOf,
  largeRows,
  resolversOf,
  roomy,
  seed,
  small,
  usual,
} from './answered-operations.ts'

type Seen = { reads: number; texts: string[] }

/** The world's reader, which records how often it is called and with which statements. */
const watch = (world: World): (() => Seen) => {
  let seen: Seen = { reads: 0, texts: [] }
  const { query, snapshot } = world.core.reader
  const counted = function* <R>(work: QueryScript<R>): QueryScript<R> {
    let step = work.next()
    while (!step.done) {
      const query: Query = step.value
      seen.texts.push(query.text)
      step = work.next(yield query)
    }
    return step.value
  }
  const reader = {
    query: (asked: Query) => {
      seen.reads++
      seen.texts.push(asked.text)
      return query(asked)
    },
    snapshot: <R>(begin: () => QueryScript<R>) => {
      seen.reads++
      return snapshot(() => counted(begin()))
    },
  }
  Object.assign(world.core, { reader })
  return () => {
    const last = seen
    seen = { reads: 0, texts: [] }
    return last
  }
}

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

describe('a generated operation', () => {
  test('asks the store once, in one moment, with one statement a level at the most', async t => {
    t.diagnostic(`seed ${seed}`)
    const world = await createWorld(roomy)
    t.after(() => world.close())
    const look = watch(world)
    const root = await resolversOf(world)
    let most = 0
    await fc.assert(
      fc.asyncProperty(numbers, async stream => {
        const operation = documentOf(drawing(stream), small, usual.vocabulary)
        const { query, ...rest } = operation
        const { json, text } = await world.gql(query, { as: 2, ...rest })
        assert.equal(text, expectedOf(usual, root, operation))
        const { reads, texts } = look()
        assert.ok(reads <= 1, 'one read')
        // On PostgreSQL, where each statement is a round trip, all levels are one.
        if (onPostgres) assert.equal(texts.length, reads)
        if (!json.data || onPostgres) return
        // The author of a list is looked up by a separate statement.
        const exists = texts.filter(text => text.startsWith('select 1 ')).length
        const levels = levelsOf(json.data).size
        assert.ok(
          texts.length - exists <= levels,
          `${texts.length} statements for ${levels} levels`,
        )
        most = Math.max(most, texts.length)
      }),
      { seed, numRuns: onPostgres ? 50 : rounds(100, 1000), endOnFailure: true },
    )
    t.diagnostic(`at most ${most} statements`)
    assert.ok(onPostgres || most > 5)
  })

  test('of ten users, their posts, comments and authors is a statement a level, or one for them all', async t => {
    const world = await createWorld({ rows: largeRows() })
    t.after(() => world.close())
    const look = watch(world)
    const query = '{ users { name posts { title comments { text author { name } } } } }'
    const { json } = await world.gql(query, { as: 2 })
    assert.equal(json.data.users.length, 10)
    assert.equal(look().texts.length, onPostgres ? 1 : 4)
  })
})
