/** The parameters of a GraphQL request, from its body or its URL (GraphQL over HTTP, section 4). */
import { isObject, type JsonObject } from '#base/object.ts'
import { ApiError } from '#errors.ts'
import { type Http, header, jsonBody, queryString } from '#http/request.ts'

export type Params = {
  readonly query: string
  readonly operationName: string | undefined
  readonly variables: JsonObject
}

const malformed = (message: string, cause?: unknown) =>
  new ApiError('MALFORMED_REQUEST', message, { cause })

const jsonParameter = (parameters: URLSearchParams, name: string): unknown => {
  const text = parameters.get(name)
  if (text === null || text === '') return undefined
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw malformed(`The parameter ${name} must be JSON`, cause)
  }
}

const rawParams = async (c: Http, bodyLimit: number): Promise<JsonObject> => {
  if (c.req.method === 'POST') return jsonBody(c, bodyLimit, ['application/json'])
  const contentType = header(c, 'content-type')
  // Web pages can send other types without a preflight, so those are refused.
  if (contentType !== undefined && !/^application\/json\s*(;|$)/i.test(contentType.trim()))
    throw new ApiError(
      'UNSUPPORTED_MEDIA_TYPE',
      'A GET has no body: leave Content-Type out, or send application/json',
    )
  const parameters = new URLSearchParams(queryString(c))
  return {
    query: parameters.get('query') ?? undefined,
    operationName: parameters.get('operationName') || undefined,
    variables: jsonParameter(parameters, 'variables'),
    extensions: jsonParameter(parameters, 'extensions'),
  }
}

/** The parameters of a request; throws `MALFORMED_REQUEST` where they are not of the form, and what `jsonBody` throws. */
export const paramsOf = async (c: Http, bodyLimit: number): Promise<Params> => {
  const { query, operationName, variables, extensions } = await rawParams(c, bodyLimit)
  if (typeof query !== 'string' || query === '')
    throw malformed('`query` must be a GraphQL document as a string')
  if (operationName != null && typeof operationName !== 'string')
    throw malformed('`operationName` must be a string')
  if (variables != null && !isObject(variables)) throw malformed('`variables` must be an object')
  if (extensions != null && !isObject(extensions)) throw malformed('`extensions` must be an object')
  return { query, operationName: operationName ?? undefined, variables: variables ?? {} }
}
