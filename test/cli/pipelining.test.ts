/** Requests that follow one another on a connection before the first is answered: over real sockets, in a queue that the test empties. */

import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { loadConfig } from '#config.ts'
import { createConnections } from '#http/connections.ts'
import { createMemory } from '#http/memory.ts'
import { type Listening, listen } from '#serve/listen.ts'
import { createWorld, type World } from '#test/market.ts'
import { versions } from '#test/support/market/duet.config.ts'
import { until } from '#test/support/wait.ts'
import { answers, dial, heldQueue, mutation, nameOf, patch, requestsOf } from './pipelined.ts'

let world: World
let server: Listening
let { head, withBody, chunked } = requestsOf('')
/** The name of user 2, by either API. */
let read: string
let query: string
const { queue, waiting, inQueue, runNext } = heldQueue()
const connections = createConnections(queue, { held: 5000, rest: 200 })
const active = new Map<string, number>()
const memory = createMemory()

before(async () => {
  world = await createWorld({ edge: { queue, active, memory } })
  const token = await world.token(2)
  // A token that is not known yet has a turn of its own.
  await world.edge.authenticate(`Bearer ${token}`)
  ;({ head, withBody, chunked } = requestsOf(token))
  read = head('GET /api/users/2')
  query = head(`GET /graphql?query=${encodeURIComponent('{ user(id: 2) { name } }')}`)
  const config = loadConfig({ DUET_PORT: '0' })
  server = await listen(world.app, config, { versions, state: { isDraining: false }, connections })
})
after(async () => {
  await server.close(0)
  await world.close()
})
afterEach(() => {
  assert.deepEqual([waiting.length, connections.held(), memory.bodies.taken()], [0, 0, 0])
  assert.deepEqual(
    [...active.values()].filter(count => count !== 0),
    [],
  )
})

/** So many requests have come: some go on, and the others wait for those. */
const haveCome = (count: number) =>
  until('all have come', () => {
    const going = [...active.values()].reduce((a, b) => a + b, 0)
    return going + connections.held() === count
  })

const pairs: Readonly<Record<string, (name: string) => readonly [string, string]>> = {
  'a PATCH': name => [withBody('PATCH /api/users/2', patch(name)), read],
  'a PATCH in chunks': name => [chunked('PATCH /api/users/2', patch(name)), read],
  'a PATCH of 40,000 bytes': name => [
    withBody('PATCH /api/users/2', patch(name).padEnd(40_000)),
    read,
  ],
  'a mutation': name => [withBody('POST /graphql', mutation(name)), query],
  'a mutation in chunks': name => [chunked('POST /graphql', mutation(name)), query],
}

let made = 0
for (const [what, pair] of Object.entries(pairs))
  test(`a GET right behind ${what} waits for it, and shows what it wrote`, async () => {
    const name = `Ben ${++made}`
    const { socket, heard } = await dial(server)
    socket.write(pair(name).join(''))
    await haveCome(2)
    await inQueue(1)
    assert.equal(connections.held(), 1)
    runNext()
    await inQueue(1)
    assert.equal(connections.held(), 0)
    runNext()
    await until('both are answered', () => nameOf(heard.text).length === 2)
    assert.deepEqual(answers(heard), [200, 200])
    assert.deepEqual(nameOf(heard.text), [name, name])
    socket.destroy()
  })

test('safe requests of a connection go side by side; an unsafe one waits for them, and is followed by the next', async () => {
  const { socket, heard } = await dial(server)
  const form = 'Content-Type: application/x-www-form-urlencoded'
  const asked = `${head('QUERY /api/posts', form, 'Content-Length: 7')}limit=1`
  const name = `Ben ${++made}`
  socket.write(`${read}${asked}${query}${withBody('PATCH /api/users/2', patch(name))}${read}`)
  await haveCome(5)
  await inQueue(3)
  assert.equal(connections.held(), 2)
  for (let n = 0; n < 3; n++) runNext()
  await inQueue(1)
  assert.equal(waiting[0]?.isWrite, true)
  runNext()
  await inQueue(1)
  runNext()
  await until('all are answered', () => answers(heard).length === 5)
  const [before, , ...after] = nameOf(heard.text)
  assert.notEqual(before, name)
  assert.deepEqual(after, [name, name])
  socket.destroy()
})

