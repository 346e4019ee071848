/** A socket to hand over to services, as systemd does: what connects while none of them runs waits in it. */
import net from 'node:net'

/** Node's own handle of a TCP socket, which a child process can be given. */
export type BoundSocket = {
  readonly port: number
  /** What `stdio` of a child process takes. */
  readonly handle: net.Socket
  readonly close: () => void
}

type Handle = {
  readonly getsockname: (address: { port?: number }) => number
  readonly close: () => void
}

/** The part of Node that makes a socket and does not accept from it, which it offers under this name only. */
const { _createServerHandle: createHandle } = net as unknown as {
  readonly _createServerHandle: (host: string, port: number, family: 4) => Handle | number
}

/** A socket on a free port of this machine that nobody listens on yet. */
export const boundSocket = (): BoundSocket => {
  const handle = createHandle('127.0.0.1', 0, 4)
  if (typeof handle === 'number') throw new Error(`no socket could be made: ${handle}`)
  const address = { port: 0 }
  handle.getsockname(address)
  return {
    port: address.port,
    handle: handle as unknown as net.Socket,
    close: () => handle.close(),
  }
}
