/** The engine of a PostgreSQL store: reads on the primary and its replicas, each write in a transaction. */
import { placeIn } from '#base/database-url.ts'
import { endsWithin } from '#base/retry.ts'
import { createSlowLane } from '#base/slow-lane.ts'
import { dialect } from '#engines/postgres/dialect.ts'
import { isConflict, UnreachableError } from '#engines/postgres/errors.ts'
import type { PostgresServing } from '#engines/postgres/options.ts'
import { createFinder, fixedOn, type ServerFinder } from '#engines/postgres/primary.ts'
import { createCluster, createReader } from '#engines/postgres/reader.ts'
import { discoverReplicas, type ReplicaSource } from '#engines/postgres/replicas.ts'
import { createServer, type ServerOptions } from '#engines/postgres/server.ts'
import { createRateCounts, createWriter } from '#engines/postgres/writer.ts'
import { slowReads } from '#engines/shared/slow-reads.ts'
import type { Engine } from '#engines/shared/store.ts'
import { ApiError } from '#errors.ts'
import { queryWith, type ReadOptions } from '#sql/engine.ts'

/** How long the database may take to answer the readiness check, in milliseconds. */
const readyWithin = 2000

/** Opens the engine: connections are made at once, and again whenever they are lost. */
export const openPostgres = (options: PostgresServing): Engine => {
  const { url, replicas, onNotice, onProblem } = options
  const finder = createFinder(url, onProblem)
  /** The options of one of its servers; `what` is its name in reports. */
  const serverOptions = (finder: ServerFinder, what: string): ServerOptions => ({
    ...options,
    finder,
    onChange: problem =>
      problem === null
        ? onNotice?.(`${what} can be used again`)
        : onProblem?.(`${what} cannot be used: ${problem}`),
  })
  const primary = createServer(serverOptions(finder, 'the database'))
  const writer = createWriter(options, finder)
  let source: ReplicaSource | undefined
  if ('patroni' in replicas)
    source = {
      find: () => discoverReplicas({ url, ...replicas }, finder, primary),
      optionsOf: one => serverOptions(fixedOn(one, 'standby'), `the replica ${placeIn(one)}`),
    }
  else if (replicas.length > 0)
    source = {
      find: async () => replicas,
      optionsOf: one => serverOptions(fixedOn(one), `replica ${replicas.indexOf(one) + 1}`),
    }
  const cluster = createCluster({ finder, primary, source, write: writer.query })
  const reader = createReader(primary, cluster)
  const lane = createSlowLane({
    // If the replicas are still to be found, there is one at least.
    concurrency: options.pool * (1 + ('patroni' in replicas ? 1 : replicas.length)),
    longestWait: options.readTimeout,
    ...slowReads,
  })
  /** In the slow lane, where work is cancelled when its client is gone. */
  const inLane = <Result>(
    work: (options: ReadOptions) => Promise<Result>,
    readOptions: ReadOptions = {},
  ) =>
    lane.run(gone => {
      const onGone = (stop: () => void) => {
        // It may have gone while the work waited for a connection.
        if (gone.aborted) stop()
        gone.addEventListener('abort', stop)
        return () => gone.removeEventListener('abort', stop)
      }
      return work({ ...readOptions, onGone })
    }, readOptions)
  /** With the errors for callers if a server is unavailable, or if a read lost to conflicts on every try. */
  const withCallerErrors = async <Result>(result: Result | Promise<Result>): Promise<Result> => {
    try {
      return await result
    } catch (cause) {
      if (cause instanceof UnreachableError) {
        const message = 'The database cannot be reached now; nothing was changed'
        throw new ApiError('UNAVAILABLE', message, {
          cause,
          retryAfter: primary.pipelined.nextTry(),
        })
      }
      if (!isConflict(cause)) throw cause
      const message = 'Other requests are changing the same data; try again'
      throw new ApiError('OVERLOADED', message, { cause, retryAfter: 1 })
    }
  }
  return {
    dialect,
    query: (query, readOptions) =>
      withCallerErrors(
        query.isQuick
          ? reader.query(query, readOptions)
          : inLane(async within => reader.query(query, within), readOptions),
      ),
    snapshot: (begin, readOptions) => withCallerErrors(reader.snapshot(begin, readOptions)),
    slowly: (begin, readOptions) =>
      withCallerErrors(inLane(async within => reader.snapshot(begin, within), readOptions)),
    positionStatus: cluster.positionStatus,
    write: job => withCallerErrors(writer.write(job)),
    ready: async () => {
      const answer = async () => {
        await primary.pipelined.ready()
        await primary.pipelined.query(queryWith('select 1'))
      }
      // The reason is in the log: the database's address is not for callers.
      const hasAnswered = await endsWithin(readyWithin, answer()).catch(() => false)
      if (!hasAnswered) throw new ApiError('UNAVAILABLE', 'the database does not answer')
    },
    readOnly: writer.readOnly,
    figures: { writesWaiting: writer.waiting, replicaLags: cluster.lags },
    rateCounts: createRateCounts(writer.query),
    close: async () => {
      finder.close()
      await Promise.all([primary.close(), cluster.close(), writer.close()])
    },
  }
}
