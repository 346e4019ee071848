/** What the REST API owes HTTP: methods, request ids, tokens. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readsOf, refuses } from '../rest.ts'
import { createWorld, forAllTests } from '../world.ts'

const world = forAllTests(createWorld)

const read = readsOf(world)

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
  test(`${path} has ${methods}; any other method is 405 with Allow, before the token is looked at [F9, G17]`, async () => {
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

test('a method in a header or a parameter is no method [F5]', async () => {
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

test('a sane request id comes back, in the header and in the error', async () => {
  for (const id of ['abc', 'a'.repeat(128), '0a:b/c+d=e@f.g_h-i', crypto.randomUUID()]) {
    const answer = await read('/api/posts/99', { 'X-Request-Id': id })
    assert.equal(answer.headers.get('x-request-id'), id)
    assert.equal(answer.json.error.requestId, id)
  }
})

test('any other request id is replaced by one of ours [G6]', async () => {
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

test('a URL of 4,096 characters is read, a longer one is 414 [G3]', async () => {
  const origin = 'http://localhost'
  const path = (length: number) =>
    `/api/posts?x=${'a'.repeat(length - origin.length - '/api/posts?x='.length)}`
  assert.equal((await read(path(4096))).status, 200)
  refuses(await read(path(4097)), 414, 'URI_TOO_LONG')
  refuses(await read(`/api/nothing${'/a'.repeat(4096)}`), 414, 'URI_TOO_LONG')
})

test('an answer that is no page loads nothing and is in no frame [F8, G20]', async () => {
  const policy = "default-src 'none'; frame-ancestors 'none'"
  const lines = ['GET /api/posts', 'GET /api/posts/999', 'GET /nothing', 'GET /healthz']
  for (const line of [...lines, 'GET /graphql?query={__typename}', 'GET /assets/mark.svg']) {
    const { headers } = await world.ask(line, { as: 2 })
    assert.equal(headers.get('content-security-policy'), policy, line)
  }
})
