/** The counts of one window: how many requests each caller has sent in it, here and, as far as is known, elsewhere. */
import { openWindow, type SharedCells } from '#http/limit/shared.ts'

/** Adds counts to those of one window in the store; gives the totals of their keys. */
export type Report = (seen: ReadonlyMap<string, number>) => Promise<ReadonlyMap<string, number>>

export type Counts = {
  /** Counts a request for so much work; gives the work of its caller with it, above the limit where it must be refused: then nothing is counted. */
  readonly count: (caller: string, work?: number) => number | Promise<number>
  /** Whether the next request of the caller will be refused, as far as is known here. */
  readonly isUsedUp: (caller: string) => boolean
  /** The window is over: counts that no request waits for are not reported any more. */
  readonly end: () => void
}

type CountsOptions = {
  readonly limit: number
  /** Reports the counts of this window to the store; absent where this process counts by itself. */
  readonly report?: Report | undefined
  /** How many callers have a count of their own; later addresses share those of their providers. */
  readonly most?: number
}

/** From this part of the limit on, the store decides on each request. */
const exactFrom = 0.8

/** Unreported counts of this part of the limit are reported at once: those of ten processes fit between that and the limit. */
const batchPart = 0.02

/** Some 30 MiB of keys: more callers than one process serves in a minute, unless addresses are made up to fill it. */
const usualMost = 250_000

/** The longest time until counts that no request waits for are reported, in milliseconds. */
const interval = 200

/** The longest time that a request waits for the store before it is decided without it, in milliseconds. */
const reportTimeout = 500

/** The IPv4 network of 16 bits, or the IPv6 one of 32, that an address is in: it belongs to a provider, not to a person. */
const providerOf = (address: string): string =>
  address.includes(':')
    ? `${address.split(':', 2).join(':')}::/32`
    : `${address.split('.', 2).join('.')}.0.0/16`

/** The counts of one report: how many requests of each key. Those that need their number wait for `totals`, which is empty where the store did not say. */
const emptyBatch = () => ({
  counts: new Map<string, number>(),
  totals: Promise.withResolvers<ReadonlyMap<string, number>>(),
  isAwaited: false,
})

const addTo = (counts: Map<string, number>, key: string, n: number): number => {
  const sum = (counts.get(key) ?? 0) + n
  counts.set(key, sum)
  return sum
}

/** The key of a caller: tokens are limited, addresses are not, so when there are too many, new ones count for their providers. */
const keyFor = (
  caller: string,
  most: number,
  size: number,
  isKnown: (key: string) => boolean,
): string => {
  if (size < most || !caller.startsWith('address ') || isKnown(caller)) return caller
  const wide = providerOf(caller)
  return size < 2 * most || isKnown(wide) ? wide : 'address others'
}

type SharedOptions = Pick<CountsOptions, 'limit' | 'most'> & {
  /** What is counted, such as requests. */
  readonly kind: string
  readonly window: number
  readonly threads: number
}

/** Counts of a window that all threads of a process have. */
export const countsAmongThreads = (
  cells: SharedCells,
  { limit, most = usualMost, kind, window, threads }: SharedOptions,
): Counts => {
  const { taken, add } = openWindow(cells, window)
  const numberOf = (key: string) => add(`${kind} ${key}`, 0, limit)
  const isKnown = (key: string) => numberOf(key) > 0
  const keyOf = (caller: string) => keyFor(caller, most, taken() * threads, isKnown)
  return {
    count: (caller, work = 1) => add(`${kind} ${keyOf(caller)}`, work, limit),
    isUsedUp: caller => numberOf(keyOf(caller)) >= limit,
    end: () => {},
  }
}

/** Counts that begin at zero. Where several processes share them, each reports to the store in batches, and takes the totals back. It is long as its parts change the state of one batch. */
export const createCounts = ({ limit, report, most = usualMost }: CountsOptions): Counts => {
  /** By caller, the last total from the store and the requests here since. */
  const counted = new Map<string, number>()
  const near = Math.floor(limit * exactFrom)
  const batchSize = Math.ceil(limit * batchPart)
  let filling = emptyBatch()
  /** The batch that is reported now. */
  let sent: typeof filling | undefined
  /** The last report failed or took too long: requests do not wait for the next. */
  let isUnavailable = false
  let timer: NodeJS.Timeout | undefined
  let isDue = false
  let isOver = false

  const isKnown = (key: string) => counted.has(key)
  const keyOf = (caller: string) => keyFor(caller, most, counted.size, isKnown)

  const later = () => {
    if (!isOver) timer ??= setTimeout(flush, interval).unref()
  }
  const soon = () => {
    if (!isDue) setImmediate(flush)
    isDue = true
  }
  /** Reports the batch that was filled. One at a time: requests that come meanwhile are in the next. */
  const flush = async () => {
    clearTimeout(timer)
    timer = undefined
    isDue = false
    if (!report || sent || filling.counts.size === 0) return
    const batch = filling
    sent = batch
    filling = emptyBatch()
    /** Answers all that wait by what is known here; the counts may be sent later all the same. */
    const giveUp = () => {
      isUnavailable = true
      for (const one of [batch, filling]) {
        one.totals.resolve(new Map())
        one.totals = Promise.withResolvers()
        one.isAwaited = false
      }
    }
    // Where this thread itself was held up, the answer is there, and is read in this turn.
    const late = () => setImmediate(() => sent === batch && giveUp())
    const timeout = setTimeout(late, reportTimeout).unref()
    try {
      const totals = await report(batch.counts)
      isUnavailable = false
      for (const [key, total] of totals) counted.set(key, total + (filling.counts.get(key) ?? 0))
      sent = undefined
      batch.totals.resolve(totals)
    } catch {
      // The engine reports its own faults; this batch is sent again with the next.
      sent = undefined
      for (const [key, n] of batch.counts) addTo(filling.counts, key, n)
      giveUp()
    }
    clearTimeout(timeout)
    if (filling.isAwaited) soon()
    else if (filling.counts.size > 0) later()
  }

  const count = (caller: string, work = 1): number | Promise<number> => {
    const key = keyOf(caller)
    const n = (counted.get(key) ?? 0) + work
    if (n > limit) return n
    counted.set(key, n)
    if (!report) return n
    const batch = filling
    const nth = addTo(batch.counts, key, work)
    if (isUnavailable || (n <= near && nth < batchSize)) {
      later()
      return n
    }
    soon()
    batch.isAwaited = true
    // The batch has the last numbers up to the total of the store.
    return batch.totals.promise.then(totals => {
      const total = totals.get(key)
      return total === undefined ? n : total - (batch.counts.get(key) ?? 0) + nth
    })
  }

  return {
    count,
    isUsedUp: (caller: string): boolean => (counted.get(keyOf(caller)) ?? 0) >= limit,
    end: () => {
      isOver = true
      clearTimeout(timer)
    },
  }
}
