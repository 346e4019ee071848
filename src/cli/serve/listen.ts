/** The HTTP server: its sockets, their limits, and its end. */
import { type IncomingMessage, ServerResponse } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { serve } from '@hono/node-server'
import type { Config } from '#config.ts'
import type { App } from '#http/request.ts'

type Server = ReturnType<typeof serve>

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

/** Starts to listen; resolves when it does. While `isDraining()` an answer is the last one on its connection. */
export const listen = async (
  app: App,
  config: Config,
  isDraining: () => boolean,
): Promise<Listening> => {
  class Answer<Asked extends IncomingMessage> extends ServerResponse<Asked> {
    override writeHead(...head: readonly unknown[]): this {
      if (isDraining()) this.shouldKeepAlive = false
      return Reflect.apply(super.writeHead, this, head)
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
    },
  }
  const server = await new Promise<Server>((resolve, reject) => {
    const made = serve(options, () => resolve(made))
    made.once('error', reject)
  })
  const close = async (limit: number) => {
    const forced = setTimeout(
      () => 'closeAllConnections' in server && server.closeAllConnections(),
      limit,
    )
    // The sockets are read once more first: a connection or a request that has arrived is still answered.
    await setImmediate()
    await new Promise(resolve => server.close(resolve))
    clearTimeout(forced)
  }
  return { url: urlOf(server, config), close }
}
