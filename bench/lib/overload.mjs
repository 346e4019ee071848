/** The run under overload, on SQLite: 1, 2, 5 and 10 times what the service can serve, and twenty clients of the slowest read. */
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { measureBursts, measureNewcomers, measurePipelining } from './edge.mjs'
import { benchOnCopy } from './on-copy.mjs'
import { cores, finish, residentMemory } from './processes.mjs'
import { printClosed, printEdge, printHeap, printOverload, printSlow } from './report.mjs'
import { servePlain } from './servers.mjs'

const script = fileURLToPath(new URL('flood.mjs', import.meta.url))

const steps = [1, 2, 5, 10]
const connections = 2000
/** As many connections as the most that it can serve is found with. */
const usualConnections = 64
const paysPerSecond = 50
const probesPerSecond = 20
const pointsPerSecond = 200
const slowClients = 20
/** How long the most that can be served is looked for, in seconds. */
const peakSeconds = 10

/** What one reader cannot read more slowly: all the tests that no index helps, and a far offset. */
const worstAt = offset =>
  `/api/products?search=e&min_price=1&max_price=900&in_stock=true&sort=-price,name&offset=${offset}`
const farthest = 50_000
export const worst = worstAt(farthest)
/** So many of them that none is answered from the cache. */
const manyOffsets = 5000

/** On a copy, as what is paid changes the store. */
export const benchOverload = (options, tools) =>
  benchOnCopy(options, tools, async ({ run, duet, store, server, facts }) => {
    const slow = await measureSlow(server, run, facts)
    printSlow(slow)
    const admin = await duet.token(store, 'admin')
    const length = Math.min(run.seconds, 15)
    const newcomers = await measureNewcomers(server, { ...run, seconds: length }, facts)
    const bursts = await measureBursts(server, { ...run, admin })
    const pipelining = await measurePipelining(server, length)
    printEdge({ newcomers, bursts, pipelining })
    server.emptyLog()
    const closed = await measureClosed(server, run, facts, tools)
    printClosed(closed)
    const overload = await measureOverload(server, { ...run, admin }, facts, closed.duet)
    printOverload(overload)
    if (run.heap !== undefined)
      printHeap(run.heap, [slow.busy, closed.duet.many, ...overload.steps])
    return { slow, newcomers, bursts, pipelining, closed, overload }
  })

/** What the generator says of its groups, by their names, and the most memory that the server took meanwhile. */
export async function flood(server, token, seconds, groups) {
  let memory = 0
  const timer = setInterval(() => {
    memory = Math.max(memory, residentMemory(server.pid) ?? 0)
  }, 100)
  try {
    const input = JSON.stringify({ url: server.url, token, seconds, groups, pid: server.pid })
    const out = await finish(process.execPath, [script], { core: cores.load, input })
    const { groups: told, ...whole } = JSON.parse(out.trim().split('\n').at(-1))
    return { ...whole, memory, ...Object.fromEntries(told.map(group => [group.name, group])) }
  } finally {
    clearInterval(timer)
    server.emptyLog()
  }
}

/** A request for a path. */
export const get = path => ({ method: 'GET', path })

const manyWorst = Array.from({ length: manyOffsets }, (_, less) => get(worstAt(farthest - less)))

/** Reads of users and products, one after another. */
export const pointReads = ({ someUsers, someProducts }) =>
  someUsers.flatMap((user, i) => [
    get(`/api/users/${user}`),
    get(`/api/products/${someProducts[i % someProducts.length]}`),
  ])

/** Two point reads to each page of a list. */
const readsOf = facts => {
  const list = get(`/api/products?category=${encodeURIComponent(facts.category)}&sort=price`)
  return pointReads(facts).flatMap((read, i) => (i % 2 ? [read, list] : [read]))
}

const probes = {
  name: 'probes',
  rate: probesPerSecond,
  connections: 20,
  requests: [get('/healthz')],
}

