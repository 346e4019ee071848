/** An app on a port of this machine, as a service has it. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { App } from '#http/request.ts'
import { answering } from '#serve/listen.ts'

/** Serves it, and gives its server with its address. */
export const serveApp = async (fetch: App['fetch']) => {
  const refuse = ({ status, message: body }: { status: number; message: string }) => ({
    ...{ status, headers: {}, body },
  })
  const server = createServer(answering(fetch, '127.0.0.1', refuse)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}
