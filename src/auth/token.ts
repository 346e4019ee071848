/** Tokens: making one for a viewer, the rules for the claims of one, and the errors for one that is refused. */
import { hash } from 'node:crypto'
import { secretBytes } from '#auth/secret.ts'
import { isObject, type JsonObject, own } from '#base/object.ts'
import { ApiError } from '#errors.ts'
import type { Role, Viewer } from '#model/policy.ts'
import { isStorable, parseId } from '#model/values.ts'
import { type ClaimPath, namesOf, type Viewers } from '#model/viewers.ts'

/**
 * The error for a token that is not accepted: 401, `invalid_token` (RFC 6750, section 3.1). The caller gets `why` inside a
 * quoted string, so it is a fixed ASCII text without quotes, never a part of the token. There is no cause: a parser's
 * message quotes what it read, and no part of a token goes to a log.
 */
export const refused = (why: string): ApiError =>
  new ApiError('UNAUTHENTICATED', why, { badToken: true })

/** The reason for a token that another key signed, or that somebody changed. */
export const misfit =
  'The signature does not fit: the token was made with another key, or changed since'

/** The error for a token whose key cannot be read now: 503, with the milliseconds until the next try. */
export const keysUnavailable = (milliseconds: number, cause: unknown): ApiError =>
  new ApiError('UNAVAILABLE', 'The keys that tokens are checked with cannot be read just now', {
    retryAfter: milliseconds / 1000,
    cause,
  })

/** Whom a token must name, if the operator has set it. */
export type Parties = {
  readonly issuer?: string | undefined
  readonly audience?: string | undefined
}

/** A viewer, and when the token is valid, in milliseconds: from `from` on, before `until`. */
export type Grant = { readonly viewer: Viewer; readonly from: number; readonly until: number }

const longestLife = 86_400
const skew = 5

type TokenOptions = Parties & {
  /** The id of a row, or a subject. */
  readonly sub: number | string
  /** Undefined where the claims give it. */
  readonly role: Role | undefined
  /** Seconds it lives. */
  readonly ttl: number
  /** The content's words for roles and audiences; without them these are the claims `role` and `aud`. */
  readonly viewers?: TokenViewers
  readonly claims?: JsonObject
}

/** The claims that give a role, as the content reads it; throws a plain error for a role that none of its words means. */
const roleClaims = (role: Role, source: Viewers['roleFrom']): JsonObject => {
  if (source === undefined) return { role }
  const { map, claim, otherwise } = source
  const word = map ? Object.keys(map).find(word => map[word] === role) : role
  if (word === undefined && role !== otherwise)
    throw new Error(
      `no token has the role ${role}: the map of the content's roles has no word for it`,
    )
  const path = word === undefined ? [] : namesOf(claim)
  return path.reduceRight<unknown>((value, name) => ({ [name]: value }), word ?? {}) as JsonObject
}

/** Whether claims give a role, as the content reads it. */
export const givesRole = (claims: JsonObject, viewers: TokenViewers): boolean =>
  claimAt(new Map(Object.entries(claims)), viewers.roleFrom?.claim ?? 'role') !== undefined

/** The members of both, those of objects too; throws a plain error where one would be written over. */
const merged = (one: JsonObject, other: JsonObject): JsonObject => {
  const all: Record<string, unknown> = { ...one }
  for (const [name, value] of Object.entries(other)) {
    const before = own(one, name)
    if (before !== undefined && !(isObject(before) && isObject(value)))
      throw new Error(`the claim ${name} would be written over: a role belongs there`)
    all[name] = isObject(before) ? merged(before, value as JsonObject) : value
  }
  return all as JsonObject
}

/** A token signed by HS256; throws a plain error for a weak secret, an impossible id or a life above 24 hours. */
export const mint = async (options: TokenOptions, secret: string, now: number): Promise<string> => {
  const { sub, role, ttl, issuer, audience, viewers, claims } = options
  const { audienceClaim = 'aud' } = viewers ?? {}
  if (typeof sub === 'number' && parseId(String(sub)) === undefined)
    throw new Error(`a token needs the id of a row, not ${sub}`)
  if (!Number.isInteger(ttl) || ttl < 1 || ttl > longestLife)
    throw new Error(`a token lives 1 second to 24 hours, not ${ttl} seconds`)
  const issuedAt = Math.floor(now / 1000)
  const { SignJWT } = await import('jose/jwt/sign')
  const token = new SignJWT({
    ...merged(claims ?? {}, role === undefined ? {} : roleClaims(role, viewers?.roleFrom)),
    ...(audience !== undefined && { [audienceClaim]: audience }),
  })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setSubject(String(sub))
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + ttl)
  if (issuer !== undefined) token.setIssuer(issuer)
  return token.sign(secretBytes(secret))
}

/** Claims as a Map of their own members: nothing that an object inherits can pass for a claim. */
type Claims = ReadonlyMap<string, unknown>

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const claimsOf = (payload: Uint8Array): Claims => {
  try {
    const value: unknown = JSON.parse(utf8.decode(payload))
    if (isObject(value)) return new Map(Object.entries(value))
  } catch {
    throw refused('The claims are not JSON')
  }
  throw refused('The claims are not a JSON object')
}

