/**
 * Reads of a PostgreSQL store: which server answers each, by how far the primary and its replicas have come, which they are asked
 * each second. A read whose server was lost is tried again here, and nowhere else.
 */
import { endsWithin } from '#base/retry.ts'
import { isConflict, isLockTimeout, LostError, UnreachableError } from '#engines/postgres/errors.ts'
import type { ServerFinder } from '#engines/postgres/primary.ts'
import { createReplicas, type ReplicaSource } from '#engines/postgres/replicas.ts'
import type { Server } from '#engines/postgres/server.ts'
import { createTimelines, type LogPosition, logPositionOf } from '#engines/postgres/timelines.ts'
import type { Position, Query, Reader, ReadOptions, Rows } from '#sql/engine.ts'

/** Milliseconds between two checks; a primary that is silent for so long may have been replaced. */
const interval = 1000

/** How long a read waits for a primary that is newer than the known one, in milliseconds. */
const newerWait = 1500

type ClusterOptions = {
  readonly finder: ServerFinder
  readonly primary: Server
  /** Where the replicas are; undefined if there are none. */
  readonly source: ReplicaSource | undefined
  /** Writes to the primary. */
  readonly write: (query: Query) => Promise<Rows>
}

/** Watches the primary and its replicas: where a read may go, and what became of a position. */
export const createCluster = ({ finder, primary, source, write }: ClusterOptions) => {
  const ask = (query: Query) => primary.pipelined.query(query)
  const timelines = createTimelines(ask, write, () => replicas?.forget())
  const replicas = source && createReplicas(source, timelines)
  const refresh = async () => {
    const lsn = await timelines.refresh()
    replicas?.noteWritten(lsn)
  }
  const check = async () => {
    const answered = await endsWithin(interval, refresh()).catch(() => false)
    if (!answered) finder.doubt()
    await replicas?.check()
  }
  const timer = setInterval(check, interval).unref()
  check()
  finder.onMove(() => void refresh().catch(() => {}))

  const isNewer = ({ timeline = 0 }: LogPosition) => timeline > (timelines.current() ?? 0)
  let lastLook = Number.NEGATIVE_INFINITY
  /** Looks for the primary that gave a position on a timeline which is not known yet; not more than once in a while. */
  const lookFor = async (wanted: LogPosition): Promise<undefined> => {
    if (!isNewer(wanted) || performance.now() - lastLook < interval) return
    await refresh().catch(() => {})
    if (!isNewer(wanted)) return
    lastLook = performance.now()
    finder.doubt()
    await finder.find(newerWait).catch(() => {})
  }
  return {
    /** The replica for a read; undefined if the primary must answer. Throws `MALFORMED_REQUEST` for a text that is not a position. */
    choose: (after: Position | undefined): Promise<Server | undefined> | Server | undefined => {
      if (after === undefined) return replicas?.choose(undefined)
      const wanted = logPositionOf(after)
      const status = timelines.positionStatus(wanted)
      if (status === 'unknown') return lookFor(wanted)
      // What was carried over from an earlier system is on each replica that shows the present timeline.
      return status === 'held'
        ? replicas?.choose(timelines.isEarlier(wanted) ? undefined : wanted)
        : undefined
    },
    /** What is to be said of a position: its write may be lost, or nobody knows; undefined if all is well. */
    positionStatus: (after: Position): 'lost' | 'unknown' | undefined => {
      try {
        const status = timelines.positionStatus(logPositionOf(after))
        return status === 'held' || timelines.current() === undefined ? undefined : status
      } catch {
        return undefined
      }
    },
    /** How far each replica is behind, in seconds; NaN for one that does not answer. */
    lags: (): ReadonlyMap<string, number> => replicas?.lags() ?? new Map(),
    close: async () => {
      clearInterval(timer)
      await replicas?.close()
    },
  }
}

export type Cluster = ReturnType<typeof createCluster>

/** The most tries on the primary, and the milliseconds within which the last one may begin. */
const tries = { most: 3, within: 1000 }

/** A reader that tries a suitable replica once; without one, or if that fails, the primary, at most three times. */
export const createReader = (primary: Server, { choose }: Pick<Cluster, 'choose'>): Reader => {
  const read = async <Result>(
    run: (server: Server) => Promise<Result>,
    { after, isPresent = false }: ReadOptions = {},
  ): Promise<Result> => {
    const replica = isPresent ? undefined : await choose(after)
    if (replica)
      try {
        return await run(replica)
      } catch (error) {
        // It is lost, or its recovery cancelled the read (40001) or held a lock that the read needs (55P03), as nothing else
        // does there.
        const isItsOwn =
          error instanceof UnreachableError || isConflict(error) || isLockTimeout(error)
        if (!isItsOwn) throw error
      }
    const startedAt = performance.now()
    for (let number = 1; ; number++)
      try {
        return await run(primary)
      } catch (error) {
        const isLast = number === tries.most || performance.now() - startedAt > tries.within
        // Another connection to it may do better.
        const mayPass =
          error instanceof LostError ||
          (error instanceof UnreachableError && primary.pipelined.isUp())
        if (isLast || !mayPass) throw error
      }
  }
  return {
    query: (query, options) => read(server => server.query(query, options), options),
    snapshot: (begin, options) => read(server => server.snapshot(begin, options), options),
  }
}
