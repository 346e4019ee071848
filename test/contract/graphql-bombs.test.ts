/** Documents of GraphQL that would cost far more than they say: they are refused early. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { codeOf, times } from '../graphql.ts'
import { createWorld, type World } from '../world.ts'

let world: World
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const ask = (query: string, asking: Parameters<World['gql']>[1] = {}) =>
  world.gql(query, { as: 1, ...asking })

describe('a bomb is refused before it costs anything, and never a 500', () => {
  /** Refused with a code for a caller's fault, and 4xx for the newer media type. If it ran, it would never end. */
  const refuses = async (name: string, query: string, asking: Parameters<World['gql']>[1] = {}) => {
    const headers = { Accept: 'application/graphql-response+json' }
    const answered = await ask(query, { ...asking, headers })
    assert.ok(
      answered.status >= 400 && answered.status < 500,
      `${name}: ${answered.status} ${answered.text.slice(0, 200)}`,
    )
    assert.ok(codeOf(answered), name)
    assert.ok(answered.text.length < 20_000, `${name}: ${answered.text.length} letters of answer`)
    return codeOf(answered)
  }

  for (const power of [10, 14, 18, 22, 26, 30])
    test(`fragments that double ${power} times are refused`, async () => {
      const flat = times(power, n => `fragment F${n} on User { ...F${n + 1} ...F${n + 1} }`)
      await refuses('flat', `{ users { ...F0 } } ${flat} fragment F${power} on User { id }`)
      const aliased = times(power, n =>
        n % 2 === 0
          ? `fragment F${n} on User { a: posts { ...F${n + 1} } b: posts { ...F${n + 1} } }`
          : `fragment F${n} on Post { a: author { ...F${n + 1} } b: author { ...F${n + 1} } }`,
      )
      await refuses(
        'aliased',
        `{ users { ...F0 } } ${aliased} fragment F${power} on ${power % 2 ? 'Post' : 'User'} { id }`,
      )
      const roots = times(power, n => `fragment F${n} on Query { ...F${n + 1} ...F${n + 1} }`)
      await refuses('roots', `{ ...F0 } ${roots} fragment F${power} on Query { __typename }`)
      const mutating = roots.replaceAll('on Query', 'on Mutation')
      await refuses(
        'mutation',
        `mutation { ...F0 } ${mutating} fragment F${power} on Mutation { __typename }`,
      )
    })
  test('fragments that double in introspection are refused', async () => {
    const fields = times(15, n => `a${n}: fields { type { ...G } }`)
    const query = `{ __schema { types { ${fields} } } } fragment G on __Type { ${times(15, n => `b${n}: fields { name }`)} }`
    await refuses('introspection', query)
  })
  test('fragments in a circle are refused', async () => {
    for (const circle of [
      '{ ...A } fragment A on Query { ...A }',
      '{ users { ...A } } fragment A on User { posts { ...B } } fragment B on Post { author { ...A } }',
      '{ users { ...A } } fragment A on User { ...B } fragment B on User { ...C } fragment C on User { id ...A }',
      `{ ...F0 } ${times(100, n => `fragment F${n} on Query { ...F${(n + 1) % 100} }`)}`,
    ])
      assert.equal(await refuses('circle', circle), 'GRAPHQL_VALIDATION_FAILED')
  })
  const forms: Record<string, (levels: number) => string> = {
    'selection sets': levels => `${'{ users '.repeat(levels)}${'}'.repeat(levels)}`,
    'inline fragments': levels => `{ ${'... { '.repeat(levels)} __typename ${'}'.repeat(levels)} }`,
    'list literals': levels =>
      `{ users(limit: ${'['.repeat(levels)}1${']'.repeat(levels)}) { id } }`,
    'object literals': levels =>
      `mutation { createUser(input: ${'{a:'.repeat(levels)}1${'}'.repeat(levels)}) { id } }`,
    'list types': levels =>
      `query($v: ${'['.repeat(levels)}Int${']'.repeat(levels)}) { users { id } }`,
    'open braces': levels => '{'.repeat(levels),
    'open brackets': levels => `{ users(limit: ${'['.repeat(levels)}`,
  }
  for (const [name, make] of Object.entries(forms))
    for (const levels of [100, 500, 1000, 5000, 200_000])
      test(`${name} ${levels} deep are refused`, async () => {
        // Fragments are no levels of their own: a hundred around __typename are a small operation.
        if (name === 'inline fragments' && levels < 500) return
        await refuses(name, make(levels))
      })
  for (const levels of [33, 100, 10_000, 200_000])
    test(`variables ${levels} deep are refused`, async () => {
      for (const [open, close] of [
        ['[', ']'],
        ['{"a":', '}'],
      ] as const) {
        const value = `${open.repeat(levels)}1${close.repeat(levels)}`
        const raw = `{"query":"query($v: Int) { users(limit: $v) { id } }","variables":{"v":${value}}}`
        const answered = await world.ask('POST /graphql', {
          raw,
          headers: { 'Content-Type': 'application/json' },
        })
        const isLarge = raw.length > 1_048_576
        assert.equal(answered.status, isLarge ? 413 : 400)
        assert.equal(codeOf(answered), isLarge ? 'PAYLOAD_TOO_LARGE' : 'MALFORMED_REQUEST')
      }
    })
  for (const [name, query] of [
    ['5,000 aliases', `{ users { ${times(5000, n => `a${n}: id`)} } }`],
    ['300 aliases', `{ users { ${times(300, n => `a${n}: id`)} } }`],
    ['10,000 @skip', `{ users { id ${'@skip(if: true) '.repeat(10_000)} } }`],
    ['200 @skip on fields', `{ users { ${times(160, () => 'id @skip(if: true)')} } }`],
    ['400 unknown directives', `{ users { id ${'@aa '.repeat(400)} } }`],
    ['10,000 unknown directives', `{ users { id ${'@aa '.repeat(10_000)} } }`],
    ['a thousand comments', `${'#\n'.repeat(1000)}{ users { id } }`],
    ['100,000 comments', `${'#\n'.repeat(100_000)}{ users { id } }`],
    ['half a million commas', `{ users { id${','.repeat(500_000)} } }`],
    ['a long block string', `{ user(id: """${'x'.repeat(500_000)}""") { id } }`],
    ['a long number', `{ users(limit: 1${'0'.repeat(10_000)}) { id } }`],
    ['a long exponent', '{ users(limit: 1e999999999) { id } }'],
    ['a long name', `{ ${'x'.repeat(16_000)} }`],
    ['300 unknown fields', `{ ${times(300, n => `f${n}`)} }`],
    [
      'one field with 190 faults in its arguments',
      `{ users(${times(190, n => `a${n}: 1`)}) { id } }`,
    ],
    [
      'fields that cannot merge',
      `{ ${times(160, n => `a: users(limit: ${n}) { id }`).slice(0, 16_000)} }`,
    ],
    [
      'fragments that cannot merge',
      `{ ${times(60, n => `...F${n}`)} } ${times(60, n => `fragment F${n} on Query { a: users(limit: ${n}) { id } }`)}`,
    ],
    [
      'a hundred variables that nobody uses',
      `query(${times(100, n => `$v${n}: Int`)}) { users { id } }`,
    ],
    [
      'a hundred fragments that nobody uses',
      `{ users { id } } ${times(100, n => `fragment F${n} on User { id }`)}`,
    ],
    ['a hundred operations of one name', times(100, () => 'query A { users { id } }')],
  ] as const)
    test(`${name}: refused`, async () => void (await refuses(name, query)))
})
