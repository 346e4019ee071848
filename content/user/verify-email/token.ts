/** The token that verifies an address: the user's id, the address and an end, signed with a key of the store. */
import { createHmac, timingSafeEqual } from 'node:crypto'

/** How long a token is valid, in milliseconds. */
export const life = 24 * 3_600_000

/** The recipient of a message. */
export type Person = { readonly id: number; readonly name: string; readonly email: string }

/** The user and address in a token, or the fault of the token. */
export type Proven =
  | { readonly kind: 'good'; readonly id: number; readonly email: string }
  | { readonly kind: 'expired' }
  | { readonly kind: 'bad' }

const bad = { kind: 'bad' } as const

// The purpose is signed too, so that no other signature with this key is valid here.
const signature = (key: Uint8Array, claims: string): string =>
  createHmac('sha256', key).update(`duet verify-email 1\n${claims}`).digest('base64url')

/** A token for this person's current address. */
export const sealToken = (key: Uint8Array, { id, email }: Person, now: number): string => {
  const claims = Buffer.from(JSON.stringify([id, now + life, email])).toString('base64url')
  return `${claims}.${signature(key, claims)}`
}

const form = /^([\w-]{1,1000})\.([\w-]{43})$/

/** The content of a token at this moment. */
export const openToken = (key: Uint8Array, token: string, now: number): Proven => {
  const [, claims, given] = form.exec(token) ?? []
  if (claims === undefined || given === undefined) return bad
  // The encoded texts are compared, so that a valid token has one spelling.
  if (!timingSafeEqual(Buffer.from(signature(key, claims)), Buffer.from(given))) return bad
  const [id, until, email] = JSON.parse(Buffer.from(claims, 'base64url').toString()) as [
    number,
    number,
    string,
  ]
  return now < until ? { kind: 'good', id, email } : { kind: 'expired' }
}
