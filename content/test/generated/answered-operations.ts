/** Generated query operations, worlds for them, and what graphql-js answers over the same rows. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { executeSync, parse } from 'graphql'
import { deriveSchema } from '#graphql/schema.ts'
import { type ReferenceRow, referenceOver, rowsOf } from '#kit/check/reference.ts'
import { entityOf, type Model } from '#model/model.ts'
import type { Viewer } from '#model/policy.ts'
import { parseId } from '#model/values.ts'
import { rootOver } from '#test/generated/reference-graphql.ts'
import { type Operation, type Shape, vocabularyOf } from '#test/operations.ts'
import { usualSeed } from '#test/support/rounds.ts'
import { usualModel, type World, type WorldOptions } from '../world.ts'

/** What all is generated from; DUET_SEED makes the same again. */
export const seed = usualSeed(7)

/** Nothing is refused for its size here: the limits have tests of their own. */
export const roomy = {
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
export const sideOf = (model: Model) => {
  // Its types have no resolvers; another test compares it with the specification's schema.
  const { schema } = deriveSchema(model)
  return { model, schema, vocabulary: vocabularyOf(schema) }
}

type Side = ReturnType<typeof sideOf>

/** The usual content. */
export const usual = sideOf(usualModel)

/** The viewer of all these operations. */
const viewer: Viewer = { id: 2, role: 'user' }

/** What graphql-js reads in place of the store. */
export const resolversOf = async (world: World): Promise<object> => {
  const { model } = world.core
  const reference = referenceOver(model, await rowsOf(world))
  return rootOver<ReferenceRow>({
    model,
    met: (name, at) => {
      const { policy } = entityOf(model, name)
      const rule = at === 'root' ? (policy.enter ?? policy.read) : policy.read
      return reference.seen(name, rule, viewer)
    },
    keeps: (_, key, wanted) => row => row[key] === parseId(String(wanted)),
    shown: (entity, key, row) => reference.shown(entity, key, row[key] ?? null),
  })
}

// ---- The comparison.

/** The expected text for an operation, from the result of graphql-js. */
export const expectedOf = (
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

/** Some hundreds of rows with texts that are hard to write. */
export const largeRows = (): NonNullable<WorldOptions['rows']> => {
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

/** Operations on the small world. */
export const small: Shape = { ids: 6, levels: 5, width: 3, whole: true }
