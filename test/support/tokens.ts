/**
 * Makes tokens and key sets for the tests, good ones and those that no honest issuer makes, and
 * knows their refusals.
 */
import assert from 'node:assert/strict'
import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { ApiError } from '#errors.ts'
import { errorHeaders } from '#http/reply.ts'
import { defineRoles } from '#model/policy.ts'

/** Whose rows the tokens speak for, and the roles that they may name. */
export const viewers = {
  entity: 'user',
  roles: defineRoles({ names: ['user', 'admin'], default: 'user', superuser: 'admin' }),
}

export const secret = 'v8Qm2Zr7Lx0TfKpW4sYhC6nJdE1uGaB9+oXi3Rk5'

/** The moment at which the tests begin, in seconds. */
export const start = 1_800_000_000

export type Json = Record<string, unknown>

export const base64url = (value: Json | string): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

/**
 * Claims that are accepted at `start`, changed by those given; a claim set to undefined is left
 * out.
 */
export const claims = (changed: Json = {}): Json => ({
  sub: '7',
  iat: start - 60,
  exp: start + 3600,
  ...changed,
})

export type Sign = (input: string) => Buffer

export const hmac =
  (key: string | Buffer, hash = 'sha256'): Sign =>
  input =>
    createHmac(hash, key).update(input).digest()

/** A token of these parts; those that are texts are taken as they are, whatever they hold. */
export const signToken = (header: Json | string, payload: Json | string, by: Sign): string => {
  const input = `${base64url(header)}.${base64url(payload)}`
  return `${input}.${by(input).toString('base64url')}`
}

export const hs256 = (changed: Json = {}, header: Json = {}): string =>
  signToken({ alg: 'HS256', ...header }, claims(changed), hmac(secret))

export type Alg = 'EdDSA' | 'ES256' | 'RS256'

const pairs = {
  EdDSA: () => generateKeyPairSync('ed25519'),
  ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  RS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
} satisfies Record<Alg, () => { publicKey: KeyObject; privateKey: KeyObject }>

const signs = {
  EdDSA: key => input => sign(null, Buffer.from(input), key),
  ES256: key => input => sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' }),
  RS256: key => input => sign('sha256', Buffer.from(input), key),
} satisfies Record<Alg, (key: KeyObject) => Sign>

/** A key pair of an issuer: its public member for a set, and tokens that it signs. */
export type Issuer = {
  readonly alg: Alg
  readonly jwk: Json
  readonly publicKey: KeyObject
  readonly sign: Sign
  readonly token: (changed?: Json, header?: Json) => string
}

export const issuer = (alg: Alg, kid: string, pair = pairs[alg]()): Issuer => {
  const { publicKey, privateKey } = pair
  const by = signs[alg](privateKey)
  return {
    alg,
    publicKey,
    jwk: { ...publicKey.export({ format: 'jwk' }), alg, kid, use: 'sig' },
    sign: by,
    token: (changed = {}, header = {}) => signToken({ alg, kid, ...header }, claims(changed), by),
  }
}

export const weakRsa = (kid: string): Issuer =>
  issuer('RS256', kid, generateKeyPairSync('rsa', { modulusLength: 1024 }))

export const setOf = (...issuers: readonly { readonly jwk: Json }[]): string =>
  JSON.stringify({ keys: issuers.map(({ jwk }) => jwk) })

/** Holds for the error that refuses a token with this reason, down to its header. */
export const isRefused =
  (why: string) =>
  (error: unknown): true => {
    assert.ok(error instanceof ApiError, `not an ApiError: ${error}`)
    assert.deepEqual([error.code, error.status, error.message], ['UNAUTHENTICATED', 401, why])
    assert.deepEqual(errorHeaders(error), {
      'WWW-Authenticate': `Bearer realm="duet", error="invalid_token", error_description="${why}"`,
    })
    return true
  }

/** Holds for the error that says when to ask again, because the keys are unavailable. */
export const isAway =
  (seconds: number) =>
  (error: unknown): true => {
    assert.ok(error instanceof ApiError, `not an ApiError: ${error}`)
    assert.deepEqual([error.code, error.status], ['UNAVAILABLE', 503])
    assert.deepEqual(errorHeaders(error), { 'Retry-After': String(seconds) })
    assert.doesNotMatch(error.message, /127\.0\.0\.1|jwks|\//i)
    return true
  }
