/** Serves the metrics on a port of their own, which callers of the APIs do not reach. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Metrics } from '#metrics/metrics.ts'

const path = '/metrics'

const answer = async (
  { text, type }: Pick<Metrics, 'text' | 'type'>,
  { url = '', method = '' }: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  if (url.split('?', 1)[0] !== path) {
    response.writeHead(404).end(`The metrics are at ${path}\n`)
  } else if (method !== 'GET' && method !== 'HEAD') {
    response.writeHead(405, { Allow: 'GET, HEAD' }).end()
  } else {
    const body = await text()
    response.writeHead(200, { 'Content-Type': type }).end(method === 'HEAD' ? undefined : body)
  }
}

export type MetricsServer = { readonly url: string; readonly close: () => void }

/** Begins to listen; rejects where the port cannot be had. */
export const listenForMetrics = async (
  metrics: Pick<Metrics, 'text' | 'type'>,
  host: string,
  port: number,
): Promise<MetricsServer> => {
  const server = createServer((request, response) => {
    answer(metrics, request, response).catch(() => response.writeHead(500).end())
  })
  // `exclusive`: each of several processes has a port of its own.
  server.listen({ host, port, exclusive: true })
  await once(server, 'listening')
  const name = host.includes(':') ? `[${host}]` : host
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://${name}:${(server.address() as AddressInfo).port}${path}`, close }
}
