/** Which requests of a connection go on, and which connections are read: over real sockets, with answers that the test gives. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { test } from 'node:test'
import { until } from '../../test/support/wait.ts'
import { createConnections } from './connections.ts'
import { endsConnection, type Http } from './request.ts'

const ask = (path: string, ...headers: readonly string[]) =>
  `${[`GET ${path} HTTP/1.1`, 'Host: localhost', ...headers].join('\r\n')}\r\n\r\n`
const write = (path: string, body = '') =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`

/** The longest rest, in milliseconds on the clock of the test. */
const longest = 200

/** A server that tells what goes on, and answers at once or when the test says so; as many as the test says wait in its queue. */
const served = async (t: test.TestContext, { isHeld = false, held = 5000 } = {}) => {
  const state = { waiting: 0, now: 0 }
  const asked: string[] = []
  const going: { readonly path: string; readonly end: () => void }[] = []
  const connections = createConnections(
    { size: () => state.waiting },
    { held, rest: longest },
    () => state.now,
  )
  const begin = (path: string, outgoing: ServerResponse) => {
    asked.push(path)
    connections.mayRest({ env: { incoming: outgoing.req } } as Http)
    const end = () => void outgoing.end('yes')
    if (isHeld) going.push({ path, end })
    else end()
  }
  const server = createServer((incoming, outgoing) => {
    const answer = () => begin(incoming.url ?? '', outgoing)
    connections.receive(incoming, outgoing, answer, endsConnection(incoming))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.closeAllConnections())
  t.after(() => server.close())
  const open = async () => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    socket.on('error', () => {})
    await once(socket, 'connect')
    t.after(() => socket.destroy())
    let heard = ''
    socket.on('data', data => {
      heard += data
    })
    return {
      socket,
      answers: () => heard.split('HTTP/1.1 200 ').length - 1,
      /** Resolves when it is answered. */
      ask: async (path: string) => {
        socket.write(ask(path))
        await once(socket, 'data')
      },
    }
  }
  return { state, asked, going, connections, server, open }
}

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `/${from + index}`)

test('of one connection 32 requests go on, whatever they ask; with them it is read no further until some are answered [H16]', async t => {
  const { asked, going, connections, open } = await served(t, { isHeld: true })
  const { socket, answers } = await open()
  socket.write(
    numbers(1, 100)
      .map(path => ask(path))
      .join(''),
  )
  await until('they have come', () => going.length + connections.held() === 100)
  assert.deepEqual(asked, numbers(1, 32))
  assert.equal(connections.held(), 68)
  // What comes now stays in the kernel, and in the client.
  socket.write(
    numbers(101, 140)
      .map(path => ask(path))
      .join(''),
  )
  for (let n = 0; n < 68; n++) {
    going[n]?.end()
    await until('the next one goes on', () => asked.length === 33 + n)
    assert.equal(connections.held(), 67 - n)
  }
  for (let n = 68; n < 140; n++) {
    await until('it goes on', () => going.length > n)
    assert.ok(going.length - n <= 32)
    going[n]?.end()
  }
  await until('all are answered', () => answers() === 140)
  assert.deepEqual(asked, numbers(1, 140))
})

test('a connection that is paused stays so while bodies of its requests are read [H16]', async t => {
  const { asked, going, connections, open } = await served(t, { isHeld: true })
  const { socket, answers } = await open()
  socket.write(
    write('/1', 'body') +
      numbers(2, 200)
        .map(path => ask(path))
        .join(''),
  )
  await until('they have come', () => going.length + connections.held() === 200)
  assert.deepEqual(asked, ['/1'])
  socket.write(
    numbers(201, 240)
      .map(path => ask(path))
      .join(''),
  )
  going[0]?.end()
  await until('those behind it go on', () => asked.length === 33)
  assert.equal(connections.held(), 200 - 33)
  for (let n = 1; n < 240; n++) {
    await until('it goes on', () => going.length > n)
    going[n]?.end()
  }
  await until('all are answered', () => answers() === 240)
})

test('a request above those that may wait on all connections ends its own, and what waits there is forgotten [H16]', async t => {
  const { going, connections, open } = await served(t, { isHeld: true, held: 40 })
  const [patient, greedy] = [await open(), await open()]
  patient.socket.write(
    numbers(1, 42)
      .map(path => ask(path))
      .join(''),
  )
  await until('ten wait', () => connections.held() === 10)
  greedy.socket.write(
    numbers(1, 100)
      .map(path => ask(path))
      .join(''),
  )
  await once(greedy.socket, 'close')
  assert.equal(connections.held(), 10)
  for (let n = 0; n < 32; n++) going[n]?.end()
  for (let n = 64; n < 74; n++) {
    await until('those that waited go on', () => going.length > n)
    going[n]?.end()
  }
  await until('the patient one has all', () => patient.answers() === 42)
})

