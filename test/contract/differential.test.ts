/** Generated query operations, answered by Duet and by graphql-js over the same rows: the answers are equal to the letter. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { executeSync, parse } from 'graphql'
import { deriveSchema } from '#graphql/schema.ts'
import type { Model } from '#model/model.ts'
import type { Viewer } from '#model/viewer.ts'
import type { Query, Work } from '#sql/engine.ts'
import { referenceOver, rowsOf } from '../generic/reference.ts'
import { rootOver } from '../generic/resolvers.ts'
import { fillWith } from '../generic/rows.ts'
import {
  documentOf,
  drawing,
  numbers,
  type Operation,
  type Shape,
  vocabularyOf,
} from '../operations.ts'
import { library } from '../support/library/index.ts'
import { rounds } from '../support/rounds.ts'
import {
  createWorld,
  modelAsUsual,
  onPostgres,
  usualModel,
  type World,
  type WorldOptions,
} from '../world.ts'

const seed = Number(process.env.DUET_SEED ?? Date.now() % 1_000_000)

/** Nothing is refused for its size here: the limits have tests of their own. */
const roomy = {
  documents: {
    depth: 40,
    source: 1_000_000,
    tokens: 100_000,
    aliases: 10_000,
    directives: 10_000,
    rootFields: 1000,
  },
  engine: { limits: { objects: 1_000_000, bytes: 100_000_000 } },
}

/** A model with its schema for graphql-js, and the vocabulary of its documents. */
const sideOf = (model: Model) => {
  // Its types have no resolvers; another test compares it with the specification's schema.
  const { schema } = deriveSchema(model)
  return { model, schema, vocabulary: vocabularyOf(schema) }
}

type Side = ReturnType<typeof sideOf>

const usual = sideOf(usualModel)

/** The viewer of all these operations. */
const viewer: Viewer = { id: 2, role: 'user' }

const resolversOf = async (world: World): Promise<object> =>
  rootOver(world.core.model, referenceOver(world.core.model, await rowsOf(world)), viewer)

// ---- The comparison.

/** The expected text for an operation, from the result of graphql-js. */
const expectedOf = (
  { schema }: Side,
  root: object,
  { query, variables, operationName }: Operation,
): string => {
  const result = executeSync({
    schema,
    document: parse(query),
    rootValue: root,
    variableValues: variables,
    operationName,
  })
  const [error] = result.errors ?? []
  if (!error) return `{"data":${JSON.stringify(result.data)}}`
  assert.match(
    error.message,
    /not found$/,
    `the generator made a bad document: ${error.message}\n${query}`,
  )
  const { message, locations, path } = error
  // For merged fields, Duet names the location of the first.
  const first = locations?.slice(0, 1)
  const entry = { message, locations: first, path, extensions: { code: 'NOT_FOUND' } }
  return `{"errors":${JSON.stringify([entry])},"data":null}`
}

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

/** Texts that are hard to write: escapes, quotes, emoji, separators. */
const hardText = (max: number) =>
  fc
    .array(
      fc.constantFrom(
        'a',
        'é',
        '"',
        '\\',
        '\n',
        '\t',
        '\u0001',
        '\u007f',
        '\u2028',
        '\u2029',
        '😀',
        '</b>',
        '日',
        '\u{1F468}\u200D\u{1F469}',
        '%',
        "'",
        ' ',
      ),
      { minLength: 1, maxLength: max },
    )
    .map(parts => `x${parts.join('')}x`)

const largeRows = (): NonNullable<WorldOptions['rows']> => {
  const [texts = []] = fc.sample(fc.array(hardText(40), { minLength: 831, maxLength: 831 }), {
    seed,
    numRuns: 1,
  })
  const [numbers = []] = fc.sample(
    fc.array(fc.nat(), { minLength: 2000, maxLength: 2000, size: 'max' }),
    { seed, numRuns: 1 },
  )
  const pick = (index: number, count: number) => ((numbers[index] ?? 0) % count) + 1
  return {
    user: Array.from({ length: 30 }, (_, n) => ({
      name: texts[n]?.trim(),
      email: `u${n}@example.org`,
      ...(n % 3 !== 0 && { age: pick(n, 150) }),
    })),
    // Users 25 to 30 write no posts; posts above 160 have no comments.
    post: Array.from({ length: 200 }, (_, n) => ({
      authorId: pick(30 + n, 24),
      title: texts[30 + n]?.trim(),
      content: texts[230 - n],
    })),
    comment: Array.from({ length: 600 }, (_, n) => ({
      postId: pick(230 + n, 160),
      authorId: pick(830 + n, 30),
      text: texts[230 + n],
    })),
  }
}

const small: Shape = { ids: 6, levels: 5, width: 3, whole: true }

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

// ---- One operation, one read.

type Seen = { reads: number; texts: string[] }

/** The world's reader, which records how often it is called and with which statements. */
const watch = (world: World): (() => Seen) => {
  let seen: Seen = { reads: 0, texts: [] }
  const { query, snapshot } = world.core.reader
  const counted = function* <R>(work: Work<R>): Work<R> {
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
    snapshot: <R>(begin: () => Work<R>) => {
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
