/** The engine of a PostgreSQL store: reads on the primary and its replicas, each write in a transaction. */
import { placeIn } from '#base/hosts.ts'
import { isConflict, UnreachableError } from '#engines/postgres/connection/errors.ts'
import { createHosts, fixedOn, type Hosts } from '#engines/postgres/connection/hosts.ts'
import { endsWithin } from '#engines/postgres/connection/within.ts'
import { dialect } from '#engines/postgres/dialect.ts'
import type { PostgresServing } from '#engines/postgres/options.ts'
import { createCluster } from '#engines/postgres/read/cluster.ts'
import { discovering } from '#engines/postgres/read/discovery.ts'
import { createReader } from '#engines/postgres/read/reader.ts'
import type { ReplicaSource } from '#engines/postgres/read/replicas.ts'
import { createServer, type Server, type ServerOptions } from '#engines/postgres/read/server.ts'
import { createRateCounts } from '#engines/postgres/write/rates.ts'
import { createWriter } from '#engines/postgres/write/writer.ts'
import { createSlowLane, usualWaiting } from '#engines/shared/slow-lane.ts'
import type { Engine } from '#engines/shared/store.ts'
import { ApiError } from '#errors.ts'
import { queryWith, type ReadOptions } from '#sql/engine.ts'

/** How long the database may take to answer the readiness check, in milliseconds. */
const readyWithin = 2000

/** The options of one of its servers; `what` is its name in reports. */
const serverOptions = (options: PostgresServing, hosts: Hosts, what: string): ServerOptions => ({
  ...options,
  hosts,
  onChange: problem =>
    problem === null
      ? options.onNotice?.(`${what} can be used again`)
      : options.onProblem?.(`${what} cannot be used: ${problem}`),
})

/** Where the replicas are, by the settings; undefined where there are none. */
const replicasOf = (
  options: PostgresServing,
  hosts: Hosts,
  primary: Server,
): ReplicaSource | undefined => {
  const { url, replicas } = options
  if ('patroni' in replicas)
    return {
      find: discovering({ url, ...replicas }, hosts, primary),
      optionsOf: one =>
        serverOptions(options, fixedOn(one, 'standby'), `the replica ${placeIn(one)}`),
    }
  if (replicas.length === 0) return undefined
  return {
    find: async () => replicas,
    optionsOf: one => serverOptions(options, fixedOn(one), `replica ${replicas.indexOf(one) + 1}`),
  }
}

/** The error for callers where a server is unavailable, or where a read lost to conflicts on every try. */
const callerError = (error: unknown, primary: Server): unknown => {
  if (error instanceof UnreachableError)
    return new ApiError('UNAVAILABLE', 'The database cannot be reached now; nothing was changed', {
      cause: error,
      retryAfter: primary.pipelined.nextTry(),
    })
  if (!isConflict(error)) return error
  return new ApiError('OVERLOADED', 'Other requests are changing the same data; try again', {
    cause: error,
    retryAfter: 1,
  })
}

/** Settles when a server answers; else rejects with UNAVAILABLE. */
const checkReady = async ({ pipelined }: Server): Promise<void> => {
  const answer = async () => {
    await pipelined.ready()
    await pipelined.query(queryWith('select 1'))
  }
  // The reason is in the log: the database's address is not for callers.
  const hasAnswered = await endsWithin(readyWithin, answer()).catch(() => false)
  if (!hasAnswered) throw new ApiError('UNAVAILABLE', 'the database does not answer')
}

/** How many servers answer reads; one replica where they are still to be found. */
const serversOf = ({ replicas }: PostgresServing): number =>
  1 + ('patroni' in replicas ? 1 : replicas.length)

/** Opens the engine: connections are made at once, and again whenever they are lost. */
export const openPostgres = (options: PostgresServing): Engine => {
  const hosts = createHosts(options.url, options.onProblem)
  const primary = createServer(serverOptions(options, hosts, 'the database'))
  const writer = createWriter(options, hosts)
  const source = replicasOf(options, hosts, primary)
  const cluster = createCluster({ hosts, primary, source, write: writer.query })
  const reader = createReader(primary, cluster)
  const lane = createSlowLane({
    concurrency: options.pool * serversOf(options),
    waiting: usualWaiting,
    longestWait: options.readTimeout,
  })
  /** In the slow lane, where work is cancelled when its client is gone. */
  const inLane = <Result>(work: (asked: ReadOptions) => Promise<Result>, asked: ReadOptions = {}) =>
    lane.run(gone => {
      const onGone = (stop: () => void) => {
        // It may have gone while the work waited for a connection.
        if (gone.aborted) stop()
        gone.addEventListener('abort', stop)
        return () => gone.removeEventListener('abort', stop)
      }
      return work({ ...asked, onGone })
    }, asked)
  const withCallerErrors = async <Result>(result: Result | Promise<Result>): Promise<Result> => {
    try {
      return await result
    } catch (error) {
      throw callerError(error, primary)
    }
  }
  return {
    dialect,
    query: (query, asked) =>
      withCallerErrors(
        query.isQuick
          ? reader.query(query, asked)
          : inLane(async within => reader.query(query, within), asked),
      ),
    snapshot: (begin, asked) => withCallerErrors(reader.snapshot(begin, asked)),
    slowly: (begin, asked) =>
      withCallerErrors(inLane(async within => reader.snapshot(begin, within), asked)),
    positionStatus: cluster.positionStatus,
    write: job => withCallerErrors(writer.write(job)),
    ready: () => checkReady(primary),
    readOnly: writer.readOnly,
    figures: { writesWaiting: writer.waiting, replicaLags: cluster.lags },
    rateCounts: createRateCounts(query => writer.query(query)),
    close: async () => {
      hosts.close()
      await Promise.all([primary.close(), cluster.close(), writer.close()])
    },
  }
}
