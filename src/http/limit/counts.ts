/** The counts of one window: how many requests each caller has sent in it, here and, as far as is known, elsewhere. */
import { createShare, type Report } from './share.ts'

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

/** The IPv4 network of 16 bits, or the IPv6 one of 32, that an address is in: it belongs to a provider, not to a person. */
const providerOf = (address: string): string =>
  address.includes(':')
    ? `${address.split(':', 2).join(':')}::/32`
    : `${address.split('.', 2).join('.')}.0.0/16`

/** Counts that begin at zero. */
export const createCounts = ({ limit, report, most = usualMost }: CountsOptions) => {
  // The last total from the store and the requests here since.
  const counted = new Map<string, number>()
  const learn = (key: string, total: number) => counted.set(key, total)
  const share = report && createShare({ report, learn, batchSize: Math.ceil(limit * batchPart) })
  const near = Math.floor(limit * exactFrom)

  /** The key of a caller: tokens are limited, addresses are not, so when there are too many, new ones count for their providers. */
  const keyOf = (caller: string): string => {
    if (counted.size < most || counted.has(caller) || !caller.startsWith('address ')) return caller
    const wide = providerOf(caller)
    return counted.size < 2 * most || counted.has(wide) ? wide : 'address others'
  }

  /** Counts a request for so much work; gives the work of its caller with it, above the limit where it must be refused: then nothing is counted. */
  const count = (caller: string, work = 1): number | Promise<number> => {
    const key = keyOf(caller)
    const n = (counted.get(key) ?? 0) + work
    if (n > limit) return n
    counted.set(key, n)
    return share === undefined ? n : share.count(key, n, n > near, work)
  }

  /** Whether the next request of the caller will be refused, as far as is known here. */
  const isUsedUp = (caller: string): boolean => (counted.get(keyOf(caller)) ?? 0) >= limit

  /** The window is over: counts that no request waits for are not reported any more. */
  const end = () => share?.end()

  return { count, isUsedUp, end }
}

export type Counts = ReturnType<typeof createCounts>
