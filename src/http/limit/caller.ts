/** Who a request comes from, for all that is shared fairly among callers. */
import { type Http, header } from '#http/request.ts'
import { callerOf, type Viewer } from '#model/policy.ts'
import { clientOf, networkOf, trustOf } from './address.ts'

export type NameCaller = (c: Http, viewer: Viewer) => string

/** Gives the name of a caller: the viewer of its token, or the network of its address, behind proxies that are trusted. */
export const callersBehind = (proxies: readonly string[] = []): NameCaller => {
  const trust = trustOf(proxies)
  return (c, viewer) => {
    const caller = callerOf(viewer)
    if (caller !== undefined) return caller
    const peer = c.env?.incoming?.socket.remoteAddress
    // There is no socket in tests, and none with addresses behind a Unix socket.
    if (peer === undefined) return 'address unknown'
    return `address ${networkOf(clientOf(peer, () => header(c, 'x-forwarded-for'), trust))}`
  }
}
