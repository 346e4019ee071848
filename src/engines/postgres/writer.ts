/**
 * Writes: each job in a transaction of its own, tried again after a conflict, answered after its commit. Jobs of one key and
 * those of one row line up in the process; what needs no answer of an earlier step is sent together with it.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { RateCounts } from '#base/rate-counts.ts'
import { begin, type PostgresConnection, rollBack } from '#engines/postgres/connection.ts'
import { dialect } from '#engines/postgres/dialect.ts'
import { isLockTimeout, isReadOnly, isRetryable, isSurelyUndone } from '#engines/postgres/errors.ts'
import {
  type PostgresServing,
  type SessionOptions,
  usualTimeouts,
} from '#engines/postgres/options.ts'
import { allBusy, createPool } from '#engines/postgres/pool.ts'
import { type ServerFinder, timelineAt } from '#engines/postgres/primary.ts'
import { createTurns, rowsOf } from '#engines/postgres/turns.ts'
import { tooManyWrites, usualWriteWait } from '#engines/shared/store.ts'
import { ApiError } from '#errors.ts'
import type { ReadPlan } from '#read/plan.ts'
import { type Prepared, prepare } from '#read/read.ts'
import { driveBy, type Position, type Query, queryWith, type Rows } from '#sql/engine.ts'
import {
  isResult,
  type Job,
  keyQueriesOf,
  lostSlug,
  type Outcome,
  type Writer,
} from '#write/job.ts'
import { boundQuery, perform, rowsOfEach, TogetherVoid } from '#write/perform.ts'

/** Milliseconds between two looks whether the database takes writes. */
const lookEvery = 1000

const readOnlyNow = queryWith("select current_setting('transaction_read_only')")

/** The most tries of a job after conflicts. */
const mostTries = 10

const inFlight = () =>
  new ApiError(
    'IDEMPOTENCY_IN_FLIGHT',
    'The first request with this Idempotency-Key is still running; try again in a moment',
    { retryAfter: 1 },
  )

const unknown = (cause: unknown) =>
  new ApiError(
    'UNAVAILABLE',
    'The connection to the database was lost during the commit, so it is unknown whether this was written; send it again with the same Idempotency-Key, or read it',
    { cause, retryAfter: 2 },
  )

/** The end of the log; read after a commit it is past that commit, even if commits do not wait for the disk. */
const logEnd = queryWith(`select ${timelineAt('l')}, l::text from pg_current_wal_insert_lsn() as l`)

// A commit has no time limit: the server answers a cancelled wait for its synchronous standbys as if it were over, and shows the
// transaction to others. One that waits longer than the connection lives stays unseen and unanswered. Warnings are switched on, since
// a role or a database may have turned them off.
const commitInFull =
  'set local statement_timeout = 0; set local client_min_messages = warning; commit'

/** A commit that takes so many milliseconds may wait for standbys that follow another primary by now. */
const slowCommit = 500

/**
 * A function that answers the queries of a job's work in order: steps that need no result of an earlier one are sent together. It throws
 * TogetherVoid where a guard failed: later steps may have changed the rows that explain the failure.
 */
const pipelining = (
  job: Job,
  { query: ask }: PostgresConnection,
): ((query: Query) => Promise<Rows>) => {
  const results: Rows[] = []
  const sent: { query: Query; rows: Promise<Rows>; isMany: boolean }[] = []
  let next = 0
  // With an idempotency key, no step is sent before the answers to the first queries, which take the key. If the key
  // was used already none is ever sent ahead: it would have its effect again.
  let awaited = keyQueriesOf(job)
  let isUsed = false
  return async query => {
    while (awaited === 0 && next < job.steps.length) {
      const together = job.together?.get(next)
      const { statement } = together ?? job.steps[next] ?? {}
      const isReady = statement?.values.every(
        value => !isResult(value) || value.step < results.length,
      )
      if (!statement || !isReady) break
      const ahead = boundQuery(statement, results, job.own)
      const rows = ask(ahead)
      // If one fails, the work ends, and the later ones are not awaited.
      rows.catch(() => {})
      sent.push({ query: ahead, rows, isMany: together !== undefined })
      next += together?.rows ?? 1
    }
    const head = sent.shift()
    if (!head) {
      const rows = await ask(query)
      if (rows.length === 0) isUsed = true
      if (awaited > 0 && !isUsed) awaited--
      return rows
    }
    if (head.query.text !== query.text) throw new TogetherVoid()
    const rows = await head.rows
    results.push(...(head.isMany ? rowsOfEach(rows) : [rows]))
    return rows
  }
}

