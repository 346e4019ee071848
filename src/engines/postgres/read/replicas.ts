/** Replicas that reads go to: the one with the least to do, if it is there and has come far enough. */
import { lsnOf } from '#engines/postgres/read/position.ts'
import { createServer, type Server, type ServerOptions } from '#engines/postgres/read/server.ts'
import { type Query, queryWith } from '#sql/engine.ts'

/** How long a read waits for a replica to come as far as the read must see, in milliseconds. */
const shortWait = 100
/** Milliseconds between two looks meanwhile. */
const lookEvery = 10

/** A replica that lacks what the primary had so many milliseconds ago is left out until it has that. */
const mostBehind = 10_000
/** Milliseconds between two looks at how far all have come. */
const watchEvery = 1000

const written = queryWith('select pg_current_wal_lsn()::text')
const replayed = queryWith('select pg_last_wal_replay_lsn()::text')

/** The LSN that a server answers with; 0 where it has none, as one that is no replica. */
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
      // What comes back in its place may be another one, made from an older copy.
      known = 0n
      options.onChange(problem)
      if (problem === null) look().catch(() => {})
    },
  })
  /** Asks how far it has come, once for all who want to know meanwhile. */
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
  /** Says once that it lacks what it should have by now, and once that it has it. */
  const judge = async (least: bigint) => {
    const wasBehind = isBehind
    isBehind = (await look()) < least
    if (isBehind !== wasBehind)
      options.onChange(isBehind ? `it is more than ${mostBehind / 1000} s behind` : null)
  }
  return { server, known: () => known, look, judge }
}

type Replica = ReturnType<typeof createReplica>

/** Waits a moment until the replica has come to an LSN; false where it does not, or is lost. */
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

/** Looks at the primary and its replicas now and then; gives how far a replica must have come at the least. */
const watch = (primary: Server, replicas: readonly Replica[]) => {
  const lsns: { readonly at: number; readonly lsn: bigint }[] = []
  const look = async () => {
    const at = performance.now()
    lsns.push({ at, lsn: await askLsn(primary, written) })
    // The first stays until a second one is old enough: what has just begun has no older one.
    while (lsns[1] && at - lsns[1].at >= mostBehind) lsns.shift()
  }
  const lookAtAll = async () => {
    // Without the primary the last that it said holds.
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
