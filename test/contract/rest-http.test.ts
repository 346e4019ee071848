/** What the REST API owes HTTP: methods, other origins, request ids, versions, tokens. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { refuses } from '../rest.ts'
import { createWorld, type World } from '../world.ts'

let world: World
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const reads = [
  '/api/users',
  '/api/users/2',
  '/api/users/2/posts',
  '/api/users/2/posts/3',
  '/api/users/2/avatar',
  '/api/posts',
  '/api/posts/1',
  '/api/posts/1/comments',
  '/api/posts/1/comments/1',
  '/api/comments/1',
  '/api/comments/1/likes',
  '/api/products?search=%C3%A9',
  '/api/products/4',
]
const read = (path: string, headers: Record<string, string> = {}, as: number | 'anonymous' = 2) =>
  world.ask(`GET ${path}`, { as, headers })

const methodsAt = {
  '/api/users': 'GET, HEAD, QUERY, POST, OPTIONS',
  '/api/users/2': 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS',
  '/api/users/2/posts': 'GET, HEAD, QUERY, POST, OPTIONS',
  '/api/users/2/posts/1': 'GET, HEAD, OPTIONS',
  '/api/users/2/avatar': 'PUT, DELETE, GET, HEAD, OPTIONS',
  '/api/posts': 'GET, HEAD, QUERY, OPTIONS',
  '/api/posts/1': 'GET, HEAD, PATCH, DELETE, OPTIONS',
  '/api/posts/1/comments': 'GET, HEAD, QUERY, POST, OPTIONS',
  '/api/posts/1/comments/1': 'GET, HEAD, DELETE, OPTIONS',
  '/api/comments/1': 'GET, HEAD, OPTIONS',
  '/api/comments/1/likes': 'GET, HEAD, QUERY, POST, DELETE, OPTIONS',
  '/api/products': 'GET, HEAD, QUERY, POST, OPTIONS',
  '/api/products/1': 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS',
}
const sorted = (list: string | null) => (list ?? '').split(', ').sort()

for (const [path, methods] of Object.entries(methodsAt))
  test(`${path} has ${methods}; any other method is 405 with Allow, before the token is looked at`, async () => {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND', 'QUERY', 'get']) {
      if (methods.split(', ').includes(method.toUpperCase())) continue
      for (const prefixed of [path, path.replace('/api', '/api/v1')]) {
        const headers = { Authorization: 'Bearer nonsense' }
        const answer = await world.ask(`${method} ${prefixed}`, {
          headers,
          body: method === 'GET' ? undefined : {},
        })
        refuses(answer, 405, 'METHOD_NOT_ALLOWED')
        assert.deepEqual(sorted(answer.headers.get('allow')), sorted(methods))
      }
    }
    const options = await world.ask(`OPTIONS ${path}`)
    assert.equal(options.status, 204)
    assert.deepEqual(sorted(options.headers.get('allow')), sorted(methods))
    assert.equal(options.headers.get('api-version'), '1')
  })

test('a path that is nothing is 404 by every method, OPTIONS too', async () => {
  const paths = [
    '/api',
    '/api/',
    '/api/nothing',
    '/api/users/',
    '/api/users/2/',
    '/api//users',
    '/API/users',
    '/api/Users',
    '/api/users/2/posts/1/comments',
    '/api/users;x=1',
    '/api/comments',
    '/api/likes',
    '/api/user',
    '/api/v1',
    '/api/v1/nothing',
    '/api/.env',
    '/api/products.json',
  ]
  for (const path of paths)
    for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS'])
      refuses(await world.ask(`${method} ${path}`, { as: 1 }), 404, 'NOT_FOUND')
})

const messageOf = async (line: string) => {
  const { json } = await world.ask(line, { as: 1, ...(line.startsWith('POST') && { body: {} }) })
  return json.error?.message ?? json.detail
}

test('a misspelt path is told the one that it is near to, and no other is told any', async () => {
  for (const [path, meant] of [
    ['/api/user', '/api/users'],
    ['/api/prodcuts/3', '/api/products/3'],
    ['/api/v2/user/1/post', '/api/v2/users/1/posts'],
    ['/api/users/1/actions/promote-to-admn', '/api/users/1/actions/promote-to-admin'],
    ['/api/users/', '/api/users'],
    ['/products', '/api/products'],
    ['/grapql', '/graphql'],
  ])
    assert.equal(
      await messageOf(`GET ${path}`),
      `Path ${path} not found; did you mean ${meant}? /docs lists the paths of the REST API`,
    )
  for (const path of [
    '/nosuch',
    '/api/x',
    '/api/users//posts',
    `/api/user${'/a'.repeat(200)}`,
    '/api//',
  ])
    assert.equal(
      await messageOf(`GET ${path}`),
      `Path ${path} not found; /docs lists the paths of the REST API`,
    )
})

test('a POST to a collection says below which parent its things are created', async () => {
  for (const [path, place] of [
    ['/api/posts', '/api/users/{userId}/posts'],
    ['/api/v2/posts', '/api/v2/users/{userId}/posts'],
    ['/api/comments', '/api/posts/{postId}/comments'],
  ]) {
    const message = await messageOf(`POST ${path}`)
    assert.ok(
      message.includes(`; ${path?.split('/').at(-1)} are created by POST ${place}`),
      message,
    )
  }
  assert.doesNotMatch(await messageOf('POST /api/customers'), /created/)
  assert.doesNotMatch(await messageOf('DELETE /api/posts'), /created/)
})

test('a method in a header or a parameter is no method', async () => {
  const headers = { 'X-HTTP-Method-Override': 'DELETE', 'X-Method-Override': 'DELETE' }
  assert.equal(
    (await world.ask('GET /api/products/1?_method=DELETE', { as: 1, headers })).status,
    200,
  )
  refuses(
    await world.ask('POST /api/products/1?_method=DELETE', { as: 1, headers, body: {} }),
    405,
    'METHOD_NOT_ALLOWED',
  )
  assert.equal((await read('/api/products/1')).status, 200)
})

const exposed =
  'ETag, Link, Location, API-Version, Deprecation, Sunset, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id, Idempotency-Replayed, Duet-Position, Duet-Position-Status, Duet-Ignored, Server-Timing'

test('every origin may read by default, without credentials, and sees the headers of the contract', async () => {
  for (const path of [...reads, '/api/posts/99', '/api/nothing', '/api/posts?limit=x'])
    for (const origin of ['https://app.example.org', 'null', undefined]) {
      const { headers } = await read(path, origin === undefined ? {} : { Origin: origin })
      assert.equal(headers.get('access-control-allow-origin'), '*')
      assert.equal(headers.get('access-control-expose-headers'), exposed)
      assert.equal(headers.get('access-control-allow-credentials'), null)
    }
})

test('a preflight request is answered without a token', async () => {
  const { status, headers, text } = await world.ask('OPTIONS /api/users/2', {
    headers: {
      Origin: 'https://app.example.org',
      'Access-Control-Request-Method': 'PATCH',
      'Access-Control-Request-Headers': 'authorization,content-type,if-match',
    },
  })
  assert.equal(status, 204)
  assert.equal(text, '')
  assert.equal(headers.get('access-control-allow-origin'), '*')
  assert.match(headers.get('access-control-allow-methods') ?? '', /\bPATCH\b/)
  for (const name of [
    'Authorization',
    'Content-Type',
    'If-Match',
    'If-None-Match',
    'API-Version',
    'Idempotency-Key',
  ])
    assert.ok(headers.get('access-control-allow-headers')?.includes(name), name)
})

const listed = ['https://app.example.org', 'http://localhost:5173']

/** Two hundred that look like a listed one and are others. */
const foreignOrigins = (): readonly string[] => {
  const schemes = ['https://', 'http://', 'ws://', 'file://', 'https:', '']
  const hosts = [
    ...[
      'app.example.org',
      'APP.example.org',
      'app.example.org.',
      'app.example.org/',
      '.app.example.org',
    ],
    ...[
      'app.example.org:443',
      'app.example.org:80',
      'app.example.org:8443',
      'app.example.org?',
      'app.example.org#',
    ],
    ...[
      'evil-app.example.org',
      'app-example.org',
      'appXexample.org',
      'example.org',
      'app.example.or',
    ],
    ...[
      'app.example.org.evil.com',
      'evil.com/app.example.org',
      'evil.com?app.example.org',
      'evil.com#app.example.org',
    ],
    ...[
      'app.example.org@evil.com',
      'evil.com@app.example.org',
      'x.app.example.org',
      'app.example.organ',
    ],
    ...[
      'localhost',
      'localhost:5174',
      'localhost:51730',
      'localhost:05173',
      'LOCALHOST:5173',
      '127.0.0.1:5173',
      '[::1]:5173',
    ],
    ...[
      'app.example.org, https://app.example.org',
      'app.example.org https://evil.com',
      'app%2eexample.org',
      '*',
      'null',
    ],
  ]
  const all = schemes.flatMap(scheme => hosts.map(host => `${scheme}${host}`))
  return all.filter(origin => !listed.includes(origin))
}

