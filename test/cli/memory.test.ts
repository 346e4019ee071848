/** What clients can make a service keep in memory: bodies that do not end, answers that nobody reads. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { after, before, test } from 'node:test'
import { loadConfig } from '#config.ts'
import { type Account, createMemory, type Memory } from '#http/memory.ts'
import { type Listening, listen } from '#serve/listen.ts'
import { createWorld, type World } from '#test/market.ts'
import { versions } from '#test/support/market/duet.config.ts'
import { inTime, longest, until } from '#test/support/wait.ts'

let world: World
let memory: Memory
let server: Listening
/** The same, with little patience for those who do not read. */
let strict: Listening
const budgets = { bodies: 310_000, answers: 100_000_000 }
const big = 'x'.repeat(100_000)
/** More than the buffers of two sockets. */
const answerBytes = 29_000_000
before(async () => {
  memory = createMemory(budgets)
  world = await createWorld({ edge: { memory } })
  for (let n = 0; n < 100; n++)
    await world.ask('POST /api/users/2/posts', {
      as: 2,
      body: { title: `${n}`, content: '€'.repeat(100_000) },
    })
  const config = loadConfig({ DUET_PORT: '0' })
  server = await listen(world.app, config, {
    versions,
    state: { isDraining: false },
    patience: longest,
  })
  strict = await listen(world.app, config, {
    versions,
    state: { isDraining: false },
    patience: 2000,
  })
})
after(async () => {
  await server.close(0)
  await strict.close(0)
  await world.close()
})

const clients: Socket[] = []
const dial = async (to = server): Promise<Socket> => {
  const socket = connect(Number(new URL(to.url).port), '127.0.0.1')
  clients.push(socket)
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}
const hangUp = async () => {
  for (const socket of clients.splice(0)) socket.destroy()
  await until('all is given back', () => isEmpty(memory))
}

/** Whether more is taken than leaves so many bytes. */
const isTaken = (account: Account, bytes: number) => {
  const fits = account.take(bytes)
  if (fits) account.give(bytes)
  return !fits
}

const isEmpty = ({ bodies, answers }: Memory) =>
  !isTaken(bodies, budgets.bodies) && !isTaken(answers, budgets.answers)

const statusOf = async (socket: Socket) => {
  const [data] = await once(socket, 'data')
  return Number(String(data).split(' ', 2)[1])
}

test('a budget can be taken to the last byte, and one byte more is refused and takes nothing [F4]', () => {
  const { answers } = createMemory({ answers: 1000 })
  assert.equal(answers.take(1001), false)
  assert.equal(answers.take(999), true)
  assert.equal(answers.hasRoom(1), true)
  assert.equal(answers.take(2), false)
  assert.equal(answers.take(1), true)
  assert.equal(answers.hasRoom(1), false)
  answers.give(1000)
  assert.equal(answers.take(1000), true)
})

test('each caller may take as much of the account of bodies as stays free, so that the next always finds room', () => {
  const { bodies } = createMemory({ bodies: 1200 })
  const [one, other, third] = ['one', 'other', 'third'].map(bodies.of)
  assert.equal(one?.take(601), false)
  assert.equal(one?.take(600), true)
  assert.equal(other?.take(301), false)
  assert.equal(other?.take(300), true)
  assert.equal(one?.take(1), false)
  one?.give(200)
  assert.equal(third?.take(251), false)
  assert.equal(third?.take(250), true)
  one?.give(400)
  other?.give(300)
  third?.give(250)
  assert.equal(bodies.taken(), 0)
})

