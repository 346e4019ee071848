/** GraphQL over HTTP: methods, media types, statuses; with the 61 audits of graphql-http. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { serverAudits } from 'graphql-http'
import { codeOf } from '../graphql.ts'
import { createWorld, forAllTests } from '../world.ts'

const graphqlJson = 'application/graphql-response+json'
const json = 'application/json'

const world = forAllTests(createWorld)

const get = (parameters: Record<string, string>, headers: Record<string, string> = {}, as = 2) =>
  world.ask(`GET /graphql?${new URLSearchParams(parameters)}`, { as, headers })

const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`

const post = (raw: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
  world.ask('POST /graphql', { raw, headers: { 'Content-Type': json, ...headers } })

describe('the audits of graphql-http', () => {
  const fetchFn = (url: string, init: RequestInit) => world.app.request(url, init)
  const audits = serverAudits({ url: 'http://localhost/graphql', fetchFn })
  test('graphql-http has 61 audits [D16]', () => assert.equal(audits.length, 61))
  for (const { id, name, fn } of audits)
    test(`${id} ${name}`, async () => {
      const result = await fn()
      assert.equal(result.status, 'ok', 'reason' in result ? result.reason : '')
    })
})

describe('the media type of the answer', () => {
  const cases: readonly (readonly [string | undefined, string | 406])[] = [
    [undefined, json],
    ['*/*', json],
    ['application/*', json],
    [json, json],
    ['Application/JSON', json],
    [`${json}; charset=utf-8`, json],
    [`${json};charset="UTF-8"`, json],
    [graphqlJson, graphqlJson],
    [`${graphqlJson}, ${json}`, graphqlJson],
    [`${json}, ${graphqlJson}`, json],
    [`${json};q=0.5, ${graphqlJson}`, graphqlJson],
    [`${graphqlJson};q=0.1, ${json};q=0.9`, json],
    [`${graphqlJson}, */*;q=0.1`, graphqlJson],
    ['text/plain, */*;q=0.1', json],
    ['text/plain', 406],
    ['text/event-stream', 406],
    ['multipart/mixed', 406],
    [`${json}; charset=utf-16`, 406],
    [`${json};q=0`, 406],
    ['image/*', 406],
    ['application', 406],
    ['constructor', 406],
    ['__proto__', 406],
  ]
  for (const [accept, expected] of cases)
    test(`the media type of the answer is ${expected} for Accept: ${accept ?? '(none)'}`, async () => {
      const headers = accept === undefined ? {} : { Accept: accept }
      for (const answered of [
        await post('{"query":"{ __typename }"}', headers),
        await get({ query: '{ __typename }' }, headers),
      ]) {
        assert.equal(answered.status, expected === 406 ? 406 : 200)
        const type = answered.headers.get('content-type')
        assert.equal(type, `${expected === 406 ? json : expected}; charset=utf-8`)
        if (expected === 406) assert.equal(codeOf(answered), 'NOT_ACCEPTABLE')
        else assert.deepEqual(answered.json, { data: { __typename: 'Query' } })
      }
    })
})

describe('the media type of the request', () => {
  const good = [
    json,
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'application/json; charset="utf-8"',
    'APPLICATION/JSON',
  ]
  for (const type of good)
    test(`${type} is read`, async () => {
      const { status } = await post('{"query":"{ __typename }"}', { 'Content-Type': type })
      assert.equal(status, 200)
    })
  const bad = [
    'text/plain',
    'text/plain;application/json',
    'text/json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/graphql',
    'application/jsonp',
    'application/json, text/plain',
    'nonsense',
    ';',
    'application/json; charset=utf-16le',
    'application/json; charset=utf-7',
    'application/json; charset=x-user-defined',
    'application/json; charset=iso-8859-1',
    `application/json; charset=${'x'.repeat(10_000)}`,
  ]
  for (const type of bad)
    for (const accept of [json, graphqlJson])
      test(`${type.slice(0, 60)} is refused with 415 for ${accept} [D14, D15]`, async () => {
        const headers = { 'Content-Type': type, Accept: accept }
        const answered = await post('{"query":"{ __typename }"}', headers)
        assert.equal(answered.status, 415)
        assert.equal(codeOf(answered), 'UNSUPPORTED_MEDIA_TYPE')
      })
  test('a body without a type is refused with 415 [D14]', async () => {
    const body = new TextEncoder().encode('{"query":"{ __typename }"}')
    const answered = await world.ask('POST /graphql', { raw: body })
    assert.equal(answered.status, 415)
  })
  test('a compressed body is refused with 415 [G5]', async () => {
    assert.equal((await post('{"query":"{a}"}', { 'Content-Encoding': 'gzip' })).status, 415)
  })
})

