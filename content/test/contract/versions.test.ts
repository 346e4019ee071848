/** Versions 1 and 2 of the REST API: how a request names one, what is answered if it cannot, and what differs between them. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { versions } from '#content/versions.ts'
import { createLimiter } from '#http/limit/limiter.ts'
import { createQueue } from '#http/queue.ts'
import { header } from '#http/request.ts'
import type { Version } from '#model/version.ts'
import { refuses, refusesInput } from '../rest.ts'
import { type Answered, type Asking, createWorld, forAllTests, pluck } from '../world.ts'

const none = createLimiter({ limit: 0, now: Date.now })
const open = createQueue({ wait: 60_000, writeWait: 60_000, size: 1000 })
const full = createQueue({ wait: 60_000, writeWait: 60_000, size: 0 })
let isFull = false
const world = forAllTests(() =>
  createWorld({
    edge: {
      // Who says so has no request left.
      limiter: {
        ...none,
        count: (c, viewer) =>
          header(c, 'x-test-limit') === undefined ? undefined : none.count(c, viewer),
        checkAddress: () => {},
      },
      queue: { ...open, enter: entry => (isFull ? full : open).enter(entry) },
    },
  }),
)
after(none.close)

type Headers = Readonly<Record<string, string>>

const ask = (line: string, headers: Headers = {}, as = 2, body?: unknown) =>
  world.ask(line, { as, headers, ...(body !== undefined && { body }) })
const get = (path: string, headers: Headers = {}) => ask(`GET ${path}`, headers)

const json = 'application/json; charset=utf-8'
const typeOf = (version: number) => `application/vnd.duet.v${version}+json; charset=utf-8`
const accept = (...ranges: string[]): { Accept: string } => ({
  Accept: ranges.map(range => range.replace(/^v/, 'application/vnd.duet.v')).join(', '),
})

// ---- How a version is named.

/** A path and headers, and the version and type that they are answered with. */
type NamingRow = readonly [path: string, headers: Headers, version: number, type: string]

const post = '/api/posts/1'
const product = '/api/products/1'

const namings: Readonly<Record<string, readonly NamingRow[]>> = {
  'a version is named by path, Accept, API-Version and query alike; without one it is 1': [
    [product, {}, 1, json],
    ...versions.all.flatMap((version): readonly NamingRow[] => [
      [`/api/v${version}/products/1`, {}, version, json],
      [product, { 'API-Version': `${version}` }, version, json],
      [`${product}?version=${version}`, {}, version, json],
      [product, accept(`v${version}+json`), version, typeOf(version)],
      [
        `/api/v${version}/products/1?version=${version}`,
        { 'API-Version': `${version}` },
        version,
        json,
      ],
      [`/api/v${version}/products/1`, accept(`v${version}+json`), version, typeOf(version)],
    ]),
  ],
  'version 1 can be named in each way, alone or all together': [
    [post, { 'API-Version': '1' }, 1, json],
    [`${post}?version=1`, {}, 1, json],
    [post, { Accept: '*/*' }, 1, json],
    [post, { Accept: 'application/json' }, 1, json],
    [post, { Accept: 'text/html, application/vnd.other.v9+json' }, 1, json],
    [`${post}?version=1`, { 'API-Version': '1', Accept: 'application/json' }, 1, json],
    ['/api/v1/posts/1?version=1', { 'API-Version': '1', ...accept('v1+json') }, 1, typeOf(1)],
  ],
  'a version named by Accept is answered with its media type': [
    post,
    '/api/posts',
    '/api/v1/users/2',
  ].flatMap((path): readonly NamingRow[] => [
    [path, accept('v1+json'), 1, typeOf(1)],
    [path, accept('text/html', 'v1+json; q=0.9'), 1, typeOf(1)],
  ]),
  'Accept chooses among versions by weight, and a weight of 0 refuses': [
    [product, accept('v1+json;q=0.1', 'v2+json'), 2, typeOf(2)],
    [product, accept('v2+json;q=0.1', 'v1+json;q=0.2'), 1, typeOf(1)],
    [product, accept('v1+json;q=0', 'v2+json;q=0.3'), 2, typeOf(2)],
    [product, accept('v9+json', 'v2+json;q=0.5'), 2, typeOf(2)],
    [product, accept('v2+json;q=0.1', 'application/json'), 1, json],
    [product, accept('v2+json', '*/*;q=0.5'), 2, typeOf(2)],
    [product, accept('v2+json', '*/*'), 2, typeOf(2)],
    [product, accept('v9+json', 'application/json;q=0.5'), 1, json],
    [product, accept('v2+json;q=0', 'text/html'), 1, json],
    [product, { Accept: 'APPLICATION/VND.DUET.V2+JSON' }, 2, typeOf(2)],
    ['/api/v2/products/1', accept('v1+json', 'v2+json'), 2, typeOf(2)],
  ],
}

