/** `duet backup`: a copy of the store, made while it is served; a timer that calls it makes a series of them. */
import { readdirSync, rmSync, statSync } from 'node:fs'
import { join, parse, resolve } from 'node:path'
import { readArgs, UsageError, wholeOption } from '#cli/arguments.ts'
import { copyFiles, copyIn, refuseOwn, withFiles, withoutFiles } from '#cli/files.ts'
import { progress } from '#cli/terminal.ts'
import { loadConfig } from '#config.ts'
import type { Content } from '#content.ts'
import { removeStaleParts } from '#engines/shared/files.ts'
import { backUp, identityOf, sumFileOf } from '#engines/sqlite/backup.ts'
import { keepLog } from '#engines/sqlite/log.ts'
import { fileOf } from '#serve/store.ts'

const dump = 'pg_dump --format=custom --file=FILE URL'

export const help = `Usage: duet backup [FILE] [--force] [--files FOLDER]
       duet backup --keep 48 --to FOLDER [--files FOLDER]

Copies the whole store to FILE as it is at one moment; the server may run meanwhile.
The copy is checked and on the disk before it gets its name, so FILE is there whole
or not at all; its SHA-256 sum is written to FILE.sha256. A FILE that is there is replaced
only with --force. It has everything the store has, email addresses too: keep it where
nobody else can read it.

With --keep the backup is one of a series in FOLDER, named by its time in UTC and its store, of
which it keeps the newest: have a timer call it, such as one of cron or systemd.

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

const mostBackups = 100_000

const seriesOf = (keep: string | undefined, to: string | undefined) => {
  const count = wholeOption('keep', keep, 0)
  if (count < 1 || count > mostBackups)
    throw new UsageError(
      `--keep must be how many backups stay, from 1 to ${mostBackups}: --keep 48 --to FOLDER`,
    )
  if (to === undefined) throw new UsageError('--to must name the folder of the backups')
  const folder = resolve(to)
  // It is not made: if its disk were not mounted, the backups would land beside the store.
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new Error(`there is no folder ${folder}: make it, or mount its disk`)
  return { keep: count, folder }
}

/** What tells the names of a store's backups. A file without its identity in its name may be another store's, and is left alone. */
const namesFor = (store: string) => {
  const [start, end] = [`${parse(store).name}-`, `Z-${identityOf(store)}.db`]
  const form = new RegExp(`^${RegExp.escape(start)}\\d{8}T\\d{6}${RegExp.escape(end)}$`)
  return {
    at: (time: number): string =>
      `${start}${new Date(time).toISOString().replace(/[-:]|\.\d+Z/g, '')}${end}`,
    isOwn: (name: string): boolean => form.test(name),
  }
}

type Series = {
  readonly folder: string
  /** How many are kept. */
  readonly keep: number
  readonly onPages: (copied: number) => void
}

/** Makes the backup of a moment, and removes the oldest, never the one just made, whatever the clock said when the others were; gives it and its size in bytes. */
export const backUpNext = async (
  store: string,
  { folder, keep, onPages }: Series,
  now: number,
): Promise<{ readonly file: string; readonly size: number }> => {
  const names = namesFor(store)
  // What a killed one left would otherwise stay for ever: its name does not come again.
  removeStaleParts(folder, name => names.isOwn(name.replace(/\.sha256$/, '')))
  const made = names.at(now)
  const file = join(folder, made)
  const size = await backUp(store, file, { force: false, onPages })
  const others = readdirSync(folder)
    .filter(name => names.isOwn(name) && name !== made)
    .sort()
  for (const name of others.slice(0, Math.max(0, others.length - keep + 1))) {
    rmSync(sumFileOf(join(folder, name)), { force: true })
    rmSync(join(folder, name))
  }
  return { file, size }
}

export const run = async (args: readonly string[], content: Content): Promise<void> => {
  const { values, positionals } = readArgs(args, options, 1)
  const [file = ''] = positionals
  const { every, keep, to, files, force = false } = values
  if (every !== undefined)
    throw new UsageError(
      'there is no --every any more: have a timer, such as deploy/duet-backup.timer or cron, call duet backup --keep 48 --to FOLDER',
    )
  const isSeries = keep !== undefined || to !== undefined
  if (isSeries && (file !== '' || force))
    throw new UsageError('--keep and --to name the backups by themselves: leave out the rest')
  for (const target of [file, to, files]) if (target) refuseOwn(content, target)
  // The files come after the store: those that its rows name stay for 30 days, whoever changes the rows meanwhile.
  const copyAll = async (into: string) => {
    const done = await withFiles(content, store => copyFiles(store, copyIn(into)))
    process.stdout.write(`${done}\n`)
  }
  if (!isSeries && file === '') {
    if (files === undefined) throw new UsageError('FILE is missing: duet backup FILE')
    return copyAll(files)
  }
  const series = isSeries ? seriesOf(keep, to) : undefined
  const lacks = withoutFiles(content, files, '--files FOLDER copies them')
  const config = loadConfig(process.env, content.settings)
  const store = fileOf(config, `copy it with ${dump}`)
  if (config.values.DUET_WAL === 'shared') keepLog(store)
  const shown = progress('copying pages')
  let done = 0
  const onPages = (copied: number) => {
    shown.step(copied - done)
    done = copied
  }
  const made = series
    ? await backUpNext(store, { ...series, onPages }, Date.now())
    : { file, size: await backUp(store, resolve(file), { force, onPages }) }
  process.stdout.write(
    `backed up to ${made.file}, ${made.size.toLocaleString('en')} bytes${lacks}\n`,
  )
  if (files !== undefined) await copyAll(files)
}
