/** Responses of operations: headers, bodies of success, and errors by their codes. */
import { ApiError } from '#errors.ts'
import { typeName } from '#model/names.ts'
import type { JsonSchema } from '#model/operation-docs.ts'
import { mediaTypeOf } from '#model/version.ts'
import { isOld } from '#openapi/parameters.ts'
import type { DocumentParts } from '#openapi/parts.ts'
import { objectOf, refTo, type Schemas } from '#openapi/schemas.ts'
import { failIn } from '#rest/fail.ts'

const text = { type: 'string' } as const

const header = (description: string, schema: JsonSchema = text): JsonSchema => ({
  description,
  schema,
})

/** The headers that responses refer to by name. */
export const headers = {
  'API-Version': header('The version of the API that answers.', { type: 'integer' }),
  'X-Request-Id': header('The id of the request in the logs.'),
  'RateLimit-Policy': header('How many requests a minute the caller has, where they are limited.'),
  RateLimit: header('How many of them are left, and for how many seconds.'),
  'Cache-Control': header('Who may store the answer, and for how long.'),
  ETag: header('The strong entity tag of what is answered.'),
  Vary: header('The headers of the request that the answer depends on.'),
  Link: header('Other pages of a list, and the same in a newer version (RFC 8288).'),
  'Accept-Query': header(
    'The type of the bodies in which QUERY (RFC 10008) takes the query parameters at this path; its answers are those of GET.',
  ),
  'Accept-Encoding': header(
    'That bodies are read plain alone, where one came in a content coding.',
  ),
  'Accept-Patch': header('The types of bodies that a PATCH takes here (RFC 5789).'),
  'Accept-Post': header('The types of bodies that a POST takes here.'),
  Accept: header('The types of bodies that a PUT takes here (RFC 9110, section 15.5.16).'),
  Location: header('The path of what was made.', { type: 'string', format: 'uri-reference' }),
  'Idempotency-Replayed': header('That this is the stored answer to an earlier request.', {
    type: 'boolean',
  }),
  'Duet-Position': header('What a later read sends to see this write, whichever server answers.'),
  'Duet-Position-Status': header(
    'Of the Duet-Position that was sent, where the database has another primary since: `lost`, its log ends before it, so the write may be gone; `unknown`, nobody can say.',
    { type: 'string', enum: ['lost', 'unknown'] },
  ),
  'Retry-After': header('After how many seconds trying again may help.', { type: 'integer' }),
  'WWW-Authenticate': header('How to authenticate (RFC 6750).'),
  'Content-Disposition': header('The name of the file.'),
  'Accept-Ranges': header('That a range of the bytes may be asked for.'),
  'Content-Range': header('Which bytes of how many these are.'),
  'Content-Security-Policy': header('What a browser that shows it may load.'),
  'Referrer-Policy': header('What a browser tells other pages of this address.'),
  'Duet-Ignored': header('In development: the query parameters that the version ignores.'),
  'Server-Timing': header(
    'In development: the milliseconds that the request waited, ran, and was in the store, the objects read there, the statements, and the lane.',
  ),
  Deprecation: header('That the version will go.'),
  Sunset: header('When the version goes (RFC 8594).', { type: 'string' }),
} satisfies Schemas

export type HeaderName = keyof typeof headers

const always: readonly HeaderName[] = [
  'API-Version',
  'X-Request-Id',
  'RateLimit-Policy',
  'RateLimit',
  'Server-Timing',
  'Duet-Position-Status',
]

/** References to headers: the usual ones of every response, these, and the ones that announce the end of an old version. */
export const headersOf = (
  { version, model }: DocumentParts,
  names: readonly HeaderName[],
): JsonSchema => {
  const all = [...always, ...names, ...(isOld(version, model.versions) ? oldHeaders : [])]
  return Object.fromEntries(
    [...new Set(all)].map(name => [name, { $ref: `#/components/headers/${name}` }]),
  )
}

const oldHeaders: readonly HeaderName[] = ['Deprecation', 'Sunset', 'Link', 'Duet-Ignored']

/** A body under the media types of JSON: the plain one, with an example, and the version's own. */
export const jsonContent = (
  { version }: DocumentParts,
  schema: JsonSchema,
  shown: JsonSchema,
): JsonSchema => ({
  'application/json': { schema, ...shown },
  [mediaTypeOf(version)]: { schema },
})

