/** The HTTP server: its sockets, their limits, and its end. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, ServerResponse } from 'node:http'
import { type AddressInfo, type Socket, Server as TcpServer } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { getRequestListener } from '@hono/node-server'
import type { Config } from '#config.ts'
import { createConnections } from '#http/connections.ts'
import type { HttpContext } from '#http/exchange.ts'
import { noQueue } from '#http/queue.ts'
import type { App } from '#http/request.ts'
import { endsConnection } from '#http/request-checks.ts'
import { wholeServer } from '#http/unrouted.ts'
import { longestHead, refuseUnparsed, unreadable } from '#serve/unparsed.ts'

export type Listening = {
  readonly url: string
  /** Takes no new connections, and ends when the running requests have, or at that many milliseconds. */
  readonly close: (limit: number) => Promise<void>
}

/** How long a client may take nothing of an answer until its connection is ended, in milliseconds. */
const usualPatience = 30_000

type ListenOptions = Partial<Pick<HttpContext, 'queue' | 'connections'>> & {
  /** While it holds an answer is the last one on its connection. */
  readonly isDraining: () => boolean
  /** The descriptor of a socket that was handed over. */
  readonly socket?: number | undefined
  readonly patience?: number
}

/** Starts to listen; resolves when it does. */
export const listen = async (
  app: Pick<App, 'fetch'>,
  config: Config,
  { isDraining, socket, patience = usualPatience, queue = noQueue, ...given }: ListenOptions,
): Promise<Listening> => {
  const { DUET_QUEUE_SIZE, DUET_QUEUE_WAIT, DUET_MAX_CONNECTIONS } = config.values
  const limits = { held: DUET_QUEUE_SIZE, rest: DUET_QUEUE_WAIT }
  const { connections = createConnections(queue, limits) } = given
  const { look, isOver } = createStalled(patience)
  class Answer<Asked extends IncomingMessage> extends ServerResponse<Asked> {
    override writeHead(...head: readonly unknown[]): this {
      // Nothing behind the last answer is done (RFC 9112, section 9.6).
      if (isDraining()) this.shouldKeepAlive = false
      return Reflect.apply(super.writeHead, this, head)
    }
    override end(...last: readonly unknown[]): this {
      const result = Reflect.apply(super.end, this, last)
      if (this.socket && this.socket.writableLength > 0) this.socket.setTimeout(look)
      return result
    }
    /** An answer behind others has its socket only when those are taken, perhaps long after its own end. */
    override assignSocket(socket: Socket): void {
      super.assignSocket(socket)
      if (this.writableEnded && socket.writableLength > 0) socket.setTimeout(look)
    }
  }
  const options = {
    ServerResponse: Answer,
    headersTimeout: 10_000,
    requestTimeout: 30_000,
    connectionsCheckingInterval: 1000,
    keepAliveTimeout: 65_000,
    maxHeaderSize: longestHead,
    insecureHTTPParser: false,
    // Node would refuse it without a body or an id: the app does, as anything else.
    requireHostHeader: false,
  }
  const answer = getRequestListener(app.fetch, {
    hostname: inUrl(config.host),
    errorHandler: unreadable,
  })
  const server = createServer(options, (incoming, outgoing) => {
    const { url = '' } = incoming
    if (!url.startsWith('/')) incoming.url = readTarget(url)
    connections.receive(incoming, outgoing, answer, endsConnection(incoming))
  })
  server.on('connection', queue.giveWay)
  // Node starts the time anew, without a word, where the client has taken something since it last looked.
  server.on('timeout', socket => {
    if (socket.timeout === look && !isOver(socket)) socket.setTimeout(look)
    else socket.destroy()
  })
  refuseUnparsed(server)
  server.maxConnections = DUET_MAX_CONNECTIONS
  const address = await listenOn(server, config, socket)
  return { url: urlOf(address, config, socket), close: limit => closeGently(server, limit) }
}

/**
 * The target of a request as the app reads it. A scheme has no case (RFC 3986, section 3.1; the adapter knows it in lower case), and `*`, which is the
 * server as a whole (RFC 9110, section 9.3.7), becomes a path.
 */
const readTarget = (target: string): string =>
  target === '*' ? wholeServer : target.replace(/^https?:/i, scheme => scheme.toLowerCase())

/** The address of a service as the host of a URL, which is that of a request without one, such as a check by a proxy in HTTP/1.0. */
const inUrl = (host: string): string =>
  host.includes(':') ? (URL.parse(`http://[${host}]`)?.hostname ?? 'localhost') : host

const urlOf = ({ address, port }: AddressInfo, config: Config, socket?: number): string => {
  const name = socket === undefined ? config.host : address
  const host = name.includes(':') ? `[${name}]` : name
  return `http://${host === '0.0.0.0' || host === '[::]' ? '127.0.0.1' : host}:${port}`
}

/** How many connections may wait to be accepted; the system has a limit of its own. */
const backlog = 4096

/** Listens on the address and port of the settings, or on the socket that was handed over; gives the address. */
const listenOn = async (server: Server, config: Config, socket?: number): Promise<AddressInfo> => {
  if (socket === undefined) server.listen({ port: config.port, host: config.host, backlog })
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
  // One of a path has no address of its client, by which callers without a token are told apart.
  if (typeof address === 'string' || address === null)
    throw new Error(
      'the socket that was handed over is no socket of TCP: hand over one with an address and a port',
    )
  return address
}

/** How long a connection may be idle while the service is draining until it is closed, in milliseconds. */
const lastRequest = 200

/**
 * Takes no new connections, and ends when the others have. A client that is about to send a request on an idle connection
 * gets the time to: it is answered, and told that this was the last answer.
 */
const closeGently = async (server: Server, limit: number): Promise<void> => {
  const forced = setTimeout(() => server.closeAllConnections(), limit)
  // What arrived while the process stood still is read before any connection is taken for idle.
  const close = () => void setImmediate().then(() => server.closeIdleConnections())
  const idle = setTimeout(close, lastRequest)
  // The sockets are read once more first: a connection or a request that has arrived is still answered.
  await setImmediate()
  // The method of an HTTP server would close the idle connections at once.
  await new Promise(resolve => TcpServer.prototype.close.call(server, resolve))
  clearTimeout(forced)
  clearTimeout(idle)
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
