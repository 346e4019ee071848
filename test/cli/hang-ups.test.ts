/** Clients that hang up before they are answered, and probes behind a queue that is stuck: over real sockets, in a queue that the test empties. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { after, before, test } from 'node:test'
import { noQueue, type Queue, type QueuedRequest } from '#http/queue.ts'
import { createWorld, type World } from '#test/market.ts'
import { serveApp } from '#test/support/served.ts'
import { until } from '#test/support/wait.ts'

let world: World
let server: Server
const sockets: Socket[] = []
const waiting: QueuedRequest[] = []
/** Until when the check of a token takes. */
let checked: Promise<void> = Promise.resolve()
const active = new Map<string, number>()
const held: Queue = { ...noQueue, enter: entry => void waiting.push(entry) }
const runAll = () => {
  for (const { run } of waiting.splice(0)) run()
}

before(async () => {
  const authenticate = async () => {
    await checked
    return { id: 2, role: 'user' }
  }
  world = await createWorld({ edge: { queue: held, active, authenticate } })
  ;({ server } = await serveApp(world.app.fetch))
  server.on('connection', socket => sockets.push(socket))
})
after(async () => {
  server.closeAllConnections()
  server.close()
  await world.close()
})

/** The log lines since the last call, of requests and faults. */
const logged = () => world.events.splice(0)

/** A connection on which a request was sent; it is in the queue, or its body is being received before. */
const sent = async (line: string, ...rest: readonly string[]) => {
  const socket = connect((server.address() as AddressInfo).port)
  const accepted = once(server, 'connection')
  await once(socket, 'connect')
  const authorization = `Authorization: Bearer ${await world.token(2)}`
  socket.write(`${[`${line} HTTP/1.1`, 'Host: a', authorization, ...rest].join('\r\n')}`)
  await accepted
  const { method } = /^(?<method>\S+)/.exec(line)?.groups ?? {}
  await until('the request has come', () => active.get(method ?? '') === 1)
  return { socket, peer: sockets.at(-1) as Socket }
}

const likes = async () => Number((await world.rows('select count(*) from likes'))[0]?.[0])

test('what a client asked that is gone when its turn comes is not done, and has a line with 499 [H7]', async () => {
  const before = await likes()
  for (const hangUp of ['destroy', 'resetAndDestroy'] as const) {
    const { socket, peer } = await sent('POST /api/comments/3/likes', '', '')
    socket[hangUp]()
    await until('the service sees it', () => peer.destroyed)
    runAll()
    await until('it is logged', () => world.events.length > 0)
    const [line, ...others] = logged()
    assert.deepEqual(others, [])
    assert.ok(line?.kind === 'request')
    assert.deepEqual([line.status, line.code], [499, 'CLIENT_CLOSED_REQUEST'])
    assert.equal(await likes(), before)
  }
})

test('of a thousand clients that hang up together, what was begun is done once and the rest not at all [H7]', async () => {
  const head = 'POST /api/posts/1/comments HTTP/1.1\r\nHost: a\r\nContent-Type: application/json'
  const authorization = `Authorization: Bearer ${await world.token(2)}`
  const { port } = server.address() as AddressInfo
  const clients = Array.from({ length: 1000 }, (_, n) => {
    const body = JSON.stringify({ text: `gone ${n}` })
    const socket = connect(port)
    socket.write(`${head}\r\n${authorization}\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
    return socket
  })
  await until('all have come', () => waiting.length === 1000)
  for (const { run } of waiting.splice(0, 500)) run()
  for (const socket of clients) socket.resetAndDestroy()
  await until('the service sees it', () => sockets.every(({ destroyed }) => destroyed))
  runAll()
  await until('all are logged', () => world.events.length === 1000)
  const statuses = Map.groupBy(logged(), event => event.kind === 'request' && event.status)
  assert.ok((statuses.get(499)?.length ?? 0) >= 500)
  assert.equal((statuses.get(499)?.length ?? 0) + (statuses.get(201)?.length ?? 0), 1000)
  const written = (await world.rows("select text from comments where text like 'gone %'")).flat()
  assert.deepEqual([written.length, new Set(written).size], [500, 500])
})

test('a client that hangs up within its body has a line with 499, and is no fault of the service [H7]', async () => {
  for (const line of ['POST /api/users', 'POST /graphql'])
    for (const hangUp of ['destroy', 'resetAndDestroy'] as const) {
      const type = 'Content-Type: application/json'
      const { socket } = await sent(line, type, 'Content-Length: 1000', '', '{"query": "')
      socket[hangUp]()
      await until('it is logged', () => world.events.length > 0)
      const [event, ...others] = logged()
      assert.ok(event?.kind === 'request')
      assert.deepEqual([event.status, event.code], [499, 'CLIENT_CLOSED_REQUEST'])
      assert.deepEqual([others, waiting], [[], []])
    }
})

test('a client that hangs up while its token is checked has a line with 499, and nothing waits for its body [H7]', async () => {
  for (const line of ['POST /api/users', 'POST /graphql']) {
    const { promise, resolve } = Promise.withResolvers<void>()
    checked = promise
    const type = 'Content-Type: application/json'
    const { socket, peer } = await sent(line, type, 'Content-Length: 1000', '', '{"query": "')
    socket.resetAndDestroy()
    await until('the service sees it', () => peer.destroyed)
    resolve()
    await until('it is logged', () => world.events.length > 0)
    const [event, ...others] = logged()
    assert.ok(event?.kind === 'request')
    assert.deepEqual([event.status, event.code, others], [499, 'CLIENT_CLOSED_REQUEST', []])
  }
})

test('probes are answered while nothing else is [H4, H11]', async () => {
  const { socket } = await sent('GET /api/posts/1', '', '')
  const { port } = server.address() as AddressInfo
  for (const path of ['/healthz', '/readyz'])
    assert.equal((await fetch(`http://localhost:${port}${path}`)).status, 200)
  assert.equal(waiting.length, 1)
  runAll()
  await once(socket, 'data')
  socket.destroy()
})

test('the queue is told which requests write, as far as their heads say', async () => {
  const lines = [
    ['GET /api/posts/1', false],
    ['HEAD /api/posts/1', false],
    ['QUERY /api/posts', false],
    ['POST /graphql', false],
    ['POST /api/comments/3/likes', true],
    ['DELETE /api/comments/3/likes', true],
    ['PATCH /api/posts/1', true],
  ] as const
  for (const [line, writes] of lines) {
    const { socket } = await sent(line, '', '')
    assert.equal(waiting[0]?.isWrite, writes, line)
    socket.destroy()
    runAll()
  }
})
