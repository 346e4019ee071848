/** Limits of operations: each is served at its value and refused one above. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { getIntrospectionQuery } from 'graphql'
import { createLimiter } from '#http/limit/limiter.ts'
import { codeOf, times } from '../graphql.ts'
import { createWorld, type World } from '../world.ts'

let world: World
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const ask = (query: string, asking: Parameters<World['gql']>[1] = {}) =>
  world.gql(query, { as: 1, ...asking })

/** A query of so many selection levels: `{ posts { author { posts { … id } } } }`. */
const deep = (levels: number, wrap: (set: string) => string = set => set): string => {
  let set = wrap('{ id }')
  for (let level = levels - 2; level >= 0; level--)
    set = wrap(`{ ${level % 2 === 0 ? 'posts(limit: 1)' : 'author'} ${set} }`)
  return set
}

/** The same with a named fragment for each level. */
const deepByFragments = (levels: number): string => {
  const types = (level: number) => (level === 0 ? 'Query' : level % 2 === 1 ? 'Post' : 'User')
  const fragments = times(levels, level => {
    const member = level === levels - 1 ? 'id' : level % 2 === 0 ? 'posts(limit: 1)' : 'author'
    const below = level === levels - 1 ? '' : ` { ...F${level + 1} }`
    return `fragment F${level} on ${types(level)} { ${member}${below} }`
  })
  return `{ ...F0 } ${fragments}`
}

const sized = (length: number) => `{ users { id } } #${'x'.repeat(length - 18)}`
const inline = (set: string) => `{ ... ${set} }`

type Limit = {
  readonly name: string
  readonly code: string
  readonly at: number
  readonly make: (size: number) => string
}

const limits: readonly Limit[] = [
  { name: 'selection levels', code: 'DEPTH_LIMIT', at: 8, make: size => deep(size) },
  {
    name: 'selection levels in inline fragments',
    code: 'DEPTH_LIMIT',
    at: 8,
    make: size => deep(size, inline),
  },
  {
    name: 'selection levels in named fragments',
    code: 'DEPTH_LIMIT',
    at: 8,
    make: deepByFragments,
  },
  {
    name: 'selection levels below a condition that is false',
    code: 'DEPTH_LIMIT',
    at: 8,
    make: size => deep(size).replace('posts(limit: 1)', 'posts(limit: 1) @skip(if: true)'),
  },
  {
    name: 'selection levels in a mutation',
    code: 'DEPTH_LIMIT',
    at: 8,
    make: size => `mutation { updateUser(id: 2, input: {}) ${deep(size - 1)} }`,
  },
  { name: 'characters', code: 'QUERY_TOO_COMPLEX', at: 16_384, make: sized },
  {
    name: 'tokens',
    code: 'QUERY_TOO_COMPLEX',
    at: 1000,
    make: size =>
      `{ users { ${times(size - 5, n => ['id', 'name', 'email', 'age'][n % 4] ?? '')} } }`,
  },
  {
    name: 'comments',
    code: 'QUERY_TOO_COMPLEX',
    at: 100,
    make: size => `${'#c\n'.repeat(size)}{ users { id } }`,
  },
  {
    name: 'aliases',
    code: 'QUERY_TOO_COMPLEX',
    at: 30,
    make: size => `{ users { ${times(size, n => `a${n}: id`)} } }`,
  },
  {
    name: 'aliases in fragments, counted where they are spread',
    code: 'QUERY_TOO_COMPLEX',
    at: 30,
    make: size =>
      `{ users { ${times(10, () => '...F')} ${times(size - 30, n => `b${n}: id`)} } } fragment F on User { a: id b: id c: id }`,
  },
  {
    name: 'aliases in introspection',
    code: 'QUERY_TOO_COMPLEX',
    at: 30,
    make: size => `{ __schema { ${times(size, n => `a${n}: queryType { name }`)} } }`,
  },
  {
    name: 'directives',
    code: 'QUERY_TOO_COMPLEX',
    at: 20,
    make: size => `{ users { ${times(size, () => 'id @skip(if: false)')} } }`,
  },
  {
    name: 'root fields',
    code: 'QUERY_TOO_COMPLEX',
    at: 20,
    make: size => `{ ${times(size, n => `a${n}: post(id: 1) { id }`)} }`,
  },
  {
    name: 'root fields under one key',
    code: 'QUERY_TOO_COMPLEX',
    at: 20,
    make: size => `{ ${times(size, () => '__typename')} }`,
  },
  {
    name: 'root fields by fragments',
    code: 'QUERY_TOO_COMPLEX',
    at: 20,
    make: size =>
      `{ ...F ...F ... { ...F } ${times(size - 15, () => '__typename')} } fragment F on Query { ${times(5, () => '__typename')} }`,
  },
  {
    name: 'root fields of a mutation',
    code: 'QUERY_TOO_COMPLEX',
    at: 20,
    make: size => `mutation { ${times(size, n => `a${n}: updateUser(id: 2, input: {}) { id }`)} }`,
  },
]

