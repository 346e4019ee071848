/** Requests that do not reach the app: those of which no URL can be made, and those that Node's parser could not read. */
import { randomUUID } from 'node:crypto'
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { RequestError } from '@hono/node-server'
import { ApiError } from '#errors.ts'
import { notAPage, type Reply } from '#http/reply.ts'
import { versions } from '#model/version.ts'
import { failIn } from '#rest/fail.ts'

/** The reply to what does not reach the app, in the shape of all errors. */
const refusalOf = (error: ApiError): Reply => {
  const id = randomUUID()
  const { headers, ...reply } = failIn(versions[0], error, id)
  const more = { 'X-Request-Id': id, 'X-Content-Type-Options': 'nosniff' }
  return { ...reply, headers: { ...headers, ...more, 'Content-Security-Policy': notAPage } }
}

/** The answer to a request of which no URL can be made; anything else that is thrown outside of the app is a bug. */
export const unreadable = (cause: unknown): Response => {
  const error =
    cause instanceof RequestError
      ? new ApiError(
          'MALFORMED_REQUEST',
          'The target of the request and its Host header make no URL: write the one as /path, without a backslash, and the other as host or host:port',
          { cause },
        )
      : new ApiError('INTERNAL', undefined, { cause })
  const { body, ...reply } = refusalOf(error)
  return new Response(body, reply)
}

/** An error of the parser, with what it met in plain words. */
type ParserError = Error & { readonly code?: string; readonly reason?: string }

/** How many bytes Node reads of a request line and headers together. */
export const longestHead = 16_384

/** The errors that are not of a malformed request, by Node's codes. */
const known: Readonly<Record<string, () => ApiError>> = {
  HPE_HEADER_OVERFLOW: () =>
    new ApiError(
      'HEADERS_TOO_MANY',
      `The request line and the headers are above ${longestHead} bytes together; send fewer or shorter ones`,
    ),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: () =>
    new ApiError(
      'PAYLOAD_TOO_LARGE',
      'The extensions of the chunks of the body are too long; leave them out',
    ),
  ERR_HTTP_REQUEST_TIMEOUT: () =>
    new ApiError(
      'REQUEST_TIMEOUT',
      'The request did not come whole in time; send it again, without a pause in it',
    ),
}

const errorOf = ({ code = '', reason }: ParserError): ApiError =>
  known[code]?.() ??
  new ApiError(
    'MALFORMED_REQUEST',
    `The request cannot be read as HTTP/1.1${reason ? `: ${reason.toLowerCase()}` : ''}`,
  )

/** A whole response as it goes over a socket, the last one on it. */
const responseTo = (error: ParserError): string => {
  const { status, headers, body } = refusalOf(errorOf(error))
  const fields = {
    ...headers,
    Date: new Date().toUTCString(),
    'Content-Length': String(Buffer.byteLength(body ?? '')),
    Connection: 'close',
  }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`
}

/** For how long a client may still send until its connection is cut, in milliseconds. */
const lingering = 1000

/** Ends a connection when its client has had the time to read the answer: cut at once, it could be lost (RFC 9112, section 9.6). */
const endWith = (socket: Socket, response: string): void => {
  socket.end(response)
  const cut = setTimeout(() => socket.destroy(), lingering)
  cut.unref()
  socket.once('close', () => clearTimeout(cut))
}

/** The answer that a socket is given now; Node tells it nowhere else. */
const answerOn = (socket: Socket): ServerResponse | null =>
  (socket as Socket & { readonly _httpMessage?: ServerResponse | null })._httpMessage ?? null

/** Answers after the whole requests that came before (RFC 9112, section 9.3.2); one of which an answer has begun is cut off. */
const refuse = (socket: Socket, error: ParserError): void => {
  const before = answerOn(socket)
  if (!socket.writable || error.code === 'ECONNRESET') socket.destroy()
  else if (before?.req.complete) before.once('close', () => refuse(socket, error))
  else if (before?.headersSent) socket.destroy()
  else endWith(socket, responseTo(error))
}

const refused = new WeakSet<Socket>()

/** The newest request of each connection. */
const newest = new WeakMap<Socket, IncomingMessage>()

/**
 * Node looks at the time before it reads what has come: where the process itself stood still, a whole request may be there and is
 * answered, as its client was not slow. Nothing less is: Node looks at the time of each request only once.
 */
const refuseLate = (socket: Socket, error: ParserError): void => {
  const before = newest.get(socket)
  const wasComplete = before?.complete === true
  // What has come is read before that.
  setImmediate(() => {
    const now = newest.get(socket)
    if (now?.complete && (now !== before || !wasComplete)) refused.delete(socket)
    else refuse(socket, error)
  })
}

/** Refuses what the server cannot read, once on a connection: Node emits `clientError` for each piece that comes after the first one too. */
export const refuseUnparsed = (server: Server): void => {
  server.prependListener('request', request => void newest.set(request.socket, request))
  server.on('clientError', (error: ParserError, stream) => {
    const socket = stream as Socket
    if (refused.has(socket)) return
    refused.add(socket)
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') refuseLate(socket, error)
    else refuse(socket, error)
  })
}
