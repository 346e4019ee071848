/** The primary and its replicas, asked each second how far they have come: where a read may go, and what became of a position. */
import type { Hosts } from '#engines/postgres/connection/hosts.ts'
import { endsWithin } from '#engines/postgres/connection/within.ts'
import { createReplicas, type ReplicaSource } from '#engines/postgres/read/replicas.ts'
import type { Server } from '#engines/postgres/read/server.ts'
import {
  createTimelines,
  type LogPosition,
  logPositionOf,
} from '#engines/postgres/read/timelines.ts'
import type { Position, Query, Rows } from '#sql/engine.ts'

/** Milliseconds between two checks; a primary that is silent for so long may have been replaced. */
const interval = 1000

/** How long a read waits for a primary that is newer than the known one, in milliseconds. */
const newerWait = 1500

type Parts = {
  readonly hosts: Hosts
  readonly primary: Server
  /** Where the replicas are; undefined where there are none. */
  readonly source: ReplicaSource | undefined
  /** Writes to the primary. */
  readonly write: (query: Query) => Promise<Rows>
}

/** Watches them. */
export const createCluster = ({ hosts, primary, source, write }: Parts) => {
  const ask = (query: Query) => primary.pipelined.query(query)
  const timelines = createTimelines(ask, write, () => replicas?.forget())
  const replicas = source && createReplicas(source, timelines)
  const refresh = async () => {
    const lsn = await timelines.refresh()
    replicas?.noteWritten(lsn)
  }
  const check = async () => {
    const answered = await endsWithin(interval, refresh()).catch(() => false)
    if (!answered) hosts.doubt()
    await replicas?.check()
  }
  const timer = setInterval(check, interval).unref()
  check()
  hosts.onMove(() => void refresh().catch(() => {}))

  const isNewer = ({ timeline = 0 }: LogPosition) => timeline > (timelines.current() ?? 0)
  let lastLook = Number.NEGATIVE_INFINITY
  /** Looks for the primary that gave a position on a timeline which is not known yet; not more than once in a while. */
  const lookFor = async (wanted: LogPosition): Promise<undefined> => {
    if (!isNewer(wanted) || performance.now() - lastLook < interval) return
    await refresh().catch(() => {})
    if (!isNewer(wanted)) return
    lastLook = performance.now()
    hosts.doubt()
    await hosts.find(newerWait).catch(() => {})
  }
  return {
    /** The replica for a read; undefined where the primary must answer. Throws `MALFORMED_REQUEST` for what is no position. */
    choose: (after: Position | undefined): Promise<Server | undefined> | Server | undefined => {
      const wanted = after === undefined ? undefined : logPositionOf(after)
      const status = wanted && timelines.positionStatus(wanted)
      // What was carried over from an earlier system is on each replica that shows the present timeline.
      if (!wanted || status === 'held')
        return replicas?.choose(wanted && timelines.isEarlier(wanted) ? undefined : wanted)
      return status === 'unknown' ? lookFor(wanted) : undefined
    },
    /** What is to be said of a position: its write may be lost, or nobody knows; undefined where all is well. */
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
