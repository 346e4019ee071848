/** Chooses the replica for a read: the one with the fewest open queries of those that are up and have replayed enough. */
import { lsnOf } from '#engines/postgres/read/position.ts'
import { createServer, type Server, type ServerOptions } from '#engines/postgres/read/server.ts'
import { type Query, queryWith } from '#sql/engine.ts'

/** How long a read waits for a replica to replay up to its position, in milliseconds. */
const shortWait = 100
/** Milliseconds between two checks during that wait. */
const lookEvery = 10

/** A replica that lags behind the primary by more milliseconds gets no reads until it has caught up. */
const mostBehind = 10_000
/** Milliseconds between two checks of the primary and all replicas. */
const watchEvery = 1000

const written = queryWith('select pg_current_wal_lsn()::text')
const replayed = queryWith('select pg_last_wal_replay_lsn()::text')

/** The LSN that a server answers with; 0 where it has none, such as a server that is no replica. */
const askLsn = async ({ pipelined }: Server, query: Query): Promise<bigint> => {
  const [row] = await pipelined.query(query)
  return row?.[0] == null ? 0n : lsnOf(String(row[0]))
}

const createReplica = (options: ServerOptions) => {
  let known = 0n
  let looking: Promise<bigint> | undefined
  let isBehind = false
  const server = createServer({
    ...options,
    onChange: problem => {
      // The server that comes back may be another one, made from an older copy.
      known = 0n
      options.onChange(problem)
      if (problem === null) look().catch(() => {})
    },
  })
  /** Asks for its LSN; callers that come meanwhile share the answer. */
  const look = (): Promise<bigint> => {
    looking ??= askLsn(server, replayed)
      .then(lsn => {
        known = lsn
        return lsn
      })
      .finally(() => {
        looking = undefined
      })
    return looking
  }
  /** Reports once that it is too far behind, and once that it has caught up. */
  const judge = async (least: bigint) => {
    const wasBehind = isBehind
    isBehind = (await look()) < least
    if (isBehind !== wasBehind)
      options.onChange(isBehind ? `it is more than ${mostBehind / 1000} s behind` : null)
  }
  return { server, known: () => known, look, judge }
}

type Replica = ReturnType<typeof createReplica>

/** Waits a moment for the replica to reach an LSN; false where it does not, or is lost. */
const reaches = async ({ look }: Replica, lsn: bigint): Promise<boolean> => {
  const last = performance.now() + shortWait
  try {
    while ((await look()) < lsn) {
      if (performance.now() >= last) return false
      await new Promise(resolve => setTimeout(resolve, lookEvery))
    }
    return true
  } catch {
    return false
  }
}

/** Checks the primary and its replicas each second; gives the LSN that a replica must have reached. */
const watch = (primary: Server, replicas: readonly Replica[]) => {
  const lsns: { readonly at: number; readonly lsn: bigint }[] = []
  const look = async () => {
    const at = performance.now()
    lsns.push({ at, lsn: await askLsn(primary, written) })
    // The first stays until the second is old enough; at the start there is no older one.
    while (lsns[1] && at - lsns[1].at >= mostBehind) lsns.shift()
  }
  const lookAtAll = async () => {
    // While the primary does not answer, its last LSN holds.
    await look().catch(() => {})
    const [first] = lsns
    const isOld = first !== undefined && performance.now() - first.at >= mostBehind
    for (const { judge, look } of replicas) (isOld ? judge(first.lsn) : look()).catch(() => {})
  }
  const timer = setInterval(lookAtAll, watchEvery).unref()
  lookAtAll()
  return { least: () => lsns[0]?.lsn, end: () => clearInterval(timer) }
}

export type Replicas = {
  /** The replica for a read that must see that LSN; undefined where the primary must answer. */
  readonly choose: (lsn: bigint | undefined) => Promise<Server | undefined> | Server | undefined
  readonly close: () => Promise<void>
}

/** The replicas of a primary. */
export const createReplicas = (primary: Server, servers: readonly ServerOptions[]): Replicas => {
  const replicas = servers.map(createReplica)
  const watching = replicas.length > 0 ? watch(primary, replicas) : undefined
  const best = (): Replica | undefined => {
    const least = watching?.least()
    if (least === undefined) return undefined
    let found: Replica | undefined
    for (const replica of replicas) {
      const { pipelined } = replica.server
      if (!pipelined.isUp() || replica.known() < least) continue
      if (!found || pipelined.waiting() < found.server.pipelined.waiting()) found = replica
    }
    return found
  }
  const choose: Replicas['choose'] = lsn => {
    const replica = best()
    if (!replica || lsn === undefined || replica.known() >= lsn) return replica?.server
    return reaches(replica, lsn).then(isThere => (isThere ? replica.server : undefined))
  }
  const close = async () => {
    watching?.end()
    await Promise.all(replicas.map(({ server }) => server.close()))
  }
  return { choose, close }
}
