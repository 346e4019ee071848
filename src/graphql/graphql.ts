/** GraphQL over HTTP: what a request must be, which media type answers it, and the envelope of the answer. */
import { getVariableValues, OperationTypeNode } from 'graphql'
import { isObject } from '#base/object.ts'
import { ApiError } from '#errors.ts'
import { documentCache, GraphqlErrors, getOperation } from '#graphql/document.ts'
import { type Entry, entriesOf, statusOf, type Where } from '#graphql/errors.ts'
import type { DocumentLimits } from '#graphql/limits.ts'
import { runMutation } from '#graphql/mutation.ts'
import { runQuery } from '#graphql/query.ts'
import { deriveSchema } from '#graphql/schema.ts'
import { bodyTag, isNotModified } from '#http/conditional.ts'
import { type Edge, exchange } from '#http/exchange.ts'
import { errorHeaders, type Reply } from '#http/reply.ts'
import {
  type App,
  type Http,
  header,
  jsonBody,
  positionOf,
  queryString,
  requestIdOf,
} from '#http/request.ts'
import type { Viewer } from '#model/viewer.ts'
import type { Core } from '#write/core.ts'
import { type Keyed, keyedOf } from '#write/once.ts'

export type GraphqlOptions = {
  readonly limits: DocumentLimits
  readonly introspection: boolean
  /** The page for a browser that opens the endpoint. */
  readonly page: (c: Http) => Response | Promise<Response>
  readonly path?: string
}

const json = 'application/json; charset=utf-8'
const graphqlJson = 'application/graphql-response+json; charset=utf-8'

type Range = { readonly type: string; readonly weight: number; readonly isUtf8: boolean }

const rangesOf = (accept: string): readonly Range[] =>
  accept
    .toLowerCase()
    .split(',')
    .map(part => {
      const [type = '', ...parameters] = part.split(';').map(piece => piece.trim())
      const weight = parameters.find(p => p.startsWith('q='))?.slice(2)
      const charset = parameters.find(p => p.startsWith('charset='))
      return {
        type,
        weight: weight === undefined ? 1 : Number(weight) || 0,
        isUtf8: !charset || /^charset="?utf-?8"?$/.test(charset),
      }
    })

/** The wildcards and the older type stand for `application/json`: clients that say no more expect it. */
const typeOfRange: Readonly<Record<string, string>> = {
  'application/graphql-response+json': graphqlJson,
  'application/json': json,
  'application/*': json,
  '*/*': json,
}

const named = Object.keys(typeOfRange).filter(type => !type.includes('*'))

/** The media type of the answer by weight, an exact name before a wildcard; undefined where none fits. */
export const negotiate = (accept: string | undefined): string | undefined => {
  if (accept === undefined || accept === '') return json
  const fitting = rangesOf(accept).filter(
    ({ type, weight, isUtf8 }) => weight > 0 && isUtf8 && typeOfRange[type],
  )
  const rank = ({ type }: Range) => (type.includes('*') ? 0 : 1)
  const [best] = fitting.toSorted((a, b) => b.weight - a.weight || rank(b) - rank(a))
  return best && typeOfRange[best.type]
}

type Params = {
  readonly query: string
  readonly operationName: string | undefined
  readonly variables: Readonly<Record<string, unknown>>
}

const malformed = (message: string) => new ApiError('MALFORMED_REQUEST', message)

const jsonParameter = (parameters: URLSearchParams, name: string): unknown => {
  const text = parameters.get(name)
  if (text === null || text === '') return undefined
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new ApiError('MALFORMED_REQUEST', `The parameter ${name} must be JSON`, { cause })
  }
}

const rawParams = async (c: Http, edge: Edge): Promise<Readonly<Record<string, unknown>>> => {
  if (c.req.method === 'POST') return jsonBody(c, edge.bodyLimit, ['application/json'])
  const parameters = new URLSearchParams(queryString(c))
  return {
    query: parameters.get('query') ?? undefined,
    operationName: parameters.get('operationName') || undefined,
    variables: jsonParameter(parameters, 'variables'),
    extensions: jsonParameter(parameters, 'extensions'),
  }
}

const paramsOf = (raw: Readonly<Record<string, unknown>>): Params => {
  const { query, operationName, variables, extensions } = raw
  if (typeof query !== 'string' || query === '')
    throw malformed('`query` must be a GraphQL document as a string')
  if (operationName != null && typeof operationName !== 'string')
    throw malformed('`operationName` must be a string')
  if (variables != null && !isObject(variables)) throw malformed('`variables` must be an object')
  if (extensions != null && !isObject(extensions)) throw malformed('`extensions` must be an object')
  return { query, operationName: operationName ?? undefined, variables: variables ?? {} }
}

/** What a request came to: the text of `data` where it was run, and its errors. */
type Result = {
  readonly data: string | undefined
  readonly errors: readonly Entry[]
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
}

const envelope = ({ data, errors }: Result): string => {
  const members = errors.length > 0 ? [`"errors":${JSON.stringify(errors)}`] : []
  if (data !== undefined) members.push(`"data":${data}`)
  return `{${members.join()}}`
}

