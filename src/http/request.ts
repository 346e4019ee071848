/** A request: what it says, read in the cheapest way from Node's own parsed headers, and the checks of its head. */
import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Context, Hono } from 'hono'
import { ApiError } from '#errors.ts'
import type { Memory } from '#http/memory.ts'
import type { Viewer } from '#model/policy.ts'
import type { Trace } from '#observe.ts'

type Env = {
  /** Node's own request and answer; absent where there is no connection, as in tests. */
  Bindings: { readonly incoming?: IncomingMessage; readonly outgoing?: ServerResponse }
  /** What its body is received under; the body, once it is received, and how to give back what it took; the parameters of a QUERY. */
  Variables: {
    receiving?: {
      /** The caller's part of the account of bodies. */
      readonly account: ReturnType<Memory['bodies']['of']>
      /** Throws or rejects where the token does not hold any more. */
      readonly checkAgain: () => unknown
    }
    body?: Uint8Array
    giveBack?: () => void
    parameters?: string
    /** The headers of its rate, if it has counted further work since it came. */
    rate?: Readonly<Record<string, string>>
  }
}

export type App = Hono<Env>
export type Http = Context<Env>

/** A request header by its lower-case name. */
export const header = (c: Http, name: string): string | undefined => {
  const incoming = c.env?.incoming
  if (!incoming) return c.req.header(name)
  const value = incoming.headers[name]
  return Array.isArray(value) ? value.join(', ') : value
}

/** The query string without its question mark; empty where there is none. */
export const queryString = (c: Http): string => {
  const { url } = c.req
  const start = url.indexOf('?')
  return start < 0 ? '' : url.slice(start + 1)
}

/** The parameters of a request: its query string, and for a QUERY those of its body too, once they are read. */
export const parametersOf = (c: Http): string => c.get('parameters') ?? queryString(c)

/** Throws `MALFORMED_REQUEST` for the value of a parameter that a query string has in bytes which are no UTF-8: they are read as U+FFFD. */
export const checkUtf8 = (query: string, name: string, value: string | undefined): void => {
  if (value?.includes('\ufffd') && !/%ef%bf%bd|\ufffd/i.test(query))
    throw new ApiError('MALFORMED_REQUEST', `The parameter ${name} is not UTF-8`)
}

/** The error for a client that does not wait for its answer; only the log shows it. */
export const hungUp = (cause?: unknown): ApiError =>
  new ApiError('CLIENT_CLOSED_REQUEST', undefined, { cause })

/**
 * Whether nothing can be answered any more: the client of a request hung up, or an answer before this one was the last of its
 * connection. Node ends the socket too where a client says that it sends no more.
 */
export const hasHungUp = (c: Http): boolean => {
  const socket = c.env?.incoming?.socket
  return socket !== undefined && (socket.destroyed || socket.writableEnded)
}

const saneId = /^[\w.:/+=@-]{1,128}$/

/** The caller's request id if it sent a valid one, else a new one. */
export const requestIdOf = (c: Http): string => {
  const sent = header(c, 'x-request-id')
  return sent !== undefined && saneId.test(sent) ? sent : crypto.randomUUID()
}

/** A method that is safe like GET, with its parameters in its body (RFC 10008). */
export const queryMethod = 'QUERY'

export const isQuery = (method: string): boolean => method === queryMethod

/** Whether a method is safe (RFC 9110, section 9.2.1), as far as requests with it get further than to a refusal. */
export const isSafe = (method: string): boolean =>
  method === 'GET' || method === 'HEAD' || method === queryMethod

/** The form of a query string, as bodies have it. */
export const formType = 'application/x-www-form-urlencoded'

/** The header that says which bodies of a QUERY are read (RFC 10008, section 3); a media type is a token of structured fields. */
export const acceptQuery = (types: readonly string[]): { readonly 'Accept-Query': string } => ({
  'Accept-Query': types.join(', '),
})

/** The header by which the refusal of a body's type says which ones are read, by the method (RFC 10008, RFC 5789, RFC 9110, section 15.5.16). */
export const acceptFor = (
  method: string,
  types: readonly string[],
): Readonly<Record<string, string>> => {
  const all = types.join(', ')
  if (isQuery(method)) return acceptQuery(types)
  if (method === 'PATCH') return { 'Accept-Patch': all }
  return method === 'POST' ? { 'Accept-Post': all } : { Accept: all }
}

/** A later version than 00 may have further parts behind a hyphen; ff is no version. */
const form = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/

/** The trace that the header names, with a new span for the request; undefined where it is malformed. */
export const traceOf = (traceparent: string): Trace | undefined => {
  const [, version, traceId, parentId, flags, more] = form.exec(traceparent) ?? []
  if (traceId === undefined || parentId === undefined || flags === undefined) return undefined
  if (version === '00' && more !== undefined) return undefined
  return { traceId, parentId, spanId: randomBytes(8).toString('hex'), flags }
}

/** The header for calls to others, whose parent is the request's own span. */
export const traceparentOf = ({ traceId, spanId, flags }: Trace): string =>
  `00-${traceId}-${spanId}-${flags}`

/** The terms of a read for a request: not before the position that it names, for its caller, until its client hangs up. */
export const readOptionsOf = (
  { callerOf }: { readonly callerOf: (c: Http, viewer: Viewer) => string },
  c: Http,
  viewer: Viewer,
) => ({
  /** The position that an earlier write's answer named; undefined: any will do. */
  after: header(c, 'duet-position'),
  caller: () => callerOf(c, viewer),
  /** Calls back when the client hangs up; gives the function that forgets this. */
  onGone: (stop: () => void) => {
    const outgoing = c.env?.outgoing
    if (hasHungUp(c)) stop()
    outgoing?.once('close', stop)
    return () => void outgoing?.off('close', stop)
  },
})

const mostHeaders = 100

/** Encoded dots, or a segment of dots, which clients resolve before they send a path (RFC 3986, section 5.2.4). */
const dots = /^[^?]*(%2e|\/\.\.?([/?]|$))/i

/** Headers of which Node takes the first without a word, and another reader might take the last; each with its name in lower case. */
const single = [
  ['Host', 'host'],
  ['Authorization', 'authorization'],
] as const

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
  for (const [name, lower] of single) {
    let times = 0
    // The length alone distinguishes most names.
    for (let at = 0; at < rawHeaders.length; at += 2)
      if (rawHeaders[at]?.length === name.length && rawHeaders[at]?.toLowerCase() === lower) times++
    if (times > 1)
      throw new ApiError('MALFORMED_REQUEST', `The request has two ${name} headers; send one`)
  }
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
