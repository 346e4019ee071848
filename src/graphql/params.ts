/** The parameters of a GraphQL request, from its body or its URL (GraphQL over HTTP, section 4). */
import { after } from '#base/after.ts'
import { isObject, type JsonObject } from '#base/object.ts'
import { parametersIn } from '#base/parameters.ts'
import { ApiError } from '#errors.ts'
import { parseJson } from '#http/json.ts'
import { type Http, header, jsonBody, queryString } from '#http/request.ts'
import { isQuery } from '#http/safe.ts'

/** What is asked for: a document by its text or by its id, and the rest. */
export type Params = {
  readonly operationName: string | undefined
  readonly variables: JsonObject
} & (
  | { readonly query: string; readonly documentId?: undefined }
  | { readonly query?: undefined; readonly documentId: string }
)

/** The media types of bodies. */
export const bodyTypes = ['application/json'] as const

const malformed = (message: string) => new ApiError('MALFORMED_REQUEST', message)

/** A parameter of the URL; refused where it is given twice, as a member of a body is: two readers could take different ones. */
const parameter = (parameters: URLSearchParams, name: string): string | undefined => {
  const values = parameters.getAll(name)
  if (values.length > 1) throw malformed(`The parameter ${name} is given twice`)
  return values[0]
}

const jsonParameter = (parameters: URLSearchParams, name: string): unknown => {
  const text = parameter(parameters, name)
  return text === undefined || text === '' ? undefined : parseJson(text, `The parameter ${name}`)
}

const rawParams = (c: Http, bodyLimit: number): JsonObject | Promise<JsonObject> => {
  if (c.req.method === 'POST' || isQuery(c.req.method)) return jsonBody(c, bodyLimit, bodyTypes)
  const contentType = header(c, 'content-type')
  // Web pages can send other types without a preflight, so those are refused.
  if (contentType !== undefined && !/^application\/json\s*(;|$)/i.test(contentType.trim()))
    throw new ApiError(
      'UNSUPPORTED_MEDIA_TYPE',
      'A GET has no body: leave Content-Type out, or send application/json',
    )
  const parameters = parametersIn(queryString(c))
  return {
    query: parameter(parameters, 'query'),
    documentId: parameter(parameters, 'documentId'),
    operationName: parameter(parameters, 'operationName') || undefined,
    variables: jsonParameter(parameters, 'variables'),
    extensions: jsonParameter(parameters, 'extensions'),
  }
}

/** The id as Apollo's and urql's clients send it: it counts where there is no text. */
const idInExtensions = (extensions: unknown): unknown => {
  const { persistedQuery } = isObject(extensions) ? extensions : {}
  return isObject(persistedQuery) ? persistedQuery.sha256Hash : undefined
}

/** The text or the id of the document; throws where there is neither or both. */
const sourceOf = ({ query, documentId, extensions }: JsonObject) => {
  if (documentId != null && query != null)
    throw malformed('Send `query` or `documentId`, not both: they could be different documents')
  const id = documentId ?? (query == null ? idInExtensions(extensions) : undefined)
  if (id == null) {
    if (typeof query === 'string' && query !== '') return { query }
    throw malformed('`query` must be a GraphQL document as a string')
  }
  if (typeof id === 'string' && id !== '') return { documentId: id }
  throw malformed('`documentId` must be the id of a stored document as a string')
}

/** What a body has in it that asks for a mutation: the word itself, or the name of a stored document. */
const sign = /mutation|documentId|sha256Hash/

/** Whether a body may ask for a mutation, as far as its bytes show at a glance. */
export const mayMutate = ({ buffer, byteOffset, byteLength }: Uint8Array): boolean =>
  sign.test(Buffer.from(buffer, byteOffset, byteLength).toString('latin1'))

/** The parameters of a request; throws `MALFORMED_REQUEST` where they are not of the form, and what `jsonBody` throws. */
export const paramsOf = (c: Http, bodyLimit: number): Params | Promise<Params> =>
  after(rawParams(c, bodyLimit), checkedParams)

const checkedParams = (raw: JsonObject): Params => {
  const { operationName, variables, extensions } = raw
  const source = sourceOf(raw)
  if (operationName != null && typeof operationName !== 'string')
    throw malformed('`operationName` must be a string')
  if (variables != null && !isObject(variables)) throw malformed('`variables` must be an object')
  if (extensions != null && !isObject(extensions)) throw malformed('`extensions` must be an object')
  // In the order by which requests under an Idempotency-Key are compared.
  return { ...source, operationName: operationName ?? undefined, variables: variables ?? {} }
}
