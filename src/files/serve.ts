/** Files as answers: whole or one range, with validators, and so that no browser runs them. */
import { ApiError } from '#errors.ts'
import type { ByteRange, FileStore } from '#files/store.ts'
import { allowedTags, isNotModified } from '#http/conditional.ts'
import type { Reply } from '#http/reply.ts'
import { openCursor, sealCursor, sealOf } from '#read/cursor.ts'

/** A file that may be shown to who asks. */
export type Shown = {
  readonly digest: string
  readonly name: string
  readonly type: string
  readonly bytes: number
  /** Whether everybody may read it. */
  readonly cache: 'public' | 'private'
  /** The name in the store of what is given in its place, such as a size, which type and length are then of. */
  readonly stored?: string
}

/** The strong ETag of a file, or of what is kept beside it. */
export const fileTag = (name: string): string => `"${name.replaceAll('.', '-')}"`

/** The types that browsers show and cannot be made to run; a PDF is none, as no browser shows one in a sandbox. */
const shownInPlace = /^(?:image\/(?!svg)|audio\/|video\/|text\/plain$)/

/** `Content-Disposition` (RFC 6266) with a name of any characters; old clients get it in ASCII. */
const disposition = (type: string, name: string): string => {
  const ascii = name.replace(/[^\x20-\x7e]|["\\%]/g, '_')
  const encoded = encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    mark => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  const how = shownInPlace.test(type) ? 'inline' : 'attachment'
  return `${how}; filename="${ascii}"; filename*=UTF-8''${encoded}`
}

const year = 31_536_000
const leastOfDigest = 8

/** The range that a request asks for; undefined for the whole, `'none'` for one that no byte is in. A header of another form, or with several, counts for nothing (RFC 9110, section 14.2). */
const rangeOf = (request: Request, tag: string, bytes: number): ByteRange | 'none' | undefined => {
  if (request.method !== 'GET') return undefined
  const [, from = '', to = ''] =
    /^bytes=(\d*)-(\d*)$/i.exec(request.headers.get('range') ?? '') ?? []
  if (from === '' && to === '') return undefined
  const ifRange = request.headers.get('if-range')
  // A date never matches: files have none.
  if (ifRange !== null && ifRange.trim() !== tag) return undefined
  if (from === '') {
    if (Number(to) === 0) return 'none'
    // The last bytes of an empty file are all of it, and no Content-Range says that.
    return bytes === 0 ? undefined : { first: Math.max(0, bytes - Number(to)), last: bytes - 1 }
  }
  if (to !== '' && Number(to) < Number(from)) return undefined
  const last = to === '' ? bytes - 1 : Math.min(Number(to), bytes - 1)
  return Number(from) >= bytes ? 'none' : { first: Number(from), last }
}

/**
 * The answer to GET or HEAD with a file: 200, 206 for one range, 304 where the caller has it. Throws `PRECONDITION_FAILED` where
 * `If-Match` names another, `RANGE_NOT_SATISFIABLE` for a range behind its end, and an error if the store does not have the bytes.
 */
export const serveFile = async (
  request: Request,
  { digest, name, type, bytes, cache, stored = digest }: Shown,
  store: FileStore,
): Promise<Reply> => {
  const tag = fileTag(stored)
  const version = new URL(request.url).searchParams.get('v') ?? ''
  const isFixed = version.length >= leastOfDigest && digest.startsWith(version)
  const kept = isFixed ? `public, max-age=${year}, immutable` : 'public, no-cache'
  const headers: Record<string, string> = {
    ETag: tag,
    'Cache-Control': cache === 'public' ? kept : 'private, no-cache',
  }
  const wanted = allowedTags(request.headers.get('if-match') ?? undefined)
  if (wanted !== undefined && wanted !== 'any' && !wanted.includes(tag))
    throw new ApiError(
      'PRECONDITION_FAILED',
      'The file is none that If-Match names: leave the header out to have it as it is now',
    )
  if (isNotModified(request.headers.get('if-none-match') ?? undefined, tag))
    return { status: 304, headers, body: null }
  const range = rangeOf(request, tag, bytes)
  if (range === 'none') {
    const message = `The file has ${bytes} bytes; ask for some of them`
    const headers = { 'Content-Range': `bytes */${bytes}`, 'Accept-Ranges': 'bytes' }
    throw new ApiError('RANGE_NOT_SATISFIABLE', message, { headers })
  }
  const length = range ? range.last - range.first + 1 : bytes
  Object.assign(headers, {
    // Without a charset a browser would guess one.
    'Content-Type': type === 'text/plain' ? `${type}; charset=utf-8` : type,
    'Content-Length': String(length),
    'Content-Disposition': disposition(type, name),
    'Accept-Ranges': 'bytes',
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': 'sandbox',
    ...(range && { 'Content-Range': `bytes ${range.first}-${range.last}/${bytes}` }),
  })
  const isSent = request.method === 'GET' && length > 0
  const stream = isSent ? { body: await store.open(stored, range), bytes: length } : undefined
  return { status: range ? 206 : 200, headers, body: null, stream }
}

/** How long an address holds, in milliseconds. */
const signedFor = 300_000

/** The address of a file at that path, which holds five minutes from now; `key` is the store's. */
export const signedAddress = (
  key: Uint8Array,
  path: string,
  digest: string,
  now: number,
): string => {
  const seal = sealCursor(sealOf(key, 'file', path, digest), [now + signedFor])
  return `${path}?v=${digest.slice(0, 16)}&seal=${seal}`
}

/** Whether the seal of an address opens the file that is at that path now. */
export const isSigned = (
  key: Uint8Array,
  path: string,
  digest: string,
  seal: string,
  now: number,
): boolean => {
  const [end] = openCursor(sealOf(key, 'file', path, digest), seal) ?? []
  return Number(end) > now
}