test('a connection on which few requests wait is not ended for what waits on another', async t => {
  const { going, connections, open } = await served(t, { isHeld: true, held: 40 })
  const [greedy, patient] = [await open(), await open()]
  const all = (most: number) =>
    numbers(1, most)
      .map(path => ask(path))
      .join('')
  greedy.socket.write(all(72))
  await until('forty wait', () => connections.held() === 40)
  patient.socket.write(all(34))
  await until('two more wait', () => connections.held() === 42)
  for (let n = 0; n < 106; n++) {
    await until('one more goes on', () => going.length > n)
    going[n]?.end()
  }
  await until('both have all', () => greedy.answers() === 72 && patient.answers() === 34)
})

test('an upgrade that nobody makes is answered, as the last of its connection: what is behind it may be lost, and is not done [H18]', async t => {
  for (const upgrade of ['h2c', 'websocket']) {
    const { asked, open } = await served(t)
    const { socket, answers } = await open()
    socket.write(
      ask('/1', `Upgrade: ${upgrade}`, 'Connection: Upgrade') + ask('/2') + write('/4', '{}'),
    )
    socket.write(ask('/3'))
    await once(socket, 'close')
    assert.deepEqual([asked, answers()], [['/1'], 1])
  }
})

test('while enough requests wait, the next one of a connection that was answered is not read [H1]', async t => {
  const { state, asked, open } = await served(t)
  const [busy, other] = [await open(), await open()]
  state.waiting = 64
  await busy.ask('/1')
  const second = busy.ask('/2')
  // One that was not answered yet does not rest, and is read long after what busy has sent.
  await other.ask('/other')
  assert.deepEqual(asked, ['/1', '/other'])
  state.waiting = 63
  await second
  assert.deepEqual(asked, ['/1', '/other', '/2'])
})

test('a connection that had 32 unfinished requests and rests then is read again', async t => {
  const { state, asked, going, open } = await served(t, { isHeld: true })
  const { socket, answers } = await open()
  state.waiting = 64
  socket.write(
    numbers(1, 32)
      .map(path => ask(path))
      .join(''),
  )
  await until('they have come', () => going.length === 32)
  for (const { end } of going.splice(0)) end()
  await until('all are answered', () => answers() === 32)
  state.waiting = 0
  socket.write(ask('/last'))
  await until('it has come', () => asked.length === 33)
})

test('with fewer that wait, every connection is read at once', async t => {
  const { state, asked, open } = await served(t)
  const one = await open()
  state.waiting = 63
  for (const path of ['/1', '/2', '/3']) await one.ask(path)
  assert.deepEqual(asked, ['/1', '/2', '/3'])
})

test('connections are read again in the order in which they were answered, and who asks meanwhile goes behind them', async t => {
  const { state, asked, open } = await served(t)
  const all = await Promise.all(['a', 'b', 'c'].map(async name => ({ name, ...(await open()) })))
  state.waiting = 64
  for (const { name, ask } of all) await ask(`/${name}1`)
  const again = all.toReversed().map(({ name, ask }) => ask(`/${name}2`))
  // Room for one in each turn.
  state.waiting = 63
  await Promise.all(again)
  assert.deepEqual(asked.slice(3), ['/a2', '/b2', '/c2'])
})

test('a connection rests no longer than a request may wait, however many others do [H2]', async t => {
  const { state, asked, open } = await served(t)
  const [busy, later, other] = [await open(), await open(), await open()]
  state.waiting = 64
  await busy.ask('/1')
  state.now = 1
  await later.ask('/later')
  const second = busy.ask('/2')
  const third = later.ask('/3')
  state.now = longest
  await other.ask('/other')
  assert.deepEqual(asked.slice(2), ['/other'])
  state.now = longest + 1
  await second
  assert.deepEqual(asked.slice(2), ['/other', '/2'])
  state.waiting = 0
  await third
})

test('a connection with nothing to say holds nobody up, nor one that has hung up', async t => {
  const { state, server, open } = await served(t)
  const [silent, gone, busy] = [await open(), await open(), await open()]
  state.waiting = 64
  await silent.ask('/silent')
  await gone.ask('/gone')
  await busy.ask('/busy')
  gone.socket.destroy()
  state.waiting = 63
  await busy.ask('/busy')
  await silent.ask('/silent')
  const count = () => new Promise(resolve => server.getConnections((_, number) => resolve(number)))
  await until('the one that hung up is gone', async () => (await count()) === 2)
})

test('at the end all are read, also those that wait', async t => {
  const { state, connections, open } = await served(t)
  const all = await Promise.all([open(), open(), open()])
  state.waiting = 1000
  for (const { ask } of all) await ask('/')
  const last = all.map(({ ask }) => ask('/last'))
  connections.end()
  await Promise.all(last)
})