test('where origins are listed, just those may read, and Vary says Origin', async () => {
  const other = await createWorld({ edge: { origins: listed } })
  const foreign = foreignOrigins()
  assert.ok(foreign.length >= 200, `${foreign.length}`)
  for (const origin of [...listed, ...foreign, undefined])
    for (const line of [
      'GET /api/posts/1',
      'GET /api/posts/99',
      'GET /api/users',
      'OPTIONS /api/posts',
    ]) {
      const { headers } = await other.ask(line, {
        headers: origin === undefined ? {} : { Origin: origin },
      })
      const isListed = origin !== undefined && listed.includes(origin)
      const allowed = headers.get('access-control-allow-origin')
      assert.equal(allowed, isListed ? origin : null, `${origin} ${line}`)
      assert.match(headers.get('vary') ?? '', /\bOrigin\b/)
      assert.equal(headers.get('access-control-allow-credentials'), null)
    }
  await other.close()
})

test('a sane request id comes back, in the header and in the error', async () => {
  for (const id of ['abc', 'a'.repeat(128), '0a:b/c+d=e@f.g_h-i', crypto.randomUUID()]) {
    const answer = await read('/api/posts/99', { 'X-Request-Id': id })
    assert.equal(answer.headers.get('x-request-id'), id)
    assert.equal(answer.json.error.requestId, id)
  }
})

