/** Versions 1 and 2 of the REST API: named in four ways, and what differs between them. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { refuses } from '../rest.ts'
import { createWorld, type World } from '../world.ts'

let world: World
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const ask = (line: string, headers: Record<string, string> = {}, as = 2, body?: unknown) =>
  world.ask(line, { as, headers, ...(body !== undefined && { body }) })
const get = (path: string, headers: Record<string, string> = {}) => ask(`GET ${path}`, headers)

const json = 'application/json; charset=utf-8'
const typeOf = (version: number) => `application/vnd.duet.v${version}+json; charset=utf-8`
const accept = (...ranges: string[]): { Accept: string } => ({
  Accept: ranges.map(range => range.replace(/^v/, 'application/vnd.duet.v')).join(', '),
})

test('a version is named by path, Accept, API-Version and query alike; without one it is 1', async () => {
  for (const version of [1, 2]) {
    const member = version === 1 ? 'created_at' : 'createdAt'
    const ways: (readonly [string, Record<string, string>, string])[] = [
      [`/api/v${version}/products/1`, {}, json],
      ['/api/products/1', { 'API-Version': `${version}` }, json],
      [`/api/products/1?version=${version}`, {}, json],
      ['/api/products/1', accept(`v${version}+json`), typeOf(version)],
      [`/api/v${version}/products/1?version=${version}`, { 'API-Version': `${version}` }, json],
      [`/api/v${version}/products/1`, accept(`v${version}+json`), typeOf(version)],
      ...(version === 1 ? [['/api/products/1', {}, json] as const] : []),
    ]
    for (const [path, headers, type] of ways) {
      const answer = await get(path, headers)
      assert.equal(answer.status, 200, answer.text)
      assert.equal(answer.headers.get('api-version'), String(version), path)
      assert.equal(answer.headers.get('content-type'), type)
      assert.ok(member in answer.json, `${path} ${answer.text}`)
    }
  }
})

test('Accept chooses among versions by weight, and a weight of 0 refuses', async () => {
  const cases: [{ Accept: string }, number, string][] = [
    [accept('v1+json;q=0.1', 'v2+json'), 2, typeOf(2)],
    [accept('v2+json;q=0.1', 'v1+json;q=0.2'), 1, typeOf(1)],
    [accept('v1+json;q=0', 'v2+json;q=0.3'), 2, typeOf(2)],
    [accept('v9+json', 'v2+json;q=0.5'), 2, typeOf(2)],
    [accept('v2+json;q=0.1', 'application/json'), 1, json],
    [accept('v2+json', '*/*;q=0.5'), 2, typeOf(2)],
    [accept('v2+json', '*/*'), 2, typeOf(2)],
    [accept('v9+json', 'application/json;q=0.5'), 1, json],
    [accept('v2+json;q=0', 'text/html'), 1, json],
    [{ Accept: 'APPLICATION/VND.DUET.V2+JSON' }, 2, typeOf(2)],
  ]
  for (const [headers, version, type] of cases) {
    const answer = await get('/api/products/1', headers)
    assert.equal(answer.status, 200, `${headers.Accept} ${answer.text}`)
    assert.equal(answer.headers.get('api-version'), String(version), headers.Accept)
    assert.equal(answer.headers.get('content-type'), type, headers.Accept)
  }
  for (const headers of [accept('v9+json'), accept('v1+json;q=0'), accept('v9+json', 'v8+json')])
    refuses(await get('/api/products/1', headers), 406, 'UNSUPPORTED_VERSION')
})

test('a path, header or query that Accept does not fit is a contradiction', async () => {
  for (const [path, headers] of [
    ['/api/v1/products/1', accept('v2+json')],
    ['/api/v2/products/1', accept('v1+json')],
    ['/api/products/1?version=2', { 'API-Version': '1' }],
    ['/api/v2/products/1', { 'API-Version': '1' }],
    ['/api/v2/products/1?version=1', {}],
    ['/api/products/1', { 'API-Version': '2', ...accept('v1+json') }],
  ] as [string, Record<string, string>][])
    refuses(await get(path, headers), 400, 'MALFORMED_REQUEST')
  const both = accept('v1+json', 'v2+json')
  assert.equal((await get('/api/v2/products/1', both)).headers.get('content-type'), typeOf(2))
})

