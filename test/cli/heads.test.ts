/** Requests over a socket whose head two parsers could understand differently. */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { duet, folderOf, type Service, serve } from '../duet.ts'

const folder = folderOf('heads')
let service: Service
before(async () => {
  service = await serve(folder.fresh().settings)
})
after(() => service.end())

/** The status and body of the answer to a request with these header lines. */
const ask = async (line: string, ...headers: readonly string[]) => {
  const { hostname, port } = new URL(service.url)
  const socket = connect(Number(port), hostname)
  const head = [/ HTTP\//.test(line) ? line : `${line} HTTP/1.1`, 'Connection: close', ...headers]
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  const answer = await text(socket)
  return {
    status: Number(answer.split(' ', 2)[1]),
    code: /"code":"(\w+)"/.exec(answer)?.[1],
  }
}

const many = (n: number) => Array.from({ length: n }, (_, at) => `X-${at}: 1`)

test('a request with 100 headers is answered', async () => {
  assert.equal((await ask('GET /api/posts', 'Host: a', ...many(98))).status, 200)
})

test('a request with 101 headers is refused with 431', async () => {
  assert.deepEqual(await ask('GET /api/posts', 'Host: a', ...many(99)), {
    status: 431,
    code: 'HEADERS_TOO_MANY',
  })
})

test('a request with two Host headers is refused with 400', async () => {
  assert.deepEqual(await ask('GET /api/posts', 'Host: a', 'hOsT: a'), {
    status: 400,
    code: 'MALFORMED_REQUEST',
  })
})

for (const path of [
  '/api/users/%2e%2e/posts',
  '/api/%2E/posts',
  '/api/posts%2ejson',
  '/%2e',
  '/x/%2e%2e/verify-email',
  '/assets/pages%2ecss',
])
  test(`${path} is not found, and not resolved`, async () => {
    assert.deepEqual(await ask(`GET ${path}`, 'Host: a'), { status: 404, code: 'NOT_FOUND' })
  })

for (const path of ['/', '/healthz', '/api/posts', '/graphql', '/nothing', '/assets/pages.css'])
  test(`${path} of HTTP/2.0 is 505, of HTTP/1.0 not`, async () => {
    assert.deepEqual(await ask(`GET ${path} HTTP/2.0`, 'Host: a'), {
      status: 505,
      code: 'HTTP_VERSION_NOT_SUPPORTED',
    })
    assert.notEqual((await ask(`GET ${path} HTTP/1.0`)).status, 505)
  })

test('under a lenient parser of HTTP no service starts', async () => {
  const { settings } = folder.fresh()
  for (const flag of ['--insecure-http-parser', '--no-warnings --insecure_http_parser']) {
    const ended = await duet(['serve'], { ...settings, NODE_OPTIONS: flag })
    assert.equal(ended.code, 1)
    assert.match(ended.stderr, /^duet: --insecure-http-parser .* take it out of NODE_OPTIONS/m)
  }
})

test('encoded dots in a query are allowed', async () => {
  assert.equal((await ask('GET /api/posts?search=a%2eb', 'Host: a')).status, 200)
})
