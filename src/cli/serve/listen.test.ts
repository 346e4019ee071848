/** The end of the HTTP server. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { listen } from '#cli/serve/listen.ts'
import { loadConfig } from '#config.ts'
import { standStill } from '../../../test/support/wait.ts'

test('a request that came while a draining process stood still is answered, however long its connection was idle', async () => {
  const app = { fetch: () => new Response('answered') }
  let isDraining = false
  const server = await listen(app, loadConfig({ DUET_PORT: '0' }), { isDraining: () => isDraining })
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  const request = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'
  socket.write(request)
  const [first] = await once(socket, 'data')
  assert.match(String(first), /^HTTP\/1\.1 200 .+answered$/s)
  isDraining = true
  const closed = server.close(60_000)
  socket.write(request)
  standStill(300)
  assert.match(await text(socket), /^HTTP\/1\.1 200 .+connection: close.+answered$/is)
  await closed
})
