/** Reads requests in the cheapest way: from Node's own parsed headers where there are any. */

import { randomBytes } from 'node:crypto'
import type { HttpBindings } from '@hono/node-server'
import type { Context, Hono } from 'hono'
import { ApiError } from '#errors.ts'
import type { Part } from '#http/memory.ts'
import type { Viewer } from '#model/policy.ts'
import type { Trace } from '#observe.ts'

type Env = {
  Bindings: Partial<HttpBindings>
  /** What its body is received under; the body, once it is received, and how to give back what it took; the parameters of a QUERY. */
  Variables: {
    receiving?: Receiving
    body?: Uint8Array
    giveBack?: () => void
    parameters?: string
  }
}

type Receiving = {
  /** The caller's part of the account of bodies. */
  readonly account: Part
  /** Throws or rejects where the token does not hold any more. */
  readonly checkAgain: () => unknown
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

/** Methods that change nothing: GET, HEAD, and QUERY (RFC 10008), whose parameters are in its body. */

export const queryMethod = 'QUERY'

export const isQuery = (method: string): boolean => method === queryMethod

/** Whether a method is safe (RFC 9110, section 9.2.1), as far as requests with it get further than to a refusal. */
export const isSafe = (method: string): boolean =>
  method === 'GET' || method === 'HEAD' || isQuery(method)

/** The form of a query string, as bodies have it. */
export const formType = 'application/x-www-form-urlencoded'

/** The header that says which bodies of a QUERY are read (RFC 10008, section 3); a media type is a token of structured fields. */
export const acceptQuery = (types: readonly string[]): { readonly 'Accept-Query': string } => ({
  'Accept-Query': types.join(', '),
})

/** A later version than 00 may have further parts behind a hyphen; ff is no version. */
const form = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/

/** The trace that the header names, with a new span for the request; undefined where it is absent or malformed. */
export const traceOf = (traceparent: string | undefined): Trace | undefined => {
  if (traceparent === undefined) return undefined
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
