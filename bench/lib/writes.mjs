/** How long reads take while others write: a steady trickle of small reads, alone and beside the writers. */
import { randomBytes } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { load } from './load.mjs'
import { median } from './measure.mjs'
import { cores, finish } from './processes.mjs'

const script = fileURLToPath(new URL('steady.mjs', import.meta.url))
const readsPerSecond = 500
const products = 50
const lead = 1 // seconds in which the writers come up to speed

/** Orders at a fixed rate, whatever the service makes of it. */
export const ordersPerSecond = {
  title: '200 orders/s are written',
  start: ({ server, token, orders, seconds }) =>
    steady({ url: server.url, token, rate: 200, seconds, requests: orders }),
}

/** As many orders as 64 callers get through, each sending its next when the last is answered. */
export const manyCallers = {
  title: '64 callers write orders',
  start: ({ tool, server, token, orders: [{ method, path, body }], seconds }) =>
    load(tool, { method, url: server.url + path, body, token }, seconds, 64),
}

/**
 * Gives medians over the rounds of the reads' p50 and p99, alone and beside the writers of `write`; `times`
 * is the one p99 through the other, of each round, and `timesUsual` the one p50 through the other.
 */
export async function measureReads({ duet, store, server, facts, write, ...run }) {
  const { seconds, rounds, token } = run
  const requests = readsOf(facts)
  const orders = await ordersOf(server.url, await duet.token(store, 'admin'))
  const reads = length =>
    steady({ url: server.url, token, rate: readsPerSecond, seconds: length, requests })
  const beside = async length => {
    const writing = write.start({ ...run, server, orders, seconds: length + lead })
    const [figures, written] = await Promise.all([
      sleep(lead * 1000).then(() => reads(length)),
      writing,
    ])
    server.emptyLog()
    return { ...figures, written }
  }
  await beside(Math.min(seconds, 2))
  const idle = []
  const busy = []
  for (let round = 0; round < rounds; round += 1) {
    idle.push(await reads(seconds))
    busy.push(await beside(seconds))
  }
  const of = (list, key) => median(list.map(figures => figures[key]))
  const through = key => median(busy.map((figures, round) => figures[key] / idle[round][key]))
  const row = list => ({ rate: of(list, 'rate'), p50: of(list, 'p50'), p99: of(list, 'p99') })
  return {
    title: write.title,
    idle: row(idle),
    busy: row(busy),
    written: row(busy.map(({ written }) => written)),
    times: through('p99'),
    timesUsual: through('p50'),
  }
}

function readsOf({ someUsers, someProducts }) {
  return someUsers.flatMap((user, i) => [
    { method: 'GET', path: `/api/users/${user}` },
    { method: 'GET', path: `/api/products/${someProducts[i % someProducts.length]}` },
  ])
}

// Of products with enough in stock, each order of one: so that none is refused, and few wait for the same row.
/** Makes products; gives a request for each that places an order of it. */
export async function ordersOf(url, token) {
  const label = randomBytes(4).toString('hex')
  const ids = []
  for (let i = 0; i < products; i += 1) {
    const response = await fetch(`${url}/api/products`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        name: `Bench ${label} ${i}`,
        category: 'Bench',
        price: 19.99,
        stock: 1_000_000,
      }),
    })
    if (response.status !== 201)
      throw new Error(`a product is answered ${response.status}: ${await response.text()}`)
    ids.push((await response.json()).id)
  }
  return ids.map(productId => ({
    method: 'POST',
    path: '/api/orders',
    body: JSON.stringify({ items: [{ productId: Number(productId), quantity: 1 }] }),
  }))
}

/** Each kind of write alone: requests for many rows of stores that are the same on all sides, of which each makes the products of its orders. */
export async function eachWrite({ facts, file, served }) {
  const [orders] = await Promise.all(served.map(({ server, token }) => ordersOf(server.url, token)))
  const posts = postsIn(file)
  const write = (method, path, sent) => ({ method, path, body: JSON.stringify(sent) })
  const document = 'mutation($post: CreatePostInput!) { createPost(input: $post) { id title } }'
  const created = { title: 'Of the bench', content: 'Words', authorId: facts.userId }
  const alone = (title, requests) => ({ title, reads: requests, writes: [], every: 0 })
  return [
    alone(
      'PATCH a post',
      posts.map(id => write('PATCH', `/api/posts/${id}`, { title: `Of the bench ${id}` })),
    ),
    alone(
      'POST a comment',
      posts.map(id => write('POST', `/api/posts/${id}/comments`, { text: 'Of the bench' })),
    ),
    alone('POST an order', orders),
    alone('GraphQL, createPost', [
      write('POST', '/graphql', { query: document, variables: { post: created } }),
    ]),
  ]
}

function postsIn(file) {
  const db = new DatabaseSync(file, { readOnly: true })
  try {
    return db
      .prepare('select id from posts order by id limit 500')
      .all()
      .map(({ id }) => id)
  } finally {
    db.close()
  }
}

async function steady(task) {
  const out = await finish(process.execPath, [script, JSON.stringify(task)], { core: cores.load })
  const figures = JSON.parse(out.trim().split('\n').at(-1))
  if (figures.failed > 0)
    throw new Error(
      `${figures.failed} of ${figures.requests} requests failed: ${task.requests[0].path} and others`,
    )
  return figures
}