/** Commits and gives the position; both are sent together, in one round trip. */
const commitIn = async (
  connection: PostgresConnection,
  finder: ServerFinder,
): Promise<Position | undefined> => {
  const warnings = connection.warnings()
  const suspecting = setInterval(finder.suspect, slowCommit)
  const committed = connection.run(commitInFull)
  const end = connection.query(logEnd).catch(() => [])
  try {
    await committed
  } catch (error) {
    throw isSurelyUndone(error) ? error : unknown(error)
  } finally {
    clearInterval(suspecting)
  }
  // It may say that the wait for a synchronous standby was cancelled: then only this server has the commit.
  if (connection.warnings() > warnings) throw unknown(new Error('a commit had a warning'))
  const [[timeline, lsn] = []] = await end
  return lsn == null ? undefined : `${timeline}-${lsn}`
}

/** Whether the database takes writes: found by writes that fail, and by looks where `isShown` says that none has shown it lately. */
const watchReadOnly = (
  pool: ReturnType<typeof createPool>,
  { onNotice, onProblem }: Pick<PostgresServing, 'onNotice' | 'onProblem'>,
  isShown: () => boolean,
  waiting: () => number,
) => {
  let readOnly: string | null = null
  const setReadOnly = (isSo: boolean) => {
    if (isSo === (readOnly !== null)) return
    readOnly = isSo ? 'the database takes no writes' : null
    if (readOnly === null) return onNotice?.('the database takes writes again')
    onProblem?.(`the store is read-only: ${readOnly}`)
    // A setting of a database holds for new sessions only.
    pool.renew()
  }
  /** Notes that the database is read-only if a write fails for that; only the next look finds that it no longer is. */
  const noticing = async <Result>(work: Promise<Result>): Promise<Result> => {
    try {
      return await work
    } catch (error) {
      if (isReadOnly(error)) setReadOnly(true)
      throw error
    }
  }
  let isLooking = false
  /** Asks whether writes are taken, if none has shown it lately; a connection that may not write is closed, so that the next look has a new one. */
  const look = async () => {
    if ((readOnly === null && isShown()) || isLooking || waiting() > 0) return
    isLooking = true
    try {
      await pool.use(async connection => {
        const [row] = await connection.query(readOnlyNow)
        setReadOnly(row?.[0] === 'on')
        if (readOnly !== null) connection.cut()
      })
    } catch {
      // If it cannot be asked, nobody knows.
    }
    isLooking = false
  }
  const looking = setInterval(look, lookEvery).unref()
  return { noticing, readOnly: () => readOnly, close: () => clearInterval(looking) }
}

