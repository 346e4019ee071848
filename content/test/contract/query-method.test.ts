/** QUERY (RFC 10008) at the lists of REST and at GraphQL: what GET answers, with the request in a body. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { refuses, refusesInput } from '../rest.ts'
import { type Answered, createWorld, forAllTests, pluck } from '../world.ts'

const form = 'application/x-www-form-urlencoded'

const world = forAllTests(createWorld)

type Headers = Record<string, string>

/** The types of the bodies of QUERY at a path. */
const typesAt = (path: string) => (path.startsWith('/api/v2') ? `${form}, application/json` : form)

const get = (path: string, headers: Headers = {}, as = 2) =>
  world.ask(`GET ${path}`, { as, headers })

const query = (
  path: string,
  raw: string | Uint8Array<ArrayBuffer>,
  headers: Headers = {},
  as = 2,
) => world.ask(`QUERY ${path}`, { as, raw, headers: { 'Content-Type': form, ...headers } })

/** What an answer says, without what belongs to the request alone. */
const said = ({ status, text, headers }: Answered) => {
  const own = ['x-request-id', 'server-timing']
  return { status, text, headers: [...headers].filter(([name]) => !own.includes(name)) }
}

const lists: readonly (readonly [string, string])[] = [
  ['/api/users', 'sort=name&order=desc&limit=2&fields=id,name'],
  ['/api/products', 'category=lighting&sort=-price'],
  ['/api/products', 'search=caf%C3%A9+bowl&page=1'],
  ['/api/v1/posts', 'limit=1'],
  ['/api/posts/1/comments', ''],
  ['/api/users/2/posts', 'limit=2'],
  ['/api/comments/1/likes', 'limit=1'],
  ['/api/orders', ''],
  ['/api/v2/products', 'sort=-createdAt&limit=2&in_stock=true'],
  ['/api/v2/users', 'page=2&limit=1'],
]

