/** Requests over a socket whose head two parsers could understand differently. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { duet, folderOf, serve } from '#test/market.ts'
import { forAllTests } from '#test/support/fixture.ts'

const folder = folderOf('heads')
const service = forAllTests(() => serve(folder.fresh().settings))

/** The answer to a request with these header lines. */
const answerTo = (line: string, ...headers: readonly string[]): Promise<string> => {
  const { hostname, port } = new URL(service.url)
  const socket = connect(Number(port), hostname)
  const head = [/ HTTP\//.test(line) ? line : `${line} HTTP/1.1`, 'Connection: close', ...headers]
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  return text(socket)
}

/** Its status and the code of its error. */
const ask = async (line: string, ...headers: readonly string[]) => {
  const answer = await answerTo(line, ...headers)
  return { status: Number(answer.split(' ', 2)[1]), code: /"code":"(\w+)"/.exec(answer)?.[1] }
}

const many = (n: number) => Array.from({ length: n }, (_, at) => `X-${at}: 1`)

test('a request with 100 headers is answered [G3]', async () => {
  assert.equal((await ask('GET /api/posts', 'Host: a', ...many(98))).status, 200)
})

test('a request with 101 headers is refused with 431 [G3]', async () => {
  assert.deepEqual(await ask('GET /api/posts', 'Host: a', ...many(99)), {
    status: 431,
    code: 'HEADERS_TOO_MANY',
  })
})

test('what Node cannot read is refused with the error of the API', async () => {
  const malformed = await ask('GET /api/posts', 'Host: a', 'No Header: 1')
  assert.deepEqual(malformed, { status: 400, code: 'MALFORMED_REQUEST' })
  const tooLong = await ask('GET /api/posts', 'Host: a', `X: ${'a'.repeat(17_000)}`)
  assert.deepEqual(tooLong, { status: 431, code: 'HEADERS_TOO_MANY' })
})

test('a request with two Host headers is refused with 400 [G1]', async () => {
  const refused = { status: 400, code: 'MALFORMED_REQUEST' }
  assert.deepEqual(await ask('GET /api/posts', 'Host: a', 'hOsT: a'), refused)
})

test('a request of HTTP/1.1 without a Host header is refused in the shape of all errors', async () => {
  const refused =
    /^HTTP\/1\.1 400 [\s\S]*\r\nX-Request-Id: [\s\S]*"MALFORMED_REQUEST","message":"The request has no Host/i
  assert.match(await answerTo('GET /api/posts'), refused)
  assert.equal((await ask('GET /api/posts HTTP/1.0')).status, 200)
})

test('a request with two tokens is refused with 400, whatever they are', async () => {
  for (const path of ['/api/posts', '/graphql?query={__typename}'])
    for (const [one, other] of [
      ['Authorization: Bearer x', 'authorization: Bearer y'],
      ['Authorization: Bearer x', 'Authorization: Bearer x'],
      ['AUTHORIZATION:', 'Authorization: Bearer x'],
    ] as const)
      assert.deepEqual(await ask(`GET ${path}`, 'Host: a', one, other), {
        status: 400,
        code: 'MALFORMED_REQUEST',
      })
})

const chunks = '\r\n2\r\n{}\r\n0'
const sent = ['Host: a', 'Content-Type: application/json'] as const

test('a body in gzip and chunks is refused with 501, one in chunks is read', async () => {
  for (const coding of ['gzip, chunked', 'deflate,chunked'])
    for (const path of ['/api/users', '/graphql', '/nothing']) {
      const answer = await ask(`POST ${path}`, ...sent, `Transfer-Encoding: ${coding}`, chunks)
      assert.deepEqual(answer, { status: 501, code: 'NOT_IMPLEMENTED' }, coding)
    }
  const answer = await ask('POST /api/users', ...sent, 'Transfer-Encoding: Chunked', chunks)
  assert.deepEqual(answer, { status: 422, code: 'VALIDATION_ERROR' })
})

test('the scheme of a target has no case', async () => {
  for (const scheme of ['http', 'HTTP', 'Https'])
    assert.equal((await ask(`GET ${scheme}://a/api/posts?limit=1`, 'Host: a')).status, 200)
})

test('OPTIONS of the whole server has all its methods', async () => {
  const answer = await answerTo('OPTIONS *', 'Host: a')
  assert.match(answer, /^HTTP\/1.1 204 /)
  assert.match(answer, /^allow: GET, HEAD, QUERY, POST, PUT, PATCH, DELETE, OPTIONS\r$/im)
  assert.equal((await ask('GET *', 'Host: a')).status, 405)
})

for (const [line, host] of [
  ['GET /api/posts', 'a b'],
  ['GET /api/posts', 'a/b'],
  ['GET /api\\posts', 'a'],
  ['GET http://', 'a'],
] as const)
  test(`${line} of the host ${host} is refused with 400 in the shape of all errors`, async () => {
    const answer = await answerTo(line, `Host: ${host}`)
    assert.match(answer, /^HTTP\/1.1 400 .*\{"error":\{"code":"MALFORMED_REQUEST",/s)
    assert.match(answer, /^x-request-id: [\w-]+/im)
  })

for (const path of [
  '/api/users/%2e%2e/posts',
  '/api/%2E/posts',
  '/api/posts%2ejson',
  '/%2e',
  '/x/%2e%2e/verify-email',
  '/assets/pages%2ecss',
  '/api/reports/../posts',
  '/api/./posts',
  '/api/posts/.',
  '/api/posts/x/..?limit=1',
  'http://a/x/../api/posts',
])
  test(`${path} is not found, and not resolved [G16]`, async () => {
    assert.deepEqual(await ask(`GET ${path}`, 'Host: a'), { status: 404, code: 'NOT_FOUND' })
  })

for (const path of ['/', '/healthz', '/api/posts', '/graphql', '/nothing', '/assets/pages.css'])
  test(`${path} of HTTP/2.0 is 505, of HTTP/1.0 not [G1]`, async () => {
    assert.deepEqual(await ask(`GET ${path} HTTP/2.0`, 'Host: a'), {
      status: 505,
      code: 'HTTP_VERSION_NOT_SUPPORTED',
    })
    assert.notEqual((await ask(`GET ${path} HTTP/1.0`)).status, 505)
  })

test('under a lenient parser of HTTP no service starts [G1]', async () => {
  const { settings } = folder.fresh()
  for (const flag of ['--insecure-http-parser', '--no-warnings --insecure_http_parser']) {
    const ended = await duet(['serve'], { ...settings, NODE_OPTIONS: flag })
    assert.equal(ended.code, 1)
    assert.match(ended.stderr, /^duet: --insecure-http-parser .* take it out of NODE_OPTIONS/m)
  }
})

test('dots in a query are allowed, encoded or not', async () => {
  assert.equal((await ask('GET /api/posts?search=/../a', 'Host: a')).status, 200)
  assert.equal((await ask('GET /api/posts?search=a%2eb', 'Host: a')).status, 200)
})

/** The first answer on a connection, and how many there are until it ends; where it stays open, the first. */
const answersTo = async (bytes: string) => {
  const { hostname, port } = new URL(service.url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  socket.write(Buffer.from(bytes, 'latin1'))
  let got = ''
  for await (const chunk of socket) {
    got += chunk
    if (/^HTTP.*\r\n\r\n/s.test(got) && !/^connection: close/im.test(got)) break
  }
  socket.destroy()
  return {
    statuses: (got.match(/^HTTP\/1\.\d \d+/gm) ?? []).map(line => Number(line.slice(9))),
    got,
  }
}

/** A request that follows on the same connection: if the one before ends elsewhere than it seems to, this is answered. */
const following = 'GET /api/products HTTP/1.1\r\nHost: a\r\n\r\n'
const chunked = 'Transfer-Encoding: chunked'
const posted = (headers: string, body = 'hello') =>
  `POST /api/users HTTP/1.1\r\nHost: a\r\n${headers}\r\n\r\n${body}${following}`
const got = (header: string) =>
  `GET /api/posts HTTP/1.1\r\nHost: a\r\n${header}\r\n\r\n${following}`

const unclear: readonly string[] = [
  posted(`Content-Length: 5\r\n${chunked}`, '0\r\n\r\n'),
  posted(`${chunked}\r\nContent-Length: 5`, '0\r\n\r\n'),
  ...['5\r\nContent-Length: 6', '5\r\nContent-Length: 5', '5, 5', '+5', '0x5', '5 5', '-1'].map(
    length => posted(`Content-Length: ${length}`),
  ),
  ...['5.0', '1e1', '', '\xb2', '9'.repeat(20)].map(length => posted(`Content-Length: ${length}`)),
  ...[
    'xchunked',
    'chunked, chunked',
    'identity',
    'chunked, gzip',
    '"chunked"',
    'chunked;x',
    '\vchunked',
  ].map(coding => posted(`Transfer-Encoding: ${coding}`, '0\r\n\r\n')),
  posted('Transfer-Encoding : chunked', '0\r\n\r\n'),
  ...['0x5', '+5', '-5', '5 ;x', '', 'g', '5\r', 'f'.repeat(17)].map(size =>
    posted(chunked, `${size}\r\nhello\r\n0\r\n\r\n`),
  ),
  posted(chunked, '3\r\nhello\r\n0\r\n\r\n'),
  posted(chunked, '5\nhello\n0\n\n'),
  ...[
    'X: a\r\n b',
    'X: a\rY: b',
    'X: a\0b',
    'X\0: a',
    'X',
    ': a',
    'X : a',
    'X y: a',
    '\xa0X: a',
  ].map(got),
  'GET /api/posts HTTP/1.1\r\n Host: a\r\n\r\n',
  'GET /api/posts HTTP/1.1\nHost: a\n\n',
  'GET\t/api/posts\tHTTP/1.1\r\nHost: a\r\n\r\n',
  ...['HTTP/1.10', 'http/1.1', 'HTTP/1', 'HTTP/11', 'HTTQ/1.1'].map(
    version => `GET /api/posts ${version}\r\nHost: a\r\n\r\n`,
  ),
  'GET /api/posts HTTP/1.1\r\n\r\n',
  ...['a/b', 'a b', '<script>', 'a@b', 'a:x'].map(
    host => `GET /api/posts HTTP/1.1\r\nHost: ${host}\r\n\r\n`,
  ),
]

const of10 = (line: string) =>
  `${line} HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n${chunked}\r\n\r\n0\r\n\r\n`

test('a Transfer-Encoding in HTTP/1.0, which does not know it, is 400, and nothing behind it is done', async () => {
  const body = '{"name":"Eve","email":"behind@example.org"}'
  const made = `POST /api/users HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  const lines = ['POST /api/users', 'GET /api/posts', 'PUT /nothing', 'GET /healthz']
  for (const line of lines) {
    const { statuses, got } = await answersTo(of10(line) + made)
    assert.deepEqual(statuses, [400], line)
    assert.match(got, /^connection: close\r.+"code":"MALFORMED_REQUEST"/ims)
  }
  assert.deepEqual((await answersTo(made)).statuses, [201])
})

test('what two readers could take for different requests is 400, and nothing behind it is read [G1]', async () => {
  for (const bytes of unclear)
    assert.deepEqual((await answersTo(bytes)).statuses, [400], JSON.stringify(bytes))
})

const strange: readonly (readonly [string, number | undefined])[] = [
  ['TRACE /api/posts HTTP/1.1\r\nHost: a\r\nX-Echo: me', 405],
  ['TRACE / HTTP/1.1\r\nHost: a\r\nX-Echo: me', 405],
  ['QUERY /api/posts/1 HTTP/1.1\r\nHost: a', 405],
  ['PROPFIND /api/posts HTTP/1.1\r\nHost: a', 405],
  ['CONNECT a:443 HTTP/1.1\r\nHost: a:443', undefined],
  ['NEVER /api/posts HTTP/1.1\r\nHost: a', 400],
  ['get /api/posts HTTP/1.1\r\nHost: a', 400],
  ['PRI * HTTP/2.0\r\n\r\nSM', 400],
  ['OPTIONS * HTTP/1.1\r\nHost: a', 204],
  ['POST /api/users HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: zzz', 417],
  [
    'GET /api/posts HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk',
    200,
  ],
  [
    'GET /graphql HTTP/1.1\r\nHost: a\r\nAccept: text/html\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13',
    200,
  ],
]

test('a method that is not served, an upgrade and an expectation change nothing and are not echoed [G17]', async () => {
  for (const [head, status] of strange) {
    const { statuses, got } = await answersTo(`${head}\r\n\r\n`)
    assert.deepEqual(statuses, status === undefined ? [] : [status], head)
    assert.doesNotMatch(got, /x-echo|^upgrade:|101 /im)
  }
})

test('a QUERY is read with its body, and the request behind it is another one', async () => {
  const { hostname, port } = new URL(service.url)
  const socket = connect(Number(port), hostname)
  const form = 'Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 7'
  socket.write(`QUERY /api/v2/posts HTTP/1.1\r\nHost: a\r\n${form}\r\n\r\nlimit=1`)
  socket.write('GET /api/posts/1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  const answers = await text(socket)
  assert.deepEqual(answers.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 200', 'HTTP/1.1 200'])
  assert.match(answers, /"limit":1,"hasNext":true/)
})

test('100 Continue is said only to those who wait for it, and HEAD has no body [G17]', async () => {
  const body = '{"name":"Ada","email":"heads@example.org"}'
  const head = `POST /api/users HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`
  const said = await answersTo(`${head}\r\n\r\n${body}`)
  assert.deepEqual(said.statuses, [201])
  const { hostname, port } = new URL(service.url)
  const waiting = connect(Number(port), hostname)
  waiting.write(`${head.replace('Length: ', 'Length: 1')}\r\nExpect: 100-continue\r\n\r\n`)
  const [first] = await once(waiting, 'data')
  assert.match(String(first), /^HTTP\/1\.1 100 /)
  waiting.destroy()
  // Nobody who is refused before is asked to send more.
  const expecting = 'Content-Length: 40000\r\nExpect: 100-continue\r\n\r\n'
  const stranger = connect(Number(port), hostname)
  stranger.write(`${head.replace('users', 'products').replace(/Content-Length.*/, expecting)}`)
  const [refusal] = await once(stranger, 'data')
  assert.match(String(refusal), /^HTTP\/1\.1 401 /)
  stranger.destroy()
  const { got } = await answersTo(
    'HEAD /api/posts HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
  )
  assert.match(got, /\r\ncontent-length: [1-9]/i)
  assert.match(got, /\r\n\r\n$/)
})
