/** Requests that follow one another on a connection of a service that is draining: nothing is done behind the last answer (RFC 9112, section 9.6). */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import { loadConfig } from '#config.ts'
import { type Listening, listen } from '#serve/listen.ts'
import { createWorld, type World } from '#test/market.ts'
import { versions } from '#test/support/market/duet.config.ts'
import { until } from '#test/support/wait.ts'
import { answers, dial, heldQueue, patch, requestsOf } from './pipelined.ts'

let world: World
let server: Listening
let head: ReturnType<typeof requestsOf>['head']
/** A request that may not be done. */
let never: string
const { queue, waiting, inQueue, runNext } = heldQueue()
const active = new Map<string, number>()

before(async () => {
  world = await createWorld({ edge: { queue, active } })
  const token = await world.token(2)
  // A token that is not known yet has a turn of its own.
  await world.edge.authenticate(`Bearer ${token}`)
  const requests = requestsOf(token)
  head = requests.head
  never = requests.withBody('PATCH /api/users/2', patch('Never'))
  server = await listen(world.app, loadConfig({ DUET_PORT: '0' }), {
    versions,
    state: { isDraining: true },
  })
})
after(async () => {
  await server.close(0)
  await world.close()
})

const going = (method: string) => active.get(method) ?? 0

const isDone = (method: string) => until(`the ${method} is done`, () => going(method) === 0)

const namedNever = () => world.rows("select id from users where name = 'Never'")

for (const isLate of [false, true])
  test(`nothing is done behind the last answer, also ${isLate ? 'of what comes after that was made' : 'where its client has yet to take it'}`, async () => {
    // More than the buffers of two sockets.
    await world.change('update posts set content = ?1 where id > 0', 'a'.repeat(1_990_000))
    const { socket, heard } = await dial(server)
    socket.pause()
    const ended = once(socket, 'close')
    socket.write(head('GET /api/posts') + (isLate ? '' : never))
    await until('it has come', () => going('GET') === 1)
    await inQueue(1)
    runNext()
    await isDone('GET')
    if (isLate) socket.write(never)
    socket.resume()
    await ended
    await new Promise(resolve => setImmediate(resolve))
    while (waiting.length > 0) runNext()
    await isDone('PATCH')
    assert.deepEqual(answers(heard), [200])
    assert.match(heard.text, /\r\nconnection: close/i)
    assert.deepEqual(await namedNever(), [])
  })

test('the first of two is answered, also where the second was done before it', async () => {
  const { socket, heard } = await dial(server)
  const ended = once(socket, 'close')
  socket.write(head('GET /api/users/2').repeat(2))
  await inQueue(2)
  waiting.pop()?.run()
  await until('the second is answered', () => going('GET') === 1)
  runNext()
  await ended
  assert.deepEqual(answers(heard), [200])
})