/** A POST of a post by a user whose body has not ended. */
const unfinished = async (as: number) => {
  const body = JSON.stringify({ title: 'slow', content: big })
  const head = [
    `POST /api/users/${as}/posts HTTP/1.1`,
    'Host: a',
    `Authorization: Bearer ${await world.token(as)}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ]
  const socket = await dial()
  socket.write(`${head.join('\r\n')}\r\n\r\n${body.slice(0, -1)}`)
  return { socket, finish: () => void socket.write(body.slice(-1)) }
}

test('bodies above the budget are 503 while others are being received, which are answered [G5]', async () => {
  const first = [await unfinished(2), await unfinished(3)]
  await until('two are being received', () => isTaken(memory.bodies, 120_000))
  const third = await unfinished(1)
  assert.equal(await statusOf(third.socket), 503)
  for (const { socket, finish } of first) {
    const status = statusOf(socket)
    finish()
    assert.equal(await status, 201)
  }
  await until('all is given back', () => isEmpty(memory))
  const again = await unfinished(1)
  again.finish()
  assert.equal(await statusOf(again.socket), 201)
  const cut = await unfinished(2)
  await until('it is being received', () => isTaken(memory.bodies, 210_000))
  cut.socket.destroy()
  await hangUp()
})

test('one caller gets half of the budget for bodies, so that others can send theirs', async () => {
  const one = await unfinished(2)
  await until('it is being received', () => isTaken(memory.bodies, 210_000))
  const more = await unfinished(2)
  assert.equal(await statusOf(more.socket), 503)
  const other = await unfinished(3)
  await until('both are being received', () => isTaken(memory.bodies, 120_000))
  // One that comes whole with its head is counted too; what follows on its connection is answered.
  const whole = (await dial()).setEncoding('utf8')
  const body = JSON.stringify({ title: 'short', content: 'x'.repeat(20_000) })
  whole.write(
    `POST /api/users/2/posts HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${await world.token(2)}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}GET /api/products HTTP/1.1\r\nHost: a\r\n\r\n`,
  )
  let heard = ''
  whole.on('data', data => {
    heard += data
  })
  await until('both are answered', () => heard.split('HTTP/1.1 ').length === 3)
  assert.deepEqual(heard.match(/(?<=HTTP\/1\.1 )\d+/g), ['503', '200'])
  for (const { socket, finish } of [other, one]) {
    const status = statusOf(socket)
    finish()
    assert.equal(await status, 201)
  }
  await hangUp()
})

test('a body that comes byte by byte takes up little more than its bytes', async () => {
  const body = JSON.stringify({ content: 'x'.repeat(2000) })
  const head = [
    'POST /api/users/2/posts HTTP/1.1',
    'Host: a',
    `Authorization: Bearer ${await world.token(2)}`,
    'Content-Type: application/json',
    'Transfer-Encoding: chunked',
  ]
  const chunks = [...body].map(byte => `1\r\n${byte}\r\n`).join('')
  const socket = await dial()
  socket.write(`${head.join('\r\n')}\r\n\r\n${chunks}0\r\n\r\n`)
  assert.equal(await statusOf(socket), 422)
  await hangUp()
})

test('a body that no route takes is not received', async () => {
  const socket = await dial()
  socket.write(`POST /nothing HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{`)
  assert.equal(await statusOf(socket), 404)
  await hangUp()
})

/** Asks for a large answer and reads nothing of it. */
const unread = async (to = server) => {
  const socket = await dial(to)
  socket.pause()
  socket.write('GET /api/posts?limit=100 HTTP/1.1\r\nHost: a\r\n\r\n')
  return socket
}

test('answers above the budget are 503 while others are not read, small ones are not', async () => {
  for (let n = 1; n <= 3; n++) {
    await unread()
    const left = budgets.answers - n * answerBytes
    await until(`${n} answers are not read`, () => isTaken(memory.answers, left))
  }
  const ask = async (path: string, more: RequestInit = {}) => {
    const headers = { Connection: 'close', ...more.headers }
    const response = await fetch(`${server.url}${path}`, { ...more, headers })
    await response.arrayBuffer()
    return response
  }
  const refused = await ask('/api/posts?limit=100')
  assert.equal(refused.status, 503)
  assert.ok(Number(refused.headers.get('retry-after')) >= 1)
  const form = { 'Content-Type': 'application/x-www-form-urlencoded' }
  const query = { method: 'QUERY', headers: form, body: 'limit=100' }
  assert.equal((await ask('/api/posts', query)).status, 503)
  assert.equal((await ask('/api/products/1')).status, 200)
  memory.answers.force(budgets.answers)
  assert.equal((await ask('/api/products/1')).status, 503)
  assert.equal((await ask('/healthz')).status, 200)
  memory.answers.give(budgets.answers)
  await hangUp()
  assert.equal((await ask('/api/posts?limit=100')).status, 200)
})

test('a connection whose client takes nothing of an answer is ended, one that reads slowly is not [G2]', async () => {
  const stalled = await unread(strict)
  const ended = once(stalled, 'close')
  const slow = await unread(strict)
  let heard = 0
  slow.on('data', data => {
    heard += data.length
    slow.pause()
    setTimeout(() => slow.resume(), 2)
  })
  slow.resume()
  await until('the slow one has all', () => heard > answerBytes)
  await until('what the other did not take is given back', () => isEmpty(memory))
  stalled.resume()
  await inTime('its connection is closed', ended)
  assert.ok(stalled.bytesRead < answerBytes)
  await hangUp()
})