/** A writer with a pool of connections of its own. */
export const createWriter = (options: PostgresServing, finder: ServerFinder) => {
  const { digits, limits, onCommit, timeouts = usualTimeouts, writeWait = usualWriteWait } = options
  const settings: SessionOptions = {
    prepare: options.prepare,
    statementTimeout: timeouts.statement,
    lockTimeout: timeouts.lock,
    byIndex: true,
    silenceLimit: timeouts.silence,
  }
  const pool = createPool(finder, settings, options)
  const keys = createTurns()
  const rows = createTurns()
  const waiting = () => rows.waiting() + pool.waiting()
  const reads = new WeakMap<ReadPlan, Prepared>()
  let committedAt = Number.NEGATIVE_INFINITY

  const commit = async (connection: PostgresConnection): Promise<Position | undefined> => {
    const startedAt = performance.now()
    const position = await commitIn(connection, finder)
    committedAt = performance.now()
    onCommit?.(1, committedAt - startedAt)
    return position
  }

  /** One try of a job, in a transaction of its own. */
  const attempt = async (
    connection: PostgresConnection,
    job: Job,
    isPipelined: boolean,
  ): Promise<Outcome> => {
    // Beside the steps, the actions of foreign keys too: in a snapshot they fail on a row that another transaction has made
    // refer to a deleted one since, and the job is tried again.
    const isolation = job.isolated ? 'repeatable read' : 'read committed'
    begin(connection, settings, `isolation level ${isolation}`)
    if (job.idempotency) connection.run(`set local lock_timeout = ${timeouts.key}`).catch(() => {})
    const plan = job.answer?.plan
    const prepared =
      plan && reads.getOrInsertComputed(plan, () => prepare(plan, dialect, digits, limits))
    const ask = isPipelined ? pipelining(job, connection) : connection.query
    let queries = 0
    let outcome: Outcome
    try {
      outcome = await driveBy(perform(job, prepared, !isPipelined), query => {
        queries++
        return ask(query)
      })
    } catch (error) {
      await rollBack(connection)
      throw queries <= keyQueriesOf(job) && isLockTimeout(error) ? inFlight() : error
    }
    if (outcome.kind !== 'done') {
      await rollBack(connection)
      return outcome
    }
    const position = await commit(connection)
    return position === undefined ? outcome : { ...outcome, position }
  }

  /** Tries a job until it is committed or refused, or has had too many conflicts; waits for its first connection until `due`. */
  const runWithRetries = async (job: Job, due: number): Promise<Outcome> => {
    // Before it has a connection, only its wait for one is limited.
    let startedAt: number | undefined
    for (let number = 1; ; number++) {
      const triedAt = performance.now()
      const isLast = () =>
        number >= mostTries || performance.now() - (startedAt ?? triedAt) > timeouts.tries
      const wait = startedAt === undefined ? Math.max(due - triedAt, 0) : writeWait
      try {
        const outcome = await pool.use(async connection => {
          startedAt ??= performance.now()
          try {
            return await attempt(connection, job, true)
          } catch (error) {
            if (!(error instanceof TogetherVoid)) throw error
            return await attempt(connection, job, false)
          }
        }, wait)
        // A guard failed because of a transaction committed in between, which the next try sees.
        const isLate = outcome.kind === 'violation' && outcome.constraint === 'reference'
        if ((!isLate && !lostSlug(job, outcome)) || isLast()) return outcome
      } catch (error) {
        const mayPass = isRetryable(error) || (finder.role === 'primary' && isReadOnly(error))
        if (!mayPass || isLast()) throw error
        startedAt ??= triedAt
      }
      await sleep(number * (5 + Math.random() * 20))
    }
  }

  const isShown = () => performance.now() - committedAt < lookEvery
  const { noticing, ...watch } = watchReadOnly(pool, options, isShown, waiting)
  return {
    write: async (job: Job): Promise<Outcome> => {
      if (waiting() >= options.queue) throw tooManyWrites()
      const due = performance.now() + writeWait
      const key = job.idempotency === undefined ? [] : [job.idempotency.name]
      // Repetitions of a request wait for the first one, and only that for the rows.
      const run = () =>
        rows.run(rowsOf(job), due - performance.now(), allBusy, () => runWithRetries(job, due))
      return noticing(keys.run(key, timeouts.key, inFlight, run))
    },
    /** Runs one statement as a transaction of its own. */
    query: (query: Query) => noticing(pool.use(connection => connection.query(query))),
    waiting,
    /** Why nothing can be written now; null if it can. */
    readOnly: watch.readOnly,
    close: async () => {
      watch.close()
      await pool.close()
    },
  } satisfies Writer & Record<string, unknown>
}

// Locked in the order of the keys, two batches cannot deadlock.
const addCounts = `insert into "rates" as "r" ("window", "key", "n")
  select $1::bigint, "seen"."key", "seen"."value"::bigint from json_each_text($2::json) as "seen"
  order by "seen"."key" collate "C"
  on conflict ("window", "key") do update set "n" = "r"."n" + excluded."n"
  returning "key", "n"`

// Skips rows that another process is deleting now.
const dropCounts = `delete from "rates" where ("window", "key") in (
  select "window", "key" from "rates" where "window" < $1::bigint for update skip locked)`

/** The rate counts of a database. `query` runs a statement as a transaction of its own, on a connection that may write. */
export const createRateCounts = (query: (query: Query) => Promise<Rows>): RateCounts => {
  let dropped = 0
  return async (window, seen) => {
    const rows = await query(queryWith(addCounts, window, JSON.stringify(Object.fromEntries(seen))))
    if (window > dropped) {
      dropped = window
      // The counts of the window before stay, since the clocks of processes differ; after a failure the next window tries again.
      query(queryWith(dropCounts, window - 1)).catch(() => {})
    }
    return new Map(rows.map(([key, n]) => [String(key), Number(n)]))
  }
}
