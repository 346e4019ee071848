/** Documents by id: what the operator stored is named by requests instead of sent, and may be all that is served. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import type { StoredDocument } from '#graphql/stored.ts'
import { codeOf } from '../graphql.ts'
import { createWorld, forAllTests, type World } from '../world.ts'

const graphqlJson = 'application/graphql-response+json'

const newest = 'query Newest($n: Int!) { posts(limit: $n) { id title author { name } } }\n'
const both = 'query Names { posts { title } } query Ids { posts { id } }'
const rename =
  'mutation Rename($id: ID!, $name: String!) { updateUser(id: $id, input: {name: $name}) { name } }'
const users = '{ users { name } }'

const stored: readonly StoredDocument[] = [
  { from: 'newest.graphql', text: newest, ids: [] },
  { from: 'both.graphql', text: both, ids: ['x-app:both', 'both'] },
  { from: 'rename.graphql', text: rename, ids: [] },
  { from: 'users.graphql', text: users, ids: [] },
]

const digest = (text: string): string => createHash('sha256').update(text).digest('hex')
const idOf = (text: string): string => `sha256:${digest(text)}`

const world = forAllTests(() => createWorld({ stored: { documents: stored, only: false } }))
const closed = forAllTests(() => createWorld({ stored: { documents: stored, only: true } }))

type Headers = Record<string, string>

const post = (body: object, headers: Headers = {}, as: number | 'anonymous' = 2, on = world) =>
  on.ask('POST /graphql', { as, headers, body })

const get = (parameters: Record<string, string>, headers: Headers = {}, as?: number) =>
  world.ask(`GET /graphql?${new URLSearchParams(parameters)}`, {
    headers,
    ...(as !== undefined && { as }),
  })

describe('a document by its id', () => {
  const ids = [
    ['the SHA-256 of its bytes with the prefix', { documentId: idOf(newest) }],
    ['the SHA-256 alone', { documentId: digest(newest) }],
    [
      'the SHA-256 as clients of Apollo send it',
      { extensions: { persistedQuery: { version: 1, sha256Hash: digest(newest) } } },
    ],
  ] as const
  for (const [name, body] of ids)
    test(`a document is found by ${name}`, async () => {
      const variables = { n: 2 }
      const answered = await post({ ...body, variables })
      assert.equal(answered.status, 200)
      assert.equal(answered.json.data.posts.length, 2)
      assert.equal(answered.text, (await post({ query: newest, variables })).text)
    })
  test('a document is found by ids of its own, and its operation by name', async () => {
    for (const documentId of ['x-app:both', 'both', idOf(both)]) {
      const { json } = await post({ documentId, operationName: 'Ids' })
      assert.deepEqual(Object.keys(json.data.posts[0]), ['id'])
    }
    assert.equal(codeOf(await post({ documentId: 'both' })), 'GRAPHQL_VALIDATION_FAILED')
  })
  test('a GET by id has the ETag that the GET of its text has, and is 304 to a caller who has it', async () => {
    const variables = '{"n":3}'
    const byText = await get({ query: newest, variables })
    const byId = await get({ documentId: idOf(newest), variables })
    assert.equal(byId.text, byText.text)
    const tag = byId.headers.get('etag') ?? ''
    assert.match(tag, /^"[\w-]+"$/)
    assert.equal(tag, byText.headers.get('etag'))
    assert.equal(byId.headers.get('cache-control'), 'public, no-cache')
    const again = await get({ documentId: idOf(newest), variables }, { 'If-None-Match': tag })
    assert.deepEqual([again.status, again.text], [304, ''])
  })
  test('an answer by id is the cached one of its text, until something that it shows is written', async () => {
    const name = async () => {
      const query = { documentId: idOf(users) }
      const { text } = await get(query, {}, 2)
      const own = world.events.findLast(({ kind }) => kind === 'request')
      return { text, read: own?.kind === 'request' && own.work?.statements.length !== 0 }
    }
    // An answer is cached when it is asked for a second time.
    for (let time = 0; time < 2; time++) await get({ query: users }, {}, 2)
    const first = await name()
    if (process.env.DUET_TEST_CACHE !== '0') assert.equal(first.read, false)
    await post({ documentId: idOf(rename), variables: { id: '2', name: 'Benno' } })
    const second = await name()
    assert.equal(second.read, true)
    assert.match(second.text, /Benno/)
  })
  test('a right is judged as for its text', async () => {
    const answered = await post({ documentId: idOf(users) }, { Accept: graphqlJson }, 'anonymous')
    assert.deepEqual([answered.status, codeOf(answered)], [401, 'UNAUTHENTICATED'])
  })
  test('the log has the digest of the document for a request by id', async () => {
    await post({ documentId: 'x-app:both', operationName: 'Names' })
    const own = world.events.findLast(({ kind }) => kind === 'request')
    assert.equal(own?.kind === 'request' && own.operation?.hash(), digest(both))
  })
  test('a mutation by id is refused by GET and done by POST, once under a key', async () => {
    const documentId = idOf(rename)
    const variables = { id: '3', name: 'Cleopatra' }
    const refused = await get({ documentId, variables: JSON.stringify(variables) }, {}, 3)
    assert.deepEqual([refused.status, refused.headers.get('allow')], [405, 'POST'])
    const key = { 'Idempotency-Key': 'rename-3' }
    const first = await post({ documentId, variables }, key, 3)
    assert.equal(first.text, '{"data":{"updateUser":{"name":"Cleopatra"}}}')
    const again = await post({ documentId, variables }, key, 3)
    assert.equal(again.headers.get('idempotency-replayed'), 'true')
    const other = await post({ documentId, variables: { ...variables, name: 'X' } }, key, 3)
    assert.equal(codeOf(other), 'IDEMPOTENCY_KEY_REUSED')
  })
})

describe('an id that names nothing', () => {
  const unknown = idOf('{ nothing }')
  for (const [accept, status] of [
    ['application/json', 200],
    [graphqlJson, 400],
  ] as const)
    test(`an unknown id is told with its remedy, ${status} for ${accept}`, async () => {
      for (const answered of [
        await post({ documentId: unknown }, { Accept: accept }),
        await get({ documentId: unknown }, { Accept: accept }),
      ]) {
        assert.equal(answered.status, status)
        assert.deepEqual(answered.json.errors, [
          {
            message: `Document ${unknown} not found: send its text as \`query\`, or have the operator put it into the folder that DUET_DOCUMENTS names`,
            extensions: { code: 'PERSISTED_QUERY_NOT_FOUND' },
          },
        ])
        assert.equal(answered.headers.get('etag'), null)
        assert.equal(answered.headers.get('cache-control'), 'no-store')
      }
    })
  const asPersisted = (id: string) => ({
    extensions: { persistedQuery: { version: 1, sha256Hash: id } },
  })
  test('an unknown id where Apollo and urql send it has the message that they compare, and the remedy in details', async () => {
    for (const [on, remedy] of [
      [world, 'send its text as `query`, or have'],
      [closed, 'have'],
    ] as const) {
      const { json } = await post(asPersisted(digest('{ nothing }')), {}, 2, on)
      const message = `Document ${digest('{ nothing }')} not found: ${remedy} the operator put it into the folder that DUET_DOCUMENTS names`
      assert.deepEqual(json.errors, [
        {
          message: 'PersistedQueryNotFound',
          extensions: {
            code: 'PERSISTED_QUERY_NOT_FOUND',
            details: [{ field: 'extensions.persistedQuery.sha256Hash', message }],
          },
        },
      ])
    }
    const extensions = JSON.stringify(asPersisted('x').extensions)
    const { json } = await get({ extensions })
    assert.equal(json.errors[0].message, 'PersistedQueryNotFound')
  })
  test('where nothing is stored, clients are told to send texts from then on', async () => {
    await using bare = await createWorld()
    const persisted = await post(asPersisted(digest('{ nothing }')), {}, 2, bare)
    assert.equal(persisted.json.errors[0].message, 'PersistedQueryNotSupported')
    const named = await post({ documentId: unknown }, {}, 2, bare)
    assert.match(named.json.errors[0].message, /^Document sha256:.* not found: send its text/)
    for (const answered of [persisted, named])
      assert.equal(codeOf(answered), 'PERSISTED_QUERY_NOT_SUPPORTED')
    // The text that they send then, beside the id.
    const query = '{ __typename }'
    const sent = await post({ query, ...asPersisted(digest(query)) }, {}, 2, bare)
    assert.deepEqual(sent.json, { data: { __typename: 'Query' } })
  })
  test('an id with a digest in capitals, of other bytes or far too long names nothing', async () => {
    const long = 'x'.repeat(100_000)
    for (const documentId of [idOf(newest).toUpperCase(), idOf(newest.trim()), 'toString', long]) {
      const answered = await post({ documentId })
      assert.equal(codeOf(answered), 'PERSISTED_QUERY_NOT_FOUND')
      assert.ok(answered.text.length < 1000)
    }
  })
  test('a request that sends a text of Apollo’s protocol beside its id is answered by the text', async () => {
    const extensions = { persistedQuery: { version: 1, sha256Hash: digest(newest) } }
    const { json } = await post({ query: '{ __typename }', extensions })
    assert.deepEqual(json, { data: { __typename: 'Query' } })
  })
  for (const [name, body] of [
    ['a text and an id', { query: newest, documentId: idOf(newest) }],
    ['an empty id', { documentId: '' }],
    ['an id that is a number', { documentId: 7 }],
    ['an id of Apollo’s that is a list', { extensions: { persistedQuery: { sha256Hash: [] } } }],
    ['neither a text nor an id', { extensions: { persistedQuery: {} } }],
  ] as const)
    test(`${name} is 400`, async () => {
      const answered = await post(body)
      assert.deepEqual([answered.status, codeOf(answered)], [400, 'MALFORMED_REQUEST'])
    })
})

describe('a service of stored documents only', () => {
  const ask = (query: string, accept = graphqlJson) =>
    post({ query }, { Accept: accept }, 2, closed)
  test('a stored document is served by its id and by its text', async () => {
    const byId = await post({ documentId: idOf(users) }, {}, 2, closed)
    assert.equal(byId.status, 200)
    assert.equal((await ask(users)).text, byId.text)
  })
  for (const query of ['{ __typename }', `${users} `, '{ __schema { queryType { name } } }', '{'])
    test(`${query} is refused, since nobody stored it`, async () => {
      const answered = await ask(query)
      assert.deepEqual([answered.status, codeOf(answered)], [400, 'PERSISTED_QUERY_ONLY'])
      assert.match(answered.json.errors[0].message, /DUET_DOCUMENTS/)
      assert.equal((await ask(query, 'application/json')).status, 200)
    })
  test('an unknown id is not told to send a text', async () => {
    const { json } = await post({ documentId: 'nothing' }, {}, 2, closed)
    assert.match(json.errors[0].message, /^Document nothing not found: have the operator put it/)
  })
  test('GraphiQL does not ask for the schema, which is no stored document', async () => {
    const page = (on: World) => on.ask('GET /graphql', { headers: { Accept: 'text/html' } })
    assert.match((await page(closed)).text, /data-introspection="off"/)
    assert.match((await page(world)).text, /data-introspection="on"/)
  })
})

test('a GraphQL API that cannot be opened says so in its own shape, is not opened again, and leaves REST as it is', async () => {
  const documents = [{ from: 'broken.graphql', text: '{ nope }', ids: ['broken'] }]
  await using broken = await createWorld({ stored: { documents, only: false } })
  const body = { query: '{ __typename }' }
  for (const line of ['POST /graphql', 'POST /graphql', 'GET /graphql/schema.graphql']) {
    const answer = await broken.ask(line, line.startsWith('POST') ? { body } : {})
    assert.equal(answer.status, 500)
    assert.deepEqual(Object.keys(answer.json), ['errors'])
    const [{ extensions }] = answer.json.errors
    assert.equal(extensions.code, 'INTERNAL')
    assert.equal(extensions.requestId, answer.headers.get('x-request-id'))
  }
  const bugs = broken.events.flatMap(event => (event.kind === 'bug' ? [event.error] : []))
  assert.equal(bugs.length, 3)
  assert.equal(new Set(bugs).size, 1)
  assert.equal((await broken.ask('GET /api/posts')).status, 200)
})
