/** The primary among several servers: found by asking all of them at once, and again whenever it is lost. */
import { setTimeout as sleep } from 'node:timers/promises'
import { placeIn, seeksPrimary, serversIn } from '#base/database-url.ts'
import { endsWithin, retry } from '#base/retry.ts'
import { withOpened } from '#base/with-opened.ts'
import type { ServerRole } from '#engines/postgres/client.ts'
import { connectTo, type PostgresConnection } from '#engines/postgres/connection.ts'
import { isLasting, UnreachableError } from '#engines/postgres/errors.ts'
import type { ConnectionOptions, SessionOptions } from '#engines/postgres/options.ts'
import { queryWith } from '#sql/engine.ts'

/** Milliseconds: a whole round of questions, and one that is not repeated; the wait for others after the first primary; the pauses between rounds. */
const waits = { round: 700, onlyRound: 5000, others: 250, firstPause: 50, longestPause: 500 }

/** The number of the last timeline of earlier systems, in SQL; set in a database that was moved into a new one, as by a major upgrade. */
export const earlierTimelines = `coalesce(nullif(current_setting('duet.earlier_timelines', true), '')::int, 0)`

/**
 * The number of the timeline on which a primary writes an LSN, in SQL: PostgreSQL's own, which is in the first eight digits
 * of the name of the log's file, plus that of the systems on which the store was before.
 */
export const timelineAt = (lsn: string): string =>
  `('x' || substr(pg_walfile_name(${lsn}), 1, 8))::bit(32)::int + ${earlierTimelines}`

const timelineNow = queryWith(
  `select case when pg_is_in_recovery() then null else ${timelineAt('pg_current_wal_lsn()')} end`,
)

/** Without settings of the session, which a pooler would refuse. */
const probing: SessionOptions = {
  prepare: false,
  statementTimeout: 0,
  lockTimeout: 0,
  silenceLimit: waits.onlyRound,
}

type Primary = { readonly url: string; readonly timeline: number }

/**
 * The primary with the highest timeline: an older one that still takes sessions was replaced. Primaries are added to `found`, also those
 * that answer after the round, and taken out when they are none any more; the reasons of servers that cannot be reached are added to `errors`.
 */
const newestOf = async (
  url: string,
  round = waits.round,
  found = new Map<string, Primary>(),
  errors: unknown[] = [],
): Promise<Primary | undefined> => {
  const { promise: some, resolve } = Promise.withResolvers<void>()
  const probes = serversIn(url).map(async one => {
    let timeline = 0
    try {
      const [row] = await withOpened(connectTo(one, probing), ({ query }) => query(timelineNow))
      timeline = Number(row?.[0] ?? 0)
    } catch (error) {
      errors.push(error)
    }
    if (timeline > 0) found.set(one, { url: one, timeline })
    else found.delete(one)
    if (found.size > 0) resolve()
  })
  const others = some.then(() => sleep(waits.others, undefined, { ref: false }))
  await endsWithin(round, Promise.race([Promise.all(probes), others]))
  return [...found.values()].toSorted((one, other) => other.timeline - one.timeline)[0]
}

const noPrimary = (url: string) =>
  new UnreachableError(
    `${placeIn(url)} has no primary now: none of its servers takes writes, or none can be reached`,
  )

/** Opens a connection to the server of a URL, or to the primary among several. Throws an UnreachableError with the remedy. */
export const connect = async (options: ConnectionOptions): Promise<PostgresConnection> => {
  const { url } = options
  if (!seeksPrimary(url)) return connectTo(url, options)
  const errors: unknown[] = []
  const found = await newestOf(url, waits.onlyRound, new Map(), errors)
  if (found) return connectTo(found.url, options)
  const refusal = errors.find(isLasting)
  if (refusal === undefined) throw noPrimary(url)
  // That the user or the database is refused lasts only if every server says so: one may be a standby with rules of its own.
  const isEvery = errors.length === serversIn(url).length && errors.every(isLasting)
  throw isEvery ? refusal : new UnreachableError((refusal as Error).message)
}

/** Milliseconds between two tries to find a primary at the start. */
const betweenTries = 250