test('errors that come before the version is looked at have the shape of the one that is named', async () => {
  const bad = { Authorization: 'Bearer nonsense' }
  for (const [line, headers] of [
    ['GET /api/v2/users', bad],
    ['GET /api/users', { ...bad, 'API-Version': '2' }],
    ['GET /api/users', { ...bad, ...accept('v2+json') }],
    ['GET /api/users?version=2', bad],
  ] as const) {
    const answer = await world.ask(line, { headers })
    assert.equal(answer.headers.get('api-version'), '2')
    refuses(answer, 401, 'UNAUTHENTICATED')
  }
  refuses(await get('/api/v2/nothing'), 404, 'NOT_FOUND')
  refuses(await ask('PUT /api/v2/posts'), 405, 'METHOD_NOT_ALLOWED')
  refuses(await get(`/api/v2/products?search=${'a'.repeat(4096)}`), 414, 'URI_TOO_LONG')
  refuses(await get('/api/v2/users/%zz'), 400, 'MALFORMED_REQUEST')
  refuses(await get('/api/v2/products', { 'API-Version': '9' }), 400, 'MALFORMED_REQUEST')
})

test('version 2 has one envelope for all lists', async () => {
  const page = (await get('/api/v2/products?limit=2&page=2')).json
  assert.deepEqual(Object.keys(page), ['data', 'pagination'])
  const { pagination } = (await get('/api/products?limit=2&page=2')).json
  assert.deepEqual(page.pagination, { ...pagination, nextCursor: null })
  const first = (await get('/api/v2/posts?limit=2')).json
  assert.deepEqual(Object.keys(first), ['data', 'pagination'])
  assert.deepEqual(Object.keys(first.pagination), ['limit', 'hasNext', 'nextCursor'])
  assert.deepEqual([first.pagination.limit, first.pagination.hasNext], [2, true])
  const last = (await get(`/api/v2/posts?limit=2&cursor=${first.pagination.nextCursor}`)).json
  assert.deepEqual(last.pagination, { limit: 2, hasNext: false, nextCursor: null })
})

test('a cursor and an If-Match of one version hold in the other', async () => {
  const { nextCursor } = (await get('/api/v1/posts?limit=2')).json
  const rest = (await get(`/api/v2/posts?limit=2&cursor=${nextCursor}`)).json
  const same = (await get(`/api/posts?limit=2&cursor=${nextCursor}`)).json
  assert.deepEqual(
    rest.data.map(({ id }: { id: number }) => id),
    same.data.map(({ id }: { id: number }) => id),
  )
  const old = await get('/api/v1/posts/1')
  const tag = old.headers.get('etag') ?? ''
  const body = { title: 'Again' }
  const changed = await ask('PATCH /api/v2/posts/1', { 'If-Match': tag }, 2, body)
  assert.equal(changed.status, 200, changed.text)
  refuses(
    await ask('PATCH /api/v1/posts/1', { 'If-Match': tag }, 2, body),
    412,
    'PRECONDITION_FAILED',
  )
  const newer = changed.headers.get('etag') ?? ''
  assert.equal((await get('/api/v2/posts/1')).headers.get('etag'), newer)
  assert.equal((await ask('PATCH /api/posts/1', { 'If-Match': newer }, 2, {})).status, 200)
})

test('the ETags of two versions differ, also where the bodies do not', async () => {
  for (const path of ['/api/posts/2', '/api/posts', '/api/products/1', '/api/posts/1/comments']) {
    const first = await get(path)
    const second = await get(path, { 'API-Version': '2' })
    const tag = first.headers.get('etag') ?? ''
    assert.notEqual(tag, second.headers.get('etag'), path)
    const sent = { 'API-Version': '2', 'If-None-Match': tag }
    assert.equal((await get(path, sent)).status, 200)
    const own = { 'API-Version': '2', 'If-None-Match': second.headers.get('etag') ?? '' }
    const unchanged = await get(path, own)
    assert.deepEqual([unchanged.status, unchanged.headers.get('api-version')], [304, '2'])
  }
})

test('version 2 refuses unknown parameters everywhere, which version 1 ignores', async () => {
  const product = { name: 'Lamp', category: 'light', price: 5 }
  for (const [line, body] of [
    ['GET /api/products?catgory=light'],
    ['GET /api/products/1?field=id'],
    ['GET /api/posts?page=2'],
    ['GET /api/users/1?x=1'],
    ['GET /api/users/1/avatar?size=4'],
    ['POST /api/products?x=1', product],
    ['PATCH /api/products/1?x=1', {}],
    ['DELETE /api/posts/99?x=1'],
    ['POST /api/reports/generate?x=1', { type: 'users' }],
  ] as const) {
    const parameter = /\?(\w+)/.exec(line)?.[1] ?? ''
    const first = await ask(line, {}, 1, body)
    assert.ok(first.status < 300 || first.status === 404, `${line} ${first.text}`)
    const second = await ask(line.replace('/api', '/api/v2'), {}, 1, body)
    if (first.status === 404) refuses(second, 404, 'NOT_FOUND')
    else refuses(second, 422, 'VALIDATION_ERROR', [parameter])
  }
  const near = await get('/api/v2/products?catgory=light')
  assert.match(near.json.detail, /did you mean category\?/)
})

