/** Keeps a key set up to date without a timer: it is read again when a key is needed. */
import { type FindKey, type KeyName, type PublicKey, readKeySet, type VerifyingKey } from './jwk.ts'
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

/** A key set at a moment. All times are in milliseconds, as `now` gives them. */
type State = {
  readonly source: Source
  readonly now: () => number
  readonly keys: KeyRing
  /** When the set was read last, or tried to be. */
  triedAt: number
  /** When the set must be read again. */
  dueAt: number
  /** Until when a key that the set lacks does not make it be read again. */
  soonestAt: number
  /** Why the last attempt to read it failed; undefined where it did not. */
  fault?: unknown
  reading?: Promise<void> | undefined
}

const adopt = (state: State, text: string, readAt: number): void => {
  state.keys.replace(text, readAt)
  state.fault = undefined
  state.triedAt = readAt
  state.dueAt = readAt + state.source.freshFor
  state.soonestAt = readAt + state.source.coolDown
  state.keys.trustUntil(state.dueAt)
}

const read = async (state: State): Promise<void> => {
  const { source, now, keys } = state
  const at = now()
  // While the source is known to be unavailable, no request waits for it: its keys hold during the attempt.
  if (state.fault !== undefined) keys.trustUntil(at + longestRead + retryAfter)
  try {
    adopt(state, await source.read(), at)
  } catch (cause) {
    state.fault = cause
    state.triedAt = now()
    state.dueAt = state.soonestAt = state.triedAt + retryAfter
    keys.trustUntil(state.dueAt)
  }
}

/** Reads the set again; requests during the attempt share it. */
const renew = (state: State): Promise<void> => {
  state.reading ??= read(state).finally(() => {
    state.reading = undefined
  })
  return state.reading
}

/** Makes the set due where the clock was set back: by the times from before it would not be for as long as that. */
const followClock = (state: State): void => {
  const now = state.now()
  if (now >= state.triedAt) return
  state.triedAt = state.dueAt = state.soonestAt = now
  state.keys.setBack(now)
}

/** Reads the set again where it is due; requests wait for that only where the known keys do not hold any more. */
const renewIfDue = async (state: State): Promise<void> => {
  if (state.now() < state.dueAt) return
  const renewed = renew(state)
  if (state.fault === undefined || !state.keys.isKnown(state.now())) await renewed
}

const find = async (state: State, name: KeyName): Promise<VerifyingKey> => {
  const { now, keys } = state
  followClock(state)
  await renewIfDue(state)
  if (!keys.isKnown(now())) throw keysUnavailable(state.dueAt - now(), state.fault)
  if (keys.fitting(name).length === 0 && now() >= state.soonestAt) await renew(state)
  const [key, ...others] = keys.fitting(name)
  if (key === undefined && state.fault !== undefined)
    throw keysUnavailable(state.dueAt - now(), state.fault)
  if (key === undefined) throw refused('The token is signed by an unknown key')
  if (others.length > 0) throw refused('The token does not say which of several keys signed it')
  return key
}

/**
 * Finds keys in a set that is read when first needed, when it is no longer fresh and when it lacks
 * a key. `initial` is a set that was read already. The finder throws `UNAUTHENTICATED` for a key
 * that is not there, `UNAVAILABLE` where that cannot be known.
 */
export const renewing = (source: Source, now: () => number, initial?: string): FindKey => {
  const times = { triedAt: -Infinity, dueAt: -Infinity, soonestAt: -Infinity }
  const state: State = { source, now, keys: keyRing(), ...times }
  if (initial !== undefined) adopt(state, initial, now())
  return name => find(state, name)
}

type Trusted = PublicKey & { from: number; until: number }

type KeyRing = ReturnType<typeof keyRing>

/** The keys of the set that was read last, and how far they are trusted. */
const keyRing = () => {
  let keys: readonly Trusted[] = []
  let readAt = -Infinity

  const trustUntil = (time: number) => {
    for (const key of keys) {
      key.from = readAt
      key.until = Math.min(time, readAt + staleFor)
    }
  }

  return {
    trustUntil,
    /** Reckons from that time on, to which the clock was set back. */
    setBack: (time: number): void => {
      readAt = Math.min(readAt, time)
      trustUntil(time)
    },
    isKnown: (time: number) => time < readAt + staleFor,
    fitting: ({ alg, kid }: KeyName) =>
      keys.filter(key => key.alg === alg && (kid === undefined || key.kid === kid)),
    replace: (text: string, at: number) => {
      const known = new Map(keys.map(key => [key.text, key]))
      const found = new Map(readKeySet(text).keys.map(key => [key.text, key]))
      trustUntil(-Infinity)
      // A key that stays is the same object, so that what it has verified stays verified.
      keys = [...found.values()].map(
        key => known.get(key.text) ?? { ...key, from: at, until: -Infinity },
      )
      readAt = at
    },
  }
}
