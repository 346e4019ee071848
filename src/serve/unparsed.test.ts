import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { versions } from '../../test/support/library/versions.ts'
import { standStill } from '../../test/support/wait.ts'
import { refuseUnparsed } from './listen.ts'

type Refusing = { readonly options?: ServerOptions; readonly listener?: RequestListener }

const fine: RequestListener = (_, response) => void response.end('fine')

/** A client of a server that refuses what cannot be read. */
const connected = async (t: TestContext, server: Server) => {
  refuseUnparsed(server, versions)
  t.after(() => server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return connect((server.address() as AddressInfo).port, '127.0.0.1')
}

/** A server that refuses what cannot be read, and what a client of it hears that sends this. */
const hearing = async (t: TestContext, sent: string, { options = {}, listener }: Refusing = {}) => {
  const socket = await connected(t, createServer(options, listener ?? fine))
  socket.write(sent)
  const heard = await text(socket)
  return { heard, answers: heard.split(/(?=HTTP\/1\.1 \d)/) }
}

/** The error in the body of an answer, whose length is as it says, and which says that it is the last one. */
const errorIn = (answer = '') => {
  const [head = '', body = ''] = answer.split('\r\n\r\n')
  assert.match(head, /^Connection: close$/m)
  assert.match(head, /^Content-Type: application\/json; charset=utf-8$/m)
  assert.equal(Number(/^Content-Length: (\d+)$/m.exec(head)?.[1]), Buffer.byteLength(body))
  const { error } = JSON.parse(body)
  assert.equal(/^X-Request-Id: (.+)$/m.exec(head)?.[1]?.trim(), error.requestId)
  return { status: Number(head.split(' ')[1]), code: error.code, message: error.message }
}

const head = 'GET / HTTP/1.1\r\nHost: a\r\n'

test('a request that is no HTTP is answered once with the error and its reason, however much follows', async t => {
  const { answers } = await hearing(t, `no such thing\r\n\r\n${'x'.repeat(200_000)}`)
  assert.equal(answers.length, 1)
  const { status, code, message } = errorIn(answers[0])
  assert.deepEqual({ status, code }, { status: 400, code: 'MALFORMED_REQUEST' })
  assert.match(message, /^The request cannot be read as HTTP\/1\.1: \w/)
})

test('headers that are too long together are 431', async t => {
  const { answers } = await hearing(t, `${head}X: ${'a'.repeat(17_000)}\r\n\r\n`)
  assert.equal(errorIn(answers[0]).code, 'HEADERS_TOO_MANY')
})

test('extensions of chunks that are too long are 413', async t => {
  const chunked = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n'
  const listener: RequestListener = request => void request.on('error', () => {}).resume()
  const sent = `${chunked}1;${'a'.repeat(17_000)}\r\n`
  const { answers } = await hearing(t, sent, { listener })
  assert.equal(errorIn(answers[0]).code, 'PAYLOAD_TOO_LARGE')
})

const hasty = { headersTimeout: 50, requestTimeout: 50, connectionsCheckingInterval: 20 }

test('a request that does not come whole in time is 408', async t => {
  const { answers } = await hearing(t, head, { options: hasty })
  const { status, code } = errorIn(answers[0])
  assert.deepEqual({ status, code }, { status: 408, code: 'REQUEST_TIMEOUT' })
})

/** The answers that a client hears that sends the first part, and the second when the server is about to stand still for long. */
const heardAfterStop = async (t: TestContext, listener: RequestListener, parts: string[]) => {
  const server = createServer(hasty, listener)
  const socket = await connected(t, server)
  const timeouts = once(server, 'clientError')
  const [first = '', second = ''] = parts
  const begun = once(server, first ? 'request' : 'connection')
  socket.write(first)
  await begun
  setImmediate(() => {
    socket.write(second)
    standStill(500)
  })
  const heard = await text(socket)
  const [{ code }] = await timeouts
  assert.equal(code, 'ERR_HTTP_REQUEST_TIMEOUT')
  return heard.match(/HTTP\/1\.1 \d+/g)
}

const post = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nConnection: close\r\n'
const atItsEnd: RequestListener = (request, response) => {
  request.on('error', () => {}).once('end', () => response.end('fine'))
  request.resume()
}

test('a request that came whole while the process stood still is answered, and so is one whose body did', async t => {
  const get = `${head}Connection: close\r\n\r\n`
  assert.deepEqual(await heardAfterStop(t, fine, ['', get]), ['HTTP/1.1 200'])
  assert.deepEqual(await heardAfterStop(t, atItsEnd, [`${post}\r\n`, 'ab']), ['HTTP/1.1 200'])
})

test('a request of which a part came while the process stood still is refused, one that expects 100 too', async t => {
  const expecting = `${post}Expect: 100-continue\r\n\r\n`
  assert.deepEqual(await heardAfterStop(t, fine, ['', head]), ['HTTP/1.1 408'])
  const [first, ...others] = (await heardAfterStop(t, atItsEnd, ['', expecting])) ?? []
  assert.equal(first, 'HTTP/1.1 100')
  assert.ok(!others.includes('HTTP/1.1 200'))
})

test('the requests before it on its connection are answered first', async t => {
  const listener: RequestListener = ({ socket }, response) => {
    // Both have come whole before what follows them is read.
    socket.server?.once('clientError', () => setImmediate(() => response.end('fine')))
  }
  const { answers } = await hearing(t, `${head}\r\n${head}\r\nno such thing\r\n\r\n`, { listener })
  assert.deepEqual(
    answers.map(answer => answer.slice(0, 12)),
    ['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 400'],
  )
})
