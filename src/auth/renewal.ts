/** Keeps a key set up to date without a timer: it is read again when a key is needed. */
import { type FindKey, type KeyName, type PublicKey, readKeySet } from './jwk.ts'
import { keysUnavailable, refused } from './refusals.ts'

type Source = {
  readonly read: () => Promise<string>
  /** Milliseconds for which a set that was read is taken as it is. */
  readonly freshFor: number
  /** Milliseconds before a key that the set lacks makes it be read again. */
  readonly coolDown: number
}

/** How long known keys are used while their source is unavailable, in milliseconds. */
const staleFor = 3_600_000

const retryAfter = 5_000
const longestRead = 5_000

/**
 * Finds keys in a set that is read when first needed, when it is no longer fresh and when it lacks
 * a key. `initial` is a set that was read already. The finder throws `UNAUTHENTICATED` for a key
 * that is not there, `UNAVAILABLE` where that cannot be known.
 */
export const renewing = (source: Source, now: () => number, initial?: string): FindKey => {
  const ring = keyRing()
  let dueAt = -Infinity
  let soonestAt = -Infinity
  let fault: unknown
  let reading: Promise<void> | undefined

  const adopt = (text: string, at: number) => {
    ring.replace(text, at)
    fault = undefined
    dueAt = at + source.freshFor
    soonestAt = at + source.coolDown
    ring.trustUntil(dueAt)
  }

  const read = async () => {
    const at = now()
    // While the source is known to be unavailable, no request waits for it: its keys hold during the attempt.
    if (fault !== undefined) ring.trustUntil(at + longestRead + retryAfter)
    try {
      adopt(await source.read(), at)
    } catch (cause) {
      fault = cause
      dueAt = soonestAt = now() + retryAfter
      ring.trustUntil(dueAt)
    }
  }

  const renew = (): Promise<void> => {
    reading ??= read().finally(() => {
      reading = undefined
    })
    return reading
  }

  if (initial !== undefined) adopt(initial, now())

  return async name => {
    if (now() >= dueAt) {
      const renewed = renew()
      if (fault === undefined || !ring.isKnown(now())) await renewed
    }
    if (!ring.isKnown(now())) throw keysUnavailable(dueAt - now(), fault)
    if (ring.fitting(name).length === 0 && now() >= soonestAt) await renew()
    const [key, ...others] = ring.fitting(name)
    if (key === undefined && fault !== undefined) throw keysUnavailable(dueAt - now(), fault)
    if (key === undefined) throw refused('The token is signed by an unknown key')
    if (others.length > 0) throw refused('The token does not say which of several keys signed it')
    return key
  }
}

type Trusted = PublicKey & { until: number }

/** The keys of the set that was read last, and how far they are trusted. */
const keyRing = () => {
  let text: string | undefined
  let keys: readonly Trusted[] = []
  let readAt = -Infinity

  const trustUntil = (time: number) => {
    for (const key of keys) key.until = Math.min(time, readAt + staleFor)
  }

  return {
    trustUntil,
    isKnown: (time: number) => time < readAt + staleFor,
    fitting: ({ alg, kid }: KeyName) =>
      keys.filter(key => key.alg === alg && (kid === undefined || key.kid === kid)),
    replace: (next: string, at: number) => {
      if (next !== text) {
        const known = new Map(keys.map(key => [key.text, key]))
        const found = new Map(readKeySet(next).keys.map(key => [key.text, key]))
        trustUntil(-Infinity)
        // A key that stays is the same object, so that what it has verified stays verified.
        keys = [...found.values()].map(key => known.get(key.text) ?? { ...key, until: -Infinity })
        text = next
      }
      readAt = at
    },
  }
}
