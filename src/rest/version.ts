/** Which version of the REST interface a request names: by path, `Accept`, `API-Version` or `?version=`. */
import { ApiError } from '#errors.ts'
import { type Http, header } from '#http/request.ts'

/** The versions that are offered. */
export const versions = [1] as const

export type Version = (typeof versions)[number]

/** What the request named, and how the answer's Content-Type says so. */
export type Named = { readonly version: Version; readonly contentType: string }

const isOffered = (version: number): version is Version =>
  (versions as readonly number[]).includes(version)

const offered = `offered: ${versions.join(', ')}`

const unsupported = (named: string, status: number) =>
  new ApiError('UNSUPPORTED_VERSION', `Version ${named} of the API does not exist (${offered})`, {
    status,
  })

const inAccept = /application\/vnd\.duet\.v([^+\s;,]*)\+json/i

const json = 'application/json; charset=utf-8'
const plain: Named = { version: 1, contentType: json }

/** A version as a header or the query names it; undefined where it does not. */
const numbered = (text: string | null | undefined): number | undefined => {
  if (text === undefined || text === null) return undefined
  const number = /^\d{1,9}$/.test(text.trim()) ? Number(text) : Number.NaN
  if (!isOffered(number)) throw unsupported(text.slice(0, 20), 400)
  return number
}

/**
 * The version of a request below a path that names `inPath` (null: the path names none).
 * Throws `UNSUPPORTED_VERSION` 406 or 400, and `MALFORMED_REQUEST` where two of them disagree.
 */
export const versionOf = (c: Http, inPath: Version | null, query: string): Named => {
  const accept = header(c, 'accept')
  const vendor = accept?.includes('vnd.duet') ? inAccept.exec(accept)?.[1] : undefined
  const inHeader = header(c, 'api-version')
  const inQuery = query.includes('version=') ? new URLSearchParams(query).get('version') : null
  if (vendor === undefined && inHeader === undefined && inQuery === null) return plain
  if (vendor !== undefined && !isOffered(Number(vendor)))
    throw unsupported(vendor.slice(0, 20), 406)
  const named = [
    inPath,
    vendor === undefined ? null : Number(vendor),
    numbered(inHeader),
    numbered(inQuery),
  ]
  const distinct = new Set(named.filter(version => version != null))
  if (distinct.size > 1)
    throw new ApiError(
      'MALFORMED_REQUEST',
      `The request names versions ${[...distinct].join(' and ')} at once`,
    )
  const [version = 1] = distinct
  const contentType =
    vendor === undefined ? json : `application/vnd.duet.v${version}+json; charset=utf-8`
  return { version: version as Version, contentType }
}
