/** A service on a database of a test's own server, and the answers to its callers during faults. */
import assert from 'node:assert/strict'
import { type Service, type Settings, serve } from '#test/duet.ts'
import { ask } from '#test/postgres/tools/ask.ts'
import { startProxy } from '#test/postgres/tools/proxy.ts'
import type { Postgres } from '#test/postgres/tools/server.ts'
import { type Look, lookInto, postgresOf } from '#test/stores.ts'
import { longest, pause } from '#test/support/wait.ts'
import { prepareOrders } from '../../store/racer.ts'
import { secret } from '../../world.ts'

/** A migrated database of its own on a server. */
export type Database = { readonly url: string; readonly settings: Settings; readonly rows: Look }

let databases = 0

/** What no output and no answer may show. */
export const password = 'hunter2-is-secret'

const databaseOn = (server: Postgres, name: string): Database => {
  const at = new URL(name, server.url)
  // The server asks for none; it is there to be looked for where it must not be.
  at.password = password
  const url = at.href
  const rows: Look = async (text, ...values) => {
    const look = lookInto(postgresOf(url))
    try {
      return await look.rows(text, ...values)
    } finally {
      await look.close()
    }
  }
  return { url, rows, settings: { DUET_DATABASE_URL: url, DUET_AUTH_SECRET: secret } }
}

/** A new database; `bare`: without tables. */
export const freshOn = async (server: Postgres, { bare = false } = {}): Promise<Database> => {
  const name = `store_${++databases}`
  await ask(server.url, `create database ${name}`)
  const database = databaseOn(server, name)
  if (!bare) await postgresOf(database.url).migrate()
  return database
}

// biome-ignore lint/suspicious/noExplicitAny: an answer may be anything; the assertion says what it is.
type Json = any

export type Answer = {
  readonly status: number
  readonly headers: Headers
  readonly json: Json
  readonly text: string
}

export type Asking = { readonly body?: unknown; readonly key?: string }

/** What a caller met: how often each status, and answers that no fault of a database excuses. */
type Met = {
  readonly statuses: Map<number, number>
  readonly faults: string[]
}

const isRight = (status: number, headers: Headers): boolean =>
  status < 500 || (status === 503 && Number(headers.get('retry-after')) >= 1)

/** Requests with the token of one user; what comes of them is noted. */
export const callerOf = ({ url }: { readonly url: string }, token?: string) => {
  const met: Met = { statuses: new Map(), faults: [] }
  const note = (line: string, { status, headers, text }: Answer) => {
    met.statuses.set(status, (met.statuses.get(status) ?? 0) + 1)
    if (!isRight(status, headers)) met.faults.push(`${line}: ${status} ${text}`)
  }
  const send = async (line: string, { body, key }: Asking = {}): Promise<Answer> => {
    const [method = 'GET', path = '/'] = line.split(' ')
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        ...(token !== undefined && { Authorization: `Bearer ${token}` }),
        ...(key !== undefined && { 'Idempotency-Key': key }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(longest),
    })
    const { status, headers } = response
    const text = await response.text()
    const json = /json/.test(headers.get('content-type') ?? '') ? JSON.parse(text) : undefined
    const answer = { status, headers, text, json }
    note(line, answer)
    return answer
  }
  /** Sends it until there is a definite answer. */
  const insist = async (line: string, asking?: Asking): Promise<Answer> => {
    for (const last = performance.now() + longest; ; await pause(20 + Math.random() * 80)) {
      const answer = await send(line, asking)
      const isOpen = answer.status === 503 || answer.json?.error?.code === 'IDEMPOTENCY_IN_FLIGHT'
      if (!isOpen) return answer
      assert.ok(performance.now() < last, `${line} has no definite answer: ${answer.text}`)
    }
  }
  return { send, insist, met }
}

type Caller = ReturnType<typeof callerOf>

/** A running service with a product and a buyer in it, and what its callers met. */
export type Workload = Caller & {
  readonly service: Service
  readonly database: Database
  readonly token: string
  readonly user: number
  readonly product: number
  readonly stock: ReadonlyMap<number, number>
  /** Places so many orders of one to three pieces; gives their ids. */
  readonly placeMany: (count: number) => Promise<readonly number[]>
}

/** Serves a database by way of `url` and prepares orders in it. */
export const startWorkload = async (
  database: Database,
  settings: Settings = {},
  stock = 100_000,
): Promise<Workload> => {
  // Without the demo content; callers are counted, and none is refused.
  const usual = { DUET_ENV: 'production', DUET_RATE_LIMIT: '10000000' }
  const service = await serve({ ...usual, ...database.settings, ...settings })
  const { token, product, stock: stocks } = await prepareOrders(service, stock)
  const [row] = await database.rows('select max(id) from users')
  const caller = callerOf(service, token)
  let orders = 0
  const placeMany = async (count: number) => {
    const ids: number[] = []
    await inLanes(8, Array(count).keys(), async number => {
      const items = [{ productId: product, quantity: 1 + (number % 3) }]
      const key = `placed-${++orders}`
      const { status, json, text } = await caller.insist('POST /api/orders', {
        body: { items },
        key,
      })
      assert.equal(status, 201, text)
      ids.push(json.id)
    })
    return ids
  }
  return {
    ...caller,
    service,
    database,
    token,
    user: Number(row?.[0]),
    product,
    stock: stocks,
    placeMany,
  }
}

/** Asserts that the service lives, gave no wrong answer, logged no bug and showed no password. */
export const assertWell = ({ service, met }: Workload): void => {
  const { exitCode, signalCode } = service.child
  assert.ok(exitCode === null && signalCode === null, `the service ended: ${service.stderr()}`)
  assert.deepEqual(met.faults.slice(0, 3), [])
  assert.doesNotMatch(service.stdout(), /"msg":"bug"/)
  assert.doesNotMatch(service.stderr(), /Error|Warning/)
  assert.doesNotMatch(service.stdout() + service.stderr(), /hunter2/)
}

/** Does the same for all, so many at a time. */
export const inLanes = async <Item>(
  lanes: number,
  items: Iterable<Item>,
  work: (item: Item) => Promise<void>,
): Promise<void> => {
  const waiting = items[Symbol.iterator]()
  const lane = async () => {
    for (let next = waiting.next(); !next.done; next = waiting.next()) await work(next.value)
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}

/** What a fault of the server does shows only where a service gives up as soon as it usually does. */
const usualWait: Settings = { DUET_WRITE_WAIT: '5s' }

/** How workloads are started on a server that a test has started: straight, or over a wire that can fail. */
export const workloadsOn = (server: () => Postgres) => ({
  workloadWith: async (settings: Settings = {}) =>
    startWorkload(await freshOn(server()), { ...usualWait, ...settings }),
  wiredWorkload: async () => {
    const proxy = await startProxy(server().port)
    const database = await freshOn(server())
    const workload = await startWorkload(database, {
      ...usualWait,
      DUET_DATABASE_URL: proxy.through(database.url),
      // A wire that is silent is given up after this and a little more.
      DUET_READ_TIMEOUT: '3000',
      // That the database is back is a line of this level.
      DUET_LOG: 'warn',
    })
    return { workload, proxy }
  },
})
