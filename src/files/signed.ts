/** Addresses of files that hold without a token for a while, for `<img>`: whoever has one may read what it names, and no more. */
import { createHmac, timingSafeEqual } from 'node:crypto'

/** How long an address holds, in milliseconds. */
export const signedFor = 300_000

const sealOf = (key: Uint8Array, path: string, digest: string, end: number): string =>
  createHmac('sha256', key)
    .update(JSON.stringify(['file', path, digest, end]))
    .digest('base64url')

/** The address of a file at that path, which holds five minutes from now; `key` is the store's. */
export const signedAddress = (
  key: Uint8Array,
  path: string,
  digest: string,
  now: number,
): string => {
  const end = now + signedFor
  return `${path}?v=${digest.slice(0, 16)}&until=${end}&seal=${sealOf(key, path, digest, end)}`
}

/** Whether the query of an address opens the file that is at that path now. */
export const isSigned = (
  key: Uint8Array,
  path: string,
  digest: string,
  query: URLSearchParams,
  now: number,
): boolean => {
  const [until = '', seal = ''] = ['until', 'seal'].map(name => query.get(name) ?? '')
  const end = Number(until)
  if (!/^\d{1,15}$/.test(until) || end <= now || end > now + signedFor) return false
  const [sent, own] = [Buffer.from(seal), Buffer.from(sealOf(key, path, digest, end))]
  return sent.length === own.length && timingSafeEqual(sent, own)
}
