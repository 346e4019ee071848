/** Writes: each job in a transaction of its own, tried again after a conflict, answered after its commit. */
import { setTimeout as sleep } from 'node:timers/promises'
import { begin, type Connection, rollBack } from '#engines/postgres/connection/connection.ts'
import {
  isLockTimeout,
  isReadOnly,
  isRetryable,
  isSurelyUndone,
} from '#engines/postgres/connection/errors.ts'
import type { Hosts } from '#engines/postgres/connection/hosts.ts'
import { createPool, type Pool } from '#engines/postgres/connection/pool.ts'
import type { SessionOptions } from '#engines/postgres/connection/settings.ts'
import { timelineAt } from '#engines/postgres/connection/timeline.ts'
import { endsWithin } from '#engines/postgres/connection/within.ts'
import { dialect } from '#engines/postgres/dialect.ts'
import {
  type PostgresServing,
  usualTimeouts,
  type WriteTimeouts,
} from '#engines/postgres/options.ts'
import { PipelineVoid, pipelining } from '#engines/postgres/write/pipelining.ts'
import { tooManyWrites } from '#engines/shared/store.ts'
import { ApiError } from '#errors.ts'
import type { ReadPlan } from '#read/plan.ts'
import { type Prepared, prepare } from '#read/read.ts'
import { driveBy, type Position, type Query, queryWith } from '#sql/engine.ts'
import { type Job, keyQueriesOf, type Outcome, type Writer } from '#write/job.ts'
import { perform } from '#write/perform.ts'

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

/** The end of the log; read after a commit it is past that commit, even where commits do not wait for the disk. */
const logEnd = queryWith(`select ${timelineAt('l')}, l::text from pg_current_wal_insert_lsn() as l`)

// Without a time limit: the server answers a cancelled wait for its synchronous standbys as if it were over, and shows the
// transaction to others. One that waits longer than the connection lives stays unseen and unanswered. And with its warnings,
// which a role or a database may have turned off.
const commitInFull =
  'set local statement_timeout = 0; set local client_min_messages = warning; commit'

/** A commit that takes so many milliseconds may wait for standbys that follow another primary by now. */
const slowCommit = 500

/** Commits and gives the position; both are sent together, in one round trip. While it takes long, `suspect` is called again and again. */
const commit = async (
  connection: Connection,
  suspect: () => void,
): Promise<Position | undefined> => {
  const warnings = connection.warnings()
  const suspecting = setInterval(suspect, slowCommit)
  const committed = connection.run(commitInFull)
  const end = connection.query(logEnd).catch(() => [])
  try {
    await committed
  } catch (error) {
    throw isSurelyUndone(error) ? error : unknown(error)
  } finally {
    clearInterval(suspecting)
  }
  // Such as: the wait for a synchronous standby was cancelled, so only this server has it.
  if (connection.warnings() > warnings) throw unknown(new Error('a commit had a warning'))
  const [[timeline, lsn] = []] = await end
  return lsn == null ? undefined : `${timeline}-${lsn}`
}

/** Runs the jobs of one key one after another within the process: a waiting duplicate then holds no connection. */
const createTurns = (longest: number) => {
  const last = new Map<string, Promise<unknown>>()
  return async <Result>(key: string | undefined, work: () => Promise<Result>): Promise<Result> => {
    if (key === undefined) return work()
    const before = last.get(key)
    const { promise: turn, resolve: over } = Promise.withResolvers<void>()
    const mine = before ? Promise.allSettled([before, turn]) : turn
    last.set(key, mine)
    try {
      if (before && !(await endsWithin(longest, before))) throw inFlight()
      return await work()
    } finally {
      over()
      if (last.get(key) === mine) last.delete(key)
    }
  }
}

/** Prepares the reads that answer jobs, each once. */
const preparing = ({ digits, limits }: PostgresServing) => {
  const known = new WeakMap<ReadPlan, Prepared>()
  return ({ answer }: Job): Prepared | undefined => {
    if (!answer) return undefined
    return known.getOrInsertComputed(answer.plan, plan => prepare(plan, dialect, digits, limits))
  }
}

