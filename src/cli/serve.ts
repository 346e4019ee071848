/** `duet serve`: makes the store ready, serves it, and ends cleanly on a signal. */
import { readArgs, UsageError, wholeOption } from '#cli/arguments.ts'
import { endingSignals, goOnWithout, nowHandled } from '#cli/terminal.ts'
import { loadConfig } from '#config.ts'
import type { Content } from '#content.ts'
import { prepare } from '#serve/prepare.ts'
import {
  firstDescriptor,
  isOneOfMany,
  serveAsOne,
  serveMany,
  socketsFor,
} from '#serve/processes.ts'
import { isServingThread, serveInThreads, threadsFor } from '#serve/threads.ts'
import { ConfigError, threadCount } from '#settings.ts'

export const help = `Usage: duet serve [--migrate] [--threads N] [--processes N]

Serves GraphQL at /graphql and REST at /api. Settings come from the environment
(DUET_…, see docs/settings.md). On SQLite the store is migrated first; on PostgreSQL
only with --migrate, and without it a store that lacks migrations is refused. An empty
development store is filled with a small demo content. --threads N serves a SQLite
store with N threads, each on a core of its own, instead of those of DUET_THREADS.
--processes N shares the port between N processes; for PostgreSQL only, since one
process alone may write to SQLite.`

/** Calls `stop` on the first signal, and ends the process with 0, or 1 if that failed; a later one ends it at once. */
export const endOnSignals = (stop: () => Promise<void>) => {
  let endsSince: number | undefined
  const end = () => {
    if (endsSince !== undefined) {
      // One Ctrl-C comes twice at once: from the terminal and from npm. A later one means now.
      if (performance.now() - endsSince >= 1000) process.exit(1)
      return
    }
    endsSince = performance.now()
    stop().then(
      () => process.exit(0),
      error => {
        process.stderr.write(`duet: ${error.message}\n`)
        process.exit(1)
      },
    )
  }
  for (const signal of endingSignals) process.on(signal, end)
  nowHandled()
}

const mostProcesses = 256

export const run = async (args: readonly string[], content: Content): Promise<void> => {
  const number = { type: 'string' } as const
  const options = { migrate: { type: 'boolean' }, processes: number, threads: number } as const
  const { values } = readArgs(args, options, 0)
  // A proxy in front could then see other requests than the service.
  const given = [...process.execArgv, process.env.NODE_OPTIONS ?? ''].join(' ')
  if (/--insecure[-_]http[-_]parser/.test(given))
    throw new ConfigError(
      '--insecure-http-parser lets requests be smuggled past a proxy: take it out of NODE_OPTIONS and of the command line',
    )
  // The line that says that the log cannot be written needs it too, and so does the first of several processes, which has no log.
  goOnWithout(process.stderr)
  const config = loadConfig(process.env, content.settings)
  // Node would open its debugger, by which anybody on this machine runs code in the service.
  if (!config.development) process.on('SIGUSR1', () => {})
  const count = wholeOption('processes', values.processes, 1)
  if (count < 1 || count > mostProcesses)
    throw new UsageError(
      `--processes must be a whole number from 1 to ${mostProcesses}, not ${values.processes}`,
    )
  if (count > 1 && config.store.kind === 'sqlite')
    throw new UsageError(
      '--processes is for PostgreSQL: one process alone may write to SQLite; duet move takes the content over',
    )
  const threadsOption = values.threads === undefined ? undefined : threadCount(values.threads)
  if (threadsOption && 'fault' in threadsOption)
    throw new UsageError(`--threads ${threadsOption.fault}, or auto, not ${values.threads}`)
  // Each of several processes gets the socket from the first one, for which it was meant.
  const own = isOneOfMany ? process.ppid : process.pid
  const sockets = socketsFor(process.env, own)
  const threads = threadsFor(config, threadsOption?.value ?? config.values.DUET_THREADS, sockets)
  const socket = sockets > 0 ? firstDescriptor : undefined
  const program = { config, content, socket }
  // What serves is loaded by those that do, and not by a thread or a process that only watches others.
  if (isServingThread) return (await import('#serve/serving-thread.ts')).serveAsThread(program)
  if (isOneOfMany) return serveAsOne(program, endOnSignals)
  const tell = (line: string): void => void process.stderr.write(`duet: ${line}\n`)
  const release = await prepare(program, values.migrate === true, tell)
  const onFatal = () => process.exit(1)
  const here = async () =>
    threads > 1
      ? serveInThreads(program, threads, onFatal)
      : (await import('#serve/start.ts')).start(program, onFatal)
  const running =
    count > 1
      ? await serveMany(count, config.values.DUET_METRICS_PORT, socket !== undefined)
      : await here()
  endOnSignals(async () => {
    await running.stop()
    release()
  })
  process.stderr.write(`${running.hello}\n`)
}
