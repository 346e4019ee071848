/** Turns the `Authorization` header of a request into a viewer, or refuses it. */
import type { ProtectedHeaderParameters } from 'jose'
import { decodeProtectedHeader } from 'jose/decode/protected_header'
import { JOSEError } from 'jose/errors'
import { compactVerify } from 'jose/jws/compact/verify'
import { anonymous, type Viewer } from '#model/policy.ts'
import type { KeyName, VerifyingKey } from './jwk.ts'
import { type KeyConfig, type Keys, keysOf } from './keys.ts'
import { misfit, refused } from './refusals.ts'
import { grantOf, type Parties, type TokenViewers } from './token.ts'
import { createVerified } from './verified.ts'

export type AuthConfig = KeyConfig & Parties

/**
 * The viewer of an `Authorization` header: at once where there is none or its token is cached, else by a promise.
 * `beforeCheck` is called before a signature is checked, and what it throws is thrown. It rejects with `UNAUTHENTICATED` for a bad token (RFC 6750, section 3.1), with `UNAVAILABLE` for unavailable keys.
 */
export type Authenticate = (
  authorization: string | undefined,
  beforeCheck?: () => void,
) => Viewer | Promise<Viewer>

/** Authenticates by a configuration; throws a plain error for one that is not usable. `now` is in milliseconds. */
export const createAuthenticator = (
  config: AuthConfig,
  viewers: TokenViewers,
  now: () => number,
): Authenticate => {
  const keys = keysOf(config, now)
  const verified = createVerified(now)

  const admit = async (authorization: string, beforeCheck?: () => void): Promise<Viewer> => {
    beforeCheck?.()
    const token = tokenOf(authorization)
    const key = await keys.find(keyNameOf(token, keys))
    const grant = grantOf(await signedPayload(token, key), viewers, config, now())
    verified.add(authorization, grant, key)
    return grant.viewer
  }

  return (authorization, beforeCheck) =>
    authorization === undefined
      ? anonymous
      : (verified.viewerOf(authorization) ?? admit(authorization, beforeCheck))
}

const longestToken = 8_192
const form = /^bearer ([\w-]+\.[\w-]+\.[\w-]+)$/i

/** RFC 6750, section 2.1: the scheme in any case, one space, the token; here a signed one (RFC 7515, section 3.1). */
const tokenOf = (authorization: string): string => {
  if (authorization.length > longestToken + 'Bearer '.length)
    throw refused('The token is larger than 8 KiB')
  const token = form.exec(authorization)?.[1]
  if (token === undefined)
    throw refused(
      'Authorization must be Bearer, one space and a signed token, such as `bin/duet token` makes',
    )
  if (!token.split('.').every(isCanonical)) throw refused('The token is not in its usual spelling')
  return token
}

/** Decoders ignore the unused last bits of base64url, so one signature has several spellings (RFC 4648, section 3.5). */
const isCanonical = (part: string): boolean =>
  Buffer.from(part, 'base64url').toString('base64url') === part

const headerOf = (token: string): ProtectedHeaderParameters => {
  try {
    return decodeProtectedHeader(token)
  } catch {
    throw refused('The header of the token is not a JSON object')
  }
}

/** Only the name of the key is used: other members about keys (`jwk`, `jku`, `x5c`, `x5u`) come from its sender. */
const keyNameOf = (token: string, { algorithms }: Keys): KeyName => {
  const { alg, kid, crit } = headerOf(token)
  if (typeof alg !== 'string' || !algorithms.includes(alg))
    throw refused('The token is signed in a way that is not accepted here')
  if (kid !== undefined && typeof kid !== 'string')
    throw refused('The kid of the token is not a string')
  if (crit !== undefined) throw refused('The token needs an extension that is not known here')
  return { alg, kid }
}

const signedPayload = async (token: string, { key, alg }: VerifyingKey): Promise<Uint8Array> => {
  try {
    // The key says which algorithm holds, never the token (RFC 8725, section 3.1).
    return (await compactVerify(token, key, { algorithms: [alg] })).payload
  } catch (error) {
    throw error instanceof JOSEError ? refused(misfit) : error
  }
}
