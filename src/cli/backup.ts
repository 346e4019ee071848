/** `duet backup`: a copy of the store, made while it is served, once or again and again. */
import { readdirSync, rmSync, statSync } from 'node:fs'
import { join, parse, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { duration } from '#base/dates.ts'
import { readArgs, UsageError, wholeOption } from '#cli/arguments.ts'
import { copyFiles, copyIn, withFiles, withoutFiles } from '#cli/files.ts'
import { endingSignals, explain, goOnWithout, nowHandled, progress } from '#cli/terminal.ts'
import { loadConfig } from '#config.ts'
import type { Content } from '#content.ts'
import { removeStaleParts } from '#engines/shared/files.ts'
import { backUp, identityOf, sumFileOf } from '#engines/sqlite/backup.ts'
import { keepLog } from '#engines/sqlite/log.ts'
import { fileOf } from '#serve/store.ts'

const dump = 'pg_dump --format=custom --file=FILE URL'

export const help = `Usage: duet backup [FILE] [--force] [--files FOLDER]
       duet backup --every 1h --keep 48 --to FOLDER [--files FOLDER]

Copies the whole store to FILE as it is at one moment; the server may run meanwhile.
The copy is checked and on the disk before it gets its name, so FILE is there whole
or not at all; its SHA-256 sum is written to FILE.sha256. A FILE that is there is replaced
only with --force. It has everything the store has, email addresses too: keep it where
nobody else can read it.

With --every it goes on until SIGTERM: a backup each interval (1s to 168h, written as 30m
or 1h) in FOLDER, named by its time in UTC and its store, of which it keeps the newest. One
that fails is told on standard error, and the next comes at its time. A restart makes none
too early.

With --files the bytes of files of rows are copied into that FOLDER too, those that it lacks;
without FILE nothing else is. What is there stays, so that every backup finds its files.
For a store in PostgreSQL use its own tools: ${dump}`

const string = { type: 'string' } as const
const options = {
  force: { type: 'boolean' },
  every: string,
  keep: string,
  to: string,
  files: string,
} as const
type BackupValues = { readonly [Name in 'every' | 'keep' | 'to' | 'files']?: string | undefined }

const limits = { shortest: 1000, longest: 168 * 3_600_000, mostBackups: 100_000 }

const seriesOf = ({ every = '', keep, to }: BackupValues) => {
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
  // It is not made: if its disk were not mounted, the backups would land beside the store.
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new Error(`there is no folder ${folder}: make it, or mount its disk`)
  return { every: interval, keep: count, folder }
}

export type Series = {
  readonly store: string
  readonly folder: string
  /** Milliseconds from the beginning of one backup to that of the next. */
  readonly every: number
  /** How many are kept. */
  readonly keep: number
  readonly now: () => number
  /** Copies the files of rows, and says so. */
  readonly copyFiles?: (signal: AbortSignal) => Promise<string>
  /** What each lacks. */
  readonly lacks?: string
  /** Gets a line for each backup that was made. */
  readonly onMade: (line: string) => void
  /** Gets a line for each that failed. */
  readonly onFailed: (line: string) => void
}

/** The names of a store's backups. A file without its identity in its name may be another store's, and is left alone. */
const namesFor = (store: string) => {
  const [start, end] = [`${parse(store).name}-`, `Z-${identityOf(store)}.db`]
  const digits = '(\\d{4})(\\d\\d)(\\d\\d)T(\\d\\d)(\\d\\d)(\\d\\d)'
  const form = new RegExp(`^${RegExp.escape(start)}${digits}${RegExp.escape(end)}$`)
  const isOwn = (name: string): boolean => form.test(name)
  return {
    at: (time: number): string =>
      `${start}${new Date(time).toISOString().replace(/[-:]|\.\d+Z/g, '')}${end}`,
    isOwn,
    timeIn: (name: string): number => Date.parse(name.replace(form, '$1-$2-$3T$4:$5:$6Z')),
    /** The backups in a folder, the oldest first. */
    in: (folder: string): readonly string[] => readdirSync(folder).filter(isOwn).sort(),
  }
}

/**
 * Makes one backup; then removes the oldest, never the one just made, whatever the clock said when the others were. They go before the
 * files are copied: they would else fill the disk while those cannot be.
 */
const backUpOnce = async (series: Series, signal: AbortSignal): Promise<void> => {
  const { store, folder, keep, now, onMade, lacks = '' } = series
  // Told before any work on the disk: by seconds, the next one would else have the same name.
  const begun = now()
  const names = namesFor(store)
  // What a killed one left would otherwise stay for ever: its name does not come again.
  removeStaleParts(folder, name => names.isOwn(name.replace(/\.sha256$/, '')))
  const made = names.at(begun)
  const options = { force: false, onPages: () => {}, signal }
  const size = await backUp(store, join(folder, made), options)
  onMade(`backed up to ${join(folder, made)}, ${size.toLocaleString('en')} bytes${lacks}`)
  const others = names.in(folder).filter(name => name !== made)
  for (const name of others.slice(0, Math.max(0, others.length - keep + 1))) {
    rmSync(sumFileOf(join(folder, name)), { force: true })
    rmSync(join(folder, name))
  }
  // The files come after the store: those that its rows name stay for 30 days, whoever changes the rows meanwhile.
  if (series.copyFiles) onMade(await series.copyFiles(signal))
}

/** Backs up again and again until the signal; one that fails is reported, and the next comes at its time. */
export const backUpEvery = async (series: Series, signal: AbortSignal): Promise<void> => {
  const { store, folder, every, now, onFailed } = series
  let wait = 0
  try {
    // The newest of an earlier run counts, so that a restart makes none before its time.
    const names = namesFor(store)
    const age = now() - names.timeIn(names.in(folder).at(-1) ?? '')
    // A negative age is that of a clock which went back.
    if (age >= 0 && age < every) wait = every - age
  } catch {
    // The first backup, which is due now, tells what is wrong with the store.
  }
  for (;;) {
    await sleep(wait, undefined, { signal }).catch(() => {})
    if (signal.aborted) return
    const begun = performance.now()
    const reason = await backUpOnce(series, signal).then(() => undefined, explain)
    wait = Math.max(0, Math.ceil(every - (performance.now() - begun)))
    if (reason === undefined || signal.aborted) continue
    const next = new Date(now() + wait).toISOString()
    onFailed(`a backup of ${store} failed: ${reason}; the next is at ${next}`)
  }
}

export const run = async (args: readonly string[], content: Content): Promise<void> => {
  const { values, positionals } = readArgs(args, options, 1)
  const [file = ''] = positionals
  const isSeries = [values.every, values.keep, values.to].some(value => value !== undefined)
  if (isSeries && (file !== '' || values.force))
    throw new UsageError(
      '--every, --keep and --to name the backups by themselves: leave out the rest',
    )
  const { files } = values
  const copyAll =
    files === undefined
      ? undefined
      : async (signal?: AbortSignal) =>
          withFiles(content, store => copyFiles(store, copyIn(files), { signal }))
  if (copyAll && !isSeries && file === '') return void process.stdout.write(`${await copyAll()}\n`)
  if (!isSeries && file === '') throw new UsageError('FILE is missing: duet backup FILE')
  const series = isSeries ? seriesOf(values) : undefined
  const lacks = withoutFiles(content, files, '--files FOLDER copies them')
  const config = loadConfig(process.env, content.settings)
  const store = fileOf(config, `copy it with ${dump}`)
  if (config.values.DUET_WAL === 'shared') keepLog(store)
  if (series) {
    for (const stream of [process.stdout, process.stderr]) goOnWithout(stream)
    const ended = new AbortController()
    for (const signal of endingSignals) process.once(signal, () => ended.abort())
    nowHandled()
    return backUpEvery(
      {
        ...series,
        store,
        now: Date.now,
        ...(copyAll ? { copyFiles: copyAll } : { lacks }),
        onMade: line => process.stdout.write(`${line}\n`),
        onFailed: line => process.stderr.write(`duet: ${line}\n`),
      },
      ended.signal,
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
  process.stdout.write(`backed up to ${file}, ${size.toLocaleString('en')} bytes${lacks}\n`)
  if (copyAll) process.stdout.write(`${await copyAll()}\n`)
}
