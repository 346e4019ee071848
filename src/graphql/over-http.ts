/** GraphQL over HTTP: the parameters of a request (section 4), the media type of its answer (section 5), and who gets a page instead. */
import { after } from '#base/after.ts'
import { isObject, type JsonObject } from '#base/object.ts'
import { parametersIn } from '#base/text.ts'
import { ApiError } from '#errors.ts'
import { rangesOf } from '#http/accept.ts'
import { jsonBody, parseJson } from '#http/body.ts'
import { checkUtf8, type Http, header, isQuery, queryString } from '#http/request.ts'

/** The parameters of a request: a document by its text or by its id, and the rest. */
export type Params = {
  readonly operationName: string | undefined
  readonly variables: JsonObject
} & (
  | { readonly query: string; readonly documentId?: undefined }
  | {
      readonly query?: undefined
      readonly documentId: string
      /** Whether the id stands where the clients of Apollo and urql send it: those compare the message of a miss. */
      readonly isPersistedQuery: boolean
    }
)

/** The media types of bodies. */
export const bodyTypes = ['application/json'] as const

const malformed = (message: string) => new ApiError('MALFORMED_REQUEST', message)

const inUrl = (c: Http): JsonObject => {
  const contentType = header(c, 'content-type')
  // Web pages can send other types without a preflight, so those are refused.
  if (contentType !== undefined && !/^application\/json\s*(;|$)/i.test(contentType.trim()))
    throw new ApiError(
      'UNSUPPORTED_MEDIA_TYPE',
      'A GET has no body: leave Content-Type out, or send application/json',
    )
  const parameters = parametersIn(queryString(c))
  // Refused if it is given twice, as a member of a body is: two readers could take different ones.
  const parameter = (name: string): string | undefined => {
    const values = parameters.getAll(name)
    if (values.length > 1) throw malformed(`The parameter ${name} is given twice`)
    checkUtf8(queryString(c), name, values[0])
    return values[0]
  }
  const json = (name: string): unknown => {
    const text = parameter(name)
    return text === undefined || text === '' ? undefined : parseJson(text, `The parameter ${name}`)
  }
  return {
    query: parameter('query'),
    documentId: parameter('documentId'),
    operationName: parameter('operationName') || undefined,
    variables: json('variables'),
    extensions: json('extensions'),
  }
}

/** The parameters of a request; throws `MALFORMED_REQUEST` for those of a wrong form, and what `jsonBody` throws. */
export const paramsOf = (c: Http, bodyLimit: number): Params | Promise<Params> => {
  const isInBody = c.req.method === 'POST' || isQuery(c.req.method)
  const raw = isInBody ? jsonBody(c, bodyLimit, bodyTypes) : inUrl(c)
  return after(raw, ({ query, documentId, operationName, variables, extensions }): Params => {
    if (documentId != null && query != null)
      throw malformed('Send `query` or `documentId`, not both: they could be different documents')
    // Without a text, the id may also stand where clients of Apollo and urql send it.
    const { persistedQuery } = isObject(extensions) ? extensions : {}
    const persisted = isObject(persistedQuery) ? persistedQuery.sha256Hash : undefined
    const id = documentId ?? (query == null ? persisted : undefined)
    if (id == null && (typeof query !== 'string' || query === ''))
      throw malformed('`query` must be a GraphQL document as a string')
    if (id != null && (typeof id !== 'string' || id === ''))
      throw malformed('`documentId` must be the id of a stored document as a string')
    if (operationName != null && typeof operationName !== 'string')
      throw malformed('`operationName` must be a string')
    if (variables != null && !isObject(variables)) throw malformed('`variables` must be an object')
    if (extensions != null && !isObject(extensions))
      throw malformed('`extensions` must be an object')
    const source =
      id == null
        ? { query: query as string }
        : { documentId: id, isPersistedQuery: documentId == null }
    return { ...source, operationName: operationName ?? undefined, variables: variables ?? {} }
  })
}

/** Words by which a body may ask for a mutation: the keyword itself, or the name of a stored document. */
const sign = /mutation|documentId|sha256Hash/

/** Whether a body may ask for a mutation, as far as its bytes show at a glance. */
export const mayMutate = ({ buffer, byteOffset, byteLength }: Uint8Array): boolean =>
  sign.test(Buffer.from(buffer, byteOffset, byteLength).toString('latin1'))

export const json = 'application/json; charset=utf-8'
const graphqlJson = 'application/graphql-response+json; charset=utf-8'

/** The wildcards and the older type stand for `application/json`: clients that say no more expect it. */
const typeOfRange: ReadonlyMap<string, string> = new Map([
  ['application/graphql-response+json', graphqlJson],
  ['application/json', json],
  ['application/*', json],
  ['*/*', json],
])

const named = [...typeOfRange.keys()].filter(type => !type.includes('*'))

/** The media type of the answer by weight, an exact name before a wildcard; undefined if none fits. */
export const negotiate = (accept: string | undefined): string | undefined => {
  if (accept === undefined || accept === '') return json
  let best: { readonly value: string; readonly weight: number } | undefined
  for (const range of rangesOf(accept)) {
    const { value, weight, parameters } = range
    const { charset = 'utf-8' } = parameters
    if (weight <= 0 || !typeOfRange.has(value) || !/^utf-?8$/.test(charset)) continue
    // The ranges come by weight.
    if (best && weight < best.weight) break
    if (named.includes(value)) return typeOfRange.get(value)
    best ??= range
  }
  return best && typeOfRange.get(best.value)
}

/** Whether a page is wanted: a browser prefers HTML; a client that lists JSON first does not want it. */
export const wantsPage = (accept: string | undefined): boolean => {
  const ranges = rangesOf(accept ?? '')
  const weightOf = (...types: readonly string[]) =>
    Math.max(0, ...ranges.filter(({ value }) => types.includes(value)).map(({ weight }) => weight))
  const page = weightOf('text/html')
  return page > 0 && page >= weightOf(...named)
}
