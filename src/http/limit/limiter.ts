/** The rate limit: how many requests of one caller are served in each minute of the clock, and the headers that say how many are left. */
import { after } from '#base/after.ts'
import { lru } from '#base/cache.ts'
import { adminPath, authPath, graphqlPath, restPath } from '#base/paths.ts'
import type { RateCounts } from '#base/rate-counts.ts'
import { ApiError } from '#errors.ts'
import { callersBehind } from '#http/limit/address.ts'
import { type Counts, countsAmongThreads, createCounts } from '#http/limit/counts.ts'
import type { SharedCells } from '#http/limit/shared.ts'
import type { Http } from '#http/request.ts'
import { anonymous, type Role, type Viewer } from '#model/policy.ts'

export type LimiterOptions = TimeOptions & {
  /** The counts that all processes of a store share; without it, this process counts by itself. */
  readonly rateCounts?: RateCounts | undefined
  /** How many rows of an entity one caller may create in a minute; counted in this process alone, by all its threads. */
  readonly creations?: Readonly<Record<string, number>> | undefined
  /** The counts that the threads of a process share, and how many those are; absent if it has only one. */
  readonly shared?: { readonly cells: SharedCells; readonly threads: number } | undefined
  /** The role whose creations are not counted. */
  readonly superuser?: Role | undefined
  /** Addresses and networks whose `X-Forwarded-For` counts. */
  readonly proxies?: readonly string[] | undefined
}

/** `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers). */
export type RateHeaders = Readonly<Record<string, string>>

const limited = (message: string, retryAfter: number, headers: RateHeaders = {}): ApiError =>
  new ApiError('RATE_LIMITED', message, { headers, retryAfter })

const minute = 60_000

/** What the admin page and sign-in ask for takes as much as requests of the APIs. */
const countedPath = new RegExp(`^(?:${restPath}|${graphqlPath}|${authPath}|${adminPath})(?:/|$)`)

/** Pages, probes and preflights are not counted. */
const isCounted = (method: string, path: string): boolean =>
  method !== 'OPTIONS' && countedPath.test(path)

/** The counts of the present minute; those of the one before end when the next begins. */
const createWindows = (
  kind: string,
  { limit, now, rateCounts, shared }: Omit<LimiterOptions, 'creations'>,
) => {
  let present: { readonly window: number; readonly counts: Counts } | undefined
  const end = () => present?.counts.end()
  const countsOf = (window: number): Counts => {
    if (shared && !rateCounts)
      return countsAmongThreads(shared.cells, { limit, kind, window, threads: shared.threads })
    const report = rateCounts && ((seen: ReadonlyMap<string, number>) => rateCounts(window, seen))
    return createCounts({ limit, report })
  }
  const ofNow = () => {
    const window = Math.floor(now() / minute)
    if (present?.window === window) return present
    end()
    present = { window, counts: countsOf(window) }
    return present
  }
  return { present: ofNow, end }
}

