/** One PostgreSQL server for reads: the primary, or a replica. */
import { endsWithin } from '#base/retry.ts'
import { begin, type PostgresConnection, rollBack } from '#engines/postgres/connection.ts'
import type { PostgresServing, SessionOptions } from '#engines/postgres/options.ts'
import { createPipelinedPool, createPool } from '#engines/postgres/pool.ts'
import type { ServerFinder } from '#engines/postgres/primary.ts'
import {
  driveBy,
  type Query,
  type QueryScript,
  queryWith,
  type ReadOptions,
  type Row,
  type Rows,
} from '#sql/engine.ts'
import type { SqlValue } from '#sql/sql.ts'

/** The most keys in one query of look-ups. */
const mostKeys = 200

/**
 * A `query` that batches look-ups of single rows in the same turn of the event loop into one query, which is one round trip
 * for all, and sends it by `ask`; anything else it sends at once.
 */
const batchingLookups = (ask: (query: Query) => Promise<Rows>) => {
  type Waiter = PromiseWithResolvers<Rows> & { readonly key: SqlValue; readonly viewer: string }
  type Lookups = {
    readonly first: Query
    /** The callers that wait for each row. */
    readonly waiting: Map<SqlValue, Waiter>
  }
  const open = new Map<string, Lookups>()
  const flush = async (text: string, { first, waiting }: Lookups): Promise<void> => {
    if (open.get(text)?.waiting === waiting) open.delete(text)
    const waiters = [...waiting.values()]
    const keys = `{${waiters.map(({ key }) => key).join()}}`
    const isPaired = first.viewer !== undefined
    const viewers = isPaired ? [`{${waiters.map(({ viewer }) => viewer).join()}}`] : []
    const query = waiters.length === 1 ? first : { ...first, text, values: [keys, ...viewers] }
    try {
      const rows = await ask(query)
      const byPlace = isPaired && waiters.length > 1
      const found = new Map<string, Row>(rows.map(row => [String(row.at(byPlace ? -1 : 0)), row]))
      for (const [index, { key, resolve }] of waiters.entries()) {
        const row = found.get(String(byPlace ? index + 1 : key))
        resolve(row ? [row] : [])
      }
    } catch (error) {
      for (const { reject } of waiters) reject(error)
    }
  }
  return (query: Query): Promise<Rows> => {
    const { forMany, viewer: named } = query
    if (forMany === undefined) return ask(query)
    let lookups = open.get(forMany)
    if (!lookups || lookups.waiting.size >= mostKeys) {
      const begun: Lookups = { first: query, waiting: new Map() }
      lookups = begun
      open.set(forMany, begun)
      // The requests of this turn add their look-ups first.
      queueMicrotask(() => flush(forMany, begun))
    }
    const key = query.values[0] ?? null
    const viewer = named == null ? 'null' : `"${String(named).replace(/["\\]/g, '\\$&')}"`
    const which = named === undefined ? key : `${key} ${viewer}`
    const waiter = lookups.waiting.get(which) ?? { ...Promise.withResolvers<Rows>(), key, viewer }
    lookups.waiting.set(which, waiter)
    return waiter.promise
  }
}

export type ServerOptions = Pick<
  PostgresServing,
  'prepare' | 'readers' | 'pool' | 'poolWait' | 'readTimeout'
> & {
  readonly finder: ServerFinder
  /** Called with the reason why the server cannot be used, and with null when it can again. */
  readonly onChange: (problem: string | null) => void
}

/** How much longer than the time limit of a statement a server may be silent, in milliseconds. */
const grace = 1000

/** Milliseconds between two requests to cancel the same work. */
const cancelAgain = 50

/** Opens connections to a server. It does not try again: what it is asked throws a LostError if a connection was lost. */
export const createServer = (options: ServerOptions) => {
  const { finder, prepare, readers, onChange } = options
  const session: SessionOptions = {
    prepare,
    statementTimeout: options.readTimeout,
    lockTimeout: 2000,
    readOnly: true,
    silenceLimit: options.readTimeout + grace,
  }
  const pipelined = createPipelinedPool(finder, { ...session, byIndex: true }, readers, onChange)
  const pool = createPool(finder, session, options)
  const lookUp = batchingLookups(pipelined.query)

  /**
   * Runs work on a connection that is not given back before a request to cancel it was answered: that could hit the next
   * one. Behind a pooler nobody knows the process, and what it runs ends when its time is up.
   */
  const cancellable = async <Result>(
    connection: PostgresConnection,
    { onGone }: ReadOptions,
    work: () => Promise<Result>,
  ): Promise<Result> => {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>()
    let cancelled: Promise<void> | undefined
    // A request that comes before the statement has begun there cancels nothing, so it is made again.
    const cancelUntilEnded = async () => {
      const cancel = queryWith('select pg_cancel_backend($1)', connection.process)
      do await pipelined.query(cancel).catch(() => {})
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
  const inTransaction = <Result>(
    work: (query: PostgresConnection['query']) => Promise<Result>,
    readOptions: ReadOptions = {},
  ): Promise<Result> =>
    pool.use(async used => {
      begin(used, session, 'isolation level repeatable read, read only')
      try {
        const result = await cancellable(used, readOptions, () => work(used.query))
        await used.run('commit')
        return result
      } catch (error) {
        await rollBack(used)
        throw error
      }
    })
  return {
    /** The rows of one statement, which is a snapshot by itself. */
    query: (query: Query, readOptions: ReadOptions = {}): Promise<Rows> => {
      if (query.isQuick) return lookUp(query)
      // A slow query does not go over the pipelined connections: those behind it would wait. Behind a pooler only a
      // transaction has a time limit.
      return prepare
        ? pool.use(used => cancellable(used, readOptions, () => used.query(query)))
        : inTransaction(ask => ask(query), readOptions)
    },
    pipelined,
    /** Runs work so that all its queries see the same moment. */
    snapshot: <Result>(
      begin: () => QueryScript<Result>,
      readOptions?: ReadOptions,
    ): Promise<Result> => inTransaction(ask => driveBy(begin(), ask), readOptions),
    close: async () => {
      await Promise.all([pipelined.close(), pool.close()])
    },
  }
}

export type Server = ReturnType<typeof createServer>
