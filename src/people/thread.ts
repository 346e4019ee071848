/** The thread of people: better-auth is loaded and runs here, so that no content request waits for it; statements, and what is done to rows of people, go back to the thread that has the store. */
import { randomUUID } from 'node:crypto'
import { flushCompileCache } from 'node:module'
import { parentPort, workerData } from 'node:worker_threads'
import { isAPIError } from 'better-auth/api'
import { betterAuth } from 'better-auth/minimal'
import '#base/older-node.ts'
import { callsBetween } from '#base/calls.ts'
import { createSlowLane } from '#base/slow-lane.ts'
import { createMail } from '#mail/mail.ts'
import type { Observe } from '#observe.ts'
import { seen, storeAdapter } from '#people/adapter.ts'
import type { PeopleServices } from '#people/hooks.ts'
import type { HostCalls } from '#people/host.ts'
import type { AuthAnswer, AuthRequest, Mail, ThreadCalls } from '#people/messages.ts'
import { optionsOf } from '#people/options.ts'
import { boundedFetch } from '#people/outgoing.ts'
import type { ThreadData } from '#people/settings.ts'
import { queryOf } from '#sql/engine.ts'
import { type Sql, sql } from '#sql/sql.ts'

const port = parentPort
if (port === null) throw new Error('this file is a thread of a service')
const { settings, delivery, mark } = workerData as ThreadData
// What loading compiled is there at the next start; at its end this thread has no time for that.
setTimeout(flushCompileCache, 5000).unref()
// The library asks all providers when it starts, and one that it did not reach at each click on it: so nobody else waits for a silent one.
let hasStarted = false
const askProvider = boundedFetch(settings.providers.map(({ issuer }) => issuer))
globalThis.fetch = async (...given) => (hasStarted ? askProvider(...given) : Response.error())

const answerTo = async ({ method, url, headers, body }: AuthRequest): Promise<AuthAnswer> => {
  const given = headers.map(([name, value]): [string, string] => [name, value])
  const request = new Request(url, { method, headers: given, body: body ?? null })
  const response = await seen.run(new Map(), () => auth.handler(request))
  return { status: response.status, headers: [...response.headers], body: await response.text() }
}
const underWay = new Set<Promise<void>>()
const offered: ThreadCalls = {
  answer: request => {
    const answered = answerTo(request)
    later(answered)
    return answered
  },
  rest: async () => {
    // Some begins more.
    while (underWay.size > 0) await Promise.all(underWay)
  },
}
const { there } = callsBetween<HostCalls>(port, offered)
const asked = (piece: Sql) => queryOf(piece, { placeholder: n => `${mark}${n}` })
const write = (piece: Sql) => there.write(asked(piece))

const tell = (kind: 'notice' | 'problem', message: string) =>
  void there.observe({ kind, message: `sign-in: ${message}` })
/** Nobody tries a letter again that did not leave: who waits for it asks for another one. */
const observe: Observe = event =>
  void there.observe(event.kind === 'mail failed' ? { ...event, again: false } : event)
const mailer = createMail({ now: Date.now, observe, delivery })
/** A mail server that is flooded with codes becomes slow: what waits for it would fill the memory of this thread. */
const lane = createSlowLane({ concurrency: 10, waiting: 999, longestWait: 60_000, what: 'letters' })
/** Sends a letter, which may take half a minute; what became of it is told. */
const mail = async (letter: Mail) => {
  const send = async () => {
    const message = await there.compose(letter)
    const sent = { recipient: null, address: letter.to, compose: () => message }
    await mailer.send(sent, AbortSignal.timeout(30_000))
  }
  await lane
    .run(send, { caller: () => letter.to })
    .catch(error => 'isTold' in error || tell('problem', `a letter failed: ${error}`))
}
/** Tells of what fails, whether or not it was answered already: but a refusal is nobody's fault here. */
const later = (work: Promise<unknown>): void => {
  const told = (error: unknown) => {
    const isRefused = isAPIError(error) && error.statusCode < 500
    if (!isRefused) tell('problem', `a request failed: ${error}`)
  }
  const ended = work.then(() => {}, told).finally(() => underWay.delete(ended))
  underWay.add(ended)
}

/** The end of the window stands where the library has the time of the last request: it deletes what is long past. */
const count: PeopleServices['count'] = async (key, seconds) => {
  const now = Date.now()
  const ends = now + seconds * 1000
  // By a clock that was set back a window would last as long as that.
  const isOver = sql`(auth_rates.last_request <= ${now} or auth_rates.last_request > ${ends + seconds * 1000})`
  const [row] = await write(sql`insert into auth_rates (id, key, count, last_request)
    values (${randomUUID()}, ${key}, 1, ${ends}) on conflict (key) do update set
    count = case when ${isOver} then 1 else auth_rates.count + 1 end,
    last_request = case when ${isOver} then excluded.last_request else auth_rates.last_request end
    returning count, last_request`)
  const [times, until] = row ?? []
  return { times: Number(times), left: Math.ceil((Number(until) - now) / 1000) }
}

const auth = betterAuth(
  optionsOf(settings, {
    ...{ count, mail, later },
    // What is wrong with a request is among it, and what was wrong in it.
    log: message => hasStarted && tell('notice', message.replace(/^(Invalid \w+): .*/s, '$1')),
    show: text => void there.observe({ kind: 'shown', text }),
    database: storeAdapter({ read: piece => there.read(asked(piece)), write, rows: there }),
    call: async (path, given) => {
      const endpoints = Object.values(auth.api) as readonly ((given: object) => Promise<unknown>)[]
      await endpoints.find(one => (one as { path?: string }).path === path)?.(given)
    },
  }),
)
void auth.$context.then(() => {
  hasStarted = true
})