test('connections do not wait for one another', async () => {
  const [one, other] = [await dial(server), await dial(server)]
  one.socket.write(withBody('PATCH /api/users/2', patch('Ben')))
  await inQueue(1)
  other.socket.write(read)
  await inQueue(2)
  for (let n = 0; n < 2; n++) runNext()
  await until(
    'both are answered',
    () => answers(one.heard).length + answers(other.heard).length === 2,
  )
  one.socket.destroy()
  other.socket.destroy()
})

test('the body of a request that waits for another is received when it goes on, and counts until it is answered', async () => {
  const { socket, heard } = await dial(server)
  socket.write(read + withBody('PATCH /api/users/2', patch('Ben').padEnd(30_000)) + read)
  await haveCome(3)
  assert.equal(memory.bodies.taken(), 0)
  runNext()
  await inQueue(1)
  assert.ok(memory.bodies.taken() >= 30_000)
  runNext()
  await inQueue(1)
  assert.equal(memory.bodies.taken(), 0)
  runNext()
  await until('all are answered', () => answers(heard).length === 3)
  socket.destroy()
})

test('a body whose length is not told, or too large for any, is received in its turn, and not in line', async () => {
  for (const [send, status] of [
    [chunked, 200],
    [withBody, 413],
  ] as const) {
    const { socket, heard } = await dial(server)
    const body = patch('Ben').padEnd(status === 200 ? 50_000 : 1_048_577)
    socket.write(read + send('PATCH /api/users/2', body))
    await haveCome(2)
    await inQueue(1)
    assert.equal(memory.bodies.taken(), 0)
    runNext()
    await inQueue(1)
    runNext()
    await until('both are answered', () => answers(heard).length === 2)
    assert.deepEqual(answers(heard), [200, status])
    socket.destroy()
  }
})

test('one that is refused in line is so when it goes on: those before it stay alone', async () => {
  const { socket, heard } = await dial(server)
  const bad = withBody('PATCH /api/users/2', patch('Never')).replace('Bearer ', 'Bearer bad')
  const name = `Ben ${++made}`
  socket.write(withBody('PATCH /api/users/2', patch('Ben')))
  await inQueue(1)
  socket.write(withBody('PATCH /api/users/2', patch(name)) + bad + read)
  await haveCome(4)
  assert.equal(connections.held(), 3)
  for (let n = 0; n < 4; n++) {
    // All that had come by then has been looked at: one alone is in the queue.
    await new Promise(resolve => setImmediate(resolve))
    await inQueue(1)
    runNext()
  }
  await until('all are answered', () => answers(heard).length === 4)
  assert.deepEqual(answers(heard), [200, 200, 401, 200])
  assert.deepEqual(nameOf(heard.text).slice(-1), [name])
  socket.destroy()
})

test('of one connection at most 32 requests go on, also those that no route takes, and those behind them are answered after them [H16]', async () => {
  const { socket, heard } = await dial(server)
  socket.write(read.repeat(50) + head('GET /nothing').repeat(50))
  await inQueue(32)
  await haveCome(100)
  assert.equal(connections.held(), 68)
  for (let n = 0; n < 100; n++) {
    await until('it goes on', () => waiting.length > 0)
    runNext()
  }
  await until('all are answered', () => answers(heard).length === 100)
  const expected = Array.from({ length: 100 }, (_, n) => (n < 50 ? 200 : 404))
  assert.deepEqual(answers(heard), expected)
  socket.destroy()
})