/** The schema of errors in the shape of a version, with all its codes. */
export const errorSchema = ({ style }: DocumentParts, codes: readonly string[]): Schemas => {
  const code = { type: 'string', description: 'What went wrong, for programs.', enum: codes }
  const message = { type: 'string', description: 'What went wrong, for people.' }
  const requestId = { type: 'string', description: 'The id of the request in the logs.' }
  const faults = {
    type: 'array',
    description: 'The fields at fault, all at once.',
    items: objectOf({
      field: { ...text, description: 'The path of the field in dots, such as items.0.name.' },
      message: { ...text, description: 'What is wrong with it.' },
    }),
  }
  if (style.errors === 'problem') {
    const members = {
      type: { ...text, format: 'uri-reference', description: 'Where the code is explained.' },
      title: { ...text, description: 'The meaning of the code.' },
      status: { type: 'integer', description: 'The status of the answer.' },
      detail: message,
      code,
      errors: faults,
      requestId,
    }
    const needed = Object.keys(members).filter(name => name !== 'errors')
    return { Problem: { description: 'A problem (RFC 9457).', ...objectOf(members, needed) } }
  }
  const members = { code, message, details: faults, requestId }
  const error = objectOf(members, ['code', 'message', 'requestId'])
  return { Error: { description: 'An error.', ...objectOf({ error }) } }
}

const ownHeaders: Readonly<Partial<Record<string, readonly HeaderName[]>>> = {
  UNAUTHENTICATED: ['WWW-Authenticate'],
  UNSUPPORTED_MEDIA_TYPE: ['Accept-Encoding', 'Accept-Patch', 'Accept-Post', 'Accept'],
  RANGE_NOT_SATISFIABLE: ['Accept-Ranges', 'Content-Range'],
  IDEMPOTENCY_IN_FLIGHT: ['Retry-After'],
  RATE_LIMITED: ['Retry-After'],
  OVERLOADED: ['Retry-After'],
  UNAVAILABLE: ['Retry-After'],
}

/** A reference to a response by its name; the response itself if that name is another one's. */
export const shareAs = (
  { shared }: DocumentParts,
  name: string,
  response: JsonSchema,
): JsonSchema => {
  return JSON.stringify(shared.getOrInsert(name, response)) === JSON.stringify(response)
    ? { $ref: `#/components/responses/${name}` }
    : response
}

const aRequest = '0b8c1f6e-5a0d-4c5e-9d3a-7f2e61c4b9a8'

/** The response of a status for some codes, with an example of the first. */
const errorResponse = (
  parts: DocumentParts,
  status: number,
  codes: readonly string[],
): JsonSchema => {
  const { errors, version, style } = parts
  const isProblem = style.errors === 'problem'
  const [code = ''] = codes
  const kind = errors.get(code) ?? { code, status, title: code }
  const details = [{ field: 'limit', message: 'must be a whole number' }]
  const error =
    code === 'VALIDATION_ERROR'
      ? new ApiError(kind, 'limit must be a whole number', { status, details })
      : new ApiError(kind, undefined, { status })
  const body = {
    schema: refTo(isProblem ? 'Problem' : 'Error'),
    example: JSON.parse(String(failIn(parts.model.versions, version, error, aRequest).body)),
  }
  return {
    description: codes.map(code => `\`${code}\`: ${errors.get(code)?.title ?? ''}.`).join(' '),
    headers: headersOf(parts, ['Cache-Control', ...codes.flatMap(code => ownHeaders[code] ?? [])]),
    content: { [isProblem ? 'application/problem+json' : 'application/json']: body },
    'x-codes': codes,
  }
}

/** The responses for error codes by status, as references to shared ones. */
export const errorResponses = (parts: DocumentParts, codes: readonly string[]): Schemas => {
  const all = isOld(parts.version, parts.model.versions) ? [...codes, 'VERSION_WITHDRAWN'] : codes
  const pairs = all.flatMap(code => {
    // It has a status for each way to name a version.
    if (code === 'UNSUPPORTED_VERSION') return [400, 406].map(status => ({ status, code }))
    const kind = parts.errors.get(code)
    if (!kind)
      throw new Error(`${code} is not an error code: define it, or correct where it is named`)
    return [{ status: kind.status, code }]
  })
  const byStatus = Map.groupBy(pairs, ({ status }) => status)
  return Object.fromEntries(
    [...byStatus].map(([status, found]) => {
      const own = [...new Set(found.map(({ code }) => code))]
      // One code may have two statuses, and each is a response of its own.
      const words = own.map(code => code.toLowerCase().split('_').map(typeName).join(''))
      const name = `${words.join('Or')}${own.join() === 'UNSUPPORTED_VERSION' ? status : ''}`
      const made = () => shareAs(parts, name, errorResponse(parts, status, own))
      return [status, parts.refused.getOrInsertComputed(`${status} ${own}`, made)]
    }),
  )
}