test('any other request id is replaced by one of ours', async () => {
  for (const id of ['', 'a b', 'a'.repeat(129), '<script>', 'a\tb', '"', 'é', 'a,b', 'a;b', '{}']) {
    const { headers } = await read('/api/posts', { 'X-Request-Id': id })
    assert.match(
      headers.get('x-request-id') ?? '',
      /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/,
    )
  }
})

test('every answer carries its own request id', async () => {
  const lines = [
    'GET /api/posts',
    'GET /api/posts',
    'OPTIONS /api/posts',
    'GET /api/nothing',
    'DELETE /api/posts',
    'GET /api/users/%zz',
  ]
  const ids = await Promise.all(
    lines.map(async line => (await world.ask(line)).headers.get('x-request-id')),
  )
  assert.equal(new Set(ids).size, lines.length)
  assert.ok(!ids.includes(null))
})

const vendor = (version: string) => ({ Accept: `application/vnd.duet.v${version}+json` })

test('version 1 can be named by path, Accept, API-Version and query, each alone or all together', async () => {
  const plain = await read('/api/posts/1')
  const named: [string, Record<string, string>][] = [
    ['/api/posts/1', { 'API-Version': '1' }],
    ['/api/posts/1?version=1', {}],
    ['/api/posts/1', { Accept: '*/*' }],
    ['/api/posts/1', { Accept: 'application/json' }],
    ['/api/posts/1', { Accept: 'text/html, application/vnd.other.v9+json' }],
    ['/api/posts/1?version=1', { 'API-Version': '1', Accept: 'application/json' }],
  ]
  for (const [path, headers] of named) {
    const answer = await read(path, headers)
    assert.equal(answer.text, plain.text)
    assert.equal(answer.headers.get('api-version'), '1')
    assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8')
  }
  const all = await read('/api/v1/posts/1?version=1', { 'API-Version': '1', ...vendor('1') })
  assert.equal(all.status, 200)
})

