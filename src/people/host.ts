/** The thread of people, as the thread that has the store sees it: started by the first request that needs it, answered from the store, ended when nobody signs in. */
import { Worker } from 'node:worker_threads'
import type { Model } from '#model/model.ts'
import type { People } from '#model/people.ts'
import type { Mailer } from '#model/services.ts'
import type { Observe } from '#observe.ts'
import { messageOf } from '#people/mails.ts'
import {
  type AuthAnswer,
  type AuthRequest,
  type FromPeople,
  type Told,
  type ToPeople,
  unavailable,
  type Wanted,
} from '#people/messages.ts'
import { peopleRows } from '#people/rows.ts'
import type { PeopleSettings, ThreadData } from '#people/settings.ts'
import { type PeopleStore, queryPrimary } from '#people/store.ts'

/** After so long without a request the thread is ended, in milliseconds. */
const idle = 600_000

/** How long a mail may take, in milliseconds. */
const longestMail = 30_000

/** What answers requests for sign-in. */
export type AskPeople = (request: AuthRequest) => Promise<AuthAnswer>

export type HostOptions = PeopleStore & {
  readonly model: Model
  readonly people: People
  readonly mail: Mailer
  readonly observe: Observe
  readonly wakeOutbox: () => void
  /** The settings, for the address that the service has now. */
  readonly settings: () => PeopleSettings
}

const told = (error: unknown): Told => {
  const { message, code, status } = error as Error & Partial<Told>
  return { message, ...(code !== undefined && { code }), ...(status !== undefined && { status }) }
}

/** Answers requests for sign-in in a thread of its own; `close` ends it. */
export const hostPeople = (options: HostOptions) => {
  const { model, people, mail, observe, dialect, writer, wakeOutbox, settings } = options
  const ask = queryPrimary(options)
  const rows = peopleRows({ model, dialect, writer, wakeOutbox, ask }, people)
  const waiting = new Map<number, PromiseWithResolvers<AuthAnswer>>()
  let last = 0
  let worker: Worker | undefined
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  const done = async (wanted: Wanted): Promise<unknown> => {
    switch (wanted.does) {
      case 'person':
        return rows(wanted.request)
      case 'mail': {
        const { to } = wanted.mail
        const { title, url } = settings()
        const compose = () => messageOf(wanted.mail, { title, url }, people.mails)
        return mail.send(
          { recipient: null, address: to, compose },
          AbortSignal.timeout(longestMail),
        )
      }
      case 'log':
        return observe({ kind: 'problem', message: `sign-in: ${wanted.message}` })
      case 'show':
        return observe({ kind: 'shown', text: wanted.message })
      case 'ask':
      case 'write': {
        const { text, values } = wanted.statement
        if (wanted.does === 'ask' && dialect.singleStatement === null)
          return options.reader.query({ text, values, isQuick: true })
        const step = { statement: { text, values }, expect: 'any' as const }
        const outcome = await writer.write({ steps: [step], status: 200, answer: null })
        if (outcome.kind === 'done') return outcome.rows[0]
        throw new Error(`a statement of sign-in was not done: ${outcome.kind}`)
      }
      default:
        return wanted satisfies never
    }
  }

  const end = () => {
    clearTimeout(timer)
    const ended = worker
    worker = undefined
    for (const one of waiting.values()) one.reject(unavailable())
    waiting.clear()
    return ended?.terminate()
  }
  const rest = () => {
    clearTimeout(timer)
    timer = setTimeout(() => (waiting.size === 0 ? void end() : rest()), idle).unref()
  }
  const begin = (): Worker => {
    const { NODE_COMPILE_CACHE: compiled } = process.env
    const data: ThreadData = { settings: settings(), mark: dialect.placeholder(1).slice(0, -1) }
    const started = new Worker(new URL('./thread.ts', import.meta.url), {
      // The library writes there by itself, with addresses in its lines.
      stdout: true,
      stderr: true,
      execArgv: process.execArgv.filter(given => given.startsWith('--import')),
      // No variable of the machine is an option: the library would read secrets, trusted origins and telemetry from them. Only where compiled code is kept is Node's own matter.
      env: { NODE_ENV: 'production', ...(compiled && { NODE_COMPILE_CACHE: compiled }) },
      resourceLimits: { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 128 },
      workerData: data,
    })
    started.unref()
    const tell = (message: ToPeople) => started.postMessage(message)
    started.on('error', error => {
      const why = error instanceof Error ? error.message : String(error)
      observe({ kind: 'problem', message: `the thread of sign-in ended: ${why}` })
      if (worker === started) void end()
    })
    started.on('exit', () => worker === started && void end())
    started.on('message', (message: FromPeople) => {
      if (message.kind === 'answer') {
        waiting.get(message.id)?.resolve(message.answer)
        waiting.delete(message.id)
        return
      }
      const { id, wanted } = message
      done(wanted).then(
        result => tell({ kind: 'done', id, result }),
        (error: unknown) => tell({ kind: 'failed', id, error: told(error) }),
      )
    })
    return started
  }
  return {
    ask: (async request => {
      if (isClosed) throw unavailable()
      worker ??= begin()
      rest()
      const one = Promise.withResolvers<AuthAnswer>()
      waiting.set(++last, one)
      worker.postMessage({ kind: 'request', id: last, request } satisfies ToPeople)
      const answer = await one.promise
      if (answer.status === 503 && answer.body === '') throw unavailable()
      return answer
    }) satisfies AskPeople,
    close: async () => {
      isClosed = true
      await end()
    },
  }
}

export type PeopleHost = ReturnType<typeof hostPeople>