describe('a body that is no GraphQL request is 400 for either type of answer', () => {
  const cases: readonly (readonly [string, string | Uint8Array<ArrayBuffer>])[] = [
    ['nothing', ''],
    ['white space', '  '],
    ['broken JSON', '{"query":'],
    ['a trailing comma', '{"query":"{ __typename }",}'],
    ['a text', '"{ __typename }"'],
    ['a number', '1'],
    ['null', 'null'],
    ['a document that is not JSON', '{ __typename }'],
    ['an array batch', '[{"query":"{ __typename }"},{"query":"{ __typename }"}]'],
    ['an array of a thousand', JSON.stringify(Array(1000).fill({ query: '{ __typename }' }))],
    ['an empty array', '[]'],
    ['no query', '{}'],
    ['query null', '{"query":null}'],
    ['query empty', '{"query":""}'],
    ['query a number', '{"query":1}'],
    ['query an object', '{"query":{"kind":"Document"}}'],
    ['an id instead of a query', '{"id":"abc","variables":{}}'],
    ['variables a text', '{"query":"{ __typename }","variables":"{}"}'],
    ['variables a list', '{"query":"{ __typename }","variables":[]}'],
    ['variables a number', '{"query":"{ __typename }","variables":7}'],
    ['operationName a number', '{"query":"{ __typename }","operationName":7}'],
    ['operationName an object', '{"query":"{ __typename }","operationName":{}}'],
    ['extensions a list', '{"query":"{ __typename }","extensions":[]}'],
    ['a member given twice', '{"query":"{ __typename }","query":"{ users { id } }"}'],
    ['a variable given twice', '{"query":"{ __typename }","variables":{"a":1,"\\u0061":2}}'],
    ['variables nested 40 deep', `{"query":"{ __typename }","variables":{"a":${deep(40)}}}`],
    [
      'variables nested 100,000 deep',
      `{"query":"{ __typename }","variables":{"a":${deep(100_000)}}}`,
    ],
    ['bytes that are not UTF-8', new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d])],
    ['UTF-16', new Uint8Array(Buffer.from('{"query":"{ __typename }"}', 'utf16le'))],
  ]
  for (const [name, body] of cases)
    for (const accept of [json, graphqlJson])
      test(`${name}, ${accept} [D7]`, async () => {
        const answered = await post(body, { Accept: accept })
        assert.equal(answered.status, 400)
        assert.equal(codeOf(answered), 'MALFORMED_REQUEST')
        assert.ok(!('data' in answered.json))
      })
  test('a body above 1 MiB is 413', async () => {
    const answered = await post(`{"query":"${'x'.repeat(1_048_576)}"}`)
    assert.equal(answered.status, 413)
    assert.equal(codeOf(answered), 'PAYLOAD_TOO_LARGE')
  })
  test('unknown members, null operationName, variables and extensions are let pass', async () => {
    const answered = await post(
      '{"query":"{ __typename }","operationName":null,"variables":null,"extensions":null,"x":1}',
    )
    assert.deepEqual(answered.json, { data: { __typename: 'Query' } })
  })
})

