/** Requests that follow one another on a connection before the first is answered: over real sockets, in a queue that the test empties. */
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { loadConfig } from '#config.ts'
import { createActive } from '#http/active.ts'
import { createMemory } from '#http/memory.ts'
import { type Listening, listen } from '#serve/listen.ts'
import { until } from '../support/wait.ts'
import { createWorld, type World } from '../world.ts'
import { answers, dial, heldQueue, mutation, nameOf, patch, requestsOf } from './pipelined.ts'

let world: World
let server: Listening
let { head, withBody, chunked } = requestsOf('')
/** The name of user 2, by either API. */
let read: string
let query: string
const { queue, waiting, state, inQueue, runNext } = heldQueue()
const active = createActive()
const memory = createMemory()

before(async () => {
  world = await createWorld({ edge: { queue, active, memory } })
  ;({ head, withBody, chunked } = requestsOf(await world.token(2)))
  read = head('GET /api/users/2')
  query = head(`GET /graphql?query=${encodeURIComponent('{ user(id: 2) { name } }')}`)
  const config = loadConfig({ DUET_PORT: '0' })
  server = await listen(world.app, config, { isDraining: () => false })
})
after(async () => {
  await server.close(0)
  await world.close()
})
afterEach(() => {
  assert.deepEqual([waiting.length, state.places, memory.bodies.taken()], [0, 0, 0])
  assert.deepEqual(
    [...active.counts.values()].filter(count => count !== 0),
    [],
  )
})

const haveCome = (count: number) =>
  until('all have come', () => [...active.counts.values()].reduce((a, b) => a + b, 0) === count)

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
    assert.equal(state.places, 1)
    runNext()
    await inQueue(1)
    assert.equal(state.places, 0)
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
  assert.equal(state.places, 2)
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

test('the body of a request that waits for another is received, and counts until it is answered', async () => {
  const { socket, heard } = await dial(server)
  socket.write(read + withBody('PATCH /api/users/2', patch('Ben').padEnd(50_000)) + read)
  await haveCome(3)
  await until('the body is received', () => memory.bodies.taken() >= 50_000)
  runNext()
  await inQueue(1)
  assert.ok(memory.bodies.taken() >= 50_000)
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

test('one that is refused in line is so in its turn: those before it stay alone', async () => {
  const { socket, heard } = await dial(server)
  const bad = withBody('PATCH /api/users/2', patch('Never')).replace('Bearer ', 'Bearer bad')
  const name = `Ben ${++made}`
  socket.write(withBody('PATCH /api/users/2', patch('Ben')))
  await inQueue(1)
  socket.write(withBody('PATCH /api/users/2', patch(name)) + bad + read)
  await haveCome(4)
  await until('the bodies are there', () => memory.bodies.taken() > 2 * patch('Ben').length)
  // All that had come by then has been looked at: the first alone is in the queue.
  await new Promise(resolve => setImmediate(resolve))
  await inQueue(1)
  for (let n = 0; n < 2; n++) {
    runNext()
    await inQueue(1)
  }
  runNext()
  await until('all are answered', () => answers(heard).length === 4)
  assert.deepEqual(answers(heard), [200, 200, 401, 200])
  assert.deepEqual(nameOf(heard.text).slice(-1), [name])
  socket.destroy()
})

test('of one connection at most 100 requests wait for others of it', async () => {
  const { socket, heard } = await dial(server)
  socket.write(withBody('PATCH /api/users/2', patch('Ben')) + read.repeat(101))
  await inQueue(1)
  await until('one is refused', () => active.counts.get('GET') === 100)
  runNext()
  await inQueue(100)
  for (let n = 0; n < 100; n++) runNext()
  await until('all are answered', () => answers(heard).length === 102)
  assert.deepEqual(new Set(answers(heard).slice(0, -1)), new Set([200]))
  assert.equal(answers(heard).at(-1), 503)
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
  await inQueue(1)
  runNext()
  await until('both are answered', () => answers(heard).length === 2)
  assert.deepEqual(answers(heard), [401, 200])
  socket.destroy()
})

test('where too many wait already, one that would have to wait in line is refused, and the others are served', async () => {
  state.hasPlaces = false
  const { socket, heard } = await dial(server)
  socket.write(withBody('PATCH /api/users/2', patch('Ben')) + read)
  await inQueue(1)
  await until('one is left', () => active.counts.get('GET') === 0)
  state.hasPlaces = true
  runNext()
  await until('both are answered', () => answers(heard).length === 2)
  assert.deepEqual(answers(heard), [200, 503])
  assert.match(heard.text, /\r\nretry-after: \d/i)
  socket.destroy()
})

test('answers that wait for others on their connection are counted, however short, and those above the budget are 503', async () => {
  const { socket, heard } = await dial(server)
  socket.write(read.repeat(3))
  await inQueue(3)
  const [first, second, third] = waiting.splice(0)
  second?.run()
  await until('the second is answered', () => active.counts.get('GET') === 2)
  const bytes = memory.answers.taken()
  const others = memory.answers.budget - 2 * bytes + 1
  memory.answers.force(others)
  third?.run()
  await until('the third is answered', () => active.counts.get('GET') === 1)
  first?.run()
  await until('all have come', () => answers(heard).length === 3)
  assert.deepEqual(answers(heard), [200, 200, 503])
  assert.match(heard.text, new RegExp(`\r\ncontent-length: ${bytes}\r\n`, 'i'))
  await until('its bytes are given back', () => memory.answers.taken() === others)
  memory.answers.give(others)
  socket.destroy()
})