for (const [title, rows] of Object.entries(namings))
  test(title, async () => {
    const plain = await get(post)
    for (const [path, headers, version, type] of rows) {
      const about = `${path} ${JSON.stringify(headers)}`
      const answer = await get(path, headers)
      assert.equal(answer.status, 200, `${about} ${answer.text}`)
      assert.equal(answer.headers.get('api-version'), String(version), about)
      assert.equal(answer.headers.get('content-type'), type, about)
      if (path.startsWith(post)) assert.equal(answer.text, plain.text, about)
      if (path.includes('/products/'))
        assert.ok((version === 1 ? 'created_at' : 'createdAt') in answer.json, about)
    }
  })

/** A path and headers that name no version, with the status and the code that they are refused with. */
type RefusalRow = readonly [path: string, headers: Headers, status: number, code: string]

const unknown = ['99', '0', '01', '1.0', '1e0', '-1', 'x', '', '999999999999']
const contradictions: readonly (readonly [string, Headers])[] = [
  ['/api/v1/posts/1', { 'API-Version': '2' }],
  ['/api/v1/posts/1', accept('v2+json')],
  ['/api/v1/posts/1?version=2', {}],
  ['/api/posts/1?version=1&version=2', {}],
  ['/api/posts/1?version=1', { 'API-Version': '2' }],
  ['/api/posts/1', { 'API-Version': '1', ...accept('v2+json') }],
  ['/api/posts/1?version=2', accept('v1+json')],
  ['/api/v1/products/1', accept('v2+json')],
  ['/api/v2/products/1', accept('v1+json')],
  ['/api/products/1?version=2', { 'API-Version': '1' }],
  ['/api/v2/products/1', { 'API-Version': '1' }],
  ['/api/v2/products/1?version=1', {}],
  ['/api/products/1', { 'API-Version': '2', ...accept('v1+json') }],
]

const refusals: Readonly<Record<string, readonly RefusalRow[]>> = {
  'an unknown version is 404 by path, 406 by Accept, 400 by header and by query': [
    ...['99', '0', '10', '999999999999'].flatMap((version): readonly RefusalRow[] => [
      [`/api/v${version}/posts/1`, {}, 404, 'UNSUPPORTED_VERSION'],
      [`/api/v${version}/nothing`, {}, 404, 'UNSUPPORTED_VERSION'],
    ]),
    ...[...unknown, '0x1'].map(
      (version): RefusalRow => [post, accept(`v${version}+json`), 406, 'UNSUPPORTED_VERSION'],
    ),
    ...[...unknown, 'v1', '1, 1'].flatMap((version): readonly RefusalRow[] => [
      [post, { 'API-Version': version }, 400, 'UNSUPPORTED_VERSION'],
      [`${post}?version=${version}`, {}, 400, 'UNSUPPORTED_VERSION'],
    ]),
    [`${post}?version`, {}, 400, 'UNSUPPORTED_VERSION'],
    ...[accept('v9+json'), accept('v1+json;q=0'), accept('v9+json', 'v8+json')].map(
      (headers): RefusalRow => [product, headers, 406, 'UNSUPPORTED_VERSION'],
    ),
  ],
  'two different versions in one request are 400, as are those that Accept does not fit':
    contradictions.map(([path, headers]) => [path, headers, 400, 'MALFORMED_REQUEST']),
}

for (const [title, rows] of Object.entries(refusals))
  test(title, async () => {
    for (const [path, headers, status, code] of rows)
      refuses(await get(path, headers), status, code)
  })

