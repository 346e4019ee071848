/** One PostgreSQL server as reads use it: the primary, or a replica. */
import type { ConnectionOptions } from '#engines/postgres/connection/connection.ts'
import { createPipelinedPool, type PipelinedPool } from '#engines/postgres/connection/pipelined.ts'
import {
  begin,
  createPool,
  driveBy,
  type Pool,
  rollBack,
} from '#engines/postgres/connection/pool.ts'
import { gathering } from '#engines/postgres/read/lookups.ts'
import type { Query, Rows, Work } from '#sql/engine.ts'

export type ServerOptions = {
  readonly url: string
  readonly prepare: boolean
  /** How many connections quick reads share. */
  readonly readers: number
  /** How many connections there are for work that needs one for itself. */
  readonly pool: number
  /** How long one read may take, in milliseconds. */
  readonly readTimeout: number
  readonly onChange: (problem: string | null) => void
}

export type Server = {
  /** The rows of a query that is alone. Throws an UnreachableError where the server is not there. */
  readonly ask: (query: Query) => Promise<Rows>
  /** Runs work so that all its queries see the same moment. */
  readonly inOneMoment: <Result>(work: Work<Result>) => Promise<Result>
  readonly pipelined: PipelinedPool
  readonly close: () => Promise<void>
}

/** How much longer than a statement may take a server may be silent, in milliseconds. */
const grace = 1000

const inOneMoment = async <Result>(
  pool: Pool,
  options: ConnectionOptions,
  work: Work<Result>,
): Promise<Result> =>
  pool.use(async connection => {
    begin(connection, options, 'isolation level repeatable read, read only')
    try {
      const result = await driveBy(work, connection.query)
      await connection.run('commit')
      return result
    } catch (error) {
      await rollBack(connection)
      throw error
    }
  })

/** Work of one query, whose result its rows are. */
const alone = function* (query: Query): Work<Rows> {
  return yield query
}

export const createServer = (options: ServerOptions): Server => {
  const connection: ConnectionOptions = {
    url: options.url,
    prepare: options.prepare,
    statementTimeout: options.readTimeout,
    lockTimeout: 2000,
    readOnly: true,
    patience: options.readTimeout + grace,
  }
  const pipelined = createPipelinedPool({
    connection: { ...connection, byIndex: true },
    count: options.readers,
    onChange: options.onChange,
  })
  const pool = createPool(connection, options.pool)
  const lookUp = gathering(pipelined.query)
  // Behind a pooler only a transaction has a limit of time.
  const slowly = (query: Query): Promise<Rows> =>
    connection.prepare
      ? pool.use(({ query: ask }) => ask(query))
      : inOneMoment(pool, connection, alone(query))
  return {
    pipelined,
    // Not over the pipelined connections where it is slow: what is behind it there would wait for it.
    ask: query => (query.alone === 'quick' ? lookUp(query) : slowly(query)),
    inOneMoment: work => inOneMoment(pool, connection, work),
    close: async () => {
      await Promise.all([pipelined.close(), pool.close()])
    },
  }
}
