/** The program as a child process: a command that runs to its end, or a service until it is stopped. */
import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { after } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Content } from '#content.ts'
import { lookAtFile, ownStore } from './stores.ts'
import type { BoundSocket } from './support/bound-socket.ts'
import { ownFolder } from './support/folders.ts'
import { inTime, longest } from './support/wait.ts'
import { isCached, secret } from './world.ts'

/** It loads what was made of its modules where something was; tests of what it loads name `bin/duet`. */
export const program: string = fileURLToPath(
  new URL(
    process.env.DUET_TEST_THREADS_MADE ? 'support/program.mjs' : '../bin/duet',
    import.meta.url,
  ),
)

export type Settings = Readonly<Record<string, string>>

const alive = new Set<ChildProcess>()
const killAll = () => {
  for (const child of alive) child.kill('SIGKILL')
}
// A failed test leaves its service running, and the test run would never end.
after(killAll)
process.on('exit', killAll)

/** The environment of this process without the variables of Duet and of the test runner. */
export const plain = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) => !/^(DUET_|PORT$|NODE_TEST|NODE_OPTIONS|npm_)/.test(name),
  ),
)

/** Gives sockets to the program as sd_listen_fds(3) has it: its process id is known only when it runs. */
const withSockets = (count: number) => [
  '/bin/sh',
  '-c',
  `LISTEN_PID=$$ LISTEN_FDS=${count} exec "$@"`,
  'sh',
]

type Program = string | readonly string[]

/** Starts a command, which the test waits for or kills, by a program or options of Node and one; `socket` is handed over to it. */
export const start = (
  args: readonly string[],
  settings: Settings,
  file: Program = program,
  socket?: BoundSocket,
) => {
  const handles = socket?.handles ?? []
  const before = socket ? withSockets(handles.length) : []
  const [first = '', ...rest] = [...before, process.execPath, ...[file].flat(), ...args]
  const child = spawn(first, rest, {
    env: { ...plain, ...settings },
    stdio: ['ignore', 'pipe', 'pipe', ...handles],
  }) as ChildProcessByStdio<null, Readable, Readable>
  alive.add(child)
  child.once('exit', () => alive.delete(child))
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', text => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', text => {
    stderr += text
  })
  const closed = once(child, 'close')
  return { child, closed, stdout: () => stdout, stderr: () => stderr }
}

export type Ended = {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs a command to its end; `file` is another program than the usual one. */
export const duet = async (
  args: readonly string[],
  settings: Settings = {},
  file = program,
): Promise<Ended> => {
  const running = start(args, settings, file)
  const [code, signal] = await inTime(`duet ${args[0]} ends`, running.closed)
  return { code, signal, stdout: running.stdout(), stderr: running.stderr() }
}

export type Service = {
  readonly url: string
  readonly port: number
  readonly child: ChildProcess
  readonly stdout: () => string
  readonly stderr: () => string
  /** Sends a signal and waits for the end; gives the exit code. */
  readonly end: (signal?: NodeJS.Signals) => Promise<{ code: number | null }>
  /** Settles when the process is gone. */
  readonly gone: Promise<unknown>
}

/** Limits so high that a busy machine causes no refusals, unless a test sets its own. */
export const patient: Settings = {
  DUET_PORT: '0',
  DUET_LOG: 'error',
  DUET_QUEUE_WAIT: '60000',
  DUET_WRITE_WAIT: '10m',
  DUET_READ_TIMEOUT: String(longest),
  ...(!isCached && { DUET_CACHE: '0' }),
}

/** With how many threads a store in a file is served, unless a test says so itself: `DUET_TEST_THREADS=2` runs the tests of services with two. */
export const testThreads = Number(process.env.DUET_TEST_THREADS ?? 1)

const threadsOf = ({ DUET_DATABASE_URL: url = '' }: Settings): Settings =>
  /^postgres/.test(url) ? {} : { DUET_THREADS: String(testThreads) }

/** The settings of memory that `npm start` and the files of deploy/ give a service. */
const frugal: Settings = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '131072',
  NODE_OPTIONS: '--max-semi-space-size=16',
}

/** Starts to serve on a free port; resolves when it listens. */
export const serve = (settings: Settings, ...args: readonly string[]): Promise<Service> =>
  serveBy(program, settings, ...args)

/** The same by another program. */
export const serveBy = (file: Program, settings: Settings, ...args: readonly string[]) =>
  listening(start(['serve', ...args], usual(settings), file))

/** The same on a socket that is handed over, or several, one for each thread. */
export const serveOn = (socket: BoundSocket, settings: Settings, ...args: readonly string[]) => {
  const own = { ...settings, ...(socket.handles.length > 1 && { DUET_THREADS: 'auto' }) }
  return listening(start(['serve', ...args], usual(own), program, socket))
}

const usual = (settings: Settings): Settings => ({
  ...patient,
  ...frugal,
  ...threadsOf(settings),
  ...settings,
})

/** Resolves when the service that was started listens. */
const listening = async (running: ReturnType<typeof start>): Promise<Service> => {
  const { child, closed, stdout, stderr } = running
  while (!/listens on (\S+)/.test(stderr())) {
    await Promise.race([once(child.stderr, 'data'), closed])
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`duet serve ended: ${stderr()}`)
  }
  const url = /listens on (\S+)/.exec(stderr())?.[1] ?? ''
  const end = async (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal)
    const [code] = await inTime(`the service ends on ${signal}`, closed)
    return { code }
  }
  return { url, port: Number(new URL(url).port), child, stdout, stderr, end, gone: closed }
}

/** A folder for one test file, with the settings of a store in it; it is taken away in the end. Stores are of the content in `content/`, or of this one. */
export const folderOf = (name: string, content?: Content) => {
  const folder = ownFolder(name)
  let stores = 0
  /** Settings of a store of its own that nobody has made yet. */
  const fresh = () => {
    const file = join(folder, `store-${++stores}`, 'duet.db')
    const settings = { DUET_DATABASE_URL: `sqlite:${file}`, DUET_AUTH_SECRET: secret }
    return { file, rows: lookAtFile(file, content), settings }
  }
  /** The same on the engine of the run, with looks into it; \`bare\`: without even its tables. */
  const freshStore = async ({ bare = false } = {}) => {
    const { file } = fresh()
    const { url, ...looks } = await ownStore(file, bare, content)
    return { ...looks, file, settings: { DUET_DATABASE_URL: url, DUET_AUTH_SECRET: secret } }
  }
  return { folder, fresh, freshStore }
}
