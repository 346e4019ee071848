/**
 * A thread that runs commands one after another, each with settings, output and exit code of its own, as a process for
 * each would: for tests about what commands do, since a process takes ten times as long to start as they need.
 */
import { parentPort } from 'node:worker_threads'
import { runCommand } from '#cli/run.ts'
import type { Content } from '#content.ts'

export type Asked = {
  readonly home: Home | undefined
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Where the content is: a module, and its name there. Without one the program is run, which looks for the content. */
export type Home = { readonly module: string; readonly name: string }

/** How a command ended; `bug`: what it threw past its own reports. */
export type Told = {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
  readonly bug?: unknown
}

const contentAt = async ({ module, name }: Home): Promise<Content> => (await import(module))[name]

/** The program is a module that begins with each import of another address; what it imports is there. */
const program = new URL('../../src/cli/program.ts', import.meta.url)
let begun = 0
const runProgram = async (args: readonly string[]): Promise<void> => {
  process.argv.splice(2, process.argv.length, ...args)
  program.search = String(++begun)
  await import(program.href)
}

const output = { stdout: '', stderr: '' }
const capture = (name: 'stdout' | 'stderr') => {
  process[name].write = (chunk: string | Uint8Array) => {
    output[name] += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString()
    return true
  }
}
capture('stdout')
capture('stderr')

// It would end the thread, and all commands that are still to come with it.
const exit = new Error('process.exit()')
process.exit = () => {
  throw exit
}

const run = async ({ home, args, env }: Asked): Promise<Told> => {
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, env)
  Object.assign(output, { stdout: '', stderr: '' })
  process.exitCode = 0
  // The eleventh `serve` of production in a thread would warn of its listeners within its output.
  process.removeAllListeners('SIGUSR1')
  const bug: { bug?: unknown } = {}
  const running = home ? runCommand(() => contentAt(home), args) : runProgram(args)
  await running.catch(error => {
    if (error !== exit) bug.bug = error
  })
  return { code: Number(process.exitCode), ...output, ...bug }
}

let last = Promise.resolve()
parentPort?.on('message', (asked: Asked) => {
  last = last.then(async () => parentPort?.postMessage(await run(asked)))
})
