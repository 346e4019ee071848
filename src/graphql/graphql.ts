/** GraphQL over HTTP: the endpoint, and the envelope and headers of its answers. Nothing that a start waits for imports it. */
import { after } from '#base/after.ts'
import { graphqlPath } from '#base/paths.ts'
import type { Core } from '#core.ts'
import { ApiError } from '#errors.ts'
import { countingOperations } from '#graphql/deprecated-use.ts'
import { documentCache } from '#graphql/document.ts'
import {
  asksForMutation,
  type Endpoint,
  executeRequest,
  failure,
  type Result,
} from '#graphql/execute.ts'
import type { DocumentLimits } from '#graphql/limits.ts'
import { json, negotiate } from '#graphql/media-types.ts'
import { bodyTypes, mayMutate, type Params, paramsOf } from '#graphql/params.ts'
import { deriveSchema, type Schema } from '#graphql/schema.ts'
import { schemaHandler } from '#graphql/sdl.ts'
import { type Documents, documentsWith, type Stored } from '#graphql/stored.ts'
import { unlessKnown } from '#http/conditional.ts'
import type { Fail, HttpContext } from '#http/edge.ts'
import { exchange } from '#http/exchange.ts'
import { createMemory, type Memory } from '#http/memory.ts'
import { errorHeaders, type Reply } from '#http/reply.ts'
import { type Http, header } from '#http/request.ts'
import { acceptQuery, isSafe } from '#http/safe.ts'
import type { Model } from '#model/model.ts'
import { anonymous, type Viewer } from '#model/policy.ts'
import { type KeyedRequest, keyedRequest } from '#write/idempotency.ts'

export type GraphqlOptions = {
  readonly limits: DocumentLimits
  readonly introspection: boolean
  /** Absent where the operator stored no documents. */
  readonly stored?: Stored | undefined
}

const envelope = ({ data, errors }: Result): string => {
  const members = errors.length > 0 ? [`"errors":${JSON.stringify(errors)}`] : []
  if (data !== undefined) members.push(`"data":${data}`)
  return `{${members.join()}}`
}

/** A well-formed request is 200 for `application/json`, whatever its errors; 405 is about the method itself, 429 about the caller. */
const statusFor = (type: string, { data, whole, status }: Result): number =>
  data !== undefined || whole || (type === json && status !== 405 && status !== 429) ? 200 : status

const codeOf = ({ errors }: Result): string | undefined => {
  const code = errors[0]?.extensions.code
  return code === undefined ? undefined : String(code)
}

const replyOf = (
  c: Http,
  result: Result,
  type: string,
  viewer: Viewer,
  hash: () => string,
): Reply => {
  const body = result.whole?.body ?? envelope(result)
  const tag = result.whole?.tag
  const status = statusFor(type, result)
  const headers = {
    ...result.headers,
    'Content-Type': type,
    Vary: 'Accept, Authorization',
    ...(isSafe(c.req.method) && acceptQuery(bodyTypes)),
  }
  const reply = {
    status,
    headers,
    body,
    code: codeOf(result),
    operation: { name: result.name, hash },
  }
  if (tag === undefined) return { ...reply, headers: { ...headers, 'Cache-Control': 'no-store' } }
  // An answer without errors to a GET or QUERY may be cached.
  const audience = viewer.role === anonymous.role ? 'public' : 'private'
  const cached = { ...headers, ETag: tag, 'Cache-Control': `${audience}, no-cache` }
  return unlessKnown(c, { ...reply, headers: cached }, tag)
}

/** The request under its key, in a scope of this API: the REST API knows the same key as another one. */
const keyedOf = (
  { core }: Endpoint,
  c: Http,
  viewer: Viewer,
  params: Params,
): KeyedRequest | undefined => {
  const { method, path } = c.req
  if (method !== 'POST') return undefined
  const request = { method, path, body: params }
  const { roles } = core.model.viewers
  const keyed = keyedRequest(header(c, 'idempotency-key'), viewer, request, roles)
  return keyed && { ...keyed, scope: `graphql ${keyed.scope}` }
}

const answer = (
  endpoint: Endpoint,
  c: Http,
  viewer: Viewer,
  requestId: string,
): Reply | Promise<Reply> => {
  const type = negotiate(header(c, 'accept'))
  if (type === undefined)
    throw new ApiError(
      'NOT_ACCEPTABLE',
      'Answers are application/graphql-response+json or application/json',
    )
  return after(paramsOf(c, endpoint.edge.bodyLimit), params => {
    const keyed = keyedOf(endpoint, c, viewer, params)
    const request = { c, viewer, params, requestId, keyed }
    const hash = () => endpoint.documents.digest(params)
    return after(executeRequest(endpoint, request), result =>
      replyOf(c, result, type, viewer, hash),
    )
  })
}

/** Whether a request is a mutation, known without reading bodies that cannot be one; the faults of others are found in their turn. */
const isWrite = (endpoint: Endpoint, c: Http, viewer: Viewer): boolean => {
  const body = c.get('body')
  if (c.req.method !== 'POST' || !body || !mayMutate(body)) return false
  try {
    const params = paramsOf(c, endpoint.edge.bodyLimit)
    if (params instanceof Promise) return false
    return asksForMutation(endpoint, { c, viewer, params })
  } catch {
    return false
  }
}

/** Errors before there is a GraphQL request: broken bodies, bad tokens, wrong media types. */
const failWith =
  (observe: HttpContext['observe']): Fail =>
  (error, requestId, c) => {
    const type = negotiate(header(c, 'accept')) ?? json
    // A bad token and variables that are too large are errors as any other of a well-formed request; at any other path
    // there is no request of GraphQL.
    const isWellFormed = error.code === 'UNAUTHENTICATED' || error.code === 'VALIDATION_ERROR'
    const isRequest = c.req.path === graphqlPath
    const refused = error.code === 'VALIDATION_ERROR' ? 400 : error.status
    const status = isWellFormed && isRequest && type === json ? 200 : refused
    return {
      status,
      headers: {
        'Content-Type': type,
        'Cache-Control': 'no-store',
        Vary: 'Accept, Authorization',
        ...errorHeaders(error),
      },
      body: envelope(failure(observe, error, requestId)),
    }
  }

const documentsFor = (
  { schema }: Schema,
  options: GraphqlOptions,
  { documents }: Memory,
): Documents => {
  const { limits, introspection, stored = { documents: [], only: false } } = options
  return documentsWith(stored, documentCache(schema, limits, introspection, documents))
}

/** Throws an error with a sentence for each stored document that cannot be served. */
export const checkStored = (model: Model, options: GraphqlOptions): void => {
  documentsFor(deriveSchema(model), options, createMemory())
}

/** Opens the GraphQL API of a model: the handlers of its requests, and of those for the text of its schema. */
export const openGraphql = (core: Core, edge: HttpContext, options: GraphqlOptions) => {
  const { introspection } = options
  const schema = deriveSchema(core.model)
  const documents = documentsFor(schema, options, edge.memory)
  const countUse = countingOperations(schema.schema, core.usage)
  const endpoint = { core, edge, schema, introspection, documents, countUse }
  const fail = failWith(edge.observe)
  const serve = exchange(
    edge,
    fail,
    (c, viewer, requestId) => answer(endpoint, c, viewer, requestId),
    graphqlPath,
    { isWrite: (c, viewer) => isWrite(endpoint, c, viewer) },
  )
  return { serve, serveSchema: schemaHandler(edge, fail, endpoint) }
}

export type GraphqlApi = ReturnType<typeof openGraphql>
