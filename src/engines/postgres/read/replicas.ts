/** Chooses the replica for a read: the one with the fewest open queries of those that are up and have replayed enough. */
import { labelOf } from '#engines/postgres/connection/label.ts'
import { lsnOf } from '#engines/postgres/read/position.ts'
import { createServer, type Server, type ServerOptions } from '#engines/postgres/read/server.ts'
import { type Query, queryWith } from '#sql/engine.ts'

/** How long a read waits for a replica to replay up to its position, in milliseconds. */
const replayWait = 100
/** Milliseconds between two checks during that wait. */
const replayPoll = 10

/** A replica that lags behind the primary by more milliseconds gets no reads until it has caught up. */
const maxLag = 10_000
/** Milliseconds between two checks of the primary and all replicas. */
const watchInterval = 1000

const written = queryWith('select pg_current_wal_lsn()::text')
const replayed = queryWith('select pg_last_wal_replay_lsn()::text')

/** The LSN that a server answers with; 0 where it has none, such as a server that is no replica. */
const askLsn = async ({ pipelined }: Server, query: Query): Promise<bigint> => {
  const [row] = await pipelined.query(query)
  return row?.[0] == null ? 0n : lsnOf(String(row[0]))
}

const createReplica = (options: ServerOptions) => {
  let known = 0n
  let refreshing: Promise<bigint> | undefined
  let isLagging = false
  const server = createServer({
    ...options,
    onChange: problem => {
      // The server may have been replaced by one made from an older copy.
      known = 0n
      options.onChange(problem)
      if (problem === null) refresh().catch(() => {})
    },
  })
  /** Asks for its LSN; callers that arrive before the answer share it. */
  const refresh = (): Promise<bigint> => {
    refreshing ??= askLsn(server, replayed)
      .then(lsn => {
        known = lsn
        return lsn
      })
      .finally(() => {
        refreshing = undefined
      })
    return refreshing
  }
  /** Reports once that it is too far behind, and once that it has caught up. */
  const checkLag = async (least: bigint) => {
    const wasLagging = isLagging
    isLagging = (await refresh()) < least
    if (isLagging !== wasLagging)
      options.onChange(isLagging ? `it is more than ${maxLag / 1000} s behind` : null)
  }
  return { server, known: () => known, refresh, checkLag }
}

type Replica = ReturnType<typeof createReplica>

/** Waits a moment for the replica to reach an LSN; false where it does not, or is lost. */
const waitsFor = async ({ refresh }: Replica, lsn: bigint): Promise<boolean> => {
  const last = performance.now() + replayWait
  try {
    while ((await refresh()) < lsn) {
      if (performance.now() >= last) return false
      await new Promise(resolve => setTimeout(resolve, replayPoll))
    }
    return true
  } catch {
    return false
  }
}

/** Checks the primary and its replicas each second; gives the LSN that a replica must have reached. */
const watch = (
  primary: Server,
  replicas: ReadonlyMap<string, Replica>,
  look: () => Promise<void>,
) => {
  const lsns: { readonly at: number; readonly lsn: bigint }[] = []
  const refresh = async () => {
    const at = performance.now()
    lsns.push({ at, lsn: await askLsn(primary, written) })
    // The first is kept until the second is old enough; at the start there is no older one.
    while (lsns[1] && at - lsns[1].at >= maxLag) lsns.shift()
  }
  const checkAll = async () => {
    // While the primary does not answer, its last LSN holds.
    await refresh().catch(() => {})
    const [first] = lsns
    const isOld = first !== undefined && performance.now() - first.at >= maxLag
    // While nobody can say which there are, those that were there are.
    await look().catch(() => {})
    for (const { checkLag, refresh } of replicas.values())
      (isOld ? checkLag(first.lsn) : refresh()).catch(() => {})
  }
  const timer = setInterval(checkAll, watchInterval).unref()
  checkAll()
  /** For how long the primary has written more than that, in seconds; not much above the largest lag. */
  const behind = (known: bigint): number => {
    const next = lsns.find(({ lsn }) => lsn > known)
    return next === undefined ? 0 : (performance.now() - next.at) / 1000
  }
  return { least: () => lsns[0]?.lsn, behind, end: () => clearInterval(timer) }
}

export type Replicas = {
  /** The replica for a read that must see that LSN; undefined where the primary must answer. */
  readonly choose: (lsn: bigint | undefined) => Promise<Server | undefined> | Server | undefined
  /** How far each is behind, in seconds; NaN for one that does not answer. */
  readonly lags: () => ReadonlyMap<string, number>
  readonly close: () => Promise<void>
}

export type Found = {
  /** Gives the URLs of those that there are now. */
  readonly find: () => Promise<readonly string[]>
  /** The options of the one with a URL. */
  readonly optionsOf: (url: string) => ServerOptions
}

/** Opens those that have come, and closes those that have gone. */
const follow = async (replicas: Map<string, Replica>, { find, optionsOf }: Found) => {
  const urls = await find()
  for (const [url, { server }] of replicas)
    if (!urls.includes(url)) {
      replicas.delete(url)
      void server.close()
    }
  for (const url of urls) if (!replicas.has(url)) replicas.set(url, createReplica(optionsOf(url)))
}

/** The replicas of a primary, which are looked for each second; none where there is nowhere to look. */
export const createReplicas = (primary: Server, found: Found | undefined): Replicas => {
  const replicas = new Map<string, Replica>()
  const watching = found && watch(primary, replicas, () => follow(replicas, found))
  const best = (): Replica | undefined => {
    const least = watching?.least()
    if (least === undefined) return undefined
    let found: Replica | undefined
    for (const replica of replicas.values()) {
      const { pipelined } = replica.server
      if (!pipelined.isUp() || replica.known() < least) continue
      if (!found || pipelined.waiting() < found.server.pipelined.waiting()) found = replica
    }
    return found
  }
  const choose: Replicas['choose'] = lsn => {
    const replica = best()
    if (!replica || lsn === undefined || replica.known() >= lsn) return replica?.server
    return waitsFor(replica, lsn).then(hasReached => (hasReached ? replica.server : undefined))
  }
  const close = async () => {
    watching?.end()
    await Promise.all([...replicas.values()].map(({ server }) => server.close()))
  }
  const lags = () =>
    new Map(
      [...replicas].map(([url, { server, known }]) => [
        labelOf(url),
        server.pipelined.isUp() ? (watching?.behind(known()) ?? 0) : Number.NaN,
      ]),
    )
  return { choose, lags, close }
}