test('a version named by Accept is answered with its media type', async () => {
  for (const path of ['/api/posts/1', '/api/posts', '/api/v1/users/2'])
    for (const accept of [
      'application/vnd.duet.v1+json',
      'text/html, application/vnd.duet.v1+json; q=0.9',
    ]) {
      const answer = await read(path, { Accept: accept })
      assert.equal(
        answer.headers.get('content-type'),
        'application/vnd.duet.v1+json; charset=utf-8',
      )
      assert.equal(answer.status, 200)
    }
})

test('an unknown version is 404 by path, 406 by Accept, 400 by header and by query', async () => {
  for (const version of ['99', '0', '10', '999999999999']) {
    refuses(await read(`/api/v${version}/posts/1`), 404, 'UNSUPPORTED_VERSION')
    refuses(await read(`/api/v${version}/nothing`), 404, 'UNSUPPORTED_VERSION')
  }
  for (const version of ['99', '0', '01', '1.0', '1e0', '0x1', '-1', 'x', '', '999999999999'])
    refuses(await read('/api/posts/1', vendor(version)), 406, 'UNSUPPORTED_VERSION')
  for (const version of [
    '99',
    '0',
    '01',
    '1.0',
    '1e0',
    '-1',
    'x',
    '',
    'v1',
    '1, 1',
    '999999999999',
  ]) {
    refuses(await read('/api/posts/1', { 'API-Version': version }), 400, 'UNSUPPORTED_VERSION')
    refuses(await read(`/api/posts/1?version=${version}`), 400, 'UNSUPPORTED_VERSION')
  }
  refuses(await read('/api/posts/1?version'), 400, 'UNSUPPORTED_VERSION')
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

test('two different versions in one request are 400', async () => {
  const asked: [string, Record<string, string>][] = [
    ['/api/v1/posts/1', { 'API-Version': '2' }],
    ['/api/v1/posts/1', vendor('2')],
    ['/api/v1/posts/1?version=2', {}],
    ['/api/posts/1?version=1&version=2', {}],
    ['/api/posts/1?version=1', { 'API-Version': '2' }],
    ['/api/posts/1', { 'API-Version': '1', ...vendor('2') }],
    ['/api/posts/1?version=2', vendor('1')],
  ]
  for (const [path, headers] of asked) refuses(await read(path, headers), 400, 'MALFORMED_REQUEST')
})

test('the path comes before the method, the method before the token, the token before the version', async () => {
  const bad = { Authorization: 'Bearer nonsense', 'API-Version': '9' }
  refuses(await world.ask('PUT /api/nothing', { headers: bad }), 404, 'NOT_FOUND')
  refuses(await world.ask('PUT /api/posts', { headers: bad }), 405, 'METHOD_NOT_ALLOWED')
  refuses(await world.ask('GET /api/posts', { headers: bad }), 401, 'UNAUTHENTICATED')
  refuses(await read('/api/users', { 'API-Version': '9' }, 'anonymous'), 400, 'UNSUPPORTED_VERSION')
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

test('a bad token is refused on public reads too, and the challenge says so', async () => {
  for (const path of reads)
    for (const Authorization of ['Bearer nonsense', 'Bearer', 'Basic YTpi', '']) {
      const answer = await read(path, { Authorization }, 'anonymous')
      refuses(answer, 401, 'UNAUTHENTICATED')
      assert.match(
        answer.headers.get('www-authenticate') ?? '',
        /^Bearer realm="duet", error="invalid_token"/,
      )
    }
})

test('a URL of 4,096 characters is read, a longer one is 414', async () => {
  const origin = 'http://localhost'
  const path = (length: number) =>
    `/api/posts?x=${'a'.repeat(length - origin.length - '/api/posts?x='.length)}`
  assert.equal((await read(path(4096))).status, 200)
  refuses(await read(path(4097)), 414, 'URI_TOO_LONG')
  refuses(await read(`/api/nothing${'/a'.repeat(4096)}`), 414, 'URI_TOO_LONG')
})

test('an answer that is no page loads nothing and is in no frame', async () => {
  const policy = "default-src 'none'; frame-ancestors 'none'"
  const lines = ['GET /api/posts', 'GET /api/posts/999', 'GET /nothing', 'GET /healthz']
  for (const line of [...lines, 'GET /graphql?query={__typename}', 'GET /assets/mark.svg']) {
    const { headers } = await world.ask(line, { as: 2 })
    assert.equal(headers.get('content-security-policy'), policy, line)
  }
})
