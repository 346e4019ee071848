/** A socket to hand over to services, as systemd does: what connects while none of them runs waits in it. */
import net from 'node:net'

/** Node's own handle of a TCP socket, which a child process can be given. */
export type BoundSocket = {
  readonly port: number
  /** What `stdio` of a child process takes. */
  readonly handles: readonly net.Socket[]
  readonly close: () => void
}

type Handle = {
  readonly getsockname: (address: { port?: number }) => number
  readonly close: () => void
}

/** The part of Node that makes a socket and does not accept from it, which it offers under this name only. */
const { _createServerHandle: createHandle } = net as unknown as {
  readonly _createServerHandle: (
    host: string,
    port: number,
    family: 4,
    descriptor: -1,
    flags: number,
  ) => Handle | number
}

/** libuv's flag for SO_REUSEPORT. */
const reusePort = 2

/** A socket on a free port of this machine that nobody listens on yet; or several on the same one, as systemd makes with `ReusePort=`. */
export const boundSocket = (count = 1): BoundSocket => {
  const address = { port: 0 }
  const handles = Array.from({ length: count }, () => {
    const flags = count > 1 ? reusePort : 0
    const handle = createHandle('127.0.0.1', address.port, 4, -1, flags)
    if (typeof handle === 'number') throw new Error(`no socket could be made: ${handle}`)
    handle.getsockname(address)
    return handle
  })
  return {
    port: address.port,
    handles: handles as unknown as readonly net.Socket[],
    close: () => {
      for (const handle of handles) handle.close()
    },
  }
}
