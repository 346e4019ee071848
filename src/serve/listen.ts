/** The HTTP server: its sockets, their limits, and its end. */

import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse as Outgoing, Server } from 'node:http'
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Socket,
  Server as TcpServer,
} from 'node:net'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { createServer, ServerResponse, STATUS_CODES } from '#base/http.ts'
import { urlOn } from '#base/paths.ts'
import type { Tally } from '#base/tallies.ts'
import type { Config } from '#config.ts'
import { ApiError } from '#errors.ts'
import { send } from '#http/answer.ts'
import { isPaced } from '#http/body.ts'
import { createConnections } from '#http/connections.ts'
import type { HttpContext } from '#http/exchange.ts'
import { noQueue } from '#http/queue.ts'
import { notAPage, type Reply } from '#http/reply.ts'
import { type App, endsConnection } from '#http/request.ts'
import { wholeServer } from '#http/routes.ts'
import type { Versions } from '#model/version.ts'
import { failIn } from '#rest/fail.ts'

export type Listening = {
  readonly url: string
  /** Takes no new connections, and ends when the running requests have, or at that many milliseconds. */
  readonly close: (limit: number) => Promise<void>
}

/** How long a client may take nothing of an answer until its connection is ended, in milliseconds. */
const usualPatience = 30_000

type ListenOptions = Partial<Pick<HttpContext, 'queue' | 'connections'>> & {
  /** The versions of the REST API, in whose oldest form errors are answered that no route sees. */
  readonly versions: Versions
  /** While it holds an answer is the last one on its connection. */
  readonly state: { readonly isDraining: boolean }
  /** The descriptor of a socket that was handed over. */
  readonly socket?: number | undefined
  /** The connections of all threads that listen on the port; absent where only one does. */
  readonly tally?: Tally | undefined
  readonly patience?: number
}

/** The class of answers, which ends connections that are drained and has a look, after so many milliseconds, at those of which something is not taken. */
const answersOf = (state: ListenOptions['state'], look: number) => {
  const watch = (socket: Socket) => {
    if (socket.timeout !== look) socket.setTimeout(look)
  }
  class Answer<Incoming extends IncomingMessage> extends ServerResponse<Incoming> {
    override writeHead(...head: readonly unknown[]): this {
      // Nothing behind the last answer is done (RFC 9112, section 9.6).
      if (state.isDraining) this.shouldKeepAlive = false
      // Node keeps the words of a head that it could not write: they would stand beside the status of another.
      this.statusMessage = ''
      return Reflect.apply(super.writeHead, this, head)
    }
    override write(...piece: readonly unknown[]): boolean {
      const result = Reflect.apply(super.write, this, piece)
      if (this.socket?.writableLength) watch(this.socket)
      return result
    }
    override end(...last: readonly unknown[]): this {
      const result = Reflect.apply(super.end, this, last)
      if (this.socket?.writableLength) watch(this.socket)
      return result
    }
    /** An answer behind others has its socket only when those are taken, perhaps long after its own end. */
    override assignSocket(socket: Socket): void {
      super.assignSocket(socket)
      if (socket.writableLength > 0) watch(socket)
    }
  }
  return Answer
}

const octet = String.raw`(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)`

