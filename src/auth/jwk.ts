/** Reads a JSON Web Key Set (RFC 7517): the keys that may check a token here, and why the others may not. */
import { createPublicKey, type KeyObject, type webcrypto } from 'node:crypto'
import { isObject, type JsonObject as Member } from '#base/object.ts'

// One kind of key for each algorithm, and one algorithm for each key (RFC 8725, section 3.1).
const kinds = {
  EdDSA: { kty: 'OKP', crv: 'Ed25519' },
  ES256: { kty: 'EC', crv: 'P-256' },
  RS256: { kty: 'RSA', crv: undefined },
} as const

const leastRsaBits = 2048

type SetAlgorithm = keyof typeof kinds

/** The algorithms that a key of a set may have. */
export const setAlgorithms = Object.keys(kinds) as readonly SetAlgorithm[]

export type PublicKey = {
  readonly alg: SetAlgorithm
  readonly kid: string | undefined
  readonly key: KeyObject
  /** The member of the set as JSON, to tell whether a later set still has it. */
  readonly text: string
}

/** A key that tokens are checked with. */
export type VerifyingKey = {
  readonly alg: string
  readonly key: CryptoKey | KeyObject
  /** From when, in milliseconds: before that, the clock was set back since the key was read. */
  readonly from: number
  /** Until when, in milliseconds, a token it has verified is trusted without asking for the key again. */
  readonly until: number
}

/** The name by which a token refers to its key. */
export type KeyName = { readonly alg: string; readonly kid: string | undefined }

export type FindKey = (name: KeyName) => Promise<VerifyingKey>

/** The keys of a set that can be used, and a sentence on each that cannot. */
export type KeySet = { readonly keys: readonly PublicKey[]; readonly faults: readonly string[] }

const isSetAlgorithm = (alg: unknown): alg is SetAlgorithm =>
  typeof alg === 'string' && Object.hasOwn(kinds, alg)

const mayVerify = ({ use, key_ops }: Member): boolean =>
  (use === undefined || use === 'sig') &&
  (key_ops === undefined || (Array.isArray(key_ops) && key_ops.includes('verify')))

const publicKey = (member: Member): KeyObject | undefined => {
  try {
    return createPublicKey({ key: member as webcrypto.JsonWebKey, format: 'jwk' })
  } catch {
    return undefined
  }
}

const readKey = (member: unknown): PublicKey | string => {
  if (!isObject(member)) return 'is not an object'
  const { alg, kid, kty, crv } = member
  if (!isSetAlgorithm(alg)) return `has an alg that is not one of ${setAlgorithms.join(', ')}`
  if (kty !== kinds[alg].kty || crv !== kinds[alg].crv)
    return `is not of the kind that ${alg} needs`
  if (kid !== undefined && typeof kid !== 'string') return 'has a kid that is not a string'
  if (!mayVerify(member)) return 'is not for signatures'
  if (Object.hasOwn(member, 'd')) return 'is a private key'
  const key = publicKey(member)
  if (key === undefined) return 'has values that make no key'
  const bits = key.asymmetricKeyDetails?.modulusLength ?? leastRsaBits
  if (bits < leastRsaBits) return `has ${bits} bits, and at least ${leastRsaBits} are needed`
  return { alg, kid, key, text: JSON.stringify(member) }
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    // The parser's own message quotes the text, which may be a private key by mistake.
    throw new Error('it is not JSON')
  }
}

/** The set in a JSON text; throws a plain error where it holds none. A bad key never spoils the others. */
export const readKeySet = (text: string): KeySet => {
  const set = parsed(text)
  if (!isObject(set) || !Array.isArray(set.keys)) throw new Error('it is not a JSON Web Key Set')
  const read = set.keys.map(readKey)
  return {
    keys: read.filter(key => typeof key !== 'string'),
    faults: read.flatMap((key, at) => (typeof key === 'string' ? [`key ${at + 1} ${key}`] : [])),
  }
}