/** Mounts the GraphQL voice of a model. */
export const mountGraphql = (app: App, core: Core, edge: Edge, options: GraphqlOptions): void => {
  const { path = '/graphql' } = options
  const schema = deriveSchema(core.model)
  const documents = documentCache(schema.schema, options.limits, options.introspection)

  /** Errors that the caller made as entries; a bug is observed and told without its words. */
  const told = (error: unknown, requestId: string, where: Where = {}): Result => {
    const entries = entriesOf(error, requestId, where)
    if (entries)
      return {
        data: undefined,
        errors: entries,
        status: statusOf(error),
        ...(error instanceof ApiError && { headers: errorHeaders(error) }),
      }
    edge.observe({ kind: 'bug', requestId, error })
    const hidden = new ApiError(
      'INTERNAL',
      'The server failed to answer; its log has the reason under this request id',
    )
    return { data: undefined, errors: entriesOf(hidden, requestId, where) ?? [], status: 500 }
  }

  const coerced = (
    node: Parameters<typeof getVariableValues>[1] & {},
    values: Params['variables'],
  ) => {
    const result = getVariableValues(schema.schema, node, values, {
      maxErrors: 10,
      hideSuggestions: !options.introspection,
    })
    if (result.errors) throw new GraphqlErrors('BAD_USER_INPUT', result.errors)
    return result.variableValues
  }

  const run = async (
    params: Params,
    viewer: Viewer,
    method: string,
    requestId: string,
    { keyed, after }: { readonly keyed: Keyed | undefined; readonly after: string | undefined },
  ): Promise<Result> => {
    try {
      const operation = getOperation(documents(params.query), params.operationName)
      const kind = operation.node.operation
      if (kind === OperationTypeNode.MUTATION && method !== 'POST')
        throw new ApiError('METHOD_NOT_ALLOWED', 'A mutation must be sent by POST', {
          headers: { Allow: 'POST' },
        })
      const variables = coerced(operation.node.variableDefinitions ?? [], params.variables)
      if (kind === OperationTypeNode.MUTATION) {
        const { data, error, replayed, position } = await runMutation({
          core,
          schema,
          operation,
          variables,
          viewer,
          keyed,
        })
        const headers: Record<string, string> = {}
        if (replayed) headers['Idempotency-Replayed'] = 'true'
        if (position !== undefined) headers['Duet-Position'] = position
        if (!error) return { data, errors: [], status: 200, headers }
        const failed = told(error.cause, requestId, error.where)
        return { ...failed, data, status: 200, headers: { ...failed.headers, ...headers } }
      }
      const { data, error } = await runQuery(core, schema, operation, variables, viewer, after)
      return error
        ? { ...told(error, requestId), data, status: 200 }
        : { data, errors: [], status: 200 }
    } catch (error) {
      return told(error, requestId)
    }
  }

  const reply = (c: Http, result: Result, type: string, viewer: Viewer): Reply => {
    const body = envelope(result)
    // A well-formed request is 200 for `application/json`, whatever its errors; 405 is about the method itself.
    const isRun = result.data !== undefined || (type === json && result.status !== 405)
    const status = isRun ? 200 : result.status
    const headers: Record<string, string> = {
      ...result.headers,
      'Content-Type': type,
      Vary: 'Accept, Authorization',
    }
    if (c.req.method === 'POST' || status !== 200 || result.errors.length > 0)
      return { status, headers: { ...headers, 'Cache-Control': 'no-store' }, body }
    headers.ETag = bodyTag(body)
    headers['Cache-Control'] =
      viewer.role === 'anonymous' ? 'public, no-cache' : 'private, no-cache'
    if (!isNotModified(header(c, 'if-none-match'), headers.ETag)) return { status, headers, body }
    const { 'Content-Type': _, ...validators } = headers
    return { status: 304, headers: validators, body: null }
  }

  const answer = async (c: Http, viewer: Viewer, requestId: string): Promise<Reply> => {
    const type = negotiate(header(c, 'accept'))
    if (type === undefined)
      throw new ApiError(
        'NOT_ACCEPTABLE',
        'Answers are application/graphql-response+json or application/json',
      )
    const params = paramsOf(await rawParams(c, edge))
    const { method, path: at } = c.req
    const asked = { method, path: at, body: params }
    const keyed =
      method === 'POST' ? keyedOf(header(c, 'idempotency-key'), viewer, asked) : undefined
    return reply(
      c,
      await run(params, viewer, method, requestId, { keyed, after: positionOf(c) }),
      type,
      viewer,
    )
  }

  /** Errors before there is a GraphQL request: broken bodies, bad tokens, wrong media types. */
  const fail = (error: ApiError, requestId: string, c: Http): Reply => {
    const type = negotiate(header(c, 'accept')) ?? json
    // A bad token is an error as any other of a well-formed request.
    const status = error.status === 401 && type === json ? 200 : error.status
    const result = told(error, requestId)
    return {
      status,
      headers: {
        'Content-Type': type,
        'Cache-Control': 'no-store',
        Vary: 'Accept, Authorization',
        ...errorHeaders(error),
      },
      body: envelope(result),
    }
  }

  const serve = exchange(edge, fail, answer)
  app.post(path, c => serve(c))
  const showPage = async (c: Http): Promise<Response> => {
    const response = await options.page(c)
    response.headers.set('X-Request-Id', requestIdOf(c))
    return response
  }
  app.get(path, c => {
    const ranges = rangesOf(header(c, 'accept') ?? '')
    const weightOf = (...types: readonly string[]) =>
      Math.max(0, ...ranges.filter(({ type }) => types.includes(type)).map(({ weight }) => weight))
    const page = weightOf('text/html')
    // A browser names HTML and takes anything else for less; a client that names JSON first means it.
    const wantsPage = page > 0 && page >= weightOf(...named)
    return wantsPage ? showPage(c) : serve(c)
  })
}
