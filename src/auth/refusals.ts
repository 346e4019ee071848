/** What the caller is told when a token is bad, or cannot be judged now. */
import { ApiError } from '#errors.ts'

/**
 * The error for a token that is not accepted: 401, `invalid_token` (RFC 6750, section 3.1). `why`
 * is told to the caller inside a quoted string, so it is a fixed ASCII text without quotes, never a
 * part of the token. It carries no cause: a parser's message quotes what it read, and no part of a
 * token goes to a log.
 */
export const refused = (why: string): ApiError =>
  new ApiError('UNAUTHENTICATED', why, { badToken: true })

/** Why a token is refused that another key signed, or that somebody changed. */
export const misfit =
  'The signature does not fit: the token was made with another key, or changed since'

/**
 * The error for a token whose key may be good but cannot be asked for: 503, with the seconds until
 * the next try.
 */
export const keysAway = (milliseconds: number, cause: unknown): ApiError =>
  new ApiError('UNAVAILABLE', 'The keys that tokens are checked with cannot be read just now', {
    retryAfter: milliseconds / 1000,
    cause,
  })
