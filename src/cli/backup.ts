/** `duet backup`: a copy of the store, made while it is served, once or again and again. */
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { duration } from '#base/dates.ts'
import { readArgs, UsageError, wholeOption } from '#cli/arguments.ts'
import { backUpEvery } from '#cli/series.ts'
import { endingSignals, goOnWithout, nowHandled, progress } from '#cli/terminal.ts'
import { loadConfig } from '#config.ts'
import type { Content } from '#content.ts'
import { backUp } from '#engines/sqlite/backup.ts'
import { keepLog } from '#engines/sqlite/shared-log.ts'
import { fileOf } from '#serve/store.ts'

const dump = 'pg_dump --format=custom --file=FILE URL'

export const help = `Usage: duet backup FILE [--force]
       duet backup --every 1h --keep 48 --to FOLDER

Copies the whole store to FILE as it is at one moment; the server may run meanwhile.
The copy is checked and on the disk before it gets its name, so FILE is there whole
or not at all; its SHA-256 sum is written to FILE.sha256. A FILE that is there is replaced
only with --force. It has everything the store has, email addresses too: keep it where
nobody else can read it.

With --every it goes on until SIGTERM: a backup each interval (1s to 168h, written as 30m
or 1h) in FOLDER, named by its time in UTC and its store, of which it keeps the newest. One
that fails is told on standard error, and the next comes at its time. A restart makes none
too early.
For a store in PostgreSQL use its own tools: ${dump}`

const string = { type: 'string' } as const
const options = { force: { type: 'boolean' }, every: string, keep: string, to: string } as const
type Values = { readonly [Name in 'every' | 'keep' | 'to']?: string | undefined }

const limits = { shortest: 1000, longest: 168 * 3_600_000, mostBackups: 100_000 }

const seriesOf = ({ every = '', keep, to }: Values) => {
  const interval = duration(every) ?? 0
  if (interval < limits.shortest || interval > limits.longest)
    throw new UsageError(`--every must be such as 30m or 1h, from 1s to 168h, not ${every}`)
  const count = wholeOption('keep', keep, 0)
  if (count < 1 || count > limits.mostBackups)
    throw new UsageError(
      `--keep must be how many backups stay, from 1 to ${limits.mostBackups}: --every 1h --keep 48`,
    )
  if (to === undefined) throw new UsageError('--to must name the folder of the backups')
  const folder = resolve(to)
  // It is not made: where a disk is not mounted, the backups would land beside the store.
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new Error(`there is no folder ${folder}: make it, or mount its disk`)
  return { every: interval, keep: count, folder }
}

/** Aborts at the first signal that ends a program. */
const untilEnded = (): AbortSignal => {
  const ended = new AbortController()
  for (const signal of endingSignals) process.once(signal, () => ended.abort())
  nowHandled()
  return ended.signal
}

export const run = async (args: readonly string[], content: Content): Promise<void> => {
  const { values, positionals } = readArgs(args, options, 1)
  const [file = ''] = positionals
  const isSeries = [values.every, values.keep, values.to].some(value => value !== undefined)
  if (isSeries && (file !== '' || values.force))
    throw new UsageError(
      '--every, --keep and --to name the backups by themselves: leave out the rest',
    )
  if (!isSeries && file === '') throw new UsageError('FILE is missing: duet backup FILE')
  const series = isSeries ? seriesOf(values) : undefined
  const config = loadConfig(process.env, content.settings)
  const store = fileOf(config, `copy it with ${dump}`)
  if (config.values.DUET_WAL === 'shared') keepLog(store)
  if (series) {
    for (const stream of [process.stdout, process.stderr]) goOnWithout(stream)
    return backUpEvery(
      {
        ...series,
        store,
        now: Date.now,
        onMade: line => process.stdout.write(`${line}\n`),
        onFailed: line => process.stderr.write(`duet: ${line}\n`),
      },
      untilEnded(),
    )
  }
  const shown = progress('copying pages')
  let done = 0
  const size = await backUp(store, resolve(file), {
    force: values.force === true,
    onPages: copied => {
      shown.step(copied - done)
      done = copied
    },
  })
  process.stdout.write(`backed up to ${file}, ${size.toLocaleString('en')} bytes\n`)
}