/** A host and a target that stand in a URL as they are: most are, and to parse them costs as much as to route them. A name that ends in a number is an address, or makes no URL. */
const plainHost = new RegExp(
  String.raw`^(([a-z0-9_-]+\.)*[a-z_][a-z0-9_-]*|(${octet}\.){3}${octet})(:([1-5]\d{3,4}|[6-9]\d{3}))?$`,
)
const plainTarget = /^\/[!#$&-;=?-[\]_a-z~]*$/
const dotSegment = /\/\.\.?([/?#]|$)/

/** A backslash, which a URL takes for a slash, before the query. */
const backslash = /^[^?]*\\/

/** The URL of a request by its target and its Host; throws where they make none, or one of another host than the one that is written. */
const urlOf = (
  { url: target = '', httpVersionMajor, httpVersion }: IncomingMessage,
  host: string,
): string => {
  // One of a version of HTTP that no answer here is in, such as 2.0 without its framing, has no route.
  if (httpVersionMajor !== 1) return `http://localhost/HTTP/${httpVersion}`
  const isAbsolute = /^https?:\/\//.test(target)
  const isWrong = backslash.test(target) || !(isAbsolute || target.startsWith('/'))
  const url = isWrong ? null : URL.parse(isAbsolute ? target : `http://${host}${target}`)
  // An address may be written as fewer numbers than four.
  const isNamed = !/^[\d.]+(:\d*)?$/.test(host)
  const written = isNamed ? host.replace(/:\d*$/, '').toLowerCase() : url?.hostname
  if (url && (isAbsolute || url.hostname === written)) return url.href
  throw new ApiError(
    'MALFORMED_REQUEST',
    'The target of the request and its Host header make no URL: write the one as /path, without a backslash, and the other as host or host:port',
  )
}

/**
 * Node's listener for an app, for requests without a Host with that of `usualHost`. `refuse` makes the reply where there is no URL, or
 * where something is thrown outside of the app, which is a bug. What the app is given of a request is what it asks a `Request` for: the
 * rest is read off Node's own.
 */
export const answering =
  (fetch: App['fetch'], usualHost: string, refuse: (error: ApiError) => Reply) =>
  async (incoming: IncomingMessage, outgoing: Outgoing): Promise<void> => {
    try {
      const { url: target = '', method, headers, httpVersionMajor } = incoming
      const host = headers.host || usualHost
      const isPlain = plainHost.test(host) && plainTarget.test(target) && !dotSegment.test(target)
      const url =
        isPlain && httpVersionMajor === 1 ? `http://${host}${target}` : urlOf(incoming, host)
      const get = (name: string) => headers[name.toLowerCase()]?.toString() ?? null
      const request = { method, url, headers: { get } } as unknown as Request
      const response = await fetch(request, { incoming, outgoing })
      if (outgoing.headersSent) return
      const body = new Uint8Array(await response.arrayBuffer())
      send(outgoing, response.status, { headers: Object.fromEntries(response.headers), body })
    } catch (cause) {
      if (outgoing.headersSent) return void outgoing.destroy()
      const isKnown = cause instanceof ApiError
      const reply = refuse(isKnown ? cause : new ApiError('INTERNAL', undefined, { cause }))
      send(outgoing, reply.status, reply)
    }
  }

/** Starts to listen; resolves when it does. */
export const listen = async (
  app: Pick<App, 'fetch'>,
  config: Config,
  {
    versions,
    state,
    socket,
    tally,
    patience = usualPatience,
    queue = noQueue,
    ...given
  }: ListenOptions,
): Promise<Listening> => {
  const { DUET_QUEUE_SIZE, DUET_QUEUE_WAIT, DUET_MAX_CONNECTIONS } = config.values
  const limits = { held: DUET_QUEUE_SIZE, rest: DUET_QUEUE_WAIT }
  const { connections = createConnections(queue, limits) } = given
  const { look, isOver } = createStalled(patience)
  const options = {
    ServerResponse: answersOf(state, look),
    headersTimeout: 10_000,
    // Node's would end a long upload: the time of a request is watched below.
    requestTimeout: 0,
    connectionsCheckingInterval: 1000,
    keepAliveTimeout: 65_000,
    maxHeaderSize: longestHead,
    insecureHTTPParser: false,
    // Node would refuse it without a body or an id: the app does, as anything else.
    requireHostHeader: false,
  }
  // The host of the URL of a request without one, such as a check by a proxy in HTTP/1.0.
  const host = config.host.includes(':')
    ? (URL.parse(`http://[${config.host}]`)?.host ?? 'localhost')
    : config.host
  const answer = answering(app.fetch, host, error => refusalOf(error, versions))
  /** Requests of this turn of the event loop whose heads came before their bodies. */
  let unfinished: (readonly [IncomingMessage, Outgoing])[] = []
  const watchUnfinished = () => {
    for (const [incoming, outgoing] of unfinished)
      if (!incoming.complete && !incoming.destroyed) endSlow(server, incoming, outgoing)
    unfinished = []
  }
  const unheard = new Set<Socket>()
  const server = createServer(options, (incoming, outgoing) => {
    unheard.delete(incoming.socket)
    const { url = '', headers } = incoming
    // Without either there is no body (RFC 9112, section 6.3), and a request is whole as soon as its head is.
    const hasBody =
      headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
    // Most are whole a moment later, and a timer for each would cost as much as a part of its answer.
    if (hasBody && !incoming.complete && unfinished.push([incoming, outgoing]) === 1)
      setImmediate(watchUnfinished)
    // A scheme has no case (RFC 3986, section 3.1), and `*`, the server as a whole (RFC 9110, section 9.3.7), becomes a path.
    if (url === '*') incoming.url = wholeServer
    else if (!url.startsWith('/'))
      incoming.url = url.replace(/^https?:/i, scheme => scheme.toLowerCase())
    connections.receive(incoming, outgoing, answer, endsConnection(incoming))
  })
  // Node would invite each body: here who reads it does.
  server.on('checkContinue', (...both) => server.emit('request', ...both))
  server.on('connection', queue.giveWay)
  server.on('connection', connection => {
    unheard.add(connection)
    connection.once('close', () => unheard.delete(connection))
  })
  // Node starts the time anew, without a word, where the client has taken something since it last looked.
  server.on('timeout', socket => {
    // One that has taken all waits for what is still read.
    const isStalled = socket.timeout !== look || (socket.writableLength > 0 && isOver(socket))
    if (isStalled) socket.destroy()
    else socket.setTimeout(look)
  })
  refuseUnparsed(server, versions)
  server.maxConnections = DUET_MAX_CONNECTIONS
  if (tally) {
    let open = 0
    server.on('connection', connection => {
      tally.put(++open)
      connection.once('close', () => tally.put(--open))
    })
    // Node reads it at each new connection: what other threads have of theirs is not left for this one.
    Object.defineProperty(server, 'maxConnections', {
      get: () => DUET_MAX_CONNECTIONS - tally.others(),
    })
  }
  const { address, port } = await listenOn(server, config, socket, tally !== undefined)
  return {
    url: urlOn(socket === undefined ? config.host : address, port),
    close: limit => closeGently(server, unheard, limit),
  }
}

/** How long a whole request may take, in milliseconds. */
const requestTime = 30_000

/** Refuses a request that does not come whole in time, unless the pace of its body is watched; one that was answered meanwhile is cut off. */
const endSlow = (server: Server, incoming: IncomingMessage, outgoing: Outgoing): void => {
  const late = setTimeout(() => {
    if (incoming.complete || incoming.destroyed) return
    if (isPaced(incoming)) return void late.refresh()
    if (outgoing.writableFinished) return void incoming.socket.destroy()
    const error = Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
    server.emit('clientError', error, incoming.socket)
  }, requestTime).unref()
  incoming.once('close', () => clearTimeout(late))
}

/** Finds out whether the port of the settings is free, as threads that share one would take it beside another program; gives its number. */
export const freePort = async (config: Config): Promise<number> => {
  const server = createTcpServer()
  const { port } = await listenOn(server, config)
  server.close()
  await once(server, 'close')
  return port
}

/** How many connections may wait to be accepted; the system has a limit of its own. */
const backlog = 4096

/** Listens on the address and port of the settings, which other threads may share, or on the socket that was handed over; gives the address. */
const listenOn = async (
  server: TcpServer,
  { port, host }: Config,
  socket?: number,
  isShared = false,
): Promise<AddressInfo> => {
  if (socket === undefined) server.listen({ port, host, backlog, reusePort: isShared })
  else server.listen({ fd: socket, backlog })
  try {
    await once(server, 'listening')
  } catch (cause) {
    if (socket === undefined) throw cause
    const reason = (cause as Error).message
    throw new Error(
      `descriptor ${socket}, which LISTEN_FDS names, is no socket to listen on: ${reason}`,
      { cause },
    )
  }
  const address = server.address()
  // A socket at a path does not give the client's address, which distinguishes callers without a token.
  if (typeof address === 'string' || address === null)
    throw new Error(
      'the socket that was handed over is no socket of TCP: hand over one with an address and a port',
    )
  return address
}

/** How long a connection may be idle while the service is draining until it is closed, in milliseconds. */
const lastRequest = 200

/** The part of the time to end in which the first request of a connection is waited for, and how often it is looked for, in milliseconds. */
const firstRequest = { part: 1 / 5, look: 20 }

/**
 * Takes no new connections, and ends when the others have. A client that is about to send a request on an idle connection
 * gets the time to: it is answered, and told that this was the last answer. More time has one of the `unheard`, of which no request
 * has come yet: its client would not send the request again, as clients do if a connection that they keep is closed.
 */
const closeGently = async (
  server: Server,
  unheard: ReadonlySet<Socket>,
  limit: number,
): Promise<void> => {
  const begun = performance.now()
  const forced = setTimeout(() => server.closeAllConnections(), limit)
  // The sockets are read once more first: a connection or a request that has arrived is still answered. A turn takes one connection, and
  // those that wait when the socket is closed would be cut off.
  let accepted = true
  server.on('connection', () => {
    accepted = true
  })
  while (accepted && performance.now() < begun + lastRequest) {
    accepted = false
    await nextTurn()
    await nextTurn()
  }
  // The method of an HTTP server would close the idle connections at once.
  const closed = new Promise(resolve => TcpServer.prototype.close.call(server, resolve))
  await Promise.race([closed, sleep(lastRequest)])
  while (unheard.size > 0 && performance.now() < begun + limit * firstRequest.part)
    await Promise.race([closed, sleep(firstRequest.look)])
  // What arrived while the process stood still is read before any connection is taken for idle.
  await nextTurn()
  server.closeIdleConnections()
  await closed
  clearTimeout(forced)
}

/** How often a client is looked at until its patience is over. */
const looks = 6

/** When a client has taken nothing of its answer for so long that its connection is ended: it is looked at every `look` milliseconds until nothing was taken for `patience`, and at most one `look` longer. */
export const createStalled = (patience: number, now = () => performance.now()) => {
  const look = patience / looks
  const stalls = new WeakMap<object, { readonly at: number; readonly inRow: number }>()
  return {
    look,
    /**
     * Whether patience is over, asked at each look at a connection of which nothing was taken since the one before. Node does not
     * tell of the others: where one may lie between, the time begins anew.
     */
    isOver: (connection: object): boolean => {
      const at = now()
      const before = stalls.get(connection)
      const inRow = before && at - before.at < 1.5 * look ? before.inRow + 1 : 1
      stalls.set(connection, { at, inRow })
      return inRow === looks
    },
  }
}

/** The reply to what does not reach the app, in the shape of all errors. */
const refusalOf = (error: ApiError, versions: Versions): Reply => {
  const id = randomUUID()
  const { headers, ...reply } = failIn(versions, versions.oldest, error, id)
  const more = { 'X-Request-Id': id, 'X-Content-Type-Options': 'nosniff' }
  return { ...reply, headers: { ...headers, ...more, 'Content-Security-Policy': notAPage } }
}

/** An error of the parser, with what it met in plain words. */
type ParserError = Error & { readonly code?: string; readonly reason?: string }

/** How many bytes Node reads of a request line and headers together. */
const longestHead = 16_384

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

/** A whole response as it goes over a socket, the last one on it. */
const responseTo = ({ code = '', reason }: ParserError, versions: Versions): string => {
  const error =
    known[code]?.() ??
    new ApiError(
      'MALFORMED_REQUEST',
      `The request cannot be read as HTTP/1.1${reason ? `: ${reason.toLowerCase()}` : ''}`,
    )
  const { status, headers, body } = refusalOf(error, versions)
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

/** A socket with the answer that it is given now; Node tells it nowhere else. */
type AnsweredSocket = Socket & { readonly _httpMessage?: Outgoing | null }

/** Answers after the whole requests that came before (RFC 9112, section 9.3.2); one of which an answer has begun is cut off. */
const refuse = (socket: AnsweredSocket, error: ParserError, versions: Versions): void => {
  const before = socket._httpMessage
  if (!socket.writable || error.code === 'ECONNRESET') socket.destroy()
  else if (before?.req.complete) before.once('close', () => refuse(socket, error, versions))
  else if (before?.headersSent) socket.destroy()
  else {
    socket.end(responseTo(error, versions))
    // Cut at once, the answer could be lost before its client reads it (RFC 9112, section 9.6).
    const cut = setTimeout(() => socket.destroy(), lingering).unref()
    socket.once('close', () => clearTimeout(cut))
  }
}

const refused = new WeakSet<Socket>()

const newest = new WeakMap<Socket, IncomingMessage>()

/** Refuses what the server cannot read, once on a connection: Node emits `clientError` for each piece that comes after the first one too. */
export const refuseUnparsed = (server: Server, versions: Versions): void => {
  server.prependListener('request', request => void newest.set(request.socket, request))
  server.on('clientError', (error: ParserError, stream) => {
    const socket = stream as Socket
    if (refused.has(socket)) return
    refused.add(socket)
    if (error.code !== 'ERR_HTTP_REQUEST_TIMEOUT') return refuse(socket, error, versions)
    // Node looks at the time before it reads what has come: where the process itself stood still, a whole request may be there and is
    // answered, as its client was not slow. Nothing less is: Node looks at the time of each request only once.
    const before = newest.get(socket)
    const wasComplete = before?.complete === true
    setImmediate(() => {
      const now = newest.get(socket)
      if (now?.complete && (now !== before || !wasComplete)) refused.delete(socket)
      else refuse(socket, error, versions)
    })
  })
}
