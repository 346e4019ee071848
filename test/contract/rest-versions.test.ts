/** How a request names its version, and what is answered where it cannot. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { readsOf, refuses } from '../rest.ts'
import { createWorld, type World } from '../world.ts'

let world: World
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const read = readsOf(() => world)

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