/** The parts that a try of a job needs. */
type Tools = {
  readonly pool: Pool
  readonly hosts: Hosts
  readonly settings: SessionOptions
  readonly timeouts: WriteTimeouts
  readonly prepared: (job: Job) => Prepared | undefined
  readonly onCommit: PostgresServing['onCommit'] | undefined
}

/** Performs a job in an open transaction, without committing it. */
const performOn = async (
  connection: Connection,
  job: Job,
  prepared: Prepared | undefined,
  isPipelined: boolean,
): Promise<Outcome> => {
  const ask = isPipelined ? pipelining(job, connection) : connection.query
  let queries = 0
  try {
    return await driveBy(perform(job, prepared), query => {
      queries++
      return ask(query)
    })
  } catch (error) {
    throw queries <= keyQueriesOf(job) && isLockTimeout(error) ? inFlight() : error
  }
}

// Beside the steps, the actions of foreign keys too: in a snapshot they fail on a row that another transaction has made refer
// to a deleted one since, and the job is tried again.
const isolation = ({ isolated = false }: Job): string =>
  `isolation level ${isolated ? 'repeatable read' : 'read committed'}`

/** One try of a job, in a transaction of its own. */
const attempt = (
  { pool, hosts, settings, timeouts, prepared, onCommit }: Tools,
  job: Job,
  isPipelined: boolean,
) =>
  pool.use(async (connection): Promise<Outcome> => {
    begin(connection, settings, isolation(job))
    if (job.idempotency) connection.run(`set local lock_timeout = ${timeouts.key}`).catch(() => {})
    let outcome: Outcome
    try {
      outcome = await performOn(connection, job, prepared(job), isPipelined)
    } catch (error) {
      await rollBack(connection)
      throw error
    }
    if (outcome.kind !== 'done') {
      await rollBack(connection)
      return outcome
    }
    const started = performance.now()
    const position = await commit(connection, hosts.suspect)
    onCommit?.(1, performance.now() - started)
    return position === undefined ? outcome : { ...outcome, position }
  })

/** Whether a guard failed because of a transaction committed in between, which the next try sees. */
const hasLostRace = (outcome: Outcome): boolean =>
  outcome.kind === 'violation' && outcome.constraint === 'reference'

/** Tries a job until it is committed or refused, or has had too many conflicts. */
const runWithRetries = async (tools: Tools, job: Job): Promise<Outcome> => {
  const startedAt = performance.now()
  const isLast = (number: number) =>
    number >= mostTries || performance.now() - startedAt > tools.timeouts.tries
  let isPipelined = true
  for (let number = 1; ; number++) {
    try {
      const outcome = await attempt(tools, job, isPipelined)
      if (!hasLostRace(outcome) || isLast(number)) return outcome
    } catch (error) {
      if (error instanceof PipelineVoid) {
        isPipelined = false
        continue
      }
      const mayPass = isRetryable(error) || (tools.hosts.role === 'primary' && isReadOnly(error))
      if (!mayPass || isLast(number)) throw error
    }
    await sleep(number * (5 + Math.random() * 20))
  }
}

/** A writer with a pool of connections of its own. */
export const createWriter = (options: PostgresServing, hosts: Hosts) => {
  const { timeouts = usualTimeouts } = options
  const settings: SessionOptions = {
    prepare: options.prepare,
    statementTimeout: timeouts.statement,
    lockTimeout: timeouts.lock,
    byIndex: true,
    silenceLimit: timeouts.silence,
  }
  const pool = createPool(hosts, settings, options)
  const { onCommit } = options
  const tools: Tools = { pool, hosts, settings, timeouts, prepared: preparing(options), onCommit }
  const inTurn = createTurns(timeouts.key)
  return {
    write: async (job: Job): Promise<Outcome> => {
      if (pool.waiting() >= options.queue) throw tooManyWrites()
      return inTurn(job.idempotency?.name, () => runWithRetries(tools, job))
    },
    /** Runs one statement as a transaction of its own. */
    query: (query: Query) => pool.use(connection => connection.query(query)),
    waiting: pool.waiting,
    close: pool.close,
  } satisfies Writer & Record<string, unknown>
}
