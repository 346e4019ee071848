/** Deletes expired stored responses while the service runs, a few at a time. */
import type { Dialect } from '#sql/dialect.ts'
import { purgeBatch, purgeOf } from '#write/idempotency.ts'
import type { Writer } from '#write/job.ts'

type Purging = {
  readonly writer: Writer
  readonly dialect: Dialect
  readonly now: () => number
  /** Milliseconds between two rounds. */
  readonly every?: number
}

/** Deletes expired responses, batch by batch, so that other writes run in between; gives how many there were. */
export const purge = async ({ writer, dialect, now }: Purging): Promise<number> => {
  let sum = 0
  for (;;) {
    const outcome = await writer.write(purgeOf(dialect, now()))
    const count = outcome.kind === 'done' ? (outcome.rows[0]?.length ?? 0) : 0
    sum += count
    if (count < purgeBatch) return sum
  }
}

/** Deletes expired responses now and each minute; gives a function that ends it. */
export const startPurging = (purging: Purging): (() => void) => {
  let isEnded = false
  let timer: NodeJS.Timeout | undefined
  const round = async () => {
    // A failure is ignored: the next round tries again.
    await purge(purging).catch(() => {})
    if (isEnded) return
    timer = setTimeout(round, purging.every ?? 60_000)
    timer.unref()
  }
  round()
  return () => {
    isEnded = true
    clearTimeout(timer)
  }
}