/** A limiter; close it in the end. */
export const createLimiter = (options: LimiterOptions) => {
  const { limit, now, proxies, superuser } = options
  const countedFor = callersBehind(proxies)
  const { shared } = options
  const { present, end } = createWindows('requests', options)
  const secondsLeft = (window: number) =>
    Math.max(1, Math.ceil(((window + 1) * minute - now()) / 1000))
  const policy = `"default";q=${limit};w=60`
  /** The headers for the n-th request of a window; throws `RATE_LIMITED` above the limit. */
  const admit = (n: number, window: number): RateHeaders => {
    const seconds = secondsLeft(window)
    const headers = {
      'RateLimit-Policy': policy,
      RateLimit: `"default";r=${Math.max(0, limit - n)};t=${seconds}`,
    }
    if (n <= limit) return headers
    throw limited(
      `More than ${limit} requests in a minute; try again in ${seconds} s`,
      seconds,
      headers,
    )
  }
  const creations = new Map(
    Object.entries(options.creations ?? {}).map(([entity, most]) => [
      entity,
      { most, windows: createWindows(entity, { limit: most, now, shared }) },
    ]),
  )
  /** Counts the creation of a row, at once unless it must wait for other threads; throws `RATE_LIMITED` above the limit of its entity. */
  const countCreation = (c: Http, viewer: Viewer, entity: string) => {
    const rate = creations.get(entity)
    if (!rate || viewer.role === superuser) return
    const { window, counts } = rate.windows.present()
    return after(counts.count(countedFor(c, viewer)), n => {
      if (n <= rate.most) return
      const seconds = secondsLeft(window)
      throw limited(
        `One caller may create ${rate.most} of these in a minute; try again in ${seconds} s`,
        seconds,
      )
    })
  }
  const withinTime = createTimes(options)
  return {
    /**
     * Counts a request, or so much further work of it, and gives the headers for its answer: at once unless it must wait for the
     * store; undefined for requests that are not counted. Throws `RATE_LIMITED` above the limit.
     */
    count: (
      c: Http,
      viewer: Viewer,
      work?: number,
    ): RateHeaders | undefined | Promise<RateHeaders> => {
      if (!isCounted(c.req.method, c.req.path)) return undefined
      const { window, counts } = present()
      return after(counts.count(countedFor(c, viewer), work), n => admit(n, window))
    },
    /** Throws `RATE_LIMITED` where the address of a request has used up its limit, without counting the request. */
    checkAddress: (c: Http): void => {
      if (!isCounted(c.req.method, c.req.path)) return
      const { window, counts } = present()
      if (counts.isUsedUp(countedFor(c, anonymous))) admit(limit + 1, window)
    },
    countCreation,
    /** The same for the row that the first write of a token makes: like a sign-up it counts for the address. */
    countSignUp: (c: Http, { role }: Viewer, entity = '') =>
      countCreation(c, { id: null, role }, entity),
    /** Reads what is new to this process; throws `RATE_LIMITED` where that of its caller took too much of the processor. */
    readNew: <Result>(c: Http, viewer: Viewer, read: () => Result): Result =>
      withinTime(countedFor(c, viewer), read),
    close: () => {
      end()
      for (const { windows } of creations.values()) windows.end()
    },
  }
}

export type Limiter = ReturnType<typeof createLimiter>

export type TimeOptions = {
  /** The most requests of a caller in a minute. */
  readonly limit: number
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Milliseconds of the processor that this thread has taken. */
  readonly processor?: (() => number) | undefined
}

/** What a caller may take at once, in milliseconds: a program sends all its documents anew when the service was restarted. */
const atOnce = 1000

/** Callers whose time is remembered: those who took any lately. */
const mostCallers = 10_000

/** Milliseconds for each request that a caller may send. */
const perRequest = 2

const processorOfThread = (): number =>
  Object.values(process.threadCpuUsage()).reduce((sum, one) => sum + one, 0) / 1000

/** Time for each caller, as in a bucket that leaks: what was taken is given back as time passes. */
export const createTimes = ({ limit, now, processor = processorOfThread }: TimeOptions) => {
  const perSecond = (limit * perRequest) / 60
  const callers = lru<{ readonly taken: number; readonly at: number }>(mostCallers)
  /** Runs a piece of work for a caller, and counts its time; throws `RATE_LIMITED` without running it where the caller has none left. */
  return <Result>(caller: string, work: () => Result): Result => {
    const before = callers.get(caller) ?? { taken: 0, at: 0 }
    // A clock that was set back gives nothing back.
    const since = Math.max(0, now() - before.at) / 1000
    const taken = Math.max(0, before.taken - since * perSecond)
    const took = (milliseconds: number) =>
      callers.set(caller, { taken: taken + milliseconds, at: now() })
    if (taken > atOnce) {
      // Counted from now on where the clock was set back, and kept among the callers that are remembered.
      took(0)
      const seconds = Math.ceil((taken - atOnce) / perSecond)
      const message = `New documents took more than their share of the processor; try again in ${seconds} s, or send one document each time and what differs as variables`
      throw limited(message, seconds)
    }
    const started = processor()
    try {
      return work()
    } finally {
      took(processor() - started)
    }
  }
}
