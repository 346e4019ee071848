/** The primary among several servers: found by asking all of them at once, and again whenever it is lost. */
import { setTimeout as sleep } from 'node:timers/promises'
import { closing } from '#base/closing.ts'
import { placeIn, seeksPrimary, serversIn } from '#base/hosts.ts'
import { retry } from '#base/retry.ts'
import type { Role } from '#engines/postgres/connection/client.ts'
import { type Connection, connectTo } from '#engines/postgres/connection/connection.ts'
import { isLasting, UnreachableError } from '#engines/postgres/connection/errors.ts'
import type { ConnectionOptions, SessionOptions } from '#engines/postgres/connection/settings.ts'
import { timelineAt } from '#engines/postgres/connection/timeline.ts'
import { endsWithin } from '#engines/postgres/connection/within.ts'
import { queryWith } from '#sql/engine.ts'

/** Milliseconds: a whole round of questions; the wait for others after the first primary; the pauses between rounds. */
const waits = { round: 700, others: 250, firstPause: 50, longestPause: 500 }

const timeline = queryWith(
  `select case when pg_is_in_recovery() then null else ${timelineAt('pg_current_wal_lsn()')} end`,
)

/** Without settings of the session, which a pooler would refuse. */
const asking: SessionOptions = {
  prepare: false,
  statementTimeout: 0,
  lockTimeout: 0,
  silenceLimit: waits.round,
}

type Primary = { readonly url: string; readonly timeline: number }

/** The server as a primary; undefined where it is a standby, or cannot be reached for the reason that is added to `errors`. */
const askServer = async (url: string, errors: unknown[]): Promise<Primary | undefined> => {
  try {
    const [row] = await closing(connectTo(url, asking), ({ query }) => query(timeline))
    return row?.[0] == null ? undefined : { url, timeline: Number(row[0]) }
  } catch (error) {
    errors.push(error)
    return undefined
  }
}

/** The primary with the highest timeline: an older one that still takes sessions was replaced. */
const newestOf = async (url: string, errors: unknown[] = []): Promise<Primary | undefined> => {
  let newest: Primary | undefined
  const { promise: some, resolve } = Promise.withResolvers<void>()
  const asked = serversIn(url).map(async one => {
    const found = await askServer(one, errors)
    if (found && found.timeline > (newest?.timeline ?? 0)) newest = found
    if (newest) resolve()
  })
  const others = some.then(() => sleep(waits.others, undefined, { ref: false }))
  await endsWithin(waits.round, Promise.race([Promise.all(asked), others]))
  return newest
}

const noPrimary = (url: string) =>
  new UnreachableError(
    `${placeIn(url)} has no primary now: none of its servers takes writes, or none can be reached`,
  )

/** The error where no primary was found: that the user or the database is refused; it lasts only where every server says so, since one may be a standby with rules of its own. */
const noneFound = (url: string, errors: readonly unknown[]): unknown => {
  const refusal = errors.find(isLasting)
  if (refusal === undefined) return noPrimary(url)
  const isEvery = errors.length === serversIn(url).length && errors.every(isLasting)
  return isEvery ? refusal : new UnreachableError((refusal as Error).message)
}

const wasReplaced = (found: Primary, { timeline }: Primary) =>
  `${placeIn(found.url)} takes writes on timeline ${found.timeline}, but timeline ${timeline} was there already, so it is not used: find out which writes are lost, then start this process again`

/** Opens a connection to the server of a URL, or to the primary among several. Throws an UnreachableError with the remedy. */
export const connect = async (options: ConnectionOptions): Promise<Connection> => {
  if (!seeksPrimary(options.url)) return connectTo(options.url, options)
  const errors: unknown[] = []
  const found = await newestOf(options.url, errors)
  if (!found) throw noneFound(options.url, errors)
  return connectTo(found.url, options)
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

/** Where to connect to: the primary, or the only server of a URL. */
export type Hosts = {
  /** What a session's server must be. */
  readonly role?: Role
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
export const fixedOn = (url: string, role?: Role): Hosts => ({
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
export const createHosts = (url: string, onProblem?: (problem: string) => void): Hosts => {
  if (!seeksPrimary(url)) return fixedOn(url)
  let current: Primary = { url: serversIn(url)[0] ?? url, timeline: 0 }
  let search: Promise<void> | undefined
  let isClosed = false
  const cuts: (() => void)[] = []
  let moves = 0
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
    for (let pause = waits.firstPause; !isClosed; pause = Math.min(pause * 2, waits.longestPause)) {
      const found = await newestOf(url)
      // Never back: a primary of an older timeline has been replaced, whatever it says.
      if (found && found.timeline >= current.timeline) return settle(found)
      if (found && !isReported) onProblem?.(wasReplaced(found, current))
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
  let isLooking = false
  // Nobody waits for it, and only a newer timeline counts: another way to the same server is no other primary.
  const suspect = async () => {
    if (isLooking) return
    isLooking = true
    const found = await newestOf(url)
    isLooking = false
    if (found && found.timeline > current.timeline && !isClosed) settle(found)
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
    suspect,
    onMove: cut => void cuts.push(cut),
    close: () => {
      isClosed = true
    },
  }
}
