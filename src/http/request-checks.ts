/** The head of a request: what two readers could take for two different requests is refused. */
import type { IncomingMessage } from 'node:http'
import { getPath } from 'hono/utils/url'
import { ApiError } from '#errors.ts'
import type { Http } from '#http/request.ts'

const mostHeaders = 100

type Bindings = Http['env'] | undefined

/** The path by which a request is routed; one of a version of HTTP that no answer here is in, such as 2.0 without its framing, has no route. */
export const routedPath = (request: Request, options?: { readonly env?: Bindings }): string => {
  const path = getPath(request)
  const incoming = options?.env?.incoming
  return (incoming?.httpVersionMajor ?? 1) === 1 ? path : `HTTP/${incoming?.httpVersion} ${path}`
}

/** Encoded dots, or a segment of dots, which clients resolve before they send a path (RFC 3986, section 5.2.4). */
const dots = /^[^?]*(%2e|\/\.\.?([/?]|$))/i

/** Headers of which Node takes the first without a word, and another reader might take the last; each with its name in lower case. */
const single = [
  ['Host', 'host'],
  ['Authorization', 'authorization'],
] as const

/** How often a header is there, by its name in lower case; most names are told apart by their length. */
const times = (rawHeaders: readonly string[], name: string): number => {
  let found = 0
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.length === name.length && rawHeaders[at]?.toLowerCase() === name) found++
  return found
}

/** Whether a request names a Transfer-Encoding in HTTP/1.0, which has none: where its body ends is uncertain, and so is all that follows. */
const isMisframed = ({ httpVersionMinor, headers }: IncomingMessage): boolean =>
  httpVersionMinor === 0 && headers['transfer-encoding'] !== undefined

/**
 * Whether a connection ends with the answer to a request, since what follows may be lost: it is misframed, or asks for an upgrade, behind
 * which Node drops what it has read, though nobody upgrades here.
 */
export const endsConnection = (incoming: IncomingMessage): boolean => {
  const { upgrade, connection, 'transfer-encoding': codings } = incoming.headers
  if (codings !== undefined && isMisframed(incoming)) return true
  return upgrade !== undefined && /upgrade/i.test(connection ?? '')
}

/**
 * Throws for a request that two readers could take for two different ones: 505 for another version than HTTP/1 (RFC 9110, section
 * 15.6.6); 431 for more than 100 headers, since Node drops some without a sign; 400 for no `Host` header or two of them (RFC 9112,
 * section 3.2), two tokens, or a transfer coding in HTTP/1.0; 501 for another transfer coding than chunked; 404 for dots in the path that
 * another reader would resolve.
 */
export const checkHead = (c: Http): void => {
  const { incoming } = c.env ?? {}
  if (!incoming) return
  if (incoming.httpVersionMajor !== 1)
    throw new ApiError('HTTP_VERSION_NOT_SUPPORTED', 'Only HTTP/1.1 and HTTP/1.0 are spoken here')
  const { rawHeaders, headers, url = '' } = incoming
  if (rawHeaders.length > 2 * mostHeaders)
    throw new ApiError('HEADERS_TOO_MANY', `The request has more than ${mostHeaders} headers`)
  if (headers.host === undefined && incoming.httpVersionMinor > 0)
    throw new ApiError('MALFORMED_REQUEST', 'The request has no Host header; send one')
  for (const [name, lower] of single)
    if (times(rawHeaders, lower) > 1)
      throw new ApiError('MALFORMED_REQUEST', `The request has two ${name} headers; send one`)
  const codings = headers['transfer-encoding']
  if (codings !== undefined) {
    if (isMisframed(incoming))
      throw new ApiError(
        'MALFORMED_REQUEST',
        'HTTP/1.0 has no Transfer-Encoding; send a Content-Length instead, or HTTP/1.1',
      )
    // Node takes off the chunks, whatever else is named before them (RFC 9112, section 6.1).
    if (codings.toLowerCase() !== 'chunked')
      throw new ApiError(
        'NOT_IMPLEMENTED',
        'A body in another Transfer-Encoding than chunked is not read here; send it plain',
      )
  }
  if (dots.test(url)) throw new ApiError('NOT_FOUND', 'Path with dots for a segment not found')
}

/**
 * Throws what `checkHead` throws; `URI_TOO_LONG` for a URL above so many characters, and `MALFORMED_REQUEST` where the path has an escape
 * that is none, or a NUL.
 */
export const checkRequest = (c: Http, urlLimit: number): void => {
  if (c.req.url.length > urlLimit)
    throw new ApiError('URI_TOO_LONG', `The URL is longer than ${urlLimit} characters`)
  checkHead(c)
  const { path } = c.req
  if (!path.includes('%') && !path.includes('\0')) return
  try {
    if (decodeURIComponent(path).includes('\0')) throw new Error('NUL')
  } catch (cause) {
    throw new ApiError('MALFORMED_REQUEST', 'The path has a malformed escape', { cause })
  }
}
