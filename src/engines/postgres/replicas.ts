/** The replicas of a primary: which there are, as they come and go, how far each has come, and which one a read gets. */
import { setTimeout as sleep } from 'node:timers/promises'
import { placeIn, serversIn } from '#base/database-url.ts'
import { isObject } from '#base/object.ts'
import type { ServerFinder } from '#engines/postgres/primary.ts'
import { createServer, type Server, type ServerOptions } from '#engines/postgres/server.ts'
import { type LogPosition, lsnOf, replayed, type Timelines } from '#engines/postgres/timelines.ts'
import { queryWith } from '#sql/engine.ts'

/** How long Patroni may take to answer, in milliseconds. */
const patroniTimeout = 1000

// The addresses are null without the right to see them (pg_monitor).
const followers = queryWith(
  `select host(client_addr) from pg_stat_replication where state = 'streaming' and client_addr is not null`,
)

const urlAt = (url: string, host: string, port: string): string => {
  const moved = new URL(url)
  moved.host = `${host.includes(':') ? `[${host}]` : host}:${port}`
  return moved.href
}

type DiscoveryOptions = {
  /** The URL of the setting, with one server or several. */
  readonly url: string
  /** Patroni's REST endpoints; none: the servers are asked themselves. */
  readonly patroni: readonly string[]
}

/**
 * Gives the URLs of the replicas: of Patroni's members that follow the leader and take reads; or the servers in the URL besides
 * the primary; or those that stream from the primary, on its port. Throws if none of them answers.
 */
export const discoverReplicas = async (
  { url, patroni }: DiscoveryOptions,
  finder: ServerFinder,
  primary: Server,
): Promise<readonly string[]> => {
  const current = finder.current()
  if (patroni.length > 0) {
    // Whichever of them answers first.
    const members = await Promise.any(
      patroni.map(async endpoint => {
        const signal = AbortSignal.timeout(patroniTimeout)
        const response = await fetch(new URL('/cluster', endpoint), { signal })
        return ((await response.json()) as { readonly members: readonly unknown[] }).members
      }),
    )
    return members.flatMap(member =>
      isObject(member) &&
      /^(replica|sync_standby|quorum_standby)$/.test(String(member.role)) &&
      /^(running|streaming)$/.test(String(member.state)) &&
      !(isObject(member.tags) && member.tags.noloadbalance === true)
        ? [urlAt(current, String(member.host), String(member.port))]
        : [],
    )
  }
  const others = serversIn(url).filter(one => one !== current)
  if (others.length > 0) return others
  const { port, href } = new URL(current)
  const rows = await primary.pipelined.query(followers)
  const found = rows.map(([host]) => urlAt(current, String(host), port || '5432'))
  return [...new Set(found)].filter(one => one !== href)
}

/** How long a read waits for a replica to replay up to its position, in milliseconds. */
const replayWait = 100
/** Milliseconds between two checks during that wait. */
const replayPoll = 10

/** A replica that lags behind the primary by more milliseconds gets no reads until it has caught up. */
const maxLag = 10_000

/** How far a replica has come; before it said so, nowhere. */
type Replayed = { readonly lsn: bigint; readonly timeline: number }
const nowhere: Replayed = { lsn: 0n, timeline: 0 }

const createReplica = (options: ServerOptions) => {
  let known = nowhere
  let refreshing: Promise<Replayed> | undefined
  let isLagging = false
  const server = createServer({
    ...options,
    onChange: problem => {
      // The server may have been replaced by one made from an older copy.
      known = nowhere
      options.onChange(problem)
      if (problem === null) refresh().catch(() => {})
    },
  })
  const ask = async (): Promise<Replayed> => {
    const [row = []] = await server.pipelined.query(replayed)
    known = { lsn: lsnOf(row[0]), timeline: Number(row[1] ?? 0) }
    return known
  }
  /** Asks how far it has come; callers that arrive before the answer share it. */
  const refresh = (): Promise<Replayed> => {
    refreshing ??= ask().finally(() => {
      refreshing = undefined
    })
    return refreshing
  }
  return {
    server,
    known: () => known,
    refresh,
    /** Waits a moment for it to reach an LSN; false if it does not, or is lost. */
    reaches: async (lsn: bigint): Promise<boolean> => {
      const last = performance.now() + replayWait
      try {
        while ((await refresh()).lsn < lsn) {
          if (performance.now() >= last) return false
          await sleep(replayPoll)
        }
        return true
      } catch {
        return false
      }
    },
    /** Reports once that it is too far behind, and once that it has caught up. */
    checkLag: async (least: bigint) => {
      const wasLagging = isLagging
      isLagging = (await refresh()).lsn < least
      if (isLagging !== wasLagging)
        options.onChange(isLagging ? `it is more than ${maxLag / 1000} s behind` : null)
    },
  }
}

