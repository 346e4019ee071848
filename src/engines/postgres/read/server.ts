/** One PostgreSQL server for reads: the primary, or a replica. */
import { begin, type Connection, rollBack } from '#engines/postgres/connection/connection.ts'
import type { Hosts } from '#engines/postgres/connection/hosts.ts'
import { createPipelinedPool, type PipelinedPool } from '#engines/postgres/connection/pipelined.ts'
import { createPool } from '#engines/postgres/connection/pool.ts'
import type { SessionOptions } from '#engines/postgres/connection/settings.ts'
import { endsWithin } from '#engines/postgres/connection/within.ts'
import type { PostgresServing } from '#engines/postgres/options.ts'
import { batchingLookups } from '#engines/postgres/read/lookups.ts'
import {
  driveBy,
  type Query,
  type QueryScript,
  queryWith,
  type ReadOptions,
  type Rows,
} from '#sql/engine.ts'

export type ServerOptions = Pick<
  PostgresServing,
  'prepare' | 'readers' | 'pool' | 'poolWait' | 'readTimeout'
> & {
  readonly hosts: Hosts
  /** Called with the reason why the server cannot be used, and with null when it can again. */
  readonly onChange: (problem: string | null) => void
}

/** How much longer than the time limit of a statement a server may be silent, in milliseconds. */
const grace = 1000

/** Milliseconds between two requests to cancel the same work. */
const cancelAgain = 50

const cancel = (process: number): Query => queryWith('select pg_cancel_backend($1)', process)

/**
 * Runs work on a connection that is not given back before a request to cancel it was answered: that could hit the next
 * one. Behind a pooler nobody knows the process, and what it runs ends when its time is up.
 */
const cancellable = async <Result>(
  connection: Connection,
  pipelined: PipelinedPool,
  { prepare }: SessionOptions,
  { onGone }: ReadOptions,
  work: () => Promise<Result>,
): Promise<Result> => {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  let cancelled: Promise<void> | undefined
  // A request that comes before the statement has begun there cancels nothing, so it is made again.
  const cancelUntilEnded = async () => {
    do await pipelined.query(cancel(connection.process)).catch(() => {})
    while (!(await endsWithin(cancelAgain, ended)))
  }
  const forget = onGone?.(() => {
    if (prepare) cancelled ??= cancelUntilEnded()
  })
  try {
    return await work()
  } finally {
    forget?.()
    end()
    await cancelled
  }
}

/** Opens connections to a server. It does not try again: what it is asked throws a LostError where a connection was lost. */
export const createServer = (options: ServerOptions) => {
  const { hosts, prepare, readers, onChange } = options
  const session: SessionOptions = {
    prepare,
    statementTimeout: options.readTimeout,
    lockTimeout: 2000,
    readOnly: true,
    silenceLimit: options.readTimeout + grace,
  }
  const pipelined = createPipelinedPool(hosts, { ...session, byIndex: true }, readers, onChange)
  const pool = createPool(hosts, session, options)
  const lookUp = batchingLookups(pipelined.query)
  const inTransaction = <Result>(
    work: (query: Connection['query']) => Promise<Result>,
    asked: ReadOptions = {},
  ): Promise<Result> =>
    pool.use(async used => {
      begin(used, session, 'isolation level repeatable read, read only')
      try {
        const result = await cancellable(used, pipelined, session, asked, () => work(used.query))
        await used.run('commit')
        return result
      } catch (error) {
        await rollBack(used)
        throw error
      }
    })
  // Behind a pooler only a transaction has a time limit.
  const querySlowly = (query: Query, asked: ReadOptions = {}): Promise<Rows> =>
    prepare
      ? pool.use(used => cancellable(used, pipelined, session, asked, () => used.query(query)))
      : inTransaction(ask => ask(query), asked)
  // A slow query does not go over the pipelined connections: those behind it would wait.
  return {
    /** The rows of one statement, which is a snapshot by itself. */
    query: (query: Query, asked?: ReadOptions) =>
      query.isQuick ? lookUp(query) : querySlowly(query, asked),
    pipelined,
    /** Runs work so that all its queries see the same moment. */
    snapshot: <Result>(begin: () => QueryScript<Result>, asked?: ReadOptions): Promise<Result> =>
      inTransaction(ask => driveBy(begin(), ask), asked),
    close: async () => {
      await Promise.all([pipelined.close(), pool.close()])
    },
  }
}

export type Server = ReturnType<typeof createServer>