test('behind a request that is refused the next goes on', async () => {
  const { socket, heard } = await dial(server)
  socket.write(withBody('PATCH /api/users/2', patch('Never')) + read)
  await inQueue(1)
  await haveCome(2)
  waiting.shift()?.shed()
  await inQueue(1)
  runNext()
  await until('both are answered', () => answers(heard).length === 2)
  assert.deepEqual(answers(heard), [503, 200])
  socket.destroy()
})

test('behind a body that is refused the next goes on', async () => {
  const { socket, heard } = await dial(server)
  const bad = head('PATCH /api/users/2', 'Content-Length: 2').replace('Bearer ', 'Bearer bad')
  socket.write(`${bad}{}${read}`)
  for (let n = 0; n < 2; n++) {
    await inQueue(1)
    runNext()
  }
  await until('both are answered', () => answers(heard).length === 2)
  assert.deepEqual(answers(heard), [401, 200])
  socket.destroy()
})

test('answers that wait for others on their connection are counted, however short, and those above the budget are 503', async () => {
  const { socket, heard } = await dial(server)
  socket.write(read.repeat(3))
  await inQueue(3)
  const [first, second, third] = waiting.splice(0)
  second?.run()
  await until('the second is answered', () => active.get('GET') === 2)
  const bytes = memory.answers.taken()
  const others = memory.answers.budget - 2 * bytes + 1
  memory.answers.force(others)
  third?.run()
  await until('the third is answered', () => active.get('GET') === 1)
  first?.run()
  await until('all have come', () => answers(heard).length === 3)
  assert.deepEqual(answers(heard), [200, 200, 503])
  assert.match(heard.text, new RegExp(`\r\ncontent-length: ${bytes}\r\n`, 'i'))
  await until('its bytes are given back', () => memory.answers.taken() === others)
  memory.answers.give(others)
  socket.destroy()
})

test('what waits for another request of a client that is gone is not done, and has a line with 499', async () => {
  const likes = async () => Number((await world.rows('select count(*) from likes'))[0]?.[0])
  const before = await likes()
  world.events.splice(0)
  const { socket } = await dial(server)
  socket.write(read)
  await inQueue(1)
  socket.write(head('POST /api/comments/3/likes', 'Content-Length: 0'))
  await until('it has come', () => connections.held() === 1)
  socket.destroy()
  await inQueue(2)
  for (let n = 0; n < 2; n++) runNext()
  await until('both are logged', () => world.events.length === 2)
  const statuses = world.events.map(event => event.kind === 'request' && event.status)
  assert.deepEqual(statuses, [499, 499])
  assert.equal(await likes(), before)
})

test('a token that is not known has a turn before its body is received and another one afterwards, one without a body has one', async () => {
  const { socket, heard } = await dial(server)
  const fresh = requestsOf(await world.token(3))
  socket.write(fresh.withBody('PATCH /api/users/3', patch('Kim')) + fresh.head('GET /api/users/3'))
  await inQueue(1)
  assert.equal(memory.bodies.taken(), 0)
  runNext()
  await until('the body is received', () => waiting.length === 1 && memory.bodies.taken() > 0)
  runNext()
  await inQueue(1)
  runNext()
  await until('both are answered', () => answers(heard).length === 2)
  const other = requestsOf(await world.token(1))
  socket.write(other.head('GET /api/users/3'))
  await inQueue(1)
  runNext()
  await until('it is answered after one turn', () => answers(heard).length === 3)
  assert.deepEqual(answers(heard), [200, 200, 200])
  socket.destroy()
})

test('above twice the size of the queue a connection ends with the refusal, also while its token is not known', async () => {
  const unknown = 'GET /api/users/2 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer unknown\r\n\r\n'
  for (const request of [read, unknown]) {
    const { socket, heard } = await dial(server)
    socket.write(request)
    await inQueue(1)
    waiting.shift()?.shed(true)
    await until('it is refused', () => answers(heard).length === 1)
    assert.match(heard.text, /^HTTP\/1\.1 503 .*\r\nConnection: close\r\n/is)
    socket.destroy()
  }
})
