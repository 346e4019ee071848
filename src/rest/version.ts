/** The version of the REST API that a request names: by path, `Accept`, `API-Version` or `?version=`. */

import { restPath } from '#base/paths.ts'
import { ApiError } from '#errors.ts'
import { type Http, header } from '#http/request.ts'

/** The versions that are offered. */
export const versions = [1] as const

export type Version = (typeof versions)[number]

/** The version header of an answer at a path, where the path alone decides it. */
export const versionHeader = (path: string): Readonly<Record<string, string>> =>
  path.startsWith(`${restPath}/`) ? { 'API-Version': '1' } : {}

/** The version that a request named, and the answer's Content-Type for it. */
export type Named = { readonly version: Version; readonly contentType: string }

const offered = `offered: ${versions.join(', ')}`

const unsupported = (named: string, status: number) =>
  new ApiError(
    'UNSUPPORTED_VERSION',
    `Version ${named.slice(0, 20)} of the API does not exist (${offered})`,
    { status },
  )

const inAccept = /application\/vnd\.duet\.v([^+\s;,]*)\+json/i

const json = 'application/json; charset=utf-8'
const plain: Named = { version: 1, contentType: json }

const isOffered = (named: string): boolean => versions.some(version => String(version) === named)

/**
 * The version of a request below a path that names `inPath` (null: the path names none).
 * Throws `UNSUPPORTED_VERSION` 406 or 400, and `MALFORMED_REQUEST` where two of them disagree.
 */
export const versionOf = (c: Http, inPath: Version | null, query: string): Named => {
  const accept = header(c, 'accept')
  const vendor = accept?.includes('vnd.duet') ? inAccept.exec(accept)?.[1] : undefined
  const inHeader = header(c, 'api-version')
  const inQuery = query.includes('version') ? new URLSearchParams(query).getAll('version') : []
  if (vendor === undefined && inHeader === undefined && inQuery.length === 0) return plain
  const others = inHeader === undefined ? inQuery : [inHeader, ...inQuery]
  const named = new Set(inPath === null ? others : [String(inPath), ...others])
  if (vendor !== undefined) named.add(vendor)
  if (named.size > 1)
    throw new ApiError(
      'MALFORMED_REQUEST',
      `The request names several versions at once: ${[...named].join(', ').slice(0, 60)}`,
    )
  const [only = ''] = named
  if (!isOffered(only)) throw unsupported(only, only === vendor ? 406 : 400)
  const contentType =
    vendor === undefined ? json : `application/vnd.duet.v${only}+json; charset=utf-8`
  return { version: Number(only) as Version, contentType }
}
