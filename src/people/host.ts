/** The thread of people, as the thread that has the store sees it: started by the first request that needs it, answered from the store, ended when nobody signs in. */
import { Worker } from 'node:worker_threads'
import { callsBetween } from '#base/calls.ts'
import { endsWithin } from '#base/retry.ts'
import type { Delivery } from '#mail/mail.ts'
import type { Model } from '#model/model.ts'
import type { People } from '#model/people.ts'
import type { Event, Observe } from '#observe.ts'
import { messageOf } from '#people/mails.ts'
import { type Mail, type ThreadCalls, unavailable } from '#people/messages.ts'
import { peopleRows } from '#people/rows.ts'
import type { PeopleSettings, ThreadData } from '#people/settings.ts'
import { type Query, queryOf } from '#sql/engine.ts'
import { readPrimary, type StoreAccess, writeQueries } from '#write/job.ts'

/** After so long without a request the thread is ended, in milliseconds. */
const idle = 600_000

/** Before Node 26 it is of the whole process, and no option of a thread. */
const ofSystem = Number.parseInt(process.versions.node, 10) < 26 ? '' : '|use-system-ca$'
/** Options of Node by which it reaches other machines. */
const reaching = new RegExp(`^--(tls-m..-v|dns-result-order=|(no-)?network-family-${ofSystem})`)

/** The options of this process that hold in the thread too, each with its value, which may be a word of its own; what it imports, such as tracing, does not. */
const threadOptions = (): string[] => {
  const { execArgv, env } = process
  const given = [...execArgv, env.NODE_OPTIONS].join(' ').replace(/\s+(?=[^\s-])/g, '=')
  return given.split(/\s+/).filter(one => reaching.test(one))
}

/** What answers requests for sign-in. */
export type AskPeople = ThreadCalls['answer']

export type HostOptions = StoreAccess & {
  readonly model: Model
  readonly people: People
  /** How its letters leave. */
  readonly delivery: Delivery
  readonly observe: Observe
  readonly wakeOutbox: () => void
  /** The settings, for the address that the service has now. */
  readonly settings: () => PeopleSettings
}

/** What the thread of people asks of the one that has the store: rows of people, statements, the words of letters, and what is to be told. */
const callsFor = (options: HostOptions) => {
  const { people, observe, dialect, writer, settings } = options
  const read = (query: Query) => readPrimary(options, query)
  return {
    ...peopleRows({ ...options, ask: piece => read(queryOf(piece, dialect)) }, people),
    read,
    write: async (query: Query) => (await writeQueries(writer, [query]))[0] ?? [],
    compose: (mail: Mail) => messageOf(mail, settings(), people.mails),
    observe: (event: Event) => observe(event),
  }
}
export type HostCalls = ReturnType<typeof callsFor>

/** Answers requests for sign-in in a thread of its own; `close` ends it once its letters have left, after at most so many milliseconds. */
export const hostPeople = (options: HostOptions) => {
  const { observe, dialect, settings, delivery } = options
  const offered = callsFor(options)
  const tell = (message: string) => observe({ kind: 'problem', message })
  let thread: ReturnType<typeof begin> | undefined
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  const end = () => {
    clearTimeout(timer)
    const ended = thread
    thread = undefined
    ended?.calls.end(unavailable())
    return ended?.worker.terminate()
  }
  const rest = () => {
    clearTimeout(timer)
    timer = setTimeout(() => (thread?.calls.waiting() ? rest() : void end()), idle).unref()
  }
  const begin = () => {
    const { NODE_COMPILE_CACHE: compiled } = process.env
    const mark = dialect.placeholder(1).slice(0, -1)
    const worker = new Worker(new URL('./thread.ts', import.meta.url), {
      // The library writes there by itself, with addresses in its lines.
      stdout: true,
      stderr: true,
      execArgv: threadOptions(),
      // No variable of the machine is an option: the library would read secrets, trusted origins and telemetry from them. Only where compiled code is kept is Node's own matter.
      env: { NODE_ENV: 'production', ...(compiled && { NODE_COMPILE_CACHE: compiled }) },
      resourceLimits: { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 128 },
      workerData: { settings: settings(), delivery, mark } satisfies ThreadData,
    })
    // What nobody reads would stay in memory.
    for (const lines of [worker.stdout, worker.stderr]) lines.resume()
    worker.unref()
    worker.on('error', error => {
      const why = error instanceof Error ? error.message : String(error)
      tell(`the thread of sign-in ended: ${why}`)
    })
    // It comes after an error too.
    worker.on('exit', () => thread?.worker === worker && void end())
    return { worker, calls: callsBetween<ThreadCalls>(worker, offered) }
  }
  return {
    ask: (async request => {
      if (isClosed) throw unavailable()
      try {
        thread ??= begin()
      } catch (error) {
        tell(`the thread of sign-in did not start: ${error}`)
        throw error
      }
      rest()
      return thread.calls.there.answer(request)
    }) satisfies AskPeople,
    close: async (wait: number) => {
      isClosed = true
      // Who asked for a letter was told that it comes.
      const left = thread?.calls.there.rest()
      if (left && !(await endsWithin(wait, left).catch(() => true)))
        tell('sign-in: what was under way at the end, such as a letter, was given up')
      await end()
    },
  }
}
