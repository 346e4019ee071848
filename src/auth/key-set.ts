/** Reads a JSON Web Key Set (RFC 7517) from a file or an address: the keys that may verify a token here, and why the others may not. */
import { createPublicKey, type KeyObject, type webcrypto } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { isObject } from '#base/object.ts'
import { traceHeaders } from '#base/traceparent.ts'

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

/** A key that tokens are verified with. */
export type VerifyingKey = {
  readonly alg: string
  readonly key: CryptoKey | KeyObject
  /** From when, in milliseconds: before that, the clock was set back since the key was read. */
  readonly from: number
  /** Until when, in milliseconds, a token it has verified is trusted without asking for the key again. */
  readonly until: number
}

type KeyName = { readonly alg: string; readonly kid: string | undefined }

export type FindKey = (name: KeyName) => Promise<VerifyingKey>

const isSetAlgorithm = (alg: unknown): alg is SetAlgorithm =>
  typeof alg === 'string' && Object.hasOwn(kinds, alg)

const readKey = (member: unknown): PublicKey | string => {
  if (!isObject(member)) return 'is not an object'
  const { kid, kty, crv } = member
  // Entra's keys name no algorithm, which RFC 7517 allows; those of RSA are for one only here.
  const { alg = kty === 'RSA' ? 'RS256' : undefined } = member
  if (!isSetAlgorithm(alg)) return `has an alg that is not one of ${setAlgorithms.join(', ')}`
  if (kty !== kinds[alg].kty || crv !== kinds[alg].crv)
    return `is not of the kind that ${alg} needs`
  if (kid !== undefined && typeof kid !== 'string') return 'has a kid that is not a string'
  const { use, key_ops: operations } = member
  const mayVerify =
    (use === undefined || use === 'sig') &&
    (operations === undefined || (Array.isArray(operations) && operations.includes('verify')))
  if (!mayVerify) return 'is not for signatures'
  if (Object.hasOwn(member, 'd')) return 'is a private key'
  let key: KeyObject
  try {
    key = createPublicKey({ key: member as webcrypto.JsonWebKey, format: 'jwk' })
  } catch {
    return 'has values that make no key'
  }
  const bits = key.asymmetricKeyDetails?.modulusLength ?? leastRsaBits
  if (bits < leastRsaBits) return `has ${bits} bits, and at least ${leastRsaBits} are needed`
  return { alg, kid, key, text: JSON.stringify(member) }
}

/** The keys of the set in a JSON text that can be used, and a sentence on each that cannot; throws a plain error if it holds no set. */
export const readKeySet = (
  text: string,
): { readonly keys: readonly PublicKey[]; readonly faults: readonly string[] } => {
  let set: unknown
  try {
    set = JSON.parse(text)
  } catch {
    // The parser's own message quotes the text, which may be a private key by mistake.
    throw new Error('it is not JSON')
  }
  if (!isObject(set) || !Array.isArray(set.keys)) throw new Error('it is not a JSON Web Key Set')
  const read = set.keys.map(readKey)
  return {
    keys: read.filter(key => typeof key !== 'string'),
    faults: read.flatMap((key, at) => (typeof key === 'string' ? [`key ${at + 1} ${key}`] : [])),
  }
}

const mostBytes = 65_536

const tooLarge = (most: number) => new Error(`it has more than ${most} bytes`)

const textOf = (bytes: Uint8Array): string => {
  if (bytes.length > mostBytes) throw tooLarge(mostBytes)
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
}

/** The text of a file; it blocks, so it is only for the start. */
export const readFileNow = (path: string): string => textOf(readFileSync(path))

/** The text of a file. */
export const readFileText = async (path: string): Promise<string> => textOf(await readFile(path))

/** The body of an answer; rejects at the first byte beyond so many. */
export const boundedBody = async (
  response: Response,
  most: number,
): Promise<Buffer<ArrayBuffer>> => {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > most) throw tooLarge(most)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/**
 * The body that an address answers with. Rejects with a plain error for anything but 200, for a
 * redirect (which could lead to an address the operator never named), after `timeout` milliseconds,
 * and at the first byte above 64 KiB.
 */
export const readUrlText = async (url: URL, timeout = 5_000): Promise<string> => {
  const response = await fetch(url, {
    redirect: 'error',
    signal: AbortSignal.timeout(timeout),
    headers: { accept: 'application/jwk-set+json, application/json', ...traceHeaders() },
  })
  if (response.status !== 200) {
    await response.body?.cancel()
    throw new Error(`it answers ${response.status}`)
  }
  return textOf(await boundedBody(response, mostBytes))
}
