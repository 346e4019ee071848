import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { test } from 'node:test'
import { createPacing } from '#http/pacing.ts'
import { createQueue, type Queue } from '#http/queue.ts'
import type { Http } from '#http/request.ts'
import { until } from '../../test/support/wait.ts'

const ask = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`

/** The longest rest, in milliseconds on the clock of the test. */
const longest = 200

/** A server that answers at once and tells what it was asked; as many as the test says wait beside. */
const paced = async (t: test.TestContext, queue?: Queue) => {
  const state = { waiting: 0, now: 0 }
  const asked: string[] = []
  const pacing = createPacing(queue ?? { entered: () => state.waiting }, longest, () => state.now)
  const server = createServer((incoming, outgoing) => {
    asked.push(incoming.url ?? '')
    pacing.answering({ env: { incoming, outgoing } } as Http)
    outgoing.end('yes')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.closeAllConnections())
  t.after(() => server.close())
  const open = async () => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    await once(socket, 'connect')
    t.after(() => socket.destroy())
    return {
      /** Resolves when it is answered. */
      ask: async (path: string) => {
        socket.write(ask(path))
        await once(socket, 'data')
      },
      end: () => socket.destroy(),
    }
  }
  return { state, asked, pacing, server, open }
}

test('while enough requests wait, the next one of a connection that was answered is not read', async t => {
  const { state, asked, open } = await paced(t)
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

test('with fewer that wait, every connection is read at once', async t => {
  const { state, asked, open } = await paced(t)
  const one = await open()
  state.waiting = 63
  for (const path of ['/1', '/2', '/3']) await one.ask(path)
  assert.deepEqual(asked, ['/1', '/2', '/3'])
})

test('connections are read again in the order in which they were answered, and who asks meanwhile goes behind them', async t => {
  const { state, asked, open } = await paced(t)
  const all = await Promise.all(['a', 'b', 'c'].map(async name => ({ name, ...(await open()) })))
  state.waiting = 64
  for (const { name, ask } of all) await ask(`/${name}1`)
  const again = all.toReversed().map(({ name, ask }) => ask(`/${name}2`))
  // Room for one in each turn.
  state.waiting = 63
  await Promise.all(again)
  assert.deepEqual(asked.slice(3), ['/a2', '/b2', '/c2'])
})

test('a connection rests no longer than a request may wait, however many others do', async t => {
  const { state, asked, open } = await paced(t)
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
  const { state, server, open } = await paced(t)
  const [silent, gone, busy] = [await open(), await open(), await open()]
  state.waiting = 64
  await silent.ask('/silent')
  await gone.ask('/gone')
  await busy.ask('/busy')
  gone.end()
  state.waiting = 63
  await busy.ask('/busy')
  await silent.ask('/silent')
  const count = () => new Promise(resolve => server.getConnections((_, number) => resolve(number)))
  await until('the one that hung up is gone', async () => (await count()) === 2)
})

test('requests that wait for others of their connection let nobody rest', async t => {
  const queue = createQueue({ wait: 1000, size: 1000 })
  for (let n = 0; n < 100; n++) queue.keepPlace()
  const { asked, open } = await paced(t, queue)
  const one = await open()
  for (const path of ['/1', '/2']) await one.ask(path)
  assert.deepEqual(asked, ['/1', '/2'])
})

test('at the end all are read, also those that wait', async t => {
  const { state, pacing, open } = await paced(t)
  const all = await Promise.all([open(), open(), open()])
  state.waiting = 1000
  for (const { ask } of all) await ask('/')
  const last = all.map(({ ask }) => ask('/last'))
  pacing.end()
  await Promise.all(last)
})
