/** What the caller is told when a token is missing or bad, or cannot be judged now. */
import { ApiError } from '#errors.ts'

// RFC 6750, section 3.1: where no token was sent, the challenge names no error.
export const challenge = 'Bearer realm="duet"'

/**
 * The error for a token that is not accepted: 401, `invalid_token` (RFC 6750, section 3.1). `why`
 * is told to the caller inside a quoted string, so it is a fixed ASCII text without quotes, never a
 * part of the token. It carries no cause: a parser's message quotes what it read, and no part of a
 * token goes to a log.
 */
export const refused = (why: string): ApiError =>
  new ApiError('UNAUTHENTICATED', why, {
    headers: {
      'WWW-Authenticate': `${challenge}, error="invalid_token", error_description="${why}"`,
    },
  })

/**
 * The error for a token whose key may be good but cannot be asked for: 503, with the seconds until
 * the next try.
 */
export const keysAway = (milliseconds: number, cause: unknown): ApiError =>
  new ApiError('UNAVAILABLE', 'The keys that tokens are checked with cannot be read just now', {
    headers: { 'Retry-After': String(Math.max(1, Math.ceil(milliseconds / 1000))) },
    cause,
  })