/** RFC 7519, section 2: a NumericDate is a JSON number of seconds, fractions allowed. */
const dateOf = (claims: Claims, name: 'exp' | 'nbf' | 'iat'): number | undefined => {
  if (!claims.has(name)) return undefined
  const value = claims.get(name)
  if (typeof value !== 'number' || !Number.isFinite(value))
    throw refused(`The claim ${name} is not a number of seconds`)
  return value
}

/** What the content says of tokens: whom they speak for, and which roles they may name. */
export type TokenViewers = Omit<Viewers, 'blocked'>

/** The value at the end of a path of claims; undefined if there is none. */
const claimAt = (claims: Claims, path: ClaimPath): unknown => {
  const [first = '', ...rest] = namesOf(path)
  return rest.reduce(
    (value, name) => (isObject(value) ? own(value, name) : undefined),
    claims.get(first),
  )
}

/** The role that the claim of the content gives, by its map: the first of the content's list, if it gives several; else the claim `role`. */
const roleOf = (claims: Claims, { roleFrom, roles }: TokenViewers): Role => {
  if (roleFrom) {
    const { claim, map, otherwise } = roleFrom
    const values = [claimAt(claims, claim)].flat()
    const words = values.filter(word => typeof word === 'string')
    const named = map ? words.map(word => own(map, word)) : words
    const found = roles.names.find(name => named.includes(name)) ?? otherwise
    if (found === undefined) throw refused('The token has no role that is known here')
    return found
  }
  const given = claims.has('role') ? claims.get('role') : roles.default
  const role = roles.names.find(name => name === given)
  if (role === undefined)
    throw refused(
      `The claim role is ${roles.names.length > 1 ? 'neither' : 'not'} ${roles.names.join(' nor ')}`,
    )
  return role
}

const viewerOf = (claims: Claims, viewers: TokenViewers): Viewer => {
  const { entity, by, signUp } = viewers
  const sub = claims.get('sub')
  if (typeof sub !== 'string' || sub === '') throw refused('The claim sub is not a text')
  const role = roleOf(claims, viewers)
  const id = entity === undefined || by !== undefined ? undefined : parseId(sub)
  if (id !== undefined) return { id, role }
  // A service's token, or one of an identity provider: its subject is no id, and may be as long as the token.
  const service = hash('sha256', sub, 'base64url')
  if (by === undefined) return { id: null, role, service }
  if (!isStorable(sub)) throw refused('The claim sub has characters that no store takes')
  const given = Object.entries(signUp ?? {}).map(([field, claim]) => [
    field,
    claimAt(claims, claim),
  ])
  const known = given.filter(([, value]) => value !== undefined)
  return {
    id: null,
    role,
    service,
    subject: sub,
    ...(signUp && { claims: Object.fromEntries(known) }),
  }
}

/** The grant of a token of ours, which has a session: a write looks for that, and asks how old it is. */
export const sessionGrantOf = (
  payload: Uint8Array,
  { entity, roles }: TokenViewers,
  parties: Parties,
  now: number,
): Grant => {
  const grant = grantOf(payload, { ...(entity !== undefined && { entity }), roles }, parties, now)
  const claims = claimsOf(payload)
  const [session, since] = [claims.get('sid'), claims.get('auth_time')]
  if (typeof session !== 'string' || typeof since !== 'number' || grant.viewer.id === null)
    throw refused('The token names no session')
  return { ...grant, viewer: { ...grant.viewer, session, since } }
}

/** The grant of signed claims (RFC 7519, section 4.1); throws `UNAUTHENTICATED` for claims that break a rule. */
export const grantOf = (
  payload: Uint8Array,
  viewers: TokenViewers,
  { issuer, audience }: Parties,
  now: number,
): Grant => {
  const claims = claimsOf(payload)
  const viewer = viewerOf(claims, viewers)
  const exp = dateOf(claims, 'exp')
  const nbf = dateOf(claims, 'nbf')
  const iat = dateOf(claims, 'iat')
  if (exp === undefined) throw refused('The claim exp is missing')
  if (iat !== undefined && iat > now / 1000 + skew)
    throw refused('The token was issued in the future')
  if (exp > (iat ?? now / 1000 + skew) + longestLife)
    throw refused('The token lives longer than 24 hours')
  if (issuer !== undefined && claims.get('iss') !== issuer)
    throw refused('The token is from another issuer')
  const aud = claims.get(viewers.audienceClaim ?? 'aud')
  if (audience !== undefined && aud !== audience && !(Array.isArray(aud) && aud.includes(audience)))
    throw refused('The token is for another audience')
  const from = ((nbf ?? -Infinity) - skew) * 1000
  const until = (exp + skew) * 1000
  if (now >= until) throw refused('The token has expired')
  if (now < from) throw refused('The token is not valid yet')
  return { viewer, from, until }
}
