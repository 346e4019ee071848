/** Chooses the replica for a read: the one with the fewest open queries of those that are up and have replayed enough. */
import { setTimeout as sleep } from 'node:timers/promises'
import { placeIn } from '#base/hosts.ts'
import { createServer, type Server, type ServerOptions } from '#engines/postgres/read/server.ts'
import {
  type LogPosition,
  lsnOf,
  replayed,
  type Timelines,
} from '#engines/postgres/read/timelines.ts'

/** How long a read waits for a replica to replay up to its position, in milliseconds. */
const replayWait = 100
/** Milliseconds between two checks during that wait. */
const replayPoll = 10

/** A replica that lags behind the primary by more milliseconds gets no reads until it has caught up. */
const maxLag = 10_000

/** How far a replica has come; before it said so, nowhere. */
type Progress = { readonly lsn: bigint; readonly timeline: number }
const nowhere: Progress = { lsn: 0n, timeline: 0 }

const askProgress = async ({ pipelined }: Server): Promise<Progress> => {
  const [row = []] = await pipelined.query(replayed)
  return { lsn: lsnOf(row[0]), timeline: Number(row[1] ?? 0) }
}

const createReplica = (options: ServerOptions) => {
  let known = nowhere
  let refreshing: Promise<Progress> | undefined
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
  /** Asks how far it has come; callers that arrive before the answer share it. */
  const refresh = (): Promise<Progress> => {
    refreshing ??= askProgress(server)
      .then(progress => {
        known = progress
        return progress
      })
      .finally(() => {
        refreshing = undefined
      })
    return refreshing
  }
  /** Reports once that it is too far behind, and once that it has caught up. */
  const checkLag = async (least: bigint) => {
    const wasLagging = isLagging
    isLagging = (await refresh()).lsn < least
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
    while ((await refresh()).lsn < lsn) {
      if (performance.now() >= last) return false
      await sleep(replayPoll)
    }
    return true
  } catch {
    return false
  }
}

export type ReplicaSource = {
  /** Gives the URLs of those that there are now. */
  readonly find: () => Promise<readonly string[]>
  /** The options of the one with a URL. */
  readonly optionsOf: (url: string) => ServerOptions
}

/** Remembers how far the primary has come; gives the LSN that a replica must have reached. */
const createLag = () => {
  let lsns: { readonly at: number; readonly lsn: bigint }[] = []
  return {
    note: (lsn: bigint) => {
      const at = performance.now()
      lsns.push({ at, lsn })
      // The first is kept until the second is old enough; at the start there is no older one.
      while (lsns[1] && at - lsns[1].at >= maxLag) lsns.shift()
    },
    least: () => lsns[0]?.lsn,
    /** The same, where it is so old that a replica before it is too far behind. */
    leastOf: () => (lsns[0] && performance.now() - lsns[0].at >= maxLag ? lsns[0].lsn : undefined),
    /** For how long the primary has written more than that, in seconds; not much above the largest lag. */
    behind: (known: bigint): number => {
      const next = lsns.find(({ lsn }) => lsn > known)
      return next === undefined ? 0 : (performance.now() - next.at) / 1000
    },
    forget: () => {
      lsns = lsns.slice(-1).map(({ at }) => ({ at, lsn: 0n }))
    },
  }
}

/** Opens those that have come, and closes those that have gone. */
const follow = async (replicas: Map<string, Replica>, { find, optionsOf }: ReplicaSource) => {
  const urls = await find()
  for (const [url, { server }] of replicas)
    if (!urls.includes(url)) {
      replicas.delete(url)
      void server.close()
    }
  for (const url of urls) if (!replicas.has(url)) replicas.set(url, createReplica(optionsOf(url)))
}

/** The replicas of a primary; `current` gives the timeline that one must show to be used. */
export const createReplicas = (source: ReplicaSource, { current }: Pick<Timelines, 'current'>) => {
  const replicas = new Map<string, Replica>()
  const lag = createLag()
  const best = (): Replica | undefined => {
    const [least, timeline] = [lag.least(), current()]
    if (least === undefined || timeline === undefined) return undefined
    let chosen: Replica | undefined
    for (const replica of replicas.values()) {
      const { pipelined } = replica.server
      const known = replica.known()
      if (!pipelined.isUp() || known.lsn < least || known.timeline < timeline) continue
      if (!chosen || pipelined.waiting() < chosen.server.pipelined.waiting()) chosen = replica
    }
    return chosen
  }
  return {
    /** The replica for a read that must see a position, or any state; undefined where the primary must answer. */
    choose: (wanted: LogPosition | undefined): Promise<Server | undefined> | Server | undefined => {
      const replica = best()
      if (!replica || !wanted || replica.known().lsn >= wanted.lsn) return replica?.server
      return waitsFor(replica, wanted.lsn).then(reached => (reached ? replica.server : undefined))
    },
    /** Looks which there are now, and how far each has come. */
    check: async () => {
      // While nobody can say which there are, those that were there are.
      await follow(replicas, source).catch(() => {})
      const least = lag.leastOf()
      for (const { checkLag, refresh } of replicas.values())
        (least === undefined ? refresh() : checkLag(least)).catch(() => {})
    },
    /** Notes how far the primary has come. */
    noteWritten: lag.note,
    /** Notes that it writes on another timeline: what it had come to before says nothing any more. */
    forget: lag.forget,
    /** How far each is behind, in seconds; NaN for one that does not answer. */
    lags: (): ReadonlyMap<string, number> =>
      new Map(
        [...replicas].map(([url, { server, known }]) => [
          placeIn(url),
          server.pipelined.isUp() ? lag.behind(known().lsn) : Number.NaN,
        ]),
      ),
    close: async () => {
      await Promise.all([...replicas.values()].map(({ server }) => server.close()))
    },
  }
}