describe('at the limit and one above it', () => {
  for (const { name, code, at, make } of limits)
    test(`${at} ${name} are served, ${at + 1} are ${code}`, async () => {
      const served = await ask(make(at))
      assert.equal(served.json.errors, undefined, served.text)
      for (const [accept, status] of [
        ['application/json', 200],
        ['application/graphql-response+json', 400],
      ] as const) {
        const refused = await ask(make(at + 1), { headers: { Accept: accept } })
        assert.equal(codeOf(refused), code, refused.text)
        assert.equal(refused.status, status)
        assert.ok(!('data' in refused.json))
      }
    })
  test('each limit is a setting', async t => {
    const low = {
      depth: 2,
      source: 60,
      tokens: 9,
      comments: 1,
      aliases: 1,
      directives: 1,
      rootFields: 1,
    }
    const other = await createWorld({ documents: low })
    t.after(() => other.close())
    for (const [query, code] of [
      ['{ users { id } }', undefined],
      ['{ posts { author { id } } }', 'DEPTH_LIMIT'],
      ['{ users { id name email age posts } }', 'QUERY_TOO_COMPLEX'],
      ['#\n#\n{ users { id } }', 'QUERY_TOO_COMPLEX'],
      ['{ users { a: id b: id } }', 'QUERY_TOO_COMPLEX'],
      [`{ users { id } } #${'x'.repeat(50)}`, 'QUERY_TOO_COMPLEX'],
      ['{ __typename __typename }', 'QUERY_TOO_COMPLEX'],
    ] as const)
      assert.equal(codeOf(await other.gql(query, { as: 1 })), code, query)
  })
  test('one operation over a limit refuses the document, whichever is asked for', async () => {
    const query = `query A { users { id } } query B ${deep(9)}`
    assert.equal(codeOf(await ask(query, { operationName: 'A' })), 'DEPTH_LIMIT')
  })
  test('introspection has a separate depth limit: the usual introspection query is served', async () => {
    for (const options of [
      {},
      { descriptions: false },
      { inputValueDeprecation: true, specifiedByUrl: true, oneOf: true },
    ]) {
      const answered = await ask(getIntrospectionQuery(options))
      assert.equal(answered.json.errors, undefined, answered.text.slice(0, 300))
    }
  })
  test('fields of one name are too many where comparing them all is too much', async () => {
    const answered = await ask(`{ users { ${times(990, () => 'id')} } }`)
    assert.equal(codeOf(answered), 'QUERY_TOO_COMPLEX')
  })
  test('a document that speaks of limits is not taken for one that is too large', async () => {
    for (const query of [
      '{ posts(limit limit) { id } }',
      '{ a(x: "exceeds the limit" ) ',
      '{ "Document contains more than 5 tokens" }',
    ])
      assert.equal(codeOf(await ask(query)), 'GRAPHQL_PARSE_FAILED', query)
  })
})

test('documents that are new take of the time of their caller: known ones and other callers are served on', async () => {
  const clock = { now: Date.UTC(2026, 5, 1), taken: 0 }
  // Each that is read seems to take 350 ms.
  const processor = () => {
    clock.taken += 350
    return clock.taken
  }
  const limiter = createLimiter({ limit: 6000, now: () => clock.now, processor })
  const limited = await createWorld({ edge: { limiter } })
  after(limited.close)
  const asked = (n: number, as = 2) => limited.gql(`{ posts(limit: ${n}) { id } }`, { as })
  for (const n of [1, 2, 3]) assert.equal((await asked(n)).status, 200)
  const refused = await asked(4)
  assert.equal(refused.status, 429)
  assert.equal(codeOf(refused), 'RATE_LIMITED')
  assert.equal(refused.headers.get('retry-after'), '1')
  assert.match(refused.json.errors[0].message, /what differs as variables/)
  const birthday = 'mutation { updateUser(id: 2, input: { age: 77 }) { age } }'
  assert.equal(codeOf(await limited.gql(birthday, { as: 2 })), 'RATE_LIMITED')
  assert.equal(codeOf(await limited.gql('{ posts { nothing } }', { as: 2 })), 'RATE_LIMITED')
  assert.equal((await asked(3)).status, 200)
  assert.equal((await asked(5, 3)).status, 200)
  clock.now += 10_000
  assert.equal((await limited.gql(birthday, { as: 2 })).json.data.updateUser.age, 77)
})