describe('QUERY of a list', () => {
  for (const [path, parameters] of lists)
    test(`QUERY ${path} with ${parameters || 'nothing'} answers as GET does, and is 304 by the same ETag`, async () => {
      const wanted = await get(`${path}${parameters && `?${parameters}`}`)
      assert.equal(wanted.status, 200)
      const answered = await query(path, parameters)
      assert.deepEqual(said(answered), said(wanted))
      assert.equal(answered.headers.get('accept-query'), typesAt(path))
      const tag = answered.headers.get('etag') ?? ''
      const again = await query(path, parameters, { 'If-None-Match': tag })
      assert.deepEqual([again.status, again.text], [304, ''])
      assert.equal(again.headers.get('etag'), tag)
    })
  test('parameters of the URL hold beside those of the body, and one in both is given twice', async () => {
    const wanted = await get('/api/users?sort=name&limit=2')
    assert.equal((await query('/api/users?sort=name', 'limit=2')).text, wanted.text)
    refusesInput(await query('/api/users?limit=1', 'limit=2'), ['limit'])
  })
  test('faults of the parameters in a body are told as those of a URL', async () => {
    const fields = ['limit', 'sort']
    refusesInput(await query('/api/users', 'limit=x&sort=x'), fields)
    const unknown = await query('/api/v2/products', 'catgory=x')
    refusesInput(unknown, ['catgory'])
    assert.match(unknown.json.detail, /did you mean category/)
    const ignored = await query('/api/products', 'catgory=x')
    assert.deepEqual([ignored.status, ignored.headers.get('duet-ignored')], [200, 'catgory'])
  })
  test('a question mark before the parameters of a body belongs to the first name, as in a form', async () => {
    const ignored = await query('/api/products', '?limit=1')
    assert.equal(ignored.headers.get('duet-ignored'), '%3Flimit')
    assert.equal(ignored.text, (await get('/api/products')).text)
    assert.equal((await get('/api/products??limit=1')).headers.get('duet-ignored'), '%3Flimit')
    const refused = await query('/api/v2/products', '?limit=1')
    refusesInput(refused, ['?limit'])
    assert.match(refused.json.detail, /did you mean limit/)
  })
  test('a version is named beside the body, not in it', async () => {
    const answered = await query('/api/products?version=2', 'sort=createdAt')
    assert.equal(answered.headers.get('api-version'), '2')
    assert.equal(answered.status, 200)
    for (const body of ['version=2', 'limit=1&versio%6e=1'])
      refusesInput(await query('/api/products', body), ['version'])
  })
  test('parameters too long for a URL are read, and links that nobody could follow are left out', async () => {
    const long = `search=${'x'.repeat(6000)}&limit=1`
    assert.equal((await get(`/api/products?${long}`)).status, 414)
    const answered = await query('/api/products', long)
    assert.deepEqual(answered.json.data, [])
    assert.equal(answered.headers.get('link'), null)
    assert.match((await query('/api/products', 'limit=1')).headers.get('link') ?? '', /rel="next"/)
  })
  const bad: readonly (readonly [
    string,
    string | Uint8Array<ArrayBuffer>,
    Headers,
    number,
    string,
  ])[] = [
    ['text', 'limit=1', { 'Content-Type': 'text/plain' }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
    [
      'Latin-1',
      'a=1',
      { 'Content-Type': `${form}; charset=latin1` },
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    ],
    ['a compressed body', 'a=1', { 'Content-Encoding': 'gzip' }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['bytes that are not UTF-8', Uint8Array.of(0x61, 0x3d, 0xff), {}, 400, 'MALFORMED_REQUEST'],
    ['more than 16 KiB', `search=${'x'.repeat(16_384)}`, {}, 413, 'PAYLOAD_TOO_LARGE'],
  ]
  for (const [name, body, headers, status, code] of bad)
    test(`${name} as the body is ${status}, after 401, 403 and 404`, async () => {
      for (const prefix of ['/api', '/api/v2']) {
        const answered = await query(`${prefix}/users`, body, headers)
        refuses(answered, status, code)
        assert.equal(answered.headers.get('accept-query'), status === 415 ? typesAt(prefix) : null)
        refuses(await query(`${prefix}/users/99/posts`, body, headers), 404, 'NOT_FOUND')
        const anonymous = { ...headers, Authorization: '' }
        refuses(await query(`${prefix}/users`, body, anonymous), 401, 'UNAUTHENTICATED')
      }
    })
  const json = { 'Content-Type': 'application/json' }
  test('a JSON body is a condition in a strict version, and 415 in a lenient one', async () => {
    const where = { or: [{ stock: { lt: 9 } }, { category: 'none' }], price: { gt: 0 } }
    const asked = await query('/api/v2/products?sort=-price', JSON.stringify({ where }), json)
    const inUrl = `where=${encodeURIComponent(JSON.stringify(where))}`
    const wanted = await get(`/api/v2/products?sort=-price&${inUrl}`)
    assert.equal(wanted.status, 200)
    assert.ok(wanted.json.data.length > 0)
    assert.deepEqual(said(asked), said(wanted))
    const lenient = await query('/api/products', JSON.stringify({ where }), json)
    refuses(lenient, 415, 'UNSUPPORTED_MEDIA_TYPE')
    assert.equal(lenient.headers.get('accept-query'), form)
    const ignored = await get(`/api/products?${inUrl}&stock[gte]=x`)
    assert.equal(ignored.text, (await get('/api/products')).text)
  })
  test('a faulty JSON body is refused, after 401 and 404', async () => {
    for (const [body, status, code] of [
      ['{', 400, 'MALFORMED_REQUEST'],
      ['{"where":{},"where":{}}', 400, 'MALFORMED_REQUEST'],
      ['{"limit":1}', 422, 'VALIDATION_ERROR'],
      ['{"where":{"nme":1}}', 422, 'VALIDATION_ERROR'],
    ] as const) {
      refuses(await query('/api/v2/users', body, json), status, code)
      refuses(await query('/api/v2/users/99/posts', body, json), 404, 'NOT_FOUND')
      const anonymous = { ...json, Authorization: '' }
      refuses(await query('/api/v2/users', body, anonymous), 401, 'UNAUTHENTICATED')
    }
    const fields = ['where.or.1.price.gtee', 'stok[gt]']
    const { json: told, status } = await query(
      '/api/v2/products?stok[gt]=1',
      '{"where":{"or":[{},{"price":{"gtee":1}}]}}',
      json,
    )
    assert.equal(status, 422)
    assert.deepEqual(pluck(told.errors, 'field').toSorted(), fields.toSorted())
  })
  test('a declared parameter keeps its meaning, and shared caches get no answer that looks at other rows', async () => {
    const all = await world.ask('GET /api/v2/products?category=')
    assert.equal(all.json.pagination.total, (await get('/api/v2/products')).json.pagination.total)
    const publicly = await world.ask('GET /api/v2/products?stock[gte]=1')
    assert.match(publicly.headers.get('cache-control') ?? '', /^public/)
    for (const parameters of ['comments.id=1', 'where={"not":{"comments":{"none":{}}}}']) {
      const { status, headers } = await world.ask(`GET ${encodeURI(`/api/v2/posts?${parameters}`)}`)
      assert.equal(status, 200)
      assert.match(headers.get('cache-control') ?? '', /^private/)
      assert.match(headers.get('vary') ?? '', /Authorization/)
    }
    refuses(await world.ask('GET /api/v2/posts?author.email[ne]=x'), 401, 'UNAUTHENTICATED')
  })
  test('a QUERY that says no type for its body, or none for no body, is 415', async () => {
    const raw = new TextEncoder().encode('limit=1')
    refuses(await world.ask('QUERY /api/posts', { raw }), 415, 'UNSUPPORTED_MEDIA_TYPE')
    refuses(await world.ask('QUERY /api/posts', {}), 415, 'UNSUPPORTED_MEDIA_TYPE')
  })
  test('one thing and what is no list have no QUERY', async () => {
    for (const path of ['/api/users/2', '/api/users/2/avatar', '/api/reports/generate', '/healthz'])
      assert.equal((await query(path, '')).status, 405, path)
  })
  test('a preflight names QUERY, and OPTIONS the type of its bodies', async () => {
    for (const [path, type] of [
      ['/api/products', form],
      ['/api/v2/products', typesAt('/api/v2/products')],
      ['/graphql', 'application/json'],
    ] as const) {
      const { status, headers } = await world.ask(`OPTIONS ${path}`, {
        headers: { Origin: 'https://a.example', 'Access-Control-Request-Method': 'QUERY' },
      })
      assert.equal(status, 204)
      assert.match(headers.get('access-control-allow-methods') ?? '', /\bQUERY\b/)
      assert.equal(headers.get('accept-query'), type)
    }
    const { headers } = await world.ask('OPTIONS /api/users/2')
    assert.equal(headers.get('accept-query'), null)
  })
})

describe('QUERY of GraphQL', () => {
  const json = { 'Content-Type': 'application/json' }
  const ask = (body: object, headers: Headers = {}, as = 2) =>
    query('/graphql', JSON.stringify(body), { ...json, ...headers }, as)
  const document = 'query Q($id: ID!) { user(id: $id) { name } }'
  test('QUERY answers as GET does, and is 304 by the same ETag', async () => {
    const variables = { id: '3' }
    const inUrl = new URLSearchParams({ query: document, variables: JSON.stringify(variables) })
    const wanted = await get(`/graphql?${inUrl}`)
    const answered = await ask({ query: document, variables })
    assert.deepEqual(said(answered), said(wanted))
    assert.equal(answered.headers.get('accept-query'), 'application/json')
    const tag = answered.headers.get('etag') ?? ''
    const again = await ask({ query: document, variables }, { 'If-None-Match': tag })
    assert.deepEqual([again.status, again.text], [304, ''])
  })
  test('a mutation by QUERY is refused with 405, also under a key, and nothing is written [D13]', async () => {
    const mutation = 'mutation { updateUser(id: "2", input: {age: 99}) { id } }'
    const answered = await ask({ query: mutation }, { 'Idempotency-Key': 'a' })
    assert.deepEqual([answered.status, answered.headers.get('allow')], [405, 'POST'])
    const { json } = await world.gql('{ user(id: "2") { age } }', { as: 2 })
    assert.notEqual(json.data.user.age, 99)
  })
  test('a body that is no JSON is refused with the type that is read', async () => {
    const answered = await query('/graphql', `query=${document}`)
    assert.equal(answered.status, 415)
    assert.equal(answered.headers.get('accept-query'), 'application/json')
    assert.equal((await query('/graphql', '[]', json)).status, 400)
    assert.equal((await query('/graphql', '', json)).status, 400)
  })
  test('QUERY never shows a page, whatever a browser says', async () => {
    const answered = await ask({ query: '{ __typename }' }, { Accept: 'text/html, */*;q=0.1' })
    assert.equal(answered.text, '{"data":{"__typename":"Query"}}')
  })
})
