import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parse } from 'graphql'
import { ApiError } from '#errors.ts'
import { checkDocument, type DocumentLimits } from '#graphql/limits.ts'

/** A selection set as plain data, and as text with or without fragments for its sets. */
type Shape = {
  readonly alias: boolean
  readonly as: 'plain' | 'inline' | 'fragment'
  readonly below: readonly Shape[]
}

const { shape } = fc.letrec<{ shape: Shape }>(tie => ({
  shape: fc.record({
    alias: fc.boolean(),
    as: fc.constantFrom('plain', 'inline', 'fragment'),
    below: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constant([]),
      fc.array(tie('shape'), { maxLength: 3 }),
    ),
  }),
}))

const textOf = (roots: readonly Shape[]): string => {
  const fragments: string[] = []
  const setOf = (shapes: readonly Shape[]): string => `{ ${shapes.map(member).join(' ')} }`
  const member = ({ alias, as, below }: Shape): string => {
    const field = `${alias ? 'a: ' : ''}f${below.length > 0 ? ` ${setOf(below)}` : ''}`
    if (as === 'plain') return field
    if (as === 'inline') return `... { ${field} }`
    const name = `F${fragments.length}`
    fragments.push('')
    fragments[Number(name.slice(1))] = `fragment ${name} on T { ${field} }`
    return `...${name}`
  }
  const operation = setOf(roots)
  return [operation, ...fragments].join('\n')
}

const depthOf = (shapes: readonly Shape[]): number =>
  shapes.reduce((most, { below }) => Math.max(most, 1 + depthOf(below)), 0)
const aliasesOf = (shapes: readonly Shape[]): number =>
  shapes.reduce((sum, { alias, below }) => sum + (alias ? 1 : 0) + aliasesOf(below), 0)

const roomy: DocumentLimits = {
  depth: 1e6,
  source: 1e6,
  tokens: 1e6,
  comments: 1e6,
  aliases: 1e6,
  directives: 1e6,
  rootFields: 1e6,
}

const isRefused = (text: string, limits: Partial<DocumentLimits>, code: string): boolean => {
  try {
    checkDocument(parse(text), { ...roomy, ...limits })
    return false
  } catch (error) {
    assert.ok(error instanceof ApiError)
    assert.equal(error.code, code)
    return true
  }
}

test('depth, aliases and root fields are counted as a plain count of the written-out operation has them [D1]', () => {
  fc.assert(
    fc.property(fc.array(shape, { minLength: 1, maxLength: 3 }), roots => {
      const text = textOf(roots)
      const counts = [
        ['depth', depthOf(roots), 'DEPTH_LIMIT'],
        ['aliases', aliasesOf(roots), 'QUERY_TOO_COMPLEX'],
        ['rootFields', roots.length, 'QUERY_TOO_COMPLEX'],
      ] as const
      for (const [limit, count, code] of counts) {
        assert.equal(isRefused(text, { [limit]: count }, code), false, `${limit} ${count} ${text}`)
        if (count > 0)
          assert.equal(isRefused(text, { [limit]: count - 1 }, code), true, `${limit} ${text}`)
      }
    }),
    { numRuns: 1000 },
  )
})

test('introspection counts for aliases and fields, and not for depth', () => {
  const text = '{ __schema { a: types { fields { type { name } } } } }'
  assert.equal(isRefused(text, { depth: 1 }, 'DEPTH_LIMIT'), false)
  assert.equal(isRefused(text, { aliases: 0 }, 'QUERY_TOO_COMPLEX'), true)
  assert.equal(isRefused(text, { tokens: 4 }, 'QUERY_TOO_COMPLEX'), true)
})

test('a bomb of fragments, which would never end if it were written out, is measured [D8]', () => {
  const bomb = Array.from(
    { length: 300 },
    (_, n) => `fragment F${n} on T { ...F${n + 1} ...F${n + 1} }`,
  )
  const text = `{ ...F0 } ${bomb.join(' ')} fragment F300 on T { a: f }`
  for (const limits of [{ aliases: 30 }, { rootFields: 20 }, { tokens: 1000 }])
    assert.equal(isRefused(text, limits, 'QUERY_TOO_COMPLEX'), true)
})
