/** The head of a request: what two readers could take for two different requests is refused. */
import type { IncomingMessage } from 'node:http'
import { getPath } from 'hono/utils/url'
import { ApiError } from '#errors.ts'
import type { Http } from '#http/request.ts'

const mostHeaders = 100

type Bindings = Http['env'] | undefined

/** Whether the request line names a version that no answer here is in, such as HTTP/2.0 without its framing. */
const isOtherHttp = (env: Bindings): boolean => (env?.incoming?.httpVersionMajor ?? 1) !== 1

/** The path by which a request is routed; one of another version of HTTP has no route. */
export const routedPath = (request: Request, options?: { readonly env?: Bindings }): string => {
  const path = getPath(request)
  return isOtherHttp(options?.env) ? `HTTP/${options?.env?.incoming?.httpVersion} ${path}` : path
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

const checkSingle = ({ rawHeaders, headers, httpVersionMinor }: IncomingMessage): void => {
  if (headers.host === undefined && httpVersionMinor > 0)
    throw new ApiError('MALFORMED_REQUEST', 'The request has no Host header; send one')
  for (const [name, lower] of single)
    if (times(rawHeaders, lower) > 1)
      throw new ApiError('MALFORMED_REQUEST', `The request has two ${name} headers; send one`)
}

type Framed = Pick<IncomingMessage, 'headers' | 'httpVersionMinor'>

/** Whether a request names a Transfer-Encoding in HTTP/1.0, which has none: where its body ends is uncertain, and so is all that follows. */
export const isMisframed = ({ httpVersionMinor, headers }: Framed): boolean =>
  httpVersionMinor === 0 && headers['transfer-encoding'] !== undefined

/** Node takes off the chunks, whatever else is named before them (RFC 9112, section 6.1). */
const checkTransfer = (incoming: Framed): void => {
  const codings = incoming.headers['transfer-encoding']
  if (isMisframed(incoming))
    throw new ApiError(
      'MALFORMED_REQUEST',
      'HTTP/1.0 has no Transfer-Encoding; send a Content-Length instead, or HTTP/1.1',
    )
  if (codings !== undefined && codings.toLowerCase() !== 'chunked')
    throw new ApiError(
      'NOT_IMPLEMENTED',
      'A body in another Transfer-Encoding than chunked is not read here; send it plain',
    )
}

/**
 * Throws for a request that two readers could take for two different ones: 505 for another version than HTTP/1 (RFC 9110, section 15.6.6); 431 for more than 100 headers, since
 * Node drops some without a sign; 400 for no `Host` header or two of them (RFC 9112, section 3.2), two tokens, or a transfer coding in HTTP/1.0; 501 for a transfer coding; 404 for dots in the path that another
 * reader would resolve.
 */
export const checkHead = (c: Http): void => {
  if (isOtherHttp(c.env))
    throw new ApiError('HTTP_VERSION_NOT_SUPPORTED', 'Only HTTP/1.1 and HTTP/1.0 are spoken here')
  const { incoming } = c.env ?? {}
  if (!incoming) return
  const { rawHeaders, url = '' } = incoming
  if (rawHeaders.length > 2 * mostHeaders)
    throw new ApiError('HEADERS_TOO_MANY', `The request has more than ${mostHeaders} headers`)
  checkSingle(incoming)
  checkTransfer(incoming)
  if (dots.test(url)) throw new ApiError('NOT_FOUND', 'Path with dots for a segment not found')
}

/** Throws `MALFORMED_REQUEST` where the path, decoded but for escapes that are not, has one of those or a NUL. */
export const checkPath = (path: string): void => {
  if (!path.includes('%') && !path.includes('\0')) return
  try {
    if (decodeURIComponent(path).includes('\0')) throw new Error('NUL')
  } catch (cause) {
    throw new ApiError('MALFORMED_REQUEST', 'The path has a malformed escape', { cause })
  }
}