async function measureSlow(server, { token, seconds }, facts) {
  const length = Math.min(seconds, 20)
  const points = {
    name: 'points',
    rate: pointsPerSecond,
    connections: 64,
    requests: pointReads(facts),
  }
  const slow = { name: 'slow', connections: slowClients, requests: manyWorst }
  await flood(server, token, 2, [points, { ...slow, connections: 1 }])
  const idle = await flood(server, token, length, [points, probes])
  const busy = await flood(server, token, length, [points, probes, slow])
  return { clients: slowClients, idle, busy }
}

/**
 * What is got through where each connection sends its next request when the last is answered, with few connections and with as
 * many as under overload: by the service, and by `node:http` that answers everything with the bytes of one product.
 */
async function measureClosed(server, { token }, facts, { log }) {
  const requests = readsOf(facts)
  const both = async server => {
    const at = count =>
      flood(server, token, peakSeconds, [{ name: 'reads', connections: count, requests }])
    return { few: await at(usualConnections), many: await at(connections) }
  }
  const duet = await both(server)
  const headers = { authorization: `Bearer ${token}` }
  const one = await fetch(`${server.url}/api/products/${facts.productId}`, { headers })
  const answer = { type: one.headers.get('content-type'), bytes: Buffer.from(await one.bytes()) }
  const plain = await servePlain(answer, log('plain-overload'))
  const ceiling = await both(plain)
  await plain.stop()
  return { connections: { few: usualConnections, many: connections }, duet, plain: ceiling }
}

async function measureOverload(server, { token, admin, seconds }, facts, closed) {
  const requests = readsOf(facts)
  const rate = closed.few.reads.goodput
  const results = []
  const before = residentMemory(server.pid)
  for (const times of steps) {
    const orders = await placeOrders(
      server,
      { token, admin },
      Math.ceil(seconds * paysPerSecond * 1.1),
    )
    const pays = orders.map(id => ({ method: 'POST', path: `/api/orders/${id}/pay` }))
    const figures = await flood(server, token, seconds, [
      { name: 'reads', rate: rate * times, connections, requests },
      { name: 'pays', rate: paysPerSecond, connections: 200, requests: pays },
      probes,
    ])
    results.push({
      times,
      ...figures,
      cost: costOf(figures),
      back: await untilBack(server, token, facts, figures.stopped),
    })
  }
  return { rate, costAtPeak: costOf(closed.few), before, steps: results }
}

/** The processor time of the server for each read that was answered, in microseconds, whatever else it did beside. */
const costOf = ({ server, reads }) => (1000 * server) / reads.ok

/** The milliseconds from the end of the load until ten reads in a row were answered, each within 50 ms. */
async function untilBack(server, token, { productId }, stopped) {
  const headers = { authorization: `Bearer ${token}` }
  for (let inRow = 0, first = 0; ; ) {
    const began = Date.now()
    const response = await fetch(`${server.url}/api/products/${productId}`, { headers })
    await response.arrayBuffer()
    const isGood = response.status === 200 && Date.now() - began <= 50
    if (inRow === 0) first = began
    inRow = isGood ? inRow + 1 : 0
    if (inRow === 10) return Math.max(0, first - stopped)
    if (began - stopped > 60_000) return Number.POSITIVE_INFINITY
    await sleep(10)
  }
}

const sending = (url, token) => async (path, body) => {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (response.status !== 201)
    throw new Error(`${path} is answered ${response.status}: ${await response.text()}`)
  return await response.json()
}

/** Orders that can be paid, placed by 32 callers. */
async function placeOrders({ url }, { token, admin }, count) {
  const product = await sending(url, admin)('/api/products', {
    name: `Bench ${randomBytes(4).toString('hex')}`,
    category: 'Bench',
    price: 19.99,
    stock: count,
  })
  const ids = []
  let begun = 0
  const place = sending(url, token)
  const caller = async () => {
    while (begun++ < count) {
      const order = await place('/api/orders', { items: [{ productId: product.id, quantity: 1 }] })
      ids.push(order.id)
    }
  }
  await Promise.all(Array.from({ length: 32 }, caller))
  return ids
}
