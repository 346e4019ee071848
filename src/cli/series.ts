/** `duet backup --every`: a backup each interval, named by its time, of which the newest are kept. */
import { readdirSync, rmSync } from 'node:fs'
import { join, parse } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { explain } from '#cli/explain.ts'
import { removeStaleParts } from '#engines/shared/files.ts'
import { backUp } from '#engines/sqlite/backup.ts'

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

const form = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.db$/

/** A moment as it is in a name, such as 20261122T093000Z. */
const stamp = (time: number): string => new Date(time).toISOString().replace(/[-:]|\.\d+/g, '')

/** The backups of a series by their names, the oldest first, each with its time. */
const backupsIn = (folder: string, start: string) =>
  readdirSync(folder)
    .sort()
    .flatMap(name => {
      const found = name.startsWith(start) ? form.exec(name.slice(start.length)) : null
      if (!found) return []
      const [, year, month, day, hour, minute, second] = found
      return [{ name, time: Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`) }]
    })

/** Makes one backup; then removes the oldest, never the one just made, whatever the clock said when the others were. */
const backUpOnce = async (series: Series, start: string, signal: AbortSignal): Promise<void> => {
  const { store, folder, keep, now, onMade } = series
  // What a killed one left would otherwise stay for ever: its name does not come again.
  removeStaleParts(folder, start)
  const made = `${start}${stamp(now())}.db`
  const options = { force: false, onPages: () => {}, signal }
  const size = await backUp(store, join(folder, made), options)
  onMade(`backed up to ${join(folder, made)}, ${size.toLocaleString('en')} bytes`)
  const others = backupsIn(folder, start).filter(({ name }) => name !== made)
  for (const { name } of others.slice(0, Math.max(0, others.length - keep + 1)))
    rmSync(join(folder, name))
}

/** The milliseconds until the first is due: the newest of an earlier run counts, so that a restart makes none before its time. */
const firstWait = ({ folder, every, now }: Series, start: string): number => {
  const age = now() - (backupsIn(folder, start).at(-1)?.time ?? Number.NEGATIVE_INFINITY)
  // A negative age is that of a clock which went back.
  return age >= 0 && age < every ? every - age : 0
}

/** Backs up again and again until the signal; one that fails is reported, and the next comes at its time. */
export const backUpEvery = async (series: Series, signal: AbortSignal): Promise<void> => {
  const start = `${parse(series.store).name}-`
  for (let wait = firstWait(series, start); ; ) {
    await sleep(wait, undefined, { signal }).catch(() => {})
    if (signal.aborted) return
    const begun = performance.now()
    const reason = await backUpOnce(series, start, signal).then(() => undefined, explain)
    wait = Math.max(0, series.every - (performance.now() - begun))
    if (reason === undefined || signal.aborted) continue
    const next = new Date(series.now() + wait).toISOString()
    series.onFailed(`a backup of ${series.store} failed: ${reason}; the next is at ${next}`)
  }
}
