/** The address of a caller, past trusted proxies, and the network that counts as one caller. */
import { BlockList, isIP, isIPv4 } from 'node:net'
import ipaddr from 'ipaddr.js'
import { type Http, header } from '#http/request.ts'
import { callerOf, type Viewer } from '#model/policy.ts'

/** Whether an address, as `plain` writes it, is of a trusted proxy. */
export type Trust = (address: string) => boolean

const familyOf = (address: string) => (isIPv4(address) ? 'ipv4' : 'ipv6')

/** The trust in a list of addresses and networks (`10.0.0.0/8`). */
export const trustOf = (networks: readonly string[]): Trust => {
  if (networks.length === 0) return () => false
  const list = new BlockList()
  for (const network of networks) {
    const [text = '', bits] = network.split('/')
    const address = bits === undefined ? plain(text) : withoutZone(text)
    if (bits === undefined) list.addAddress(address, familyOf(address))
    else list.addSubnet(address, Number(bits), familyOf(address))
  }
  return address => list.check(address, familyOf(address))
}

/** An address with the port of its client, as some proxies write it (Azure, IIS), or in brackets. */
const withPort = /^(?:\[([\da-f:.%]+)\](?::\d+)?|([\d.]+):\d+)$/i

/**
 * The client of a request that `peer` sent. The last address of `X-Forwarded-For` is believed where `peer` is a trusted
 * proxy, and each address further left where the one after it is trusted too.
 */
export const clientOf = (
  peer: string,
  forwardedFor: () => string | undefined,
  isTrusted: Trust,
): string => {
  let client = plain(peer)
  if (!isTrusted(client)) return client
  for (const hop of (forwardedFor()?.split(',') ?? []).reverse()) {
    const text = hop.trim().replace(withPort, '$1$2')
    if (isIP(text) === 0) return client
    client = plain(text)
    if (!isTrusted(client)) return client
  }
  return client
}

/** The network of one caller: an IPv4 address, or an IPv6 network of 64 bits, since each machine has many addresses. */
export const networkOf = (address: string): string => {
  if (!address.includes(':')) return address
  const first = ipaddr.IPv6.parse(address).parts.slice(0, 4)
  return `${first.map(part => part.toString(16)).join(':')}::/64`
}

const withoutZone = (address: string): string => address.split('%', 1)[0] as string

/** An address without its zone; an IPv4 one that is mapped into IPv6 (RFC 4291, section 2.5.5.2) is itself. */
const plain = (address: string): string => {
  if (!address.includes(':')) return address
  // Node writes IPv4 peers of a dual-stack server like this: a short cut past the parser.
  if (address.startsWith('::ffff:') && isIPv4(address.slice(7))) return address.slice(7)
  const bare = withoutZone(address)
  const parsed = ipaddr.IPv6.parse(bare)
  return parsed.isIPv4MappedAddress() ? parsed.toIPv4Address().toString() : bare
}

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
