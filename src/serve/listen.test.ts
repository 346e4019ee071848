/** The end of the HTTP server. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { loadConfig } from '#config.ts'
import { listen } from '#serve/listen.ts'
import { versions } from '../../test/support/library/versions.ts'
import { inTime, longest, pause, standStill, until } from '../../test/support/wait.ts'

test('a request that came while a draining process stood still is answered, however long its connection was idle', async () => {
  const app = { fetch: () => new Response('answered') }
  const state = { isDraining: false }
  const server = await listen(app, loadConfig({ DUET_PORT: '0' }), { versions, state })
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  const request = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'
  socket.write(request)
  const [first] = await once(socket, 'data')
  assert.match(String(first), /^HTTP\/1\.1 200 .+answered$/s)
  state.isDraining = true
  const closed = server.close(60_000)
  socket.write(request)
  standStill(300)
  assert.match(await text(socket), /^HTTP\/1\.1 200 .+connection: close.+answered$/is)
  await closed
})

test('a client that connects before the end and sends its first request later is answered', async () => {
  const app = { fetch: () => new Response('answered') }
  const state = { isDraining: false }
  const server = await listen(app, loadConfig({ DUET_PORT: '0' }), { versions, state })
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  await once(socket, 'connect')
  state.isDraining = true
  const closed = server.close(10 * longest)
  // Longer than an idle connection is kept.
  await pause(500)
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  assert.match(await text(socket), /^HTTP\/1\.1 200 .+connection: close.+answered$/is)
  await closed
})

test('a client that connects and sends nothing does not keep a service from its end', async () => {
  const app = { fetch: () => new Response('answered') }
  const server = await listen(app, loadConfig({ DUET_PORT: '0' }), {
    versions,
    state: { isDraining: true },
  })
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  await once(socket, 'connect')
  const closed = server.close(2000)
  assert.equal(await text(socket), '')
  await closed
})

test('connections above the most are closed at once, and those that are open are served [G4]', async () => {
  const app = { fetch: () => new Response('answered') }
  const most = 12
  const config = loadConfig({ DUET_PORT: '0', DUET_MAX_CONNECTIONS: `${most}` })
  const server = await listen(app, config, { versions, state: { isDraining: false } })
  const { port } = new URL(server.url)
  const dial = async () => {
    const socket = connect(Number(port), '127.0.0.1').on('error', () => {})
    await once(socket, 'connect')
    return socket
  }
  const answerOn = async (socket: Socket) => {
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    return String(await once(socket, 'data'))
  }
  const open = await Promise.all(Array.from({ length: most }, dial))
  const more = await dial()
  more.resume()
  await once(more, 'close')
  assert.equal(more.bytesRead, 0)
  for (const socket of open) assert.match(await answerOn(socket), /answered$/)
  for (const socket of open) socket.destroy()
  await until('there is room again', async () => {
    const again = await dial()
    const [answer] = await Promise.race([
      once(again, 'close'),
      answerOn(again).then(said => [said]),
    ])
    again.destroy()
    return answer !== undefined && /answered$/.test(String(answer))
  })
  await server.close(0)
})

test('the URL of a request is of its target and its Host, and none of another host', async () => {
  const app = { fetch: ({ url }: Request) => new Response(url) }
  const server = await listen(app, loadConfig({ DUET_HOST: 'localhost', DUET_PORT: '0' }), {
    versions,
    state: { isDraining: false },
  })
  const socket = connect(Number(new URL(server.url).port), 'localhost')
  for (const [target, host, url] of [
    ['/a?b=c', 'example.org:8080', 'http://example.org:8080/a?b=c'],
    ['/a|b', 'example.org', 'http://example.org/a|b'],
    ['/a/../b', 'example.org', 'http://example.org/b'],
    ['/a?b=\\', 'example.org', 'http://example.org/a?b=\\'],
    ['/a', 'EXAMPLE.org:80', 'http://example.org/a'],
    ['/a', '[::1]:80', 'http://[::1]/a'],
    ['/a', '127.0.0.1:8080', 'http://127.0.0.1:8080/a'],
    ['/a', '127.1', 'http://127.0.0.1/a'],
    ['/a', '', 'http://localhost/a'],
    ['http://else.org/a', 'example.org', 'http://else.org/a'],
    ['/a\\b', 'example.org'],
    ['/a', 'someone@example.org'],
    ['/a', 'example.org/b'],
    ['/a', 'exa mple.org'],
    ['/a', '1.2.3.999'],
    ['/a', 'example.99:8080'],
  ]) {
    socket.write(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
    const [head, body = ''] = String((await once(socket, 'data'))[0]).split('\r\n\r\n')
    assert.match(String(head), url ? /^HTTP\/1\.1 200 / : /^HTTP\/1\.1 400 /)
    if (url) assert.equal(body, url)
  }
  socket.destroy()
  await server.close(0)
})

const noIpv6 =
  !Object.values(networkInterfaces()).some(all => all?.some(one => one.family === 'IPv6')) &&
  'this machine has no IPv6'

for (const host of ['::', '0:0:0:0:0:0:0:0', '0.0.0.0'])
  test(`a request without a Host, as proxies check with, is answered by a service on ${host}`, {
    skip: host.includes(':') && noIpv6,
  }, async () => {
    const app = { fetch: () => new Response('answered') }
    const config = loadConfig({ DUET_HOST: host, DUET_PORT: '0' })
    const server = await listen(app, config, { versions, state: { isDraining: false } })
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
    socket.write('GET /readyz HTTP/1.0\r\n\r\n')
    assert.match(await text(socket), /^HTTP\/1\.1 200 .+answered$/s)
    await server.close(0)
  })

const unread: readonly (readonly [
  string,
  (body: string, outgoing: ServerResponse) => Response | Promise<Response>,
])[] = [
  ['an answer', body => new Response(body)],
  [
    'an answer that has no end yet',
    (body, outgoing) => {
      outgoing.writeHead(200).write(body)
      return new Promise(() => {})
    },
  ],
]
for (const [what, answer] of unread)
  test(`a client that takes nothing of ${what} loses its connection, also where that was made before the one ahead of it`, async t => {
    const first = Promise.withResolvers<Response>()
    /** More than the buffers of two sockets. */
    const body = 'x'.repeat(29_000_000)
    let second: ServerResponse | undefined
    const fetch = ({ url }: Request, env: { readonly outgoing: ServerResponse }) => {
      if (url.endsWith('/first')) return first.promise
      second = env.outgoing
      return answer(body, env.outgoing)
    }
    const app = { fetch } as Parameters<typeof listen>[0]
    const options = { versions, state: { isDraining: false }, patience: 600 }
    const server = await listen(app, loadConfig({ DUET_PORT: '0' }), options)
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
    socket.on('error', () => {}).pause()
    t.after(() => {
      socket.destroy()
      return server.close(0)
    })
    for (const path of ['/first', '/second'])
      socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`)
    await until('the second is answered', () => Number(second?.writableLength) > 0)
    const { promise: closed, resolve } = Promise.withResolvers<void>()
    second?.req.socket.once('close', () => resolve())
    first.resolve(new Response('first'))
    await inTime('its connection is closed', closed)
  })
