/** One PostgreSQL server for reads: the primary, or a replica. */
import type { Hosts } from '#engines/postgres/connection/hosts.ts'
import { createPipelinedPool, type PipelinedPool } from '#engines/postgres/connection/pipelined.ts'
import { createPool, type Pool } from '#engines/postgres/connection/pool.ts'
import type { SessionOptions } from '#engines/postgres/connection/settings.ts'
import { begin, driveBy, rollBack } from '#engines/postgres/connection/transaction.ts'
import type { PostgresServing } from '#engines/postgres/options.ts'
import { batchingLookups } from '#engines/postgres/read/lookups.ts'
import type { Query, Rows, Work } from '#sql/engine.ts'

export type ServerOptions = Pick<
  PostgresServing,
  'prepare' | 'readers' | 'pool' | 'readTimeout'
> & {
  readonly hosts: Hosts
  /** Called with the reason why the server cannot be used, and with null when it can again. */
  readonly onChange: (problem: string | null) => void
}

/** A server does not try again: `query` and `snapshot` throw a LostError where a connection was lost. */
export type Server = {
  /** The rows of one statement, which is a snapshot by itself. */
  readonly query: (query: Query) => Promise<Rows>
  /** Runs work so that all its queries see the same moment. */
  readonly snapshot: <Result>(begin: () => Work<Result>) => Promise<Result>
  readonly pipelined: PipelinedPool
  readonly close: () => Promise<void>
}

/** How much longer than the time limit of a statement a server may be silent, in milliseconds. */
const grace = 1000

/** Runs work in a transaction of its own. */
const inTransaction = <Result>(
  pool: Pool,
  options: SessionOptions,
  work: (query: (query: Query) => Promise<Rows>) => Promise<Result>,
): Promise<Result> =>
  pool.use(async connection => {
    begin(connection, options, 'isolation level repeatable read, read only')
    try {
      const result = await work(connection.query)
      await connection.run('commit')
      return result
    } catch (error) {
      await rollBack(connection)
      throw error
    }
  })

/** Opens connections to a server. */
export const createServer = (options: ServerOptions): Server => {
  const connection: SessionOptions = {
    prepare: options.prepare,
    statementTimeout: options.readTimeout,
    lockTimeout: 2000,
    readOnly: true,
    silenceLimit: options.readTimeout + grace,
  }
  const pipelined = createPipelinedPool({
    hosts: options.hosts,
    connection: { ...connection, byIndex: true },
    count: options.readers,
    onChange: options.onChange,
  })
  const pool = createPool(options.hosts, connection, options.pool)
  const lookUp = batchingLookups(pipelined.query)
  // Behind a pooler only a transaction has a time limit.
  const querySlowly = (query: Query): Promise<Rows> =>
    connection.prepare
      ? pool.use(({ query: ask }) => ask(query))
      : inTransaction(pool, connection, ask => ask(query))
  // A slow query does not go over the pipelined connections: those behind it would wait.
  return {
    query: query => (query.isQuick ? lookUp(query) : querySlowly(query)),
    pipelined,
    snapshot: begin => inTransaction(pool, connection, ask => driveBy(begin(), ask)),
    close: async () => {
      await Promise.all([pipelined.close(), pool.close()])
    },
  }
}
