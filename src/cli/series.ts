/** `duet backup --every`: a backup each interval, named by its time and its store, of which the newest are kept. */
import { readdirSync, rmSync } from 'node:fs'
import { join, parse } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { explain } from '#cli/terminal.ts'
import { removeStaleParts } from '#engines/shared/files.ts'
import { backUp, identityOf, sumFileOf } from '#engines/sqlite/backup.ts'

export type Series = {
  readonly store: string
  readonly folder: string
  /** Milliseconds from the beginning of one backup to that of the next. */
  readonly every: number
  /** How many are kept. */
  readonly keep: number
  readonly now: () => number
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

/** Makes one backup; then removes the oldest, never the one just made, whatever the clock said when the others were. */
const backUpOnce = async (series: Series, signal: AbortSignal): Promise<void> => {
  const { store, folder, keep, now, onMade } = series
  const names = namesFor(store)
  // What a killed one left would otherwise stay for ever: its name does not come again.
  removeStaleParts(folder, name => names.isOwn(name.replace(/\.sha256$/, '')))
  const made = names.at(now())
  const options = { force: false, onPages: () => {}, signal }
  const size = await backUp(store, join(folder, made), options)
  onMade(`backed up to ${join(folder, made)}, ${size.toLocaleString('en')} bytes`)
  const others = names.in(folder).filter(name => name !== made)
  for (const name of others.slice(0, Math.max(0, others.length - keep + 1))) {
    rmSync(sumFileOf(join(folder, name)), { force: true })
    rmSync(join(folder, name))
  }
}

/** The milliseconds until the first is due: the newest of an earlier run counts, so that a restart makes none before its time. */
const firstWait = ({ store, folder, every, now }: Series): number => {
  let made: number
  try {
    const names = namesFor(store)
    made = names.timeIn(names.in(folder).at(-1) ?? '')
  } catch {
    // The first backup, which is due now, tells what is wrong with the store.
    return 0
  }
  const age = now() - made
  // A negative age is that of a clock which went back.
  return age >= 0 && age < every ? every - age : 0
}

/** Backs up again and again until the signal; one that fails is reported, and the next comes at its time. */
export const backUpEvery = async (series: Series, signal: AbortSignal): Promise<void> => {
  for (let wait = firstWait(series); ; ) {
    await sleep(wait, undefined, { signal }).catch(() => {})
    if (signal.aborted) return
    const begun = performance.now()
    const reason = await backUpOnce(series, signal).then(() => undefined, explain)
    wait = Math.max(0, series.every - (performance.now() - begun))
    if (reason === undefined || signal.aborted) continue
    const next = new Date(series.now() + wait).toISOString()
    series.onFailed(`a backup of ${series.store} failed: ${reason}; the next is at ${next}`)
  }
}
