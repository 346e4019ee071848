/** Queries of GraphQL by GET: what is run, what is refused, and what may be kept. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { codeOf } from '../graphql.ts'
import { createWorld, forAllTests } from '../world.ts'

const graphqlJson = 'application/graphql-response+json'
const json = 'application/json'

const world = forAllTests(createWorld)

const get = (parameters: Record<string, string>, headers: Record<string, string> = {}, as = 2) =>
  world.ask(`GET /graphql?${new URLSearchParams(parameters)}`, { as, headers })

describe('GET', () => {
  test('GET runs a query with variables and operationName', async () => {
    const answered = await get({
      query: 'query A($id: ID!) { user(id: $id) { name } } query B { __typename }',
      variables: '{"id":2}',
      operationName: 'A',
    })
    assert.equal(answered.text, '{"data":{"user":{"name":"Ben"}}}')
  })
  for (const [type, status] of [
    ['application/json; charset=utf-8', 200],
    ['text/plain', 415],
    ['application/x-www-form-urlencoded', 415],
  ] as const)
    test(`GET with the Content-Type ${type} is ${status} [D14]`, async () => {
      const headers = { 'Content-Type': type, Accept: graphqlJson }
      assert.equal((await get({ query: '{ __typename }' }, headers)).status, status)
    })

  test('GET takes empty variables and operationName as absent', async () => {
    const answered = await get({ query: '{ __typename }', variables: '', operationName: '' })
    assert.equal(answered.text, '{"data":{"__typename":"Query"}}')
  })
  test('GET answers with a strong ETag, and with 304 to a request that names it', async () => {
    const query = '{ users { name } }'
    const first = await get({ query })
    const tag = first.headers.get('etag') ?? ''
    assert.match(tag, /^"[\w-]+"$/)
    assert.equal(first.headers.get('cache-control'), 'private, no-cache')
    for (const sent of [tag, `W/${tag}`, `"x", ${tag}`, '*']) {
      const again = await get({ query }, { 'If-None-Match': sent, 'Cache-Control': 'no-cache' })
      assert.equal(again.status, 304, sent)
      assert.equal(again.text, '')
      for (const name of ['etag', 'cache-control', 'vary'])
        assert.equal(again.headers.get(name), first.headers.get(name), name)
    }
    assert.equal((await get({ query }, { 'If-None-Match': '"x"' })).status, 200)
  })
  test('GET has another ETag after a change', async () => {
    const query = '{ user(id: "2") { age } }'
    const first = await get({ query })
    await world.gql('mutation { updateUser(id: "2", input: {age: 29}) { id } }', { as: 2 })
    const tag = first.headers.get('etag') ?? ''
    const second = await get({ query }, { 'If-None-Match': tag })
    assert.equal(second.status, 200)
    assert.notEqual(second.headers.get('etag'), tag)
  })
  test('GET of anonymous may be cached by shared caches', async () => {
    const answered = await world.ask('GET /graphql?query={posts{id}}')
    assert.equal(answered.headers.get('cache-control'), 'public, no-cache')
    assert.match(answered.headers.get('vary') ?? '', /Accept, Authorization/)
  })
  test('DUET_PUBLIC_MAX_AGE lets caches keep what anonymous asked for, and nothing else', async () => {
    await using other = await createWorld({ edge: { publicMaxAge: 60 } })
    const cacheControl = async (line: string, as?: number) =>
      (await other.ask(line, as === undefined ? {} : { as })).headers.get('cache-control')
    assert.equal(await cacheControl('GET /graphql?query={posts{id}}'), 'public, max-age=60')
    assert.equal(await cacheControl('GET /graphql?query={posts{id}}', 2), 'private, no-cache')
    assert.equal(await cacheControl('GET /graphql?query={users{id}}'), 'no-store')
  })
  test('GET with an error is not cached and has no ETag', async () => {
    const answered = await world.ask('GET /graphql?query={users{id}}')
    assert.equal(answered.headers.get('cache-control'), 'no-store')
    assert.equal(answered.headers.get('etag'), null)
  })
  const mutation =
    'mutation M { createUser(input: {name: "Get", email: "get@example.org"}) { id } }'
  const variants: readonly Record<string, string>[] = [
    { query: mutation },
    { query: `query Q { __typename } ${mutation}`, operationName: 'M' },
    { query: `# harmless\n${mutation}`, operationName: 'M' },
    { query: mutation, variables: '{}', extensions: '{}' },
    {
      query: `${mutation} fragment F on User { id } query Q { users { ...F } }`,
      operationName: 'M',
    },
    { query: 'mutation { __typename }' },
  ]
  for (const [index, parameters] of variants.entries())
    test(`GET refuses a mutation with 405 and Allow, way ${index + 1} [D13]`, async () => {
      for (const accept of [json, graphqlJson]) {
        const answered = await get(parameters, { Accept: accept })
        assert.equal(answered.status, 405)
        assert.equal(answered.headers.get('allow'), 'POST')
        assert.equal(codeOf(answered), 'METHOD_NOT_ALLOWED')
      }
      const { json: read } = await world.gql('{ users(limit: 100) { email } }', { as: 1 })
      assert.ok(!JSON.stringify(read).includes('get@example.org'))
    })
  test('GET runs the query of a document that has a mutation too', async () => {
    const answered = await get({ query: `query Q { __typename } ${mutation}`, operationName: 'Q' })
    assert.equal(answered.text, '{"data":{"__typename":"Query"}}')
  })
  for (const [name, path] of [
    ['without a query', '/graphql'],
    ['with an empty query', '/graphql?query='],
    ['with variables that are not JSON', '/graphql?query={__typename}&variables={'],
    ['with bytes that are no UTF-8', '/graphql?query={__typename}&variables={"a":"%ff"}'],
    ['with variables that are a list', '/graphql?query={__typename}&variables=[]'],
    ['with extensions that are a text', '/graphql?query={__typename}&extensions="x"'],
    ['with a variable given twice', '/graphql?query={__typename}&variables={"a":1,"a":2}'],
    [
      'with deep variables',
      `/graphql?query={__typename}&variables={"a":${'['.repeat(33)}${']'.repeat(33)}}`,
    ],
    ...['query', 'documentId', 'operationName', 'variables', 'extensions'].map(
      name => [`with ${name} twice`, `/graphql?query={__typename}&${name}=&${name}=`] as const,
    ),
  ] as const)
    test(`${name} is 400`, async () => {
      for (const accept of [json, graphqlJson]) {
        const answered = await world.ask(`GET ${path}`, { headers: { Accept: accept } })
        assert.equal(answered.status, 400)
        assert.equal(codeOf(answered), 'MALFORMED_REQUEST')
      }
    })
})
