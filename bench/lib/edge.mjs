/** What the edge of the service bears: pipelining without end, new connections beside busy ones, and bursts of orders. */
import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { onAnswer, percentiles, requestOf } from './answers.mjs'
import { residentMemory } from './processes.mjs'

const clock = () => performance.now()

/** Sends one request on a connection of its own; gives its status and the milliseconds from dialling to the answer. */
const dialled = ({ hostname, port }, bytes) =>
  new Promise(resolve => {
    const began = clock()
    const socket = connect({ host: hostname, port, noDelay: true }, () => socket.write(bytes))
    const end = status => {
      resolve({ status, took: clock() - began })
      socket.destroy()
    }
    onAnswer(socket, end)
    socket.on('error', () => end(0))
  })

const timesOf = answers => percentiles(answers.map(({ took }) => took))

/** Four connections that write GETs without waiting for what is answered; `/healthz` on new connections beside them. */
export async function measurePipelining(server, seconds) {
  const to = new URL(server.url)
  const get = path => requestOf({ method: 'GET', path, host: to.host })
  const many = Buffer.concat(Array.from({ length: 500 }, () => Buffer.from(get('/api/products'))))
  let isOver = false
  const greedy = () => {
    if (isOver) return
    const socket = connect({ host: to.hostname, port: to.port })
    const fill = () => {
      while (!isOver && socket.write(many));
      if (isOver) socket.destroy()
    }
    socket
      .on('connect', fill)
      .on('drain', fill)
      .on('data', () => {})
    socket.on('error', () => {}).on('close', () => setTimeout(greedy, 10))
  }
  for (let n = 0; n < 4; n++) greedy()
  const before = residentMemory(server.pid)
  const probes = []
  let memory = 0
  for (const ends = clock() + seconds * 1000; clock() < ends; await sleep(50)) {
    probes.push(await dialled(to, get('/healthz')))
    memory = Math.max(memory, residentMemory(server.pid) ?? 0)
  }
  isOver = true
  const failed = probes.filter(({ status }) => status !== 200).length
  return { probes: timesOf(probes), failed, grown: memory - before }
}

const busyConnections = 300
const newPerSecond = 300

/** The p99 of 300 busy connections alone, and beside 300 new ones a second, each of which asks for one thing or for `/healthz`. */
export async function measureNewcomers(server, { token, seconds }, { userId }) {
  const to = new URL(server.url)
  const bytesOf = path => requestOf({ method: 'GET', path, host: to.host, token })
  const one = bytesOf(`/api/users/${userId}`)
  let isOver = false
  let busy = []
  const line = () => {
    const socket = connect({ host: to.hostname, port: to.port, noDelay: true })
    let sent = 0
    const send = () => {
      if (isOver) return socket.destroy()
      sent = clock()
      socket.write(one)
    }
    onAnswer(socket, () => {
      busy.push({ took: clock() - sent })
      send()
    })
    socket.on('connect', send).on('error', () => {})
  }
  for (let n = 0; n < busyConnections; n++) line()
  await sleep(2000)
  busy = []
  await sleep(seconds * 1000)
  const alone = timesOf(busy)
  busy = []
  const asked = { newcomers: [], probes: [] }
  let sent = 0
  for (const began = clock(); clock() - began < seconds * 1000; await sleep(1))
    for (; sent < ((clock() - began) / 1000) * newPerSecond; sent++) {
      const isProbe = sent % 15 === 0
      const answer = dialled(to, isProbe ? bytesOf('/healthz') : one)
      asked[isProbe ? 'probes' : 'newcomers'].push(answer)
    }
  const beside = timesOf(busy)
  const newcomers = timesOf(await Promise.all(asked.newcomers))
  const probes = timesOf(await Promise.all(asked.probes))
  isOver = true
  return { alone, beside, newcomers, probes }
}

/** Orders that come at one moment, each on a connection of its own: of one product, and of twenty. */
export async function measureBursts(server, { token, admin }) {
  const to = new URL(server.url)
  const headers = { 'content-type': 'application/json' }
  const make = async () => {
    const response = await fetch(`${server.url}/api/products`, {
      method: 'POST',
      headers: { ...headers, authorization: `Bearer ${admin}` },
      body: JSON.stringify({
        name: `Bench ${randomBytes(4).toString('hex')}`,
        category: 'Bench',
        price: 19.99,
        stock: 1_000_000,
      }),
    })
    return (await response.json()).id
  }
  const products = []
  for (let n = 0; n < 20; n++) products.push(await make())
  const order = productId => {
    const body = JSON.stringify({ items: [{ productId, quantity: 1 }] })
    return requestOf({ method: 'POST', path: '/api/orders', body, host: to.host, token })
  }
  const results = []
  for (const count of [300, 1000])
    for (const of of [1, products.length]) {
      const one = clock()
      for (let n = 0; n < 20; n++) await dialled(to, order(products[n % of]))
      const inTurn = ((clock() - one) / 20) * count
      const began = clock()
      const answers = await Promise.all(
        Array.from({ length: count }, (_, n) => dialled(to, order(products[n % of]))),
      )
      const refused = answers.filter(({ status }) => status !== 201)
      results.push({
        count,
        of,
        inTurn,
        all: clock() - began,
        refused: refused.length,
        refusedP99: timesOf(refused).p99,
      })
    }
  return results
}
