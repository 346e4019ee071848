/** Limits of GraphQL: of operations, of answers, and of documents that would cost far more than they say. */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { getIntrospectionQuery } from 'graphql'
import { createLimiter } from '#http/limit/limiter.ts'
import type { Query } from '#sql/engine.ts'
import { codeOf, times } from '../graphql.ts'
import { createWorld, forAllTests, type World, type WorldOptions } from '../world.ts'

const world = forAllTests(createWorld)

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

/** By the code of one too many: what it is of, how many are served, and a document of so many. */
const limits: Readonly<
  Record<string, Readonly<Record<string, readonly [at: number, make: (size: number) => string]>>>
> = {
  DEPTH_LIMIT: {
    'selection levels': [8, size => deep(size)],
    'selection levels in inline fragments': [8, size => deep(size, inline)],
    'selection levels in named fragments': [8, deepByFragments],
    'selection levels below a condition that is false': [
      8,
      size => deep(size).replace('posts(limit: 1)', 'posts(limit: 1) @skip(if: true)'),
    ],
    'selection levels in a mutation': [
      8,
      size => `mutation { updateUser(id: 2, input: {}) ${deep(size - 1)} }`,
    ],
  },
  QUERY_TOO_COMPLEX: {
    characters: [16_384, sized],
    tokens: [
      1000,
      size => `{ users { ${times(size - 5, n => ['id', 'name', 'email', 'age'][n % 4] ?? '')} } }`,
    ],
    comments: [100, size => `${'#c\n'.repeat(size)}{ users { id } }`],
    aliases: [30, size => `{ users { ${times(size, n => `a${n}: id`)} } }`],
    'aliases in fragments, counted where they are spread': [
      30,
      size =>
        `{ users { ${times(10, () => '...F')} ${times(size - 30, n => `b${n}: id`)} } } fragment F on User { a: id b: id c: id }`,
    ],
    'aliases in introspection': [
      30,
      size => `{ __schema { ${times(size, n => `a${n}: queryType { name }`)} } }`,
    ],
    directives: [20, size => `{ users { ${times(size, () => 'id @skip(if: false)')} } }`],
    'root fields': [20, size => `{ ${times(size, n => `a${n}: post(id: 1) { id }`)} }`],
    'root fields under one key': [20, size => `{ ${times(size, () => '__typename')} }`],
    'root fields by fragments': [
      20,
      size =>
        `{ ...F ...F ... { ...F } ${times(size - 15, () => '__typename')} } fragment F on Query { ${times(5, () => '__typename')} }`,
    ],
    'root fields of a mutation': [
      20,
      size => `mutation { ${times(size, n => `a${n}: updateUser(id: 2, input: {}) { id }`)} }`,
    ],
  },
}

