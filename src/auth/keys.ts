/** The keys that tokens are checked with: one secret, or a key set in a file or at an address. */
import { type FindKey, readKeySet, setAlgorithms } from './jwk.ts'
import { readFileNow, readFileText, readUrlText } from './read.ts'
import { renewing } from './renewal.ts'
import { secretBytes } from './secret.ts'

/** Where the keys come from. */
export type KeyConfig =
  | { readonly secret: string }
  | { readonly jwksUrl: string }
  | { readonly jwksFile: string }

/** One family of algorithms, and the function that finds the key of a token. */
export type Keys = {
  readonly algorithms: readonly string[]
  readonly find: FindKey
}

/** The keys of a source; throws a plain error with its setting where it is not usable. */
export const keysOf = (config: KeyConfig, now: () => number): Keys => {
  if ('secret' in config) return secretKeys(config.secret)
  return 'jwksUrl' in config ? urlKeys(config.jwksUrl, now) : fileKeys(config.jwksFile, now)
}

const secretKeys = (secret: string): Keys => {
  const hmac = { name: 'HMAC', hash: 'SHA-256' }
  // Imported once: with the bare bytes, jose would do it again for each token, a third of its time.
  const only = crypto.subtle
    .importKey('raw', secretBytes(secret), hmac, false, ['verify'])
    .then(key => ({ alg: 'HS256', key, from: -Infinity, until: Infinity }))
  return { algorithms: ['HS256'], find: () => only }
}

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

const addressOf = (text: string): URL => {
  const url = URL.parse(text)
  if (url === null) throw new Error(`DUET_JWKS_URL is not a URL`)
  if (url.username !== '' || url.password !== '')
    throw new Error(`DUET_JWKS_URL holds a user name or password: public keys need none`)
  const safe =
    url.protocol === 'https:' || (url.protocol === 'http:' && loopback.test(url.hostname))
  // Without TLS, anybody who can change the answer on its way could sign any token.
  if (!safe) throw new Error(`DUET_JWKS_URL must begin with https:// (http:// on loopback)`)
  return url
}

const urlKeys = (text: string, now: () => number): Keys => {
  const url = addressOf(text)
  const source = { read: () => readUrlText(url), freshFor: 300_000, coolDown: 30_000 }
  return { algorithms: setAlgorithms, find: renewing(source, now) }
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

const fileKeys = (path: string, now: () => number): Keys => {
  const source = { read: () => readFileText(path), freshFor: 5_000, coolDown: 5_000 }
  return { algorithms: setAlgorithms, find: renewing(source, now, firstText(path)) }
}
