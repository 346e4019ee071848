/** `duet serve`: makes the store ready, serves it, and ends cleanly on a signal. */
import { readArgs, UsageError, wholeOption } from '#cli/arguments.ts'
import { endingSignals, goOnWithout, nowHandled } from '#cli/terminal.ts'
import { loadConfig } from '#config.ts'
import type { Content } from '#content.ts'
import { prepare } from '#serve/prepare.ts'
import { handedOver, isOneOfMany, serveAsOne, serveMany } from '#serve/processes.ts'
import { start } from '#serve/start.ts'
import { ConfigError } from '#settings.ts'

export const help = `Usage: duet serve [--migrate] [--processes N]

Serves GraphQL at /graphql and REST at /api. Settings come from the environment
(DUET_…, see docs/settings.md). On SQLite the store is migrated first; on PostgreSQL
only with --migrate, and without it a store that lacks migrations is refused. An empty
development store is filled with a small demo content. --processes N shares the port
between N processes, each on a core of its own; for PostgreSQL only, since one process
alone may write to SQLite.`

/** Calls `stop` on the first signal, and ends the process with 0, or 1 if that failed; a later one ends it at once. */
const endOnSignals = (stop: () => Promise<void>) => {
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
  const { values } = readArgs(
    args,
    { migrate: { type: 'boolean' }, processes: { type: 'string' } },
    0,
  )
  // A proxy in front could then see other requests than the service.
  const given = [...process.execArgv, process.env.NODE_OPTIONS ?? ''].join(' ')
  if (/--insecure[-_]http[-_]parser/.test(given))
    throw new ConfigError(
      '--insecure-http-parser lets requests be smuggled past a proxy: take it out of NODE_OPTIONS and of the command line',
    )
  // Also for the line that says that the log cannot be written, and in the first of several processes, which has no log.
  goOnWithout(process.stderr)
  const config = loadConfig(process.env, content.settings)
  const count = wholeOption('processes', values.processes, 1)
  if (count < 1 || count > mostProcesses)
    throw new UsageError(
      `--processes must be a whole number from 1 to ${mostProcesses}, not ${values.processes}`,
    )
  if (count > 1 && config.store.kind === 'sqlite')
    throw new UsageError(
      '--processes is for PostgreSQL: one process alone may write to SQLite; duet move takes the content over',
    )
  // Those of several processes get the socket from the first one, for which it was meant.
  const socket = handedOver(process.env, isOneOfMany ? process.ppid : process.pid)
  const program = { config, content, socket }
  if (isOneOfMany) return serveAsOne(program, endOnSignals)
  const release = await prepare(program, values.migrate === true)
  const running =
    count > 1
      ? await serveMany(count, config.values.DUET_METRICS_PORT, socket !== undefined)
      : await start(program, () => process.exit(1))
  endOnSignals(async () => {
    await running.stop()
    release()
  })
  process.stderr.write(`${running.hello}\n`)
}
