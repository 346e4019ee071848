/** Commands in a thread of the test's own process: many times faster to start than the program. */
import { once } from 'node:events'
import { after } from 'node:test'
import { Worker } from 'node:worker_threads'
import { plain, type Settings } from './duet.ts'
import type { Asked, Home, Told } from './support/command-host.ts'
import { inTime } from './support/wait.ts'

const root = new URL('..', import.meta.url)
const host = new URL('support/command-host.ts', import.meta.url)

/** What the test's own process loads for its report is of no use there. */
const first = process.env.DUET_TEST_THREADS_MADE
  ? 'test/support/made.mjs'
  : 'src/base/resolve-imports.ts'
const execArgv = [`--import=${new URL(first, root)}`]

export type Run = (args: readonly string[], settings?: Settings) => Promise<Told>

let thread: Worker | undefined
let last: Promise<unknown> = Promise.resolve()
after(() => thread?.terminate())

const ran = async (asked: Asked): Promise<Told> => {
  thread ??= new Worker(host, { env: plain, execArgv })
  // Between commands it keeps no process alive: its tests may be over.
  thread.ref()
  thread.postMessage(asked)
  const message = once(thread, 'message') as Promise<[Told]>
  const [told] = await inTime(`duet ${asked.args[0]} ends`, message).finally(() => thread?.unref())
  if (told.bug !== undefined) throw told.bug
  return told
}

const runsOf =
  (home?: Home): Run =>
  (args, settings = {}) => {
    const run = last.then(() => ran({ home, args, env: { ...plain, ...settings } }))
    last = run.catch(() => {})
    return run
  }

/**
 * Runs the commands of the content of that name in a file, one at a time; all contents of a process have one thread, which is started for the first.
 * Whether the program itself starts, is ended by signals and exits is for `duet` of test/duet.ts.
 */
export const commandsOf = (name: string, path: string): Run =>
  runsOf({ module: new URL(path, root).href, name })

/** Runs the program's own module, which finds the content; it throws what `bin/duet` reports of a content. */
export const callDuet = runsOf()

/** Runs a command of this content. */
export const command = commandsOf('default', 'content/duet.config.ts')
