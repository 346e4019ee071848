/** Requests that an OpenAPI document describes, and ones beside what it describes. */
import { restPath } from '#base/paths.ts'
import type { Version } from '#model/version.ts'
import type { OpenApi } from '#openapi/openapi.ts'
import { idText, needles, numberText } from '../support/drawn-values.ts'
import type { Asking } from '../world.ts'
import { bodyText, type Fuzz, type Json, type Resolve, resolverOf, valueBy } from './values.ts'

/** A request as `world.ask` takes it. */
export type Asked = { readonly line: string; readonly asking: Asking }

/** What answers told that later requests can use: the newest tags, cursors and ids. */
export type Known = {
  readonly tags: string[]
  readonly cursors: string[]
  readonly ids: string[]
}

type Operation = { readonly path: string; readonly method: string; readonly described: Json }

const escaped = (text: string): string => encodeURIComponent(text.toWellFormed())

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY', 'PROPFIND']

/** Header values are bytes without line ends; Fetch refuses all others before they are sent. */
const oddHeader = ({ of, upTo }: Fuzz): string =>
  of(
    ...[
      '',
      ' ',
      '*',
      ',',
      ';',
      '"',
      '=',
      'x',
      'null',
      '\t',
      'caf\xe9',
      '\x80\xff',
      '%00',
      "' or 1=1 --",
    ],
    ...[
      '*/*;q=9',
      'application/json;q=',
      'a'.repeat(300),
      '9'.repeat(40),
      `${upTo(9)}, ${upTo(9)}`,
    ],
  )

const tagBy = ({ of, chance, odd }: Fuzz, { tags }: Known): string =>
  !odd(30) && tags.length > 0 && chance(95)
    ? of(...tags)
    : of('*', '"x"', 'W/"x"', '"products-1-1-x"', 'x', '""')

const headersBy = (draw: Fuzz, known: Known, version: Version): Record<string, string> => {
  const { of, upTo, chance } = draw
  const odds: readonly (readonly [number, string, () => string])[] = [
    [
      20,
      'Accept',
      () =>
        of(
          'application/json',
          '*/*',
          'text/html',
          'text/csv',
          'image/svg+xml',
          `application/vnd.duet.v${upTo(3)}+json`,
        ),
    ],
    [8, 'API-Version', () => (draw.odd(50) ? of('1', '2', '3', 'x') : String(version))],
    [10, 'If-None-Match', () => tagBy(draw, known)],
    [10, 'If-Match', () => tagBy(draw, known)],
    [15, 'Idempotency-Key', () => `key-${upTo(60)}`],
    [5, 'X-Request-Id', () => `id-${upTo(9)}`],
    [5, 'Origin', () => of('https://example.org', 'null')],
    [3, 'Duet-Position', () => '0/0'],
    [2, 'X-Forwarded-For', () => '192.0.2.1'],
    [2, 'Content-Encoding', () => of('gzip', 'identity')],
    [2, 'Range', () => 'bytes=0-9'],
    [2, 'Cookie', () => 'role=admin'],
    [2, 'Prefer', () => 'return=minimal'],
  ]
  return Object.fromEntries(
    odds
      .filter(([percent]) => chance(percent))
      .map(([, name, make]) => [name, draw.odd(25) ? oddHeader(draw) : make()]),
  )
}

/** Who asks: those of the small world, an admin who is no user and so is never deleted or suspended, and bad tokens. */
export const callerBy = ({ of, chance, odd, upTo }: Fuzz, admin: string): Asking => {
  if (odd(5))
    return { headers: { Authorization: of('Bearer x', 'Basic YTpi', 'Bearer ', 'x.y.z') } }
  if (chance(12)) return {}
  return chance(40) ? { as: 900_000, role: admin } : { as: chance(90) ? upTo(4, 1) : of(7, 99) }
}

const parameterText = (draw: Fuzz, schema: Json, resolve: Resolve): string => {
  if (draw.odd(25)) return draw.of(...needles, numberText(draw))
  return String(valueBy(draw, schema, resolve))
}

