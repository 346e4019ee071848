/** The HTTP server: its sockets, their limits, and its end. */
import { type IncomingMessage, type Server, ServerResponse } from 'node:http'
import { Server as TcpServer } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { serve } from '@hono/node-server'
import type { Config } from '#config.ts'
import type { App } from '#http/request.ts'

export type Listening = {
  readonly url: string
  /** Takes no new connections, and ends when the running requests have, or at that many milliseconds. */
  readonly close: (limit: number) => Promise<void>
}

const urlOf = (server: Server, config: Config): string => {
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : config.port
  const host = config.host.includes(':') ? `[${config.host}]` : config.host
  return `http://${host === '0.0.0.0' || host === '[::]' ? '127.0.0.1' : host}:${port}`
}

/** How long a connection may be idle while the service is draining until it is closed, in milliseconds. */
const lastRequest = 200

/**
 * Takes no new connections, and ends when the others have. A client that is about to send a request on an idle connection
 * gets the time to: it is answered, and told that this was the last answer.
 */
const closeGently = async (server: Server, limit: number): Promise<void> => {
  const forced = setTimeout(() => server.closeAllConnections(), limit)
  const idle = setTimeout(() => server.closeIdleConnections(), lastRequest)
  // The sockets are read once more first: a connection or a request that has arrived is still answered.
  await setImmediate()
  // The method of an HTTP server would close the idle connections at once.
  await new Promise(resolve => TcpServer.prototype.close.call(server, resolve))
  clearTimeout(forced)
  clearTimeout(idle)
}

/** How long a client may take nothing of an answer until its connection is ended, in milliseconds. */
const usualPatience = 30_000

/** Starts to listen; resolves when it does. While `isDraining()` an answer is the last one on its connection. */
export const listen = async (
  app: Pick<App, 'fetch'>,
  config: Config,
  isDraining: () => boolean,
  patience = usualPatience,
): Promise<Listening> => {
  const firstLook = Math.min(1000, patience / 3)
  class Answer<Asked extends IncomingMessage> extends ServerResponse<Asked> {
    override writeHead(...head: readonly unknown[]): this {
      if (isDraining()) this.shouldKeepAlive = false
      return Reflect.apply(super.writeHead, this, head)
    }
    override end(...last: readonly unknown[]): this {
      const result = Reflect.apply(super.end, this, last)
      if (this.socket && this.socket.writableLength > 0) this.socket.setTimeout(firstLook)
      return result
    }
  }
  const options = {
    fetch: app.fetch,
    hostname: config.host,
    port: config.port,
    serverOptions: {
      ServerResponse: Answer,
      headersTimeout: 10_000,
      requestTimeout: 30_000,
      connectionsCheckingInterval: 1000,
      keepAliveTimeout: 65_000,
      maxHeaderSize: 16_384,
      insecureHTTPParser: false,
    },
  }
  const server = await new Promise<Server>((resolve, reject) => {
    const made = serve(options, () => resolve(made)) as Server
    made.once('error', reject)
  })
  // Node starts the time anew, without a word, where the client has taken something since it last looked.
  server.on('timeout', socket => {
    if (socket.timeout === firstLook) socket.setTimeout(patience - firstLook)
    else socket.destroy()
  })
  server.maxConnections = config.values.DUET_MAX_CONNECTIONS
  return { url: urlOf(server, config), close: limit => closeGently(server, limit) }
}
