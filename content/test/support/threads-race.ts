/** A race over connections that the kernel gave to several threads of a service: no answer may be older than what any of them was told before. */
import assert from 'node:assert/strict'
import { Agent, request } from 'node:http'
import { mint } from '#auth/token.ts'
import { randomFrom } from '#base/random.ts'
import { command } from '#test/commands.ts'
import { type Settings, serve } from '#test/duet.ts'
import { valuesIn } from '#test/support/prometheus.ts'
import { longest, pause } from '#test/support/wait.ts'
import { secret } from '../world.ts'

type Call = { readonly line: string; readonly body?: unknown }

/** A connection that is kept, for one request after the other. */
const connect = (port: number, authorization: string) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const call = ({ line, body }: Call): Promise<string> => {
    const [method = '', path = ''] = line.split(' ')
    const text = body === undefined ? undefined : JSON.stringify(body)
    const headers = {
      authorization,
      ...(text !== undefined && {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(text),
      }),
    }
    return new Promise((resolve, reject) => {
      const options = { agent, port, host: '127.0.0.1', method, path, headers, timeout: longest }
      const sent = request(options, async answer => {
        let told = ''
        for await (const part of answer.setEncoding('utf8')) told += part
        if (answer.statusCode === 200) resolve(told)
        else reject(new Error(`${line}: ${answer.statusCode} ${told}`))
      })
      sent.once('error', reject).once('timeout', () => sent.destroy(new Error('no answer')))
      sent.end(text)
    })
  }
  return { call, close: () => agent.destroy() }
}

const products = [1, 2, 3]
const query = (text: string) => `GET /graphql?query=${encodeURIComponent(text)}`

/** Reads that show the stock of products, each in another way. */
const reads = [
  (id: number) => `GET /api/products/${id}`,
  (id: number) => `GET /api/products?limit=${20 + id}`,
  () => 'GET /api/products?search=a&limit=50',
  (id: number) => query(`{ product(id: ${id}) { id stock } }`),
  () => query('{ products(limit: 50) { id stock } }'),
]

const shownIn = (text: string) =>
  [...text.matchAll(/"id":"?(\d+)"?,[^{}]*"stock":(\d+)/g)].map(
    ([, id, stock]) => [Number(id), Number(stock)] as const,
  )

export type ThreadsRace = {
  readonly settings: Settings
  readonly threads: number
  /** How many reads are wanted. */
  readonly reads: number
  /** How many of them are to come from the caches. */
  readonly hits?: number
  /** After so many a write may follow; else writes follow one another. */
  readonly readsPerWrite?: number
  readonly seed: number
  readonly connections?: number
}

/** Runs the race on a service of its own; gives a sentence for each number that was too old, and how many answers came from the cache. */
export const raceThreads = async (race: ThreadsRace) => {
  const { settings, threads, seed, connections: count = 12, readsPerWrite = 0 } = race
  assert.equal((await command(['migrate'], settings)).code, 0)
  const service = await serve({
    ...settings,
    DUET_THREADS: String(threads),
    DUET_METRICS_PORT: '0',
  })
  const metrics = / with metrics on (\S+)/.exec(service.stderr())?.[1] ?? ''
  const authorization = `Bearer ${await mint({ sub: 1, role: 'admin', ttl: 7200 }, secret, Date.now())}`
  const connections = Array.from({ length: count }, () => connect(service.port, authorization))
  const random = randomFrom(seed)
  const chosen = <One>(from: readonly One[]) => from[Math.floor(random() * from.length)] as One
  const told = new Map(products.map(id => [id, 0]))
  const free = new Set(products)
  const faults: string[] = []
  let asked = 0
  let writes = 0
  let hits = 0
  const valuesNow = async () => valuesIn(await (await fetch(metrics)).text())
  const countHits = async () => {
    hits = (await valuesNow()).get('duet_cache_lookups_total{result="hit"}') ?? 0
  }
  const isOver = () => faults.length > 0 || (asked >= race.reads && hits >= (race.hits ?? 0))
  const counting = async () => {
    for (; !isOver(); await pause(500)) await countHits()
  }
  const reading = async ({ call }: (typeof connections)[number]) => {
    while (!isOver()) {
      asked++
      const least = new Map(told)
      const line = chosen(reads)(chosen(products))
      for (const [id, stock] of shownIn(await call({ line }))) {
        const floor = least.get(id) ?? 0
        if (stock < floor)
          faults.push(`${line} showed ${stock} of ${id} after ${floor} had been told`)
        if (told.has(id)) told.set(id, Math.max(told.get(id) ?? 0, stock))
      }
    }
  }
  const writing = async ({ call }: (typeof connections)[number]) => {
    while (!isOver()) {
      if (asked < writes * readsPerWrite) {
        await pause(1)
        continue
      }
      const id = chosen([...free])
      free.delete(id)
      const stock = 1000 + ++writes
      await call({ line: `PATCH /api/products/${id}`, body: { stock } })
      told.set(id, Math.max(told.get(id) ?? 0, stock))
      free.add(id)
    }
  }
  try {
    const [first, second, ...others] = connections
    assert.ok(first && second)
    for (const id of products)
      await first.call({ line: `PATCH /api/products/${id}`, body: { stock: 1000 } })
    await Promise.all([counting(), writing(first), writing(second), ...others.map(reading)])
    await countHits()
    const values = await valuesNow()
    const spread = Array.from({ length: threads }, (_, at) =>
      values.get(`duet_thread_connections{thread="${at + 1}"}`),
    )
    return { faults, hits, writes, asked, spread }
  } finally {
    for (const { close } of connections) close()
    await service.end()
  }
}
