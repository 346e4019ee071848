/** The errors for a token that is bad, or that cannot be checked now. */
import { ApiError } from '#errors.ts'

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
