/** Requests that two readers could understand differently, sent to a service and through proxies that keep their connections to it. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { folderOf, serve } from '#test/duet.ts'
import { noHaproxy, startHaproxy } from '#test/postgres/tools/haproxy.ts'
import { forAllTests } from '#test/support/fixture.ts'
import { pause } from '#test/support/wait.ts'
import { cases } from './proxies/cases.ts'
import { noNginx, startNginx } from './proxies/nginx.ts'

const service = forAllTests(() =>
  serve({ ...folderOf('proxies').fresh().settings, DUET_LOG: 'info' }),
)

/** The answers to what is sent on a connection, within some time or until it is ended. */
const answersTo = async (port: number, bytes: string): Promise<number> => {
  const socket = connect(port, '127.0.0.1')
  let text = ''
  socket.on('error', () => {}).setEncoding('latin1')
  socket.on('data', part => {
    text += part
  })
  socket.write(bytes, 'latin1')
  await Promise.race([once(socket, 'close'), pause(500)])
  socket.destroy()
  return text.match(/HTTP\/1\.[01] \d{3} /g)?.length ?? 0
}

/** How often the service was asked for what is hidden. */
const found = () => service.stdout().match(/\/api\/smuggled/g)?.length ?? 0

/** Each case is one request or two for all who read it; those of others meanwhile get their own answers. */
const agree = async (port: number) => {
  for (const [n, bytes] of cases.entries()) {
    const before = found()
    const answers = await answersTo(port, bytes)
    for (const id of [`own-${n}-a`, `own-${n}-b`]) {
      const response = await fetch(`http://127.0.0.1:${port}/api/products?limit=1`, {
        headers: { 'X-Request-Id': id },
      })
      await response.body?.cancel()
      assert.deepEqual([response.status, response.headers.get('x-request-id')], [200, id], bytes)
    }
    assert.ok(found() - before <= Math.max(0, answers - 1), `${answers} answers to ${bytes}`)
  }
}

test(`${cases.length} requests that are ambiguous hide none in them [G1]`, () =>
  agree(service.port))

test(`${cases.length} requests that are ambiguous hide none in them from HAProxy [G1]`, {
  skip: noHaproxy,
}, async () => {
  const proxy = await startHaproxy([service.port])
  await agree(proxy.port)
  await proxy.end()
})

test(`${cases.length} requests that are ambiguous hide none in them from nginx [G1]`, {
  skip: noNginx,
}, async () => {
  const proxy = await startNginx(service.port)
  await agree(proxy.port)
  await proxy.end()
})
