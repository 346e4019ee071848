/** Turns the `Authorization` header of a request into a viewer, or refuses it. */
import type { ProtectedHeaderParameters } from 'jose/decode/protected_header'
import type { VerifyingKey } from '#auth/key-set.ts'
import { type KeyConfig, tokenKeysOf } from '#auth/keys.ts'
import {
  type Grant,
  grantOf,
  misfit,
  type Parties,
  refused,
  sessionGrantOf,
  type TokenViewers,
} from '#auth/token.ts'
import { once } from '#base/cache.ts'
import { program } from '#base/paths.ts'
import { anonymous, type Viewer } from '#model/policy.ts'

export type AuthConfig = KeyConfig & Parties

/** Our own tokens, of people who signed in here: their key by its name, undefined if it is none of ours, and whom they must name. */
export type OwnTokens = {
  readonly find: (kid: string) => Promise<VerifyingKey | undefined>
  readonly parties: () => Parties
}

/**
 * The viewer of an `Authorization` header: at once if there is none or its token is cached, else by a promise.
 * `beforeCheck` is awaited before a signature is verified, and what it throws is thrown; its argument says whether the token was accepted before and only its key must be looked up. It rejects with `UNAUTHENTICATED` for a bad token (RFC 6750, section 3.1), with `UNAVAILABLE` for unavailable keys.
 */
export type Authenticate = (
  authorization: string | undefined,
  beforeCheck?: BeforeCheck,
) => Viewer | Promise<Viewer>

type BeforeCheck = (wasAccepted: boolean) => void | Promise<void>

const longestToken = 8_192

/** Loads what verifies signatures, once: a service does so when it listens already, unless a token comes before. */
export const loadVerifying = once(() =>
  Promise.all([
    import('jose/decode/protected_header'),
    import('jose/errors'),
    import('jose/jws/compact/verify'),
  ]),
)

const ownAlgorithm = 'EdDSA'

/** RFC 6750, section 2.1: the scheme in any case, one space or more, the token; here a signed one (RFC 7515, section 3.1). */
const bearer = /^bearer +([\w-]+\.[\w-]+\.[\w-]+)$/i

/** Authenticates by a configuration; throws a plain error for one that cannot be used. `now` is in milliseconds; `onMisfit` is called for a token that another key signed. */
export const createAuthenticator = (
  config: AuthConfig,
  viewers: TokenViewers,
  now: () => number,
  onMisfit?: () => void,
  own?: OwnTokens,
): Authenticate => {
  const keys = tokenKeysOf(config, now)
  const verified = createVerified(now)

  const verify = async (authorization: string, beforeCheck?: BeforeCheck): Promise<Viewer> => {
    await beforeCheck?.(verified.has(authorization))
    const token = bearer.exec(authorization)?.[1]
    if ((token ?? authorization.slice('Bearer '.length)).length > longestToken)
      throw refused('The token is larger than 8 KiB')
    if (token === undefined)
      throw refused(
        `Authorization must be Bearer, a space and a signed token, such as \`${program} token\` makes`,
      )
    // Decoders ignore the unused last bits of base64url, so one signature has several spellings (RFC 4648, section 3.5).
    for (const part of token.split('.'))
      if (Buffer.from(part, 'base64url').toString('base64url') !== part)
        throw refused('The token is not in its usual spelling')
    const [{ decodeProtectedHeader }, { JOSEError }, { compactVerify }] = await loadVerifying()
    let header: ProtectedHeaderParameters
    try {
      header = decodeProtectedHeader(token)
    } catch {
      throw refused('The header of the token is not a JSON object')
    }
    // Only the name of the key is used: other members about keys (`jwk`, `jku`, `x5c`, `x5u`) come from its sender.
    const { alg, kid, crit } = header
    const isOurs = own !== undefined && alg === ownAlgorithm
    if (typeof alg !== 'string' || !(isOurs || keys.algorithms.includes(alg)))
      throw refused('The token is signed in a way that is not accepted here')
    if (kid !== undefined && typeof kid !== 'string')
      throw refused('The kid of the token is not a string')
    if (crit !== undefined) throw refused('The token needs an extension that is not known here')
    const ownKey = isOurs && kid !== undefined ? await own.find(kid) : undefined
    if (ownKey === undefined && !keys.algorithms.includes(alg))
      throw refused('The token is signed by an unknown key')
    const key = ownKey ?? (await keys.find({ alg, kid }))
    // The key says which algorithm holds, never the token (RFC 8725, section 3.1).
    const { payload } = await compactVerify(token, key.key, { algorithms: [key.alg] }).catch(
      (error: unknown) => {
        if (!(error instanceof JOSEError)) throw error
        onMisfit?.()
        throw refused(misfit)
      },
    )
    // What the claims of a session are is decided by the key, as others have such claims too.
    const grant = ownKey
      ? sessionGrantOf(payload, viewers, own?.parties() ?? {}, now())
      : grantOf(payload, viewers, config, now())
    verified.add(authorization, grant, key)
    return grant.viewer
  }

  return (authorization, beforeCheck) =>
    authorization === undefined
      ? anonymous
      : (verified.viewerOf(authorization) ?? verify(authorization, beforeCheck))
}

type VerifiedToken = Grant & { readonly key: VerifyingKey }

/** An empty cache of verified tokens, for at most `limit`; when it is full, the half that was not used recently is dropped. */
export const createVerified = (now: () => number, limit = 10_000) => {
  // Two halves, because deleting the oldest entry of one full Map costs 8 µs: it passes all earlier holes.
  let recent = new Map<string, VerifiedToken>()
  let older = new Map<string, VerifiedToken>()

  const keep = (authorization: string, entry: VerifiedToken) => {
    if (recent.size >= limit / 2) {
      older = recent
      recent = new Map()
    }
    recent.set(authorization, entry)
  }

  const find = (authorization: string) => recent.get(authorization) ?? older.get(authorization)

  return {
    /** Whether an `Authorization` header was added whose token still holds, whatever became of its key. */
    has: (authorization: string): boolean => (find(authorization)?.until ?? -Infinity) > now(),
    /** The viewer of an `Authorization` header that was added, while its token and key still hold. */
    viewerOf: (authorization: string): Viewer | undefined => {
      const entry = find(authorization)
      if (entry === undefined) return undefined
      const { from, until, key } = entry
      const time = now()
      if (time >= until || time < from || time >= key.until || time < key.from) return undefined
      if (!recent.has(authorization)) keep(authorization, entry)
      return entry.viewer
    },
    add: (authorization: string, grant: Grant, key: VerifyingKey): void =>
      keep(authorization, { ...grant, key }),
    size: () => recent.size + older.size,
  }
}
