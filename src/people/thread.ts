/** The thread of people: better-auth is loaded and runs here, so that no content request waits for it; statements, and what is done to rows of people, go back to the thread that has the store. */
import { randomUUID } from 'node:crypto'
import { flushCompileCache } from 'node:module'
import { getPriority, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { betterAuth } from 'better-auth/minimal'
import { seen, storeAdapter } from '#people/adapter.ts'
import type {
  AuthAnswer,
  AuthRequest,
  FromPeople,
  Person,
  StoreStatement,
  ToPeople,
  Wanted,
} from '#people/messages.ts'
import { optionsOf } from '#people/options.ts'
import { boundedFetch } from '#people/outgoing.ts'
import type { ThreadData } from '#people/settings.ts'
import type { Rows } from '#sql/engine.ts'
import { type Sql, sql, statement } from '#sql/sql.ts'

const port = parentPort
if (port === null) throw new Error('this file is a thread of a service')
const { settings, mark } = workerData as ThreadData
try {
  // Content goes first; on Linux this is of the calling thread alone, elsewhere of the whole process.
  if (process.platform === 'linux') setPriority(Math.min(19, getPriority() + 5))
} catch {} // A sandbox may forbid it.
// What loading compiled is there at the next start; at its end this thread has no time for that.
setTimeout(flushCompileCache, 5000).unref()
globalThis.fetch = boundedFetch(settings.providers.map(({ issuer }) => issuer))

const waiting = new Map<number, PromiseWithResolvers<unknown>>()
let last = 0
const tell = (message: FromPeople) => port.postMessage(message)
const want = <Result>(wanted: Wanted): Promise<Result> => {
  const one = Promise.withResolvers<unknown>()
  waiting.set(++last, one)
  tell({ kind: 'wanted', id: last, wanted })
  return one.promise as Promise<Result>
}
const log = (message: string) => void want({ does: 'log', message })

const statementOf = (piece: Sql): StoreStatement => {
  const { text, parameters } = statement(piece, n => `${mark}${n}`)
  const values = parameters.map(one => {
    if (one.kind === 'value') return one.value
    throw new Error(`a statement of people takes no ${one.kind}`)
  })
  return { text, values }
}

const write = (piece: Sql) => want<Rows>({ does: 'write', statement: statementOf(piece) })

/** The end of the window stands where the library has the time of the last request: it deletes what is long past. */
const count = async (key: string, seconds: number): Promise<number> => {
  const now = Date.now()
  const ends = now + seconds * 1000
  const isOver = sql`auth_rates.last_request <= ${now}`
  const [row] = await write(sql`insert into auth_rates (id, key, count, last_request)
    values (${randomUUID()}, ${key}, 1, ${ends}) on conflict (key) do update set
    count = case when ${isOver} then 1 else auth_rates.count + 1 end,
    last_request = case when ${isOver} then excluded.last_request else auth_rates.last_request end
    returning count`)
  return Number(row?.[0])
}

const auth = betterAuth(
  optionsOf(settings, {
    count,
    database: storeAdapter({
      ask: piece => want<Rows>({ does: 'ask', statement: statementOf(piece) }),
      write,
      person: request => want<Person | null>({ does: 'person', request }),
    }),
    mail: mail => want({ does: 'mail', mail }),
    later: work => void work.catch(error => log(`what was answered already failed: ${error}`)),
    log,
    show: message => void want({ does: 'show', message }),
    call: async (path, given) => {
      const endpoints = Object.values(auth.api) as readonly ((given: object) => Promise<unknown>)[]
      await endpoints.find(one => (one as { path?: string }).path === path)?.(given)
    },
  }),
)

const answerOf = async ({ method, url, headers, body }: AuthRequest): Promise<AuthAnswer> => {
  const request = new Request(url, {
    method,
    headers: headers.map(([name, value]): [string, string] => [name, value]),
    ...(body !== undefined && { body }),
  })
  const response = await seen.run(new Map(), () => auth.handler(request))
  return { status: response.status, headers: [...response.headers], body: await response.text() }
}

port.on('message', async (message: ToPeople) => {
  if (message.kind === 'request') {
    const { id, request } = message
    // What the library throws is no reason to leave a caller without an answer.
    const answer = await answerOf(request).catch((error: unknown) => {
      log(`a request for sign-in failed: ${error}`)
      return { status: 503, headers: [], body: '' }
    })
    return tell({ kind: 'answer', id, answer })
  }
  const one = waiting.get(message.id)
  waiting.delete(message.id)
  if (message.kind === 'done') one?.resolve(message.result)
  else one?.reject(Object.assign(new Error(message.error.message), message.error))
})
