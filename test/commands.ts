/** The commands of a content in a thread of the test's own process: many times faster to start than the program. */
import { once } from 'node:events'
import { after } from 'node:test'
import { Worker } from 'node:worker_threads'
import { plain, type Settings } from './duet.ts'
import type { Asked, Home, Told } from './support/command-host.ts'
import { inTime } from './support/wait.ts'

const root = new URL('..', import.meta.url)
const host = new URL('support/command-host.ts', import.meta.url)

/** What the test's own process loads for its report is of no use there. */
const found = [`--import=${new URL('src/base/resolve-imports.ts', root)}`]

export type Run = (args: readonly string[], settings?: Settings) => Promise<Told>

/**
 * Runs the commands of the content of that name in a file, one at a time; the thread is started for the first. Whether the program itself starts,
 * is ended by signals and exits is for `duet` of test/duet.ts.
 */
export const commandsOf = (name: string, path: string): Run => {
  const home: Home = { module: new URL(path, root).href, name }
  let thread: Worker | undefined
  let last: Promise<unknown> = Promise.resolve()
  after(async () => {
    await thread?.terminate()
    thread = undefined // another file in this process may have commands to run
  })
  const ran = async (args: readonly string[], settings: Settings): Promise<Told> => {
    thread ??= new Worker(host, { env: plain, execArgv: found, workerData: home })
    // Between commands it keeps no process alive: its tests may be over.
    thread.ref()
    thread.postMessage({ args, env: { ...plain, ...settings } } satisfies Asked)
    const message = once(thread, 'message') as Promise<[Told]>
    const [told] = await inTime(`duet ${args[0]} ends`, message).finally(() => thread?.unref())
    if (told.bug !== undefined) throw told.bug
    return told
  }
  return (args, settings = {}) => {
    const run = last.then(() => ran(args, settings))
    last = run.catch(() => {})
    return run
  }
}

/** Runs a command of this content. */
export const command = commandsOf('default', 'content/duet.config.ts')
