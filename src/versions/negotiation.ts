/** The version of the REST API that a request names, by path, `Accept`, `API-Version` or `?version=`, and the handler that serves it in that one. */

import { restPath } from '#base/paths.ts'
import { parametersIn } from '#base/text.ts'
import { ApiError } from '#errors.ts'
import { rangesOf } from '#http/accept.ts'
import type { Handle } from '#http/exchange.ts'
import type { Reply } from '#http/reply.ts'
import { type Http, header, queryString } from '#http/request.ts'
import type { Viewer } from '#model/policy.ts'
import { mediaTypeOf, type RequestedVersion, type Version, type Versions } from '#model/version.ts'

/** Answers the requests of a route in one version. */
export type RestHandler = (
  c: Http,
  viewer: Viewer,
  requested: RequestedVersion,
) => Reply | Promise<Reply>

/** The media types of JSON, for routes that have other forms too; plain JSON is first. */
export const jsonTypesOf = ({ all }: Versions): readonly string[] => [
  'application/json',
  ...all.map(mediaTypeOf),
]

const inRestPath = new RegExp(`^${restPath}/v(\\d+)(?:/|$)`)

/** The version in a path, as it stands there; undefined if the path has none. */
const inPath = (path: string): string | undefined => inRestPath.exec(path)?.[1]

const unsupported = ({ all }: Versions, named: string, status: number) =>
  new ApiError(
    'UNSUPPORTED_VERSION',
    named === ''
      ? `The version of the API that the request names is empty; offered: ${all.join(', ')}`
      : `Version ${named.slice(0, 20)} of the API not found; offered: ${all.join(', ')}`,
    { status },
  )

/** The error for a path that leads nowhere because of its version; undefined if that version is offered. */
export const noSuchVersion = (versions: Versions, path: string): ApiError | undefined => {
  const named = inPath(path)
  return named === undefined || versions.inPlainJson.has(named)
    ? undefined
    : unsupported(versions, named, 404)
}

const vendor = /^application\/vnd\.duet\.v(.*)\+json$/
const anyJson = ['application/json', 'application/*', '*/*']

/** Only an `Accept` in which this is found may name a version. */
const ours = /vnd\.duet/i

/** The versions in `Accept`: the wanted ones, the preferred one first, and the ones refused by a weight of 0; and whether plain JSON is accepted or preferred. */
const acceptedBy = (c: Http) => {
  const accept = header(c, 'accept') ?? ''
  if (!ours.test(accept)) return { wanted: [], refused: [], acceptsJson: true, prefersJson: false }
  const ranges = rangesOf(accept)
  const named = ranges.flatMap(({ value, weight }) => {
    const text = vendor.exec(value)?.[1]
    return text === undefined ? [] : [{ text, weight }]
  })
  const weights = anyJson.flatMap(type => ranges.find(({ value }) => value === type)?.weight ?? [])
  const [weight = 0] = weights
  return {
    wanted: named.filter(({ weight }) => weight > 0).map(({ text }) => text),
    refused: named.filter(({ weight }) => weight === 0).map(({ text }) => text),
    acceptsJson: weight > 0,
    prefersJson: weight > Math.max(0, ...named.map(({ weight }) => weight)),
  }
}

/** The versions in the query string; there should be one at most. */
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

/**
 * The version of a request. An `Accept` of several versions is a choice among them by weight; it contradicts a path, header or
 * query whose version it does not accept. Throws `UNSUPPORTED_VERSION` 406 or 400, and `MALFORMED_REQUEST` if two
 * of them disagree, or one is given twice.
 */
export const versionOf = (versions: Versions, c: Http): RequestedVersion => {
  const { inPlainJson, inOwnType } = versions
  const namesMore =
    header(c, 'api-version') !== undefined ||
    queryString(c).includes('version') ||
    ours.test(header(c, 'accept') ?? '')
  // Nearly all requests name a version by their path at most.
  if (!namesMore) {
    const text = inPath(c.req.path)
    if (text === undefined) return versions.usual
    const requested = inPlainJson.get(text)
    if (!requested) throw unsupported(versions, text, 404)
    return requested
  }
  const [named, ...others] = namedBy(c)
  const { wanted, refused, acceptsJson, prefersJson } = acceptedBy(c)
  if (others.length > 0) throw severalAtOnce([named ?? '', ...others])
  if (inQuery(c).length > 1)
    throw new ApiError('MALFORMED_REQUEST', 'The parameter version is given twice; give it once')
  if (named !== undefined) {
    const isWanted = wanted.includes(named)
    if (wanted.length > 0 && !isWanted) throw severalAtOnce([named, ...wanted])
    const requested = (isWanted && !prefersJson ? inOwnType : inPlainJson).get(named)
    if (!requested) throw unsupported(versions, named, 400)
    if (refused.includes(named) && !acceptsJson) throw unsupported(versions, named, 406)
    return requested
  }
  if (prefersJson) return versions.usual
  const known = wanted.find(text => inOwnType.has(text))
  if (known !== undefined) return inOwnType.get(known) ?? versions.usual
  const [missing] = [...wanted, ...refused.filter(text => text === String(versions.oldest))]
  if (missing !== undefined && !acceptsJson) throw unsupported(versions, missing, 406)
  return versions.usual
}

/** The version in whose shape an error is answered: the request's own, or the newest that it names. */
export const errorVersionOf = (versions: Versions, c: Http): Version => {
  try {
    return versionOf(versions, c).version
  } catch {
    const named = [...namedBy(c), ...acceptedBy(c).wanted]
    return versions.all.findLast(version => named.includes(String(version))) ?? versions.oldest
  }
}

/** The version header of an answer that no version shapes, such as that to OPTIONS; none outside the REST API. */
export const versionHeader = (versions: Versions, c: Http): Readonly<Record<string, string>> =>
  c.req.path.startsWith(`${restPath}/`)
    ? { 'API-Version': String(errorVersionOf(versions, c)) }
    : {}

/** Serves each request in the version that it names, once that is admitted; `absent` gives the error if that version has no handler. */
export const inRequestedVersion =
  (
    versions: Versions,
    handlers: ReadonlyMap<Version, RestHandler>,
    notices: { readonly admit: (version: Version) => void } | undefined,
    absent: (c: Http, version: Version) => ApiError,
  ): Handle =>
  (c, viewer) => {
    // The viewer comes first, then the version, then the rest.
    const requested = versionOf(versions, c)
    notices?.admit(requested.version)
    const handle = handlers.get(requested.version)
    if (!handle) throw absent(c, requested.version)
    return handle(c, viewer, requested)
  }
