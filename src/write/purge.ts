/** Deletes expired stored responses while the service runs, a few at a time. */
import type { Dialect } from '#sql/dialect.ts'
import { number, sql } from '#sql/sql.ts'
import { storedFor } from '#write/idempotency.ts'
import { type Job, jobStatement, type Writer } from '#write/job.ts'

/** The most stored responses that one job deletes. */
const batch = 1000

/** The job that deletes the oldest expired responses, few enough not to be noticed. */
const purgeOf = (dialect: Dialect, now: number): Job => {
  const old = sql`delete from replies where (scope, key) in (
    select scope, key from replies where made_at <= ${now - storedFor}
    limit ${number(batch)}) returning key`
  return {
    steps: [{ statement: jobStatement(old, dialect), expect: 'any' }],
    status: 200,
    answer: null,
  }
}

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
    if (count < batch) return sum
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