describe('at the limit and one above it', () => {
  for (const [code, kinds] of Object.entries(limits))
    for (const [name, [at, make]] of Object.entries(kinds))
      test(`${at} ${name} are served, ${at + 1} are ${code} [D1, D2, D3, D4, D20, F4]`, async () => {
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
  test('each limit is a setting [D2]', async () => {
    const low = {
      depth: 2,
      source: 60,
      tokens: 9,
      comments: 1,
      aliases: 1,
      directives: 1,
      rootFields: 1,
    }
    await using other = await createWorld({ documents: low })
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
  test('fields of one name are too many where comparing them all is too much [D9]', async () => {
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
    test(`fragments that double ${power} times are refused [D8]`, async () => {
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
  test('fragments in a circle are refused [D8]', async () => {
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
      test(`${name} ${levels} deep are refused [D10]`, async () => {
        // Fragments are no levels of their own: a hundred around __typename are a small operation.
        if (name === 'inline fragments' && levels < 500) return
        await refuses(name, make(levels))
      })
  for (const levels of [33, 100, 10_000, 200_000])
    test(`variables ${levels} deep are refused [D10]`, async () => {
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
  for (const [name, query] of Object.entries({
    '5,000 aliases': `{ users { ${times(5000, n => `a${n}: id`)} } }`,
    '300 aliases': `{ users { ${times(300, n => `a${n}: id`)} } }`,
    '10,000 @skip': `{ users { id ${'@skip(if: true) '.repeat(10_000)} } }`,
    '200 @skip on fields': `{ users { ${times(160, () => 'id @skip(if: true)')} } }`,
    '400 unknown directives': `{ users { id ${'@aa '.repeat(400)} } }`,
    '10,000 unknown directives': `{ users { id ${'@aa '.repeat(10_000)} } }`,
    'a thousand comments': `${'#\n'.repeat(1000)}{ users { id } }`,
    '100,000 comments': `${'#\n'.repeat(100_000)}{ users { id } }`,
    'half a million commas': `{ users { id${','.repeat(500_000)} } }`,
    'a long block string': `{ user(id: """${'x'.repeat(500_000)}""") { id } }`,
    'a long number': `{ users(limit: 1${'0'.repeat(10_000)}) { id } }`,
    'a long exponent': '{ users(limit: 1e999999999) { id } }',
    'a long name': `{ ${'x'.repeat(16_000)} }`,
    '300 unknown fields': `{ ${times(300, n => `f${n}`)} }`,
    'one field with 190 faults in its arguments': `{ users(${times(190, n => `a${n}: 1`)}) { id } }`,
    'fields that cannot merge': `{ ${times(160, n => `a: users(limit: ${n}) { id }`).slice(0, 16_000)} }`,
    'fragments that cannot merge': `{ ${times(60, n => `...F${n}`)} } ${times(60, n => `fragment F${n} on Query { a: users(limit: ${n}) { id } }`)}`,
    'a hundred variables that nobody uses': `query(${times(100, n => `$v${n}: Int`)}) { users { id } }`,
    'a hundred fragments that nobody uses': `{ users { id } } ${times(100, n => `fragment F${n} on User { id }`)}`,
    'a hundred operations of one name': times(100, () => 'query A { users { id } }'),
  }))
    test(`${name}: refused [D9]`, async () => void (await refuses(name, query)))
})

test('documents that are new take of the time of their caller: known ones and other callers are served on [D9]', async () => {
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

describe('the objects of one response', () => {
  /** 99 posts of Ada with 100 comments each: 9,900 comments and 99 posts. */
  const rows: NonNullable<WorldOptions['rows']> = {
    user: [{ name: 'Ada', email: 'ada@example.org', role: 'admin' }],
    post: Array.from({ length: 99 }, (_, n) => ({ authorId: 1, title: `${n}`, content: 'c' })),
    comment: Array.from({ length: 9900 }, (_, n) => ({
      postId: (n % 99) + 1,
      authorId: 1,
      text: `${n}`,
    })),
  }
  const large = forAllTests(() => createWorld({ rows }))
  const all = '{ posts { id comments { id } } }'

  test('10,000 of them are served and 10,001 refused, with the way out, and never cut short [D5]', async () => {
    const at = await large.gql('{ user(id: 1) { id } posts { comments { id } } }', { as: 1 })
    assert.equal(at.json.errors, undefined)
    assert.equal(
      at.json.data.posts.flatMap((p: { comments: unknown[] }) => p.comments).length,
      9900,
    )
    for (const query of [
      '{ user(id: 1) { id } users { id } posts { comments { id } } }',
      '{ users { posts { comments { id } } } a: users { id } }',
    ])
      for (const [accept, status] of [
        ['application/json', 200],
        ['application/graphql-response+json', 400],
      ] as const) {
        const above = await large.gql(query, { as: 1, headers: { Accept: accept } })
        assert.equal(codeOf(above), 'RESPONSE_TOO_LARGE')
        assert.match(above.json.errors[0].message, /10000 objects.*`limit`/)
        assert.equal(above.status, status)
        assert.ok(!above.json.data)
      }
  })
  test('objects are counted as often as they are shown, though the store is asked for them once', async () => {
    // 9,900 comments by one author: 99 posts, 9,900 comments and as many authors shown.
    const repeated = await large.gql('{ posts { comments { author { id } } } }')
    assert.equal(codeOf(repeated), 'RESPONSE_TOO_LARGE')
    const bomb = await large.gql(
      '{ posts { author { posts { author { posts { author { id } } } } } } }',
    )
    assert.equal(codeOf(bomb), 'RESPONSE_TOO_LARGE')
  })
  test('fewer objects are asked for by a limit on the lists', async () => {
    const answered = await large.gql(
      '{ posts(limit: 50) { comments(limit: 100) { id author { id } } } }',
    )
    assert.equal(codeOf(answered), 'RESPONSE_TOO_LARGE')
    const fewer = await large.gql(
      '{ posts(limit: 49) { comments(limit: 100) { id author { id } } } }',
    )
    assert.equal(fewer.json.errors, undefined)
  })
  test('objects count over all roots together', async () => {
    const query = (n: number) =>
      `{ ${times(n, i => `a${i}: posts(limit: 9) { comments(limit: 100) { id } }`)} }`
    assert.equal((await large.gql(query(11))).json.errors, undefined)
    assert.equal(codeOf(await large.gql(query(12))), 'RESPONSE_TOO_LARGE')
  })
  test('objects are not read further than the limit allows [D5]', async t => {
    const { reader } = large.core
    const { snapshot } = reader
    t.after(() => Object.assign(large.core, { reader }))
    let read = 0
    Object.assign(large.core, {
      reader: {
        query: async (query: Query) => {
          const rows = await reader.query(query)
          read += rows.length
          return rows
        },
        snapshot: ((begin: Parameters<typeof snapshot>[0]) =>
          snapshot(function* () {
            const work = begin()
            let step = work.next()
            while (!step.done) {
              const rows = yield step.value
              read += rows.length
              step = work.next(rows)
            }
            return step.value
          })) as typeof snapshot,
      },
    })
    await large.gql(
      `{ ${times(20, n => `a${n}: posts { comments { id author { posts { id } } } }`)} }`,
    )
    assert.ok(read <= 10_001, `${read} rows were read`)
  })
  test('objects below a mutation count as well, and the write is undone', async () => {
    const query = `mutation { updateUser(id: 1, input: {name: "Changed"}) { name posts { comments { author { name } } } } }`
    const answered = await large.gql(query, { as: 1 })
    assert.equal(codeOf(answered), 'RESPONSE_TOO_LARGE')
    const { json } = await large.gql('{ user(id: 1) { name } }', { as: 1 })
    assert.equal(json.data.user.name, 'Ada')
  })
  test('the limit of objects may be set', async () => {
    await using other = await createWorld({ engine: { limits: { objects: 4, bytes: 1_000_000 } } })
    assert.equal((await other.gql('{ posts { id } }')).json.errors, undefined)
    assert.equal(
      codeOf(await other.gql('{ posts { id } post(id: 1) { id } }')),
      'RESPONSE_TOO_LARGE',
    )
    assert.equal(codeOf(await other.gql(all)), 'RESPONSE_TOO_LARGE')
  })
})

describe('the length of one response', () => {
  const bytes = 50_000
  const content = 'c'.repeat(9_000)
  const updating = 'updateUser(id: 1, input: { age: 36 }) { posts { content } }'
  const small = forAllTests(() =>
    createWorld({
      rows: {
        user: [{ name: 'Ada', email: 'ada@example.org', role: 'admin' }],
        post: Array.from({ length: 5 }, (_, n) => ({ authorId: 1, title: `${n}`, content })),
      },
      engine: { limits: { objects: 10_000, bytes } },
    }),
  )

  for (const [name, query, isServed] of [
    ['five posts of 9,000 letters', '{ posts { content } }', true],
    ['five posts twice by aliases', '{ posts { a: content b: content } }', false],
    ['five posts twice by roots', '{ a: posts { content } b: posts { content } }', false],
    [
      'one post twenty times by roots',
      `{ ${times(20, n => `a${n}: post(id: 1) { content }`)} }`,
      false,
    ],
    ['posts of an author of posts', '{ posts { author { posts { content } } } }', false],
    ['posts of a changed user', `mutation { ${updating} }`, true],
    ['posts of a user who is changed twice', `mutation { a: ${updating} b: ${updating} }`, false],
  ] as const)
    test(`${name} ${isServed ? 'are served' : 'are refused: RESPONSE_TOO_LARGE'}`, async () => {
      const answered = await small.gql(query, { as: 1 })
      assert.equal(codeOf(answered), isServed ? undefined : 'RESPONSE_TOO_LARGE')
      if (isServed) assert.ok(answered.text.length < bytes)
    })
})