const queryBy = (
  draw: Fuzz,
  parameters: readonly Json[],
  known: Known,
  resolve: Resolve,
): string => {
  const { of, chance, odd } = draw
  const some = parameters.filter(parameter => parameter.in === 'query' && chance(22))
  const pairs = some.map(({ name, schema, style }): [string, string] => {
    if (name === 'cursor' && chance(60) && known.cursors.length > 0)
      return [name, of(...known.cursors)]
    if (style !== 'deepObject') return [name, parameterText(draw, schema, resolve)]
    const [operator, operand] = of(...Object.entries<Json>(resolve(schema).properties))
    return [`${name}[${operator}]`, parameterText(draw, operand, resolve)]
  })
  if (odd(6))
    pairs.push([of('unknown', '', '__proto__', 'limit', 'offset', 'version'), numberText(draw)])
  if (odd(5)) pairs.push(...pairs)
  const query = pairs.map(([name, value]) => `${escaped(name)}=${escaped(value)}`).join('&')
  const tail = odd(3) ? of('&', '%', '=', '&%zz=1', '?') : ''
  return query + tail === '' ? '' : `?${query}${tail}`
}

const bodyBy = (draw: Fuzz, { described }: Operation, resolve: Resolve) => {
  const { of, odd } = draw
  const content = described.requestBody?.content
  if (content === undefined) return odd(15) ? { raw: bodyText(draw, {}) } : {}
  if (odd(4)) return {}
  const type = of(...Object.keys(content))
  const sent = odd(8)
    ? of('text/plain', 'application/xml', oddHeader(draw), `${type}; charset=utf-16`)
    : type
  const { schema } = content[type]
  const raw =
    schema.format === 'binary'
      ? of('', '\x89PNG\r\n\x1a\n', 'GIF89a', '<svg/>')
      : bodyText(draw, valueBy(draw, schema, resolve))
  return { raw, type: sent }
}

const prefixBy = ({ of, odd }: Fuzz, version: Version): string =>
  odd(10) ? of(restPath, `${restPath}/v3`, `${restPath}/v0`) : `${restPath}/v${version}`

/** An id that may be one of a thing. What is deleted is new where it can be: the first rows are needed by most requests. */
const idBy = (draw: Fuzz, { ids }: Known, isDeleted: boolean): string => {
  const { of, odd, chance, upTo } = draw
  if (odd(15)) return idText(draw, 4)
  if (ids.length > 0 && chance(isDeleted ? 80 : 30)) return of(...ids)
  return String(isDeleted ? upTo(9, 4) : upTo(4, 1))
}

/** Makes requests of a document. */
export const restRequests = (document: OpenApi, version: Version, admin: string) => {
  const resolve = resolverOf(document)
  const operations = Object.entries(document.paths as Json).flatMap(([path, item]) =>
    Object.entries(item as Json)
      .filter(([method]) => method !== 'parameters')
      .map(([method, described]): Operation => ({ path, method: method.toUpperCase(), described })),
  )
  const shared = (path: string) => (document.paths as Json)[path].parameters ?? []
  return (draw: Fuzz, known: Known): Asked => {
    const { of, odd } = draw
    const operation = of(...operations)
    const parameters = [...shared(operation.path), ...(operation.described.parameters ?? [])].map(
      resolve,
    )
    const method = odd(10) ? of(...methods) : operation.method
    const path = operation.path.replace(/\{\w+\}/g, () => idBy(draw, known, method === 'DELETE'))
    const query = queryBy(draw, parameters, known, resolve)
    const { raw, type } = bodyBy(draw, operation, resolve)
    const caller = callerBy(draw, admin)
    const headers = { ...headersBy(draw, known, version), ...caller.headers }
    if (type !== undefined) headers['Content-Type'] = type
    const tail = odd(2) ? of('/', '//', '.json', '%00', '%zz', ';a=b') : ''
    const hasBody = raw !== undefined && !/^(GET|HEAD)$/.test(method)
    return {
      line: `${method} ${prefixBy(draw, version)}${path}${tail}${query}`,
      asking: { ...caller, headers, ...(hasBody && { raw }) },
    }
  }
}