export type ReplicaSource = {
  /** Gives the URLs of those that there are now. */
  readonly find: () => Promise<readonly string[]>
  /** The options of the one with a URL. */
  readonly optionsOf: (url: string) => ServerOptions
}

/** The replicas of a primary; `current` gives the timeline that one must show to be used. */
export const createReplicas = (
  { find, optionsOf }: ReplicaSource,
  { current }: Pick<Timelines, 'current'>,
) => {
  const replicas = new Map<string, ReturnType<typeof createReplica>>()
  /** How far the primary had come, from about `maxLag` ago until now. */
  let written: { readonly at: number; readonly lsn: bigint }[] = []

  /** Of those that are up, on the primary's timeline and not too far behind, the one with the fewest open queries. */
  const best = () => {
    const timeline = current()
    const least = written[0]?.lsn
    if (least === undefined || timeline === undefined) return undefined
    let chosen: ReturnType<typeof createReplica> | undefined
    for (const replica of replicas.values()) {
      const { pipelined } = replica.server
      const known = replica.known()
      if (!pipelined.isUp() || known.lsn < least || known.timeline < timeline) continue
      if (!chosen || pipelined.waiting() < chosen.server.pipelined.waiting()) chosen = replica
    }
    return chosen
  }
  return {
    /** The replica for a read that must see a position, or any state; undefined if the primary must answer. */
    choose: (wanted: LogPosition | undefined): Promise<Server | undefined> | Server | undefined => {
      const replica = best()
      if (!replica || !wanted || replica.known().lsn >= wanted.lsn) return replica?.server
      return replica.reaches(wanted.lsn).then(isThere => (isThere ? replica.server : undefined))
    },
    /** Looks which there are now, and how far each has come. */
    check: async () => {
      // While nobody can say which there are, those that were there are.
      const urls = await find().catch(() => [...replicas.keys()])
      for (const [url, { server }] of replicas)
        if (!urls.includes(url)) {
          replicas.delete(url)
          void server.close()
        }
      for (const url of urls)
        if (!replicas.has(url)) replicas.set(url, createReplica(optionsOf(url)))
      const [first] = written
      const isOld = first !== undefined && performance.now() - first.at >= maxLag
      for (const { checkLag, refresh } of replicas.values())
        (isOld ? checkLag(first.lsn) : refresh()).catch(() => {})
    },
    /** Notes how far the primary has come. */
    noteWritten: (lsn: bigint) => {
      const at = performance.now()
      written.push({ at, lsn })
      // The first is kept until the second is old enough; at the start there is no older one.
      while (written[1] && at - written[1].at >= maxLag) written.shift()
    },
    /** Notes that it writes on another timeline: what it had come to before says nothing any more. */
    forget: () => {
      written = written.slice(-1).map(({ at }) => ({ at, lsn: 0n }))
    },
    /** For how long the primary has written more than each has, in seconds, not much above the largest lag; NaN for one that does not answer. */
    lags: (): ReadonlyMap<string, number> =>
      new Map(
        [...replicas].map(([url, { server, known }]) => {
          const next = written.find(({ lsn }) => lsn > known().lsn)
          const behind = next === undefined ? 0 : (performance.now() - next.at) / 1000
          return [placeIn(url), server.pipelined.isUp() ? behind : Number.NaN]
        }),
      ),
    close: async () => {
      await Promise.all([...replicas.values()].map(({ server }) => server.close()))
    },
  }
}