test('an empty version is 400 by header and by query, and is told as such', async () => {
  for (const [path, headers] of [
    ['/api/users', { 'API-Version': '' }],
    ['/api/users?version=', {}],
  ] as const) {
    const answer = await world.ask(`GET ${path}`, { headers })
    refuses(answer, 400, 'UNSUPPORTED_VERSION')
    const said = 'The version of the API that the request names is empty; offered: 1, 2'
    assert.equal(answer.json.error.message, said)
  }
})

test('the path comes before the method, the method before the token, the token before the version', async () => {
  const headers = { Authorization: 'Bearer nonsense', 'API-Version': '9' }
  refuses(await world.ask('PUT /api/nothing', { headers }), 404, 'NOT_FOUND')
  refuses(await world.ask('PUT /api/posts', { headers }), 405, 'METHOD_NOT_ALLOWED')
  refuses(await world.ask('GET /api/posts', { headers }), 401, 'UNAUTHENTICATED')
  const anonymous = await world.ask('GET /api/users', { headers: { 'API-Version': '9' } })
  refuses(anonymous, 400, 'UNSUPPORTED_VERSION')
})

test('every answer of the REST API says its version', async () => {
  const lines = [
    'GET /api/posts',
    'GET /api/posts/99',
    'GET /api/nothing',
    'PUT /api/posts',
    'OPTIONS /api/posts',
    'HEAD /api/posts',
    'DELETE /api/comments/1/likes',
    'GET /api/users/1/avatar',
    'GET /api/users/%zz',
    'GET /api/v99/posts',
  ]
  for (const line of lines) {
    assert.equal((await world.ask(line, { as: 2 })).headers.get('api-version'), '1', line)
    const newer = line.replace('/api', '/api/v2')
    assert.equal((await world.ask(newer, { as: 2 })).headers.get('api-version'), '2', newer)
  }
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

// ---- Each way to name a version, alone, twice and in contradiction, at each check that comes before the version is known.

type Way = 'path' | 'header' | 'query' | 'accept'
type Named = Readonly<Partial<Record<Way, Version>>>

const ways: readonly Way[] = ['path', 'header', 'query', 'accept']
const other = (version: Version): Version => (version === 1 ? 2 : 1)

const alone: readonly Named[] = versions.all.flatMap(version =>
  ways.map((way): Named => ({ [way]: version })),
)
const pairs = ways.flatMap(one => ways.filter(two => two !== one).map(two => [one, two] as const))
const agreeing: readonly Named[] = versions.all.flatMap(version => [
  ...pairs.map(([one, two]): Named => ({ [one]: version, [two]: version })),
  { path: version, header: version, query: version, accept: version },
])
const conflicting: readonly Named[] = versions.all.flatMap(version =>
  pairs.map(([one, two]): Named => ({ [one]: version, [two]: other(version) })),
)

type Check = {
  readonly line: string
  readonly status: number
  readonly code: string
  readonly asking?: Asking
  readonly isFull?: boolean
}

/** The checks before the version is looked at. */
const checks: readonly Check[] = [
  { line: 'GET /nothing', status: 404, code: 'NOT_FOUND' },
  { line: 'PUT /posts', status: 405, code: 'METHOD_NOT_ALLOWED' },
  {
    line: 'GET /users',
    status: 401,
    code: 'UNAUTHENTICATED',
    asking: { headers: { Authorization: 'Bearer x.y.z' } },
  },
  { line: `GET /products?search=${'a'.repeat(4096)}`, status: 414, code: 'URI_TOO_LONG' },
  { line: 'GET /users/%zz', status: 400, code: 'MALFORMED_REQUEST' },
  {
    line: 'GET /products',
    status: 429,
    code: 'RATE_LIMITED',
    asking: { headers: { 'X-Test-Limit': '0' } },
  },
  { line: 'GET /products', status: 503, code: 'OVERLOADED', isFull: true },
]

/** The checks behind it, which a contradiction forestalls. */
const later: readonly Check[] = [
  { line: 'GET /users', status: 401, code: 'UNAUTHENTICATED' },
  { line: 'GET /products/99', status: 404, code: 'NOT_FOUND' },
  {
    line: 'POST /products',
    status: 413,
    code: 'PAYLOAD_TOO_LARGE',
    asking: {
      as: 1,
      raw: new Uint8Array(1_048_577),
      headers: { 'Content-Type': 'application/json' },
    },
  },
]

const send = async (
  { line, asking = {}, isFull: shed = false }: Pick<Check, 'line' | 'asking' | 'isFull'>,
  { path, header, query, accept }: Named,
): Promise<Answered> => {
  const [method, where = ''] = line.split(' ')
  const prefix = path === undefined ? '/api' : `/api/v${path}`
  const parameter = query === undefined ? '' : `${where.includes('?') ? '&' : '?'}version=${query}`
  const headers = {
    ...asking.headers,
    ...(header !== undefined && { 'API-Version': String(header) }),
    ...(accept !== undefined && { Accept: `application/vnd.duet.v${accept}+json` }),
  }
  isFull = shed
  const answer = await world.ask(`${method} ${prefix}${where}${parameter}`, { ...asking, headers })
  isFull = false
  return answer
}

const versionOf = (named: Named): Version => Math.max(...Object.values(named)) as Version

const tellsVersion = (answer: Answered, named: Named, about: string) =>
  assert.equal(answer.headers.get('api-version'), String(versionOf(named)), about)

for (const [how, all] of [
  ['alone', alone],
  ['twice', agreeing],
] as const)
  test(`a version that is named ${how} has the shape of every error, whatever the check`, async () => {
    for (const named of all)
      for (const check of [...checks, ...later]) {
        const answer = await send(check, named)
        tellsVersion(answer, named, `${JSON.stringify(named)} ${check.line.slice(0, 40)}`)
        refuses(answer, check.status, check.code)
      }
  })

test('what comes before the version is told before a contradiction, in the newest shape that is named', async () => {
  for (const named of conflicting)
    for (const check of checks) {
      const answer = await send(check, named)
      tellsVersion(answer, named, `${JSON.stringify(named)} ${check.line.slice(0, 40)}`)
      refuses(answer, check.status, check.code)
    }
})

test('a contradiction is told before everything behind it', async () => {
  for (const named of conflicting)
    for (const check of [...later, { line: 'GET /products/1' }, { line: 'GET /posts' }]) {
      const answer = await send(check, named)
      tellsVersion(answer, named, `${JSON.stringify(named)} ${check.line}`)
      refuses(answer, 400, 'MALFORMED_REQUEST')
    }
})

test('HEAD says what GET says, without its body', async () => {
  for (const named of [...alone, ...agreeing, ...conflicting])
    for (const check of [...checks, { line: 'GET /products/1' }, { line: 'GET /posts' }]) {
      if (check.line.startsWith('PUT')) continue
      const get = await send(check, named)
      const head = await send({ ...check, line: check.line.replace('GET', 'HEAD') }, named)
      assert.equal(head.text, '')
      assert.equal(head.status, get.status, `${JSON.stringify(named)} ${check.line.slice(0, 40)}`)
      for (const name of ['api-version', 'content-type', 'etag', 'cache-control', 'vary'])
        assert.equal(head.headers.get(name), get.headers.get(name), name)
    }
})

test('OPTIONS is answered whatever is named, with the version that is', async () => {
  for (const named of [...alone, ...agreeing, ...conflicting]) {
    const answer = await send({ line: 'OPTIONS /products' }, named)
    assert.equal(answer.status, 204)
    tellsVersion(answer, named, JSON.stringify(named))
    assert.equal(answer.headers.get('allow'), 'GET, HEAD, QUERY, POST, OPTIONS')
  }
})

test('a write whose answer is too large is told in the shape of its version', async () => {
  await using small = await createWorld({ engine: { limits: { objects: 100, bytes: 100 } } })
  const body = { name: 'a'.repeat(99), email: 'long@example.org' }
  for (const version of versions.all) {
    const answer = await small.ask(`POST /api/v${version}/users`, { body })
    refuses(answer, 400, 'RESPONSE_TOO_LARGE')
  }
})

// ---- What differs.

test('a numbered list of version 2 has a cursor wherever there is more, by which a client comes to the end; version 1 has none', async () => {
  for (const [path, as] of [
    ['/products?', undefined],
    ['/products?sort=-price,name&in_stock=true&', undefined],
    ['/products?sort=-stock&fields=id&', 2],
    ['/users?', 2],
    ['/users?sort=-name&', 1],
  ] as const) {
    const ask = async (line: string, by: number | undefined = as) =>
      (await world.ask(`GET ${line}`, by === undefined ? {} : { as: by })).json
    const whole = await ask(`/api/v2${path}limit=100`)
    const idsOf = ({ data }: { data: readonly { id: number }[] }) => data.map(({ id }) => id)
    for (const begin of ['limit=1', 'limit=2', 'limit=2&page=2']) {
      const found: number[] = []
      let page = await ask(`/api/v2${path}${begin}`)
      const limit = page.pagination.limit
      for (let count = 0; count < 100; count++) {
        found.push(...idsOf(page))
        const { hasNext, nextCursor } = page.pagination
        assert.equal(typeof nextCursor, hasNext ? 'string' : 'object', path)
        if (!hasNext) break
        page = await ask(`/api/v2${path}limit=${limit}&cursor=${nextCursor}`)
      }
      assert.deepEqual(found, idsOf(whole).slice(begin.includes('page') ? 2 : 0), `${path}${begin}`)
    }
  }
  for (const path of ['/api/products?limit=1', '/api/v1/users?limit=1']) {
    const { pagination } = (await world.ask(`GET ${path}`, { as: 2 })).json
    assert.deepEqual([pagination.hasNext, 'nextCursor' in pagination], [true, false])
  }
  // A list that is the same for all may come from a cache that they share, and so may its cursors.
  const { pagination } = (await world.ask('GET /api/v2/products?limit=1')).json
  const next = `GET /api/v2/products?limit=1&cursor=${pagination.nextCursor}`
  for (const as of [1, 2] as const) assert.equal((await world.ask(next, { as })).status, 200)
  const users = (await world.ask('GET /api/v2/users?limit=1', { as: 2 })).json
  const own = `GET /api/v2/users?limit=1&cursor=${users.pagination.nextCursor}`
  assert.equal((await world.ask(own, { as: 2 })).status, 200)
  assert.equal((await world.ask(own, { as: 3 })).status, 422)
})

test('version 2 has one envelope for all lists', async () => {
  const page = (await get('/api/v2/products?limit=2&page=2')).json
  assert.deepEqual(Object.keys(page), ['data', 'pagination'])
  const { pagination } = (await get('/api/products?limit=2&page=2')).json
  const { nextCursor } = page.pagination
  assert.deepEqual(page.pagination, { ...pagination, nextCursor })
  assert.equal(typeof nextCursor, pagination.hasNext ? 'string' : 'object')
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
  assert.deepEqual(pluck(rest.data, 'id'), pluck(same.data, 'id'))
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
    else refusesInput(second, [parameter])
  }
  const near = await get('/api/v2/products?catgory=light')
  assert.match(near.json.detail, /did you mean category\?/)
})

test('version 2 sorts by createdAt in both directions and refuses unknown values', async () => {
  const ids = async (query: string) =>
    pluck((await get(`/api/v2/products?limit=100&${query}`)).json.data, 'id')
  const newest = await ids('sort=-createdAt')
  assert.deepEqual(newest, (await ids('sort=createdAt')).toReversed())
  assert.deepEqual(await ids('sort=-id'), (await ids('sort=id')).toReversed())
  for (const sort of ['created_at', 'x', 'price,x', '', '--id', 'nameKey', 'id.x'])
    refusesInput(await get(`/api/v2/products?sort=${sort}`), ['sort'])
  refusesInput(await get('/api/v2/products?fields=created_at'), ['fields'])
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
    refusesInput(second, [/(\w+)=/.exec(query)?.[1] ?? ''])
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

test('version 2 refuses what is no id, which no row has in version 1', async () => {
  for (const value of ['abc', '1.5', '0', '007', '99999999999999999999'])
    for (const [path, field] of [
      ['/api/v2/orders', 'customerId'],
      ['/api/v2/posts', 'id'],
      ['/api/v2/posts', 'authorId[ne]'],
      ['/api/v2/posts', 'comments.authorId[in]'],
    ] as const) {
      const answer = await ask(`GET ${path}?${field}=${value}`, {}, 1)
      refusesInput(answer, [field])
      assert.match(answer.json.errors[0].message, /must be an id, a whole number from 1 on/)
    }
  refusesInput(await ask('GET /api/v2/posts?id[notIn]=1,abc', {}, 1), ['id[notIn]'])
  assert.deepEqual((await ask('GET /api/orders?customerId=abc', {}, 1)).json.data, [])
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

test('a key that was used in one version is not replayed to another [C5]', async () => {
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