/** Settles when a connection could be opened, after at most so many milliseconds more than one try; calls `onWait` before it waits. */
export const primaryWithin = async (
  options: ConnectionOptions,
  wait: number,
  onWait: (reason: string) => void,
): Promise<void> => {
  const passes = (error: unknown) => error instanceof UnreachableError && !isLasting(error)
  const report = (error: unknown) => onWait((error as Error).message)
  const connection = await retry({ wait, pause: betweenTries, passes, onWait: report }, () =>
    connect(options),
  )
  await connection.close()
}

/** Tells where to connect to: the primary, or the only server of a URL. */
export type ServerFinder = {
  /** What a session's server must be. */
  readonly role?: ServerRole
  /** Settles when it is known. While it is looked for, waits so many milliseconds; then it throws an UnreachableError. */
  readonly find: (wait: number) => Promise<void>
  /** Its URL, as it was last found. */
  readonly current: () => string
  /** How often another server has become the primary, at its address or another: connections made before lead elsewhere. */
  readonly moves: () => number
  /** Says that it was lost or takes no writes: it is looked for until it is found. */
  readonly doubt: () => void
  /** Looks once, beside all work, for a primary that has replaced it. */
  readonly suspect: () => void
  /** Calls `cut` whenever another server has become the primary. */
  readonly onMove: (cut: () => void) => void
  readonly close: () => void
}

/** The only server of a URL, whatever it is, or in that role alone. */
export const fixedOn = (url: string, role?: ServerRole): ServerFinder => ({
  ...(role && { role }),
  find: async () => {},
  current: () => url,
  moves: () => 0,
  doubt: () => {},
  suspect: () => {},
  onMove: () => {},
  close: () => {},
})

/**
 * Looks for the primary of a URL at once, and again at every doubt; a URL of one server without a wish is that server.
 * `onProblem` gets the reason for a primary that is not used.
 */
export const createFinder = (url: string, onProblem?: (problem: string) => void): ServerFinder => {
  if (!seeksPrimary(url)) return fixedOn(url)
  let current: Primary = { url: serversIn(url)[0] ?? url, timeline: 0 }
  let search: Promise<void> | undefined
  let isLooking = false
  let isClosed = false
  let moves = 0
  const cuts: (() => void)[] = []
  const settle = (found: Primary) => {
    // Behind one name or proxy the next primary has the address of the one before.
    const isAnother = found.url !== current.url || found.timeline > current.timeline
    const hasMoved = current.timeline > 0 && isAnother
    current = found
    if (!hasMoved) return
    moves++
    for (const cut of cuts) cut()
  }
  const seek = async () => {
    let isReported = false
    // One that answers late counts in the next round.
    const heard = new Map<string, Primary>()
    for (let pause = waits.firstPause; !isClosed; pause = Math.min(pause * 2, waits.longestPause)) {
      const found = await newestOf(url, waits.round, heard)
      // Never back: a primary of an older timeline has been replaced, whatever it says.
      if (found && found.timeline >= current.timeline) return settle(found)
      if (found && !isReported)
        onProblem?.(
          `${placeIn(found.url)} takes writes on timeline ${found.timeline}, but timeline ${current.timeline} was there already, so it is not used: find out which writes are lost, then start this process again`,
        )
      isReported ||= found !== undefined
      // Spread, so that not all processes ask at the same moment.
      await sleep(pause * (0.75 + Math.random() / 2), undefined, { ref: false })
    }
  }
  const doubt = () => {
    search ??= seek().finally(() => {
      search = undefined
    })
  }
  doubt()
  return {
    role: 'primary',
    find: async wait => {
      if (search && !(await endsWithin(wait, search))) throw noPrimary(url)
    },
    current: () => current.url,
    moves: () => moves,
    doubt,
    // Nobody waits for it, and only a newer timeline counts: another way to the same server is no other primary.
    suspect: async () => {
      if (isLooking) return
      isLooking = true
      const found = await newestOf(url)
      isLooking = false
      if (found && found.timeline > current.timeline && !isClosed) settle(found)
    },
    onMove: cut => void cuts.push(cut),
    close: () => {
      isClosed = true
    },
  }
}
