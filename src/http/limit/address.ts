/** Which address a request is from: past the proxies that are trusted, and as the network that one caller has. */
import { BlockList, isIP, isIPv4 } from 'node:net'

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

/**
 * The client of a request that `peer` sent. A trusted proxy is believed about who sent the request to it, which
 * `X-Forwarded-For` says at its end; what stands further left is believed while that one is trusted too.
 */
export const clientOf = (
  peer: string,
  forwardedFor: () => string | undefined,
  isTrusted: Trust,
): string => {
  let client = plain(peer)
  if (!isTrusted(client)) return client
  const hops = forwardedFor()?.split(',') ?? []
  for (const hop of hops.reverse()) {
    const text = hop.trim()
    if (isIP(text) === 0) return client
    client = plain(text)
    if (!isTrusted(client)) return client
  }
  return client
}

/** What one caller has of addresses: an IPv4 address, or an IPv6 network of 64 bits, where each machine has many. */
export const networkOf = (address: string): string => {
  if (!address.includes(':')) return address
  const first = groupsOf(address).slice(0, 4)
  return `${first.map(group => group.toString(16)).join(':')}::/64`
}

const withoutZone = (address: string): string => address.split('%', 1)[0] as string

/** An address without its zone; an IPv4 one that is mapped into IPv6 (RFC 4291, section 2.5.5.2) is itself. */
const plain = (address: string): string => {
  if (!address.includes(':')) return address
  // As Node writes each IPv4 peer of a server that listens on both: spared the way around.
  if (address.startsWith('::ffff:') && isIPv4(address.slice(7))) return address.slice(7)
  const bare = withoutZone(address)
  const groups = groupsOf(bare)
  if (groups[5] !== 0xffff || groups.slice(0, 5).some(group => group !== 0)) return bare
  return groups
    .slice(6)
    .flatMap(group => [group >> 8, group & 255])
    .join('.')
}

const hexOf = (text: string): readonly number[] =>
  text === '' ? [] : text.split(':').map(group => Number.parseInt(group, 16))

/** The last 32 bits in hexadecimal, where they are written as an IPv4 address. */
const inHex = (address: string): string => {
  if (!address.includes('.')) return address
  const start = address.lastIndexOf(':') + 1
  const [a = 0, b = 0, c = 0, d = 0] = address.slice(start).split('.').map(Number)
  const groups = [a * 256 + b, c * 256 + d].map(group => group.toString(16))
  return `${address.slice(0, start)}${groups.join(':')}`
}

/** The eight groups of an IPv6 address in any of its spellings (RFC 4291, section 2.2). */
const groupsOf = (address: string): readonly number[] => {
  const [head = '', tail = ''] = inHex(address).split('::')
  const left = hexOf(head)
  const right = hexOf(tail)
  return [...left, ...new Array(8 - left.length - right.length).fill(0), ...right]
}
