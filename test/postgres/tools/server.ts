/** A real PostgreSQL of a test's own, which it may stop, kill and start again. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Guard, guarded, type Running } from '../../support/guard.ts'
import { freePort } from '../../support/ports.ts'
import { longest, pause, until } from '../../support/wait.ts'
import { postgresBinaries } from './binaries.ts'

export type ServerSettings = Readonly<Record<string, string | number>>

export type Postgres = {
  readonly url: string
  readonly port: number
  /** Of the newest start. */
  readonly pid: number
  readonly folder: string
  /** The folder of its programs. */
  readonly binaries: string
  readonly settings: ServerSettings
  /** `fast` ends the sessions in good order; `immediate` is a crash from which it recovers. */
  readonly stop: (mode: 'fast' | 'immediate') => Promise<void>
  /** Starts it again on the same port, with the same data. */
  readonly start: () => Promise<void>
  /** Kills the server's first process outright, whereupon the others end by themselves. */
  readonly kill: () => Promise<void>
  /** Ends it for good and removes its folder; without it, that is done when this process ends. */
  readonly end: () => Promise<void>
}

type Options = {
  readonly settings?: ServerSettings
  /** Whether what it has acknowledged survives a loss of power, which makes it slow. */
  readonly durable?: boolean
  /** The folder of its programs, if not the usual one. */
  readonly binaries?: string
  /** Whether its folder keeps a copy of the empty store, `empty`, for servers that DUET_TEST_POSTGRES_EMPTY tells of it. */
  readonly keepsEmpty?: boolean
}

const usualBinaries = postgresBinaries()

/** Why no server can be started here, for a test that needs one to skip with; false if it can. */
export const noPostgres: string | false =
  process.platform === 'win32'
    ? 'the tests start no PostgreSQL on Windows: set DUET_TEST_POSTGRES_URL'
    : usualBinaries === undefined &&
      'no PostgreSQL is installed: npm ci brings one, or apt-get install postgresql'

/** Makes a new server with an empty store and starts it. */
export const startPostgres = async ({
  settings,
  durable = false,
  binaries = usualBinaries,
  keepsEmpty = false,
}: Options = {}) => {
  if (noPostgres || binaries === undefined) throw new Error(String(noPostgres))
  const guard = guarded('postgres', 'QUIT', !durable)
  const empty = process.env.DUET_TEST_POSTGRES_EMPTY
  if (empty !== undefined && binaries === usualBinaries) await copy(guard, empty, 'data')
  else await toItsEnd(guard, join(binaries, 'initdb'), ['-D', 'data', ...made])
  if (keepsEmpty) await copy(guard, 'data', 'empty')
  return await postmaster(guard, binaries, {
    max_connections: 300,
    // So much is kept for a replica that was away.
    wal_keep_size: '512MB',
    // In the folder, which goes with the server, and not beside it, where a killed one would leave it behind.
    dynamic_shared_memory_type: 'mmap',
    ...(durable ? durably : quickly),
    ...settings,
  })
}

const made = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync']

/** To copy an empty store takes a tenth of what it takes to make one. */
const copy = (guard: Guard, from: string, to: string) => toItsEnd(guard, 'cp', ['-a', from, to])

const durably = { fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on' }
const quickly = { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off' }

/** Runs a program that prepares the folder's data; fails with what it said. */
export const toItsEnd = async (guard: Guard, program: string, args: readonly string[]) => {
  const running = guard.run(program, args)
  await running.ended
  if (running.child.exitCode === 0) return
  const words = running.lastWords()
  await guard.end()
  throw new Error(`${program} fails: ${words}`)
}

export type Address = { readonly host: string; readonly port: number }

/** Starts a server on the data in a guarded folder, at a free port unless told otherwise. */
export const postmaster = async (
  guard: Guard,
  binaries: string,
  settings: ServerSettings,
  at?: Address,
): Promise<Postgres> => {
  const { folder } = guard
  const { host, port } = at ?? { host: '127.0.0.1', port: await freePort() }
  const address = ['-h', host, '-p', String(port), '-k', folder]
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  let running: Running

  const start = async () => {
    for (const end = performance.now() + longest; ; await pause(50)) {
      running = guard.run(join(binaries, 'postgres'), ['-D', 'data', ...address, ...args])
      if (await ready(running, folder)) return running.child.unref()
      const words = running.lastWords()
      if (!passing.test(words) || performance.now() > end)
        throw new Error(`postgres ends: ${words}`)
    }
  }
  const endBy = (signal: NodeJS.Signals) => async () => {
    running.child.ref()
    running.child.kill(signal)
    await running.ended
  }
  const stop = { fast: endBy('SIGINT'), immediate: endBy('SIGQUIT') }
  await start().catch(async error => {
    await guard.end()
    throw error
  })
  return {
    url: `postgres://postgres@${host}:${port}/postgres`,
    port,
    get pid() {
      return running.child.pid ?? -1
    },
    folder,
    binaries,
    settings,
    stop: mode => stop[mode](),
    start,
    kill: endBy('SIGKILL'),
    end: guard.end,
  }
}

// The sessions of a killed server take a moment to notice, and until then no other may start.
const passing = /shared memory block|lock file .* already exists/

/** True as soon as the server takes sessions; false if it has ended instead. */
async function ready(running: Running, folder: string): Promise<boolean> {
  const isReady = () => {
    const [pid, state] = statusIn(folder)
    return pid === String(running.child.pid) && state === 'ready'
  }
  await until('PostgreSQL takes sessions', () => running.gone() || isReady())
  return !running.gone()
}

/** What a server writes about itself, as pg_ctl reads it. */
function statusIn(folder: string): (string | undefined)[] {
  try {
    const lines = readFileSync(join(folder, 'data/postmaster.pid'), 'utf8').split('\n')
    return [lines[0], lines[7]?.trim()]
  } catch {
    return []
  }
}