test('version 2 sorts by createdAt in both directions and refuses unknown values', async () => {
  const ids = async (query: string) =>
    (await get(`/api/v2/products?limit=100&${query}`)).json.data.map(({ id }: { id: number }) => id)
  const newest = await ids('sort=-createdAt')
  assert.deepEqual(newest, (await ids('sort=createdAt')).toReversed())
  for (const sort of ['created_at', 'x', 'price,x', '', '-id'])
    refuses(await get(`/api/v2/products?sort=${sort}`), 422, 'VALIDATION_ERROR', ['sort'])
  refuses(await get('/api/v2/products?fields=created_at'), 422, 'VALIDATION_ERROR', ['fields'])
  assert.deepEqual(
    (await get('/api/products?sort=-createdAt')).json.data,
    (await get('/api/products')).json.data,
  )
})

test('version 2 refuses words that a filter does not have, which no row has in version 1', async () => {
  for (const [query, words] of [
    ['users?role=king', 'user, admin'],
    ['users?status=gone', 'active, suspended'],
    ['orders?status=payed', 'pending, paid, cancelled, refunded'],
    ['products?in_stock=maybe', 'true or false'],
  ] as const) {
    const second = await ask(`GET /api/v2/${query}`, {}, 1)
    refuses(second, 422, 'VALIDATION_ERROR', [/(\w+)=/.exec(query)?.[1] ?? ''])
    for (const word of words.split(/, | or /)) assert.match(second.json.detail, new RegExp(word))
    assert.equal((await ask(`GET /api/${query}`, {}, 1)).status, 200)
  }
  for (const query of [
    'users?role=',
    'users?role=admin',
    'products?in_stock=',
    'products?in_stock=false',
  ])
    assert.ok((await ask(`GET /api/v2/${query}`, {}, 1)).json.data.length > 0, query)
})

test('links lead to the version that the request came in with', async () => {
  const { _links } = (await get('/api/v2/posts/1')).json
  assert.deepEqual(_links.self, { href: '/api/v2/posts/1' })
  const list = await get('/api/v2/posts?limit=1')
  assert.match(list.headers.get('link') ?? '', /<\/api\/v2\/posts\?limit=1&cursor=/)
  const made = await ask('POST /api/v2/users/2/posts', {}, 2, { title: 'a', content: 'b' })
  assert.equal(made.headers.get('location'), `/api/v2/posts/${made.json.id}`)
  const named = (await get('/api/posts/1', { 'API-Version': '2' })).json
  assert.deepEqual(named._links.self, { href: '/api/posts/1' })
})

test('a key that was used in one version is not replayed to another', async () => {
  const key = { 'Idempotency-Key': 'one-version' }
  const body = { name: 'Desk', category: 'room', price: 50 }
  const first = await ask('POST /api/products', key, 1, body)
  assert.equal(first.status, 201, first.text)
  const other = await ask('POST /api/products', { ...key, 'API-Version': '2' }, 1, body)
  refuses(other, 422, 'IDEMPOTENCY_KEY_REUSED')
  const again = await ask('POST /api/products', { ...key, 'API-Version': '1' }, 1, body)
  assert.equal(again.text, first.text)
  const second = { 'Idempotency-Key': 'second', 'API-Version': '2' }
  const made = await ask('POST /api/products', second, 1, body)
  assert.ok('createdAt' in made.json)
  assert.equal((await ask('POST /api/products', second, 1, body)).text, made.text)
})

test('faults name members as the version of the request does', async () => {
  const body = { name: 'x', category: 'y', price: 1, createdAt: 'x', created_at: 'x' }
  const first = await ask('POST /api/products', {}, 1, body)
  const second = await ask('POST /api/v2/products', {}, 1, body)
  for (const [answer, own, other] of [
    [first.json.error.details, 'created_at', 'createdAt'],
    [second.json.errors, 'createdAt', 'created_at'],
  ] as const) {
    const faults = Object.fromEntries(
      answer.map(({ field, message }: { field: string; message: string }) => [field, message]),
    )
    assert.match(faults[own] ?? '', /set by the service/)
    assert.match(faults[other] ?? '', /not a member of a product/)
  }
})

test('version 1 names the parameters that it ignores, in development only', async () => {
  const ignored = async (path: string) => (await get(path)).headers.get('duet-ignored')
  assert.equal(await ignored('/api/products?catgory=light&limit=2&version=1'), 'catgory')
  assert.equal(await ignored('/api/users/1?fields=id&expand=posts&x%20y=%C3%A9'), 'expand, x%20y')
  assert.equal(await ignored('/api/users/1/avatar?size=4'), 'size')
  assert.equal(await ignored('/api/products?category=light&sort=price'), null)
  assert.equal(await ignored('/api/v2/products?category=light'), null)
  const production = await createWorld({ development: false })
  const answer = await production.ask('GET /api/products?catgory=light', { as: 2 })
  await production.close()
  assert.deepEqual([answer.status, answer.headers.get('duet-ignored')], [200, null])
})