describe('statuses', () => {
  const faults: readonly (readonly [string, string, number, string])[] = [
    ['a syntax fault', '{', 400, 'GRAPHQL_PARSE_FAILED'],
    ['a schema fault', '{ nothing }', 400, 'GRAPHQL_VALIDATION_FAILED'],
    ['a missing variable', 'query($id: ID!) { post(id: $id) { id } }', 400, 'BAD_USER_INPUT'],
    ['a right that is lacking', '{ users { id } }', 401, 'UNAUTHENTICATED'],
  ]
  for (const [name, query, status, code] of faults) {
    test(`${name} is 200 for application/json`, async () => {
      const answered = await post(JSON.stringify({ query }), { Accept: json })
      assert.equal(answered.status, 200)
      assert.equal(codeOf(answered), code)
    })
    test(`${name} is ${status} for application/graphql-response+json`, async () => {
      const answered = await post(JSON.stringify({ query }), { Accept: graphqlJson })
      assert.equal(answered.status, status)
      assert.equal(codeOf(answered), code)
      assert.ok(!('data' in answered.json), 'a request that is not run has no data')
    })
  }
  test('an error of a field is 200 for either type and stands beside data', async () => {
    for (const accept of [json, graphqlJson]) {
      const query = '{ posts(authorId: "99") { id } }'
      const answered = await post(JSON.stringify({ query }), { Accept: accept })
      assert.equal(answered.status, 200)
      assert.equal(answered.json.data, null)
      assert.equal(codeOf(answered), 'NOT_FOUND')
    }
  })
  test('a bad token is refused, public reads too: 200 for application/json, 401 otherwise', async () => {
    for (const [accept, status] of [
      [json, 200],
      [graphqlJson, 401],
    ] as const)
      for (const authorization of ['Bearer a.b.c', 'Bearer ', 'Basic eDp5', 'nonsense']) {
        const headers = { Accept: accept, Authorization: authorization }
        const answered = await post('{"query":"{ posts { id } }"}', headers)
        assert.equal(answered.status, status)
        assert.equal(codeOf(answered), 'UNAUTHENTICATED')
        assert.match(
          answered.headers.get('www-authenticate') ?? '',
          /^Bearer realm="duet", error="invalid_token"/,
        )
        assert.ok(!('data' in answered.json))
      }
  })
  test('a missing token is challenged without an error', async () => {
    const answered = await post('{"query":"{ users { id } }"}', { Accept: graphqlJson })
    assert.equal(answered.headers.get('www-authenticate'), 'Bearer realm="duet"')
  })
})

describe('the endpoint', () => {
  test('the endpoint shows GraphiQL to a browser', async () => {
    const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
    const answered = await world.ask('GET /graphql', { headers: { Accept: accept } })
    assert.equal(answered.status, 200)
    assert.match(answered.headers.get('content-type') ?? '', /^text\/html/)
    assert.match(answered.text, /graphiql/)
  })
  test('the endpoint shows GraphiQL to nobody who names JSON first', async () => {
    const headers = { Accept: 'application/json, text/html;q=0.5' }
    const answered = await get({ query: '{ __typename }' }, headers)
    assert.equal(answered.text, '{"data":{"__typename":"Query"}}')
  })
  test('the endpoint answers HEAD as GET without the body', async () => {
    const read = await world.ask('GET /graphql?query={posts{id}}')
    const head = await world.ask('HEAD /graphql?query={posts{id}}')
    assert.equal(head.status, 200)
    assert.equal(head.text, '')
    for (const name of ['etag', 'content-type', 'cache-control', 'vary'])
      assert.equal(head.headers.get(name), read.headers.get(name), name)
    assert.equal(head.headers.get('content-length'), String(read.text.length))
  })
  for (const method of ['PUT', 'PATCH', 'DELETE', 'PROPFIND'])
    test(`the endpoint refuses ${method} with 405 and the methods there are [G17]`, async () => {
      const answered = await world.ask(`${method} /graphql`, { as: 1 })
      assert.equal(answered.status, 405)
      assert.equal(answered.headers.get('allow'), 'POST, QUERY, GET, HEAD, OPTIONS')
    })
  test('the endpoint answers OPTIONS with the methods there are', async () => {
    const answered = await world.ask('OPTIONS /graphql')
    assert.equal(answered.status, 204)
    assert.equal(
      answered.headers.get('access-control-allow-methods'),
      'POST, QUERY, GET, HEAD, OPTIONS',
    )
  })
  test('carries the request id of every answer, the sent one where it is sane', async () => {
    const own = await post('{"query":"{ __typename }"}')
    assert.match(own.headers.get('x-request-id') ?? '', /^[\w-]{36}$/)
    for (const raw of ['{"query":"{ __typename }"}', '{', '{"query":"{"}']) {
      const answered = await post(raw, { 'X-Request-Id': 'abc-1' })
      assert.equal(answered.headers.get('x-request-id'), 'abc-1')
    }
    const page = await world.ask('GET /graphql', { headers: { Accept: 'text/html' } })
    assert.ok(page.headers.get('x-request-id'))
  })
  test('the endpoint may be read from pages of other origins', async () => {
    const answered = await post('{"query":"{ __typename }"}', { Origin: 'https://a.example' })
    assert.equal(answered.headers.get('access-control-allow-origin'), '*')
    assert.match(answered.headers.get('access-control-expose-headers') ?? '', /ETag/)
    assert.equal(answered.headers.get('access-control-allow-credentials'), null)
  })
})
