/** The keys that tokens are verified with: one secret, or a key set in a file or at an address, which is kept up to date. */
import {
  type FindKey,
  type PublicKey,
  readFileNow,
  readFileText,
  readKeySet,
  readUrlText,
  setAlgorithms,
  type VerifyingKey,
} from '#auth/key-set.ts'
import { secretBytes } from '#auth/secret.ts'
import { keysUnavailable, refused } from '#auth/token.ts'
import { isSafe } from '#base/paths.ts'
import { ApiError } from '#errors.ts'

/** Where the keys come from. */
export type KeyConfig =
  | { readonly secret: string }
  | { readonly jwksUrl: string }
  | { readonly jwksFile: string }

/** One family of algorithms, and the function that finds the key of a token. */
export type TokenKeys = {
  readonly algorithms: readonly string[]
  readonly find: FindKey
}

const addressOf = (text: string): URL => {
  const url = URL.parse(text)
  if (url === null) throw new Error(`DUET_JWKS_URL is not a URL`)
  if (url.username !== '' || url.password !== '')
    throw new Error(`DUET_JWKS_URL holds a user name or password: public keys need none`)
  // Without TLS, anybody who can change the answer on its way could sign any token.
  if (!isSafe(text)) throw new Error(`DUET_JWKS_URL must begin with https:// (http:// on loopback)`)
  return url
}

const firstText = (path: string): string => {
  try {
    const text = readFileNow(path)
    const { keys, faults } = readKeySet(text)
    if (keys.length > 0) return text
    throw new Error(faults.length > 0 ? faults.join('; ') : 'the set is empty')
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : 'unknown'
    throw new Error(`DUET_JWKS_FILE gives no key to check tokens with: ${why}`, { cause })
  }
}

/** The keys of a source; throws a plain error that names its setting if it cannot be used. */
export const tokenKeysOf = (config: KeyConfig, now: () => number): TokenKeys => {
  if ('secret' in config) {
    const hmac = { name: 'HMAC', hash: 'SHA-256' }
    // Imported once: with the bare bytes, jose would do it again for each token, a third of its time.
    const only = crypto.subtle
      .importKey('raw', secretBytes(config.secret), hmac, false, ['verify'])
      .then(key => ({ alg: 'HS256', key, from: -Infinity, until: Infinity }))
    return { algorithms: ['HS256'], find: () => only }
  }
  if ('jwksUrl' in config) {
    const url = addressOf(config.jwksUrl)
    const source = { read: () => readUrlText(url), freshFor: 300_000, coolDown: 30_000 }
    return { algorithms: setAlgorithms, find: renewing(source, now) }
  }
  const { jwksFile } = config
  const source = { read: () => readFileText(jwksFile), freshFor: 5_000, coolDown: 5_000 }
  return { algorithms: setAlgorithms, find: renewing(source, now, firstText(jwksFile)) }
}

/**
 * Finds the keys of our own tokens by name in the text of a set, which is read when it is a minute old, and for a name that it lacks at
 * most once a second; undefined for one that it does not have. Rejects with `UNAVAILABLE` if that cannot be known.
 */
export const ownKeysOf = (read: () => Promise<string>, now: () => number) => {
  const find = renewing({ read, freshFor: 60_000, coolDown: 1000 }, now)
  return (kid: string): Promise<VerifyingKey | undefined> =>
    find({ alg: 'EdDSA', kid }).catch((error: unknown) => {
      if (error instanceof ApiError && error.badToken) return undefined
      throw error
    })
}

type KeySource = {
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
 * Finds keys in a set that is read, without a timer, when it is first needed, when it is no longer fresh and when it lacks a key.
 * `initial` is a set that was read already. All times are in milliseconds, as `now` gives them. The finder throws `UNAUTHENTICATED`
 * for a key that is not there, `UNAVAILABLE` if that cannot be known.
 */
export const renewing = (source: KeySource, now: () => number, initial?: string): FindKey => {
  /** The keys of the set that was read last, and when that was. */
  let keys: readonly (PublicKey & { from: number; until: number })[] = []
  let readAt = -Infinity
  /** When the set was read last, or tried to be. */
  let triedAt = -Infinity
  /** When the set must be read again. */
  let dueAt = -Infinity
  /** Until when a key that the set lacks does not make it be read again. */
  let soonestAt = -Infinity
  /** Why the last attempt to read it failed; undefined if it did not. */
  let fault: unknown
  let reading: Promise<void> | undefined

  const trustUntil = (time: number): void => {
    for (const key of keys) {
      key.from = readAt
      key.until = Math.min(time, readAt + staleFor)
    }
  }

  const adopt = (text: string, at: number): void => {
    const known = new Map(keys.map(key => [key.text, key]))
    const found = new Map(readKeySet(text).keys.map(key => [key.text, key]))
    trustUntil(-Infinity)
    // A key that stays is the same object, so that what it has verified stays verified.
    keys = [...found.values()].map(
      key => known.get(key.text) ?? { ...key, from: at, until: -Infinity },
    )
    readAt = triedAt = at
    fault = undefined
    dueAt = at + source.freshFor
    soonestAt = at + source.coolDown
    trustUntil(dueAt)
  }

  const read = async (): Promise<void> => {
    const at = now()
    // While the source is known to be unavailable, no request waits for it: its keys hold during the attempt.
    if (fault !== undefined) trustUntil(at + longestRead + retryAfter)
    try {
      adopt(await source.read(), at)
    } catch (cause) {
      fault = cause
      triedAt = now()
      dueAt = soonestAt = triedAt + retryAfter
      trustUntil(dueAt)
    }
  }

  /** Reads the set again; requests during the attempt share it. */
  const renew = (): Promise<void> => {
    reading ??= read().finally(() => {
      reading = undefined
    })
    return reading
  }

  const areKnown = (): boolean => now() < readAt + staleFor

  if (initial !== undefined) adopt(initial, now())
  return async ({ alg, kid }) => {
    const time = now()
    if (time < triedAt) {
      // The clock was set back: by the times from before, the set would not be due for as long as that.
      triedAt = dueAt = soonestAt = time
      readAt = Math.min(readAt, time)
      trustUntil(time)
    }
    if (now() >= dueAt) {
      const renewed = renew()
      // Requests wait for it only if the known keys do not hold any more.
      if (fault === undefined || !areKnown()) await renewed
    }
    if (!areKnown()) throw keysUnavailable(dueAt - now(), fault)
    const fitting = () =>
      keys.filter(key => key.alg === alg && (kid === undefined || key.kid === kid))
    if (fitting().length === 0 && now() >= soonestAt) await renew()
    const [key, ...others] = fitting()
    if (key === undefined && fault !== undefined) throw keysUnavailable(dueAt - now(), fault)
    if (key === undefined) throw refused('The token is signed by an unknown key')
    if (others.length > 0) throw refused('The token does not say which of several keys signed it')
    return key
  }
}
