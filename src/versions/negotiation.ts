/** The version of the REST API that a request names: by path, `Accept`, `API-Version` or `?version=`. */
import { parametersIn } from '#base/parameters.ts'
import { restPath } from '#base/paths.ts'
import { ApiError } from '#errors.ts'
import { type Range, rangesOf } from '#http/accept.ts'
import type { Reply } from '#http/reply.ts'
import { type Http, header, queryString } from '#http/request.ts'
import type { Viewer } from '#model/policy.ts'
import { type Version, versions } from '#model/version.ts'

/** The version that a request named, and the answer's Content-Type for it. */
export type RequestedVersion = { readonly version: Version; readonly contentType: string }

const offered = `offered: ${versions.join(', ')}`

const json = 'application/json; charset=utf-8'
const plain: RequestedVersion = { version: versions[0], contentType: json }

/** The media type of a version's objects. */
export const mediaTypeOf = (version: Version): string => `application/vnd.duet.v${version}+json`

/** The media types of JSON, for routes that have other forms too; plain JSON is first. */
export const jsonTypes: readonly string[] = ['application/json', ...versions.map(mediaTypeOf)]

const numbered = (text: string): Version | undefined =>
  versions.find(version => String(version) === text)

const inRestPath = new RegExp(`^${restPath}/v(\\d+)(?:/|$)`)

/** The version in a path, as it stands there; undefined where the path has none. */
const inPath = (path: string): string | undefined => inRestPath.exec(path)?.[1]

const unsupported = (named: string, status: number) =>
  new ApiError(
    'UNSUPPORTED_VERSION',
    named === ''
      ? `The version of the API that the request names is empty; ${offered}`
      : `Version ${named.slice(0, 20)} of the API not found; ${offered}`,
    { status },
  )

/** The error for a path that leads nowhere because of its version; undefined where its version is offered. */
export const noSuchVersion = (path: string): ApiError | undefined => {
  const named = inPath(path)
  return named === undefined || numbered(named) ? undefined : unsupported(named, 404)
}

const vendor = /^application\/vnd\.duet\.v(.*)\+json$/
const anyJson = ['application/json', 'application/*', '*/*']

/** The versions in `Accept`, the preferred one first, those refused by a weight of 0, and the weight of plain JSON. */
type Accepted = {
  readonly wanted: readonly string[]
  readonly refused: readonly string[]
  /** Whether plain JSON is accepted, and whether it is preferred to every version that is named. */
  readonly json: 'no' | 'yes' | 'preferred'
}

const acceptedIn = (ranges: readonly Range[]): Accepted => {
  const named = ranges.flatMap(({ value, weight }) => {
    const text = vendor.exec(value)?.[1]
    return text === undefined ? [] : [{ text, weight }]
  })
  const weights = anyJson.flatMap(type => ranges.find(({ value }) => value === type)?.weight ?? [])
  const [weight = 0] = weights
  const best = Math.max(0, ...named.map(({ weight }) => weight))
  return {
    wanted: named.filter(({ weight }) => weight > 0).map(({ text }) => text),
    refused: named.filter(({ weight }) => weight === 0).map(({ text }) => text),
    json: weight === 0 ? 'no' : weight > best ? 'preferred' : 'yes',
  }
}

const nothing: Accepted = { wanted: [], refused: [], json: 'yes' }

const acceptedBy = (c: Http): Accepted => {
  const accept = header(c, 'accept')
  return accept && /vnd\.duet/i.test(accept) ? acceptedIn(rangesOf(accept)) : nothing
}

/** The versions in the query string, of which there should be one. */
const inQuery = (c: Http): readonly string[] => {
  const query = queryString(c)
  return query.includes('version') ? parametersIn(query).getAll('version') : []
}

/** The versions that path, header and query name, each once. */
const namedBy = (c: Http): readonly string[] => {
  const all = [inPath(c.req.path), header(c, 'api-version'), ...inQuery(c)]
  return [...new Set(all.filter(text => text !== undefined))]
}

const severalAtOnce = (named: readonly string[]) =>
  new ApiError(
    'MALFORMED_REQUEST',
    `The request names several versions at once: ${[...new Set(named)].join(', ').slice(0, 60)}`,
  )

/** The version that path, header or query name, unless `Accept` names others only. */
const explicitly = (
  text: string,
  { wanted, refused, json: plainJson }: Accepted,
): RequestedVersion => {
  const isAccepted = wanted.includes(text)
  if (wanted.length > 0 && !isAccepted) throw severalAtOnce([text, ...wanted])
  const version = numbered(text)
  if (!version) throw unsupported(text, 400)
  if (refused.includes(text) && plainJson === 'no') throw unsupported(text, 406)
  if (!isAccepted || plainJson === 'preferred') return { version, contentType: json }
  return { version, contentType: `${mediaTypeOf(version)}; charset=utf-8` }
}

/** The version that `Accept` prefers; plain JSON is version 1. */
const byAccept = ({ wanted, refused, json: plainJson }: Accepted): RequestedVersion => {
  if (plainJson === 'preferred') return plain
  const version = wanted.map(numbered).find(found => found !== undefined)
  if (version) return { version, contentType: `${mediaTypeOf(version)}; charset=utf-8` }
  const [named] = [...wanted, ...refused.filter(text => text === String(plain.version))]
  if (named !== undefined && plainJson === 'no') throw unsupported(named, 406)
  return plain
}

/** Whether a request names a version by its path at most; nearly all are such. */
const namesNothingElse = (c: Http): boolean =>
  header(c, 'api-version') === undefined &&
  !queryString(c).includes('version') &&
  !/vnd\.duet/i.test(header(c, 'accept') ?? '')

const byPath = (path: string): RequestedVersion => {
  const text = inPath(path)
  if (text === undefined) return plain
  const version = numbered(text)
  if (!version) throw unsupported(text, 404)
  return { version, contentType: json }
}

/**
 * The version of a request. An `Accept` of several versions is a choice among them by weight; it contradicts a path, header or
 * query whose version it does not accept. Throws `UNSUPPORTED_VERSION` 406 or 400, and `MALFORMED_REQUEST` where two
 * of them disagree, or one is given twice.
 */
export const versionOf = (c: Http): RequestedVersion => {
  if (namesNothingElse(c)) return byPath(c.req.path)
  const [named, ...others] = namedBy(c)
  const accepted = acceptedBy(c)
  if (others.length > 0) throw severalAtOnce([named ?? '', ...others])
  if (inQuery(c).length > 1)
    throw new ApiError('MALFORMED_REQUEST', 'The parameter version is given twice; give it once')
  return named === undefined ? byAccept(accepted) : explicitly(named, accepted)
}

/** The version in whose shape an error is answered: the request's own, or the newest of those it names. */
export const errorVersionOf = (c: Http): Version => {
  try {
    return versionOf(c).version
  } catch {
    const named = [...namedBy(c), ...acceptedBy(c).wanted]
    return versions.findLast(version => named.includes(String(version))) ?? plain.version
  }
}

/** The version header of an answer that no version shapes, such as that to OPTIONS; none outside the REST API. */
export const versionHeader = (c: Http): Readonly<Record<string, string>> =>
  c.req.path.startsWith(`${restPath}/`) ? { 'API-Version': String(errorVersionOf(c)) } : {}

export type RestHandler = (
  c: Http,
  viewer: Viewer,
  named: RequestedVersion,
) => Reply | Promise<Reply>
