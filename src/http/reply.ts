/** Replies as data before they are responses, and the headers that responses share. */

import type { ApiError } from '#errors.ts'
import type { Operation } from '#observe.ts'

/** Bytes as they come; the memory of a chunk is used for others once `spent` is told of it, by who needs it no more. */
export type Chunks = AsyncIterable<Uint8Array> & {
  readonly spent?: ((chunk: Uint8Array) => void) | undefined
}

export type Reply = {
  readonly status: number
  /** A fresh object for each reply: the headers of every response are added to it. */
  readonly headers: Record<string, string>
  readonly body: string | Uint8Array<ArrayBuffer> | null
  /** The body in place of that, as it comes from elsewhere, and how many bytes it has. */
  readonly stream?: { readonly body: Chunks; readonly bytes: number } | undefined
  /** What it sets in `Set-Cookie`, a header each; such an answer shows the pages of other origins its session in `Set-Auth-Token`. */
  readonly cookies?: readonly string[]
  /** What it tells of a write. */
  readonly written?: WriteFacts | undefined
  /** For the log: the code of an error that the status does not show, and the operation of GraphQL. */
  readonly code?: string | undefined
  readonly operation?: Operation | undefined
}

/** `Retry-After` (RFC 9110, section 10.2.3), in whole seconds and at least one. */
export const retryAfterHeader = (seconds: number): { readonly 'Retry-After': string } => ({
  'Retry-After': String(Math.max(1, Math.ceil(seconds))),
})

/** What every answer to a write tells: whether it is a stored one, and the position that a read must name to see it. */
export type WriteFacts = {
  readonly replayed: boolean
  readonly position?: string | undefined
}

/** The response headers that belong to an error. */
export const errorHeaders = (error: ApiError): Readonly<Record<string, string>> => {
  const { code, message, headers, retryAfter, badToken } = error
  // RFC 6750, section 3: the challenge names an error only where a token was sent. The message is ASCII without quotes there.
  const fault = badToken ? `, error="invalid_token", error_description="${message}"` : ''
  return {
    ...headers,
    ...(retryAfter !== undefined && retryAfterHeader(retryAfter)),
    ...(code === 'UNAUTHENTICATED' && { 'WWW-Authenticate': `Bearer realm="duet"${fault}` }),
  }
}

/** The `Content-Security-Policy` of an answer that is no page: where a browser shows it, it loads nothing and is in no frame. */
export const notAPage = "default-src 'none'; frame-ancestors 'none'"

const exposed =
  'ETag, Link, Location, Allow, Accept-Query, Accept-Patch, Accept-Post, WWW-Authenticate, API-Version, Deprecation, Sunset, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id, Idempotency-Replayed, Duet-Position, Duet-Position-Status, Duet-Ignored, Server-Timing'

/** Which web pages of other origins may read the answers: all of them, or those listed. */
export type Origins = '*' | readonly string[]

/** The CORS headers for a request of that origin (Fetch standard, section 3.2); credentials are never allowed. */
export const corsHeaders = (
  origins: Origins,
  origin: string | undefined,
): Record<string, string> => {
  if (origins === '*')
    return { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': exposed }
  if (origin === undefined || !origins.includes(origin)) return { Vary: 'Origin' }
  return {
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Expose-Headers': exposed,
    Vary: 'Origin',
  }
}

/** The headers that requests of the APIs may have. */
const known =
  'Authorization, Content-Type, Accept, API-Version, If-Match, If-None-Match, Idempotency-Key, X-Request-Id, Duet-Position'

/** The headers of a preflight response beside the allowed methods; `others` are the names of headers that tools of web pages send. */
export const preflightHeaders = (others: readonly string[]) => ({
  // A `*` does not stand for Authorization (Fetch standard, section 4.8).
  'Access-Control-Allow-Headers': [known, ...others].join(', '),
  'Access-Control-Max-Age': '7200',
})
