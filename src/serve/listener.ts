/** What a server does with each request that comes: the app answers it, also where its target is not that of a path. */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { getRequestListener, RequestError } from '@hono/node-server'
import { ApiError } from '#errors.ts'
import { isMisframed } from '#http/head.ts'
import { notAPage, type Reply } from '#http/reply.ts'
import type { App } from '#http/request.ts'
import { wholeServer } from '#http/unrouted.ts'
import { versions } from '#model/version.ts'
import { failIn } from '#rest/fail.ts'

/**
 * The target of a request as the app reads it. A scheme has no case (RFC 3986, section 3.1; the adapter knows it in lower case), and `*`, which is the
 * server as a whole (RFC 9110, section 9.3.7), becomes a path.
 */
const readTarget = (target: string): string =>
  target === '*' ? wholeServer : target.replace(/^https?:/i, scheme => scheme.toLowerCase())

/** The error for a request of which no URL can be made; anything else that is thrown outside of the app is a bug. */
const unread = (error: unknown): ApiError =>
  error instanceof RequestError
    ? new ApiError(
        'MALFORMED_REQUEST',
        'The target of the request and its Host header make no URL: write the one as /path, without a backslash, and the other as host or host:port',
        { cause: error },
      )
    : new ApiError('INTERNAL', undefined, { cause: error })

/** The reply to what does not reach the app, in the shape of all errors. */
export const refusalOf = (error: ApiError): Reply => {
  const id = randomUUID()
  const { headers, ...reply } = failIn(versions[0], error, id)
  const more = { 'X-Request-Id': id, 'X-Content-Type-Options': 'nosniff' }
  return { ...reply, headers: { ...headers, ...more, 'Content-Security-Policy': notAPage } }
}

const refuse = (error: unknown): Response => {
  const { body, ...reply } = refusalOf(unread(error))
  return new Response(body, reply)
}

/** The address of a service as the host of a URL, which is that of a request without one, such as a check by a proxy in HTTP/1.0. */
const inUrl = (host: string): string =>
  host.includes(':') ? (URL.parse(`http://[${host}]`)?.hostname ?? 'localhost') : host

/** The listener of a server for its requests; a request that cannot be read is refused as any other is. */
export const listenerFor = (app: Pick<App, 'fetch'>, host: string) => {
  const answer = getRequestListener(app.fetch, { hostname: inUrl(host), errorHandler: refuse })
  /** Those that end with an answer to come (RFC 9112, section 6.1): what Node reads behind it may be no request at all. */
  const ending = new WeakSet<Socket>()
  return (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    if (ending.has(incoming.socket)) return
    if (isMisframed(incoming)) {
      ending.add(incoming.socket)
      outgoing.shouldKeepAlive = false
    }
    const { url = '' } = incoming
    if (!url.startsWith('/')) incoming.url = readTarget(url)
    void answer(incoming, outgoing)
  }
}
