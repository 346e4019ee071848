/** The life of a GraphQL request, from its parameters to its answer. Nothing that a start waits for imports this file. */
import { GraphQLError, OperationTypeNode } from 'graphql'
import { after, attempt } from '#base/after.ts'
import { graphqlPath, schemaPath } from '#base/paths.ts'
import type { Core } from '#core.ts'
import { ApiError, type ErrorLocation } from '#errors.ts'
import { coerceVariables } from '#graphql/arguments.ts'
import { countingOperations } from '#graphql/deprecated-use.ts'
import { documentCache, type GraphqlOperation, getOperation } from '#graphql/document.ts'
import { type ErrorEntry, entriesOf, GraphqlErrors } from '#graphql/errors.ts'
import type { Execution } from '#graphql/execution.ts'
import type { DocumentLimits } from '#graphql/limits.ts'
import { runMutation } from '#graphql/mutation.ts'
import { bodyTypes, json, mayMutate, negotiate, type Params, paramsOf } from '#graphql/over-http.ts'
import { runQuery } from '#graphql/query.ts'
import { type DerivedSchema, deriveSchema, schemaText } from '#graphql/schema.ts'
import { type Documents, documentsWith, type StoredDocuments } from '#graphql/stored.ts'
import { preferred } from '#http/accept.ts'
import { bodyTag, cacheControl, unlessKnown } from '#http/conditional.ts'
import type { EncodedBody } from '#http/encode-body.ts'
import { asApiError, exchange, type Fail, type Handle, type HttpContext } from '#http/exchange.ts'
import { createMemory, type Memory } from '#http/memory.ts'
import { errorHeaders, type Reply, type WriteFacts } from '#http/reply.ts'
import { acceptQuery, type Http, header, isSafe, readOptionsOf } from '#http/request.ts'
import type { Model } from '#model/model.ts'
import { anonymous, type Viewer } from '#model/policy.ts'
import { type KeyedRequest, keyedRequest } from '#write/idempotency.ts'
import type { RuledAction } from '#write/steps/action.ts'

export type GraphqlOptions = {
  readonly limits: DocumentLimits
  readonly introspection: boolean
  /** Absent if the operator stored no documents. */
  readonly stored?: StoredDocuments | undefined
}

type GraphqlEndpoint = {
  readonly core: Core
  readonly edge: HttpContext
  readonly schema: DerivedSchema
  readonly introspection: boolean
  readonly documents: Documents
  /** Counts the operations that use what is deprecated. */
  readonly countUse: ReturnType<typeof countingOperations> | undefined
}

type GraphqlRequest = {
  readonly c: Http
  readonly viewer: Viewer
  readonly params: Params
  readonly requestId: string
  /** The idempotency key, if the request has one. */
  readonly keyed: KeyedRequest | undefined
}

/** The result of a request: the text of `data` if the operation was run, and its errors. */
type GraphqlResult = {
  readonly data: string | undefined
  /** The whole answer of a query without errors, whose `data` is left out here. */
  readonly whole?: EncodedBody & { readonly isByRow?: boolean }
  readonly errors: readonly ErrorEntry[]
  /** The status for `application/graphql-response+json`. */
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  /** The name of the operation that was run. */
  readonly name?: string | undefined
  readonly written?: WriteFacts
}

/** The parameters of requests that were read to see whether they write. */
const paramsRead = new WeakMap<Http, Params>()

/** Answers the requests of an endpoint: their parameters are read, their document is found, their operation is run. */
const answering =
  (endpoint: GraphqlEndpoint): Handle =>
  (c, viewer, requestId) => {
    const { core, edge, documents } = endpoint
    const { method, path } = c.req
    const type = negotiate(header(c, 'accept'))
    if (type === undefined)
      throw new ApiError(
        'NOT_ACCEPTABLE',
        'Answers are application/graphql-response+json or application/json',
      )
    return after(paramsRead.get(c) ?? paramsOf(c, edge.bodyLimit), params => {
      let keyed: KeyedRequest | undefined
      const key = header(c, 'idempotency-key')
      if (method === 'POST' && key !== undefined) {
        const { query, documentId, operationName, variables } = params
        // By what is asked, wherever the id stands.
        const body = { query, documentId, operationName, variables }
        const request = { method, path, body }
        const { roles } = core.model.viewers
        const known = keyedRequest(key, viewer, request, roles)
        // In a scope of this API: the REST API knows the same key as another one.
        keyed = { ...known, scope: `graphql ${known.scope}` }
      }
      const result = attempt<GraphqlResult>(
        () => executeRequest(endpoint, { c, viewer, params, requestId, keyed }),
        error => failure(edge, error, requestId),
      )
      return after(result, result => {
        const { whole, data, errors, name, written } = result
        const code = errors[0]?.extensions.code
        const headers = {
          ...result.headers,
          'Content-Type': type,
          Vary: 'Accept, Authorization',
          ...(isSafe(method) && acceptQuery(bodyTypes)),
        }
        // A well-formed request is 200 for `application/json`, whatever its errors; 405 is about the method itself, 429 about the caller.
        const isRun = data !== undefined || whole !== undefined
        const isAbove = type !== json || result.status === 405 || result.status === 429
        const reply = {
          status: isAbove && !isRun ? result.status : 200,
          headers,
          body: whole?.body ?? envelope(result),
          code: code === undefined ? undefined : String(code),
          written,
          operation: { name, hash: () => documents.digest(params) },
        }
        const tag = whole?.tag
        if (tag === undefined)
          return { ...reply, headers: { ...headers, 'Cache-Control': 'no-store' } }
        // An answer without errors to a GET or QUERY may be cached.
        const isPublic = viewer.role === anonymous.role && !whole?.isByRow
        const cached = { ...headers, ETag: tag, 'Cache-Control': cacheControl(edge, isPublic) }
        return unlessKnown(c, { ...reply, headers: cached }, tag)
      })
    })
  }

/** ExecuteRequest (GraphQL specification, section 6.1): the operation that a request selects, run on the core. */
const executeRequest = (
  endpoint: GraphqlEndpoint,
  request: GraphqlRequest,
): GraphqlResult | Promise<GraphqlResult> => {
  const { core, edge, schema, introspection } = endpoint
  const { c, params, viewer, requestId } = request
  const { method } = c.req
  const operation = operationOf(endpoint, request)
  if (isMutation(operation) && method !== 'POST')
    throw new ApiError('METHOD_NOT_ALLOWED', 'A mutation must be sent by POST', {
      headers: { Allow: 'POST' },
    })
  const variables = coerceVariables(schema.schema, operation.node, params.variables, introspection)
  endpoint.countUse?.(operation, variables)
  const execution = { core, schema, operation, variables, viewer }
  if (isMutation(operation)) return mutate(endpoint, request, execution)
  const name = operation.node.name?.value
  return after(runQuery(execution, method !== 'POST', readOptionsOf(edge, c, viewer)), queried =>
    'error' in queried
      ? { ...failure(edge, queried.error, requestId), data: 'null', status: 200, name }
      : { data: undefined, whole: queried, errors: [], status: 200, name },
  )
}

/** The operation that a request selects; a new document is read within its caller's share of the processor. */
const operationOf = (
  { documents, edge: { limiter } }: GraphqlEndpoint,
  { c, viewer, params }: Pick<GraphqlRequest, 'c' | 'viewer' | 'params'>,
): GraphqlOperation => {
  const document = documents.find(params, read =>
    limiter ? limiter.readNew(c, viewer, read) : read(),
  )
  return getOperation(document, params.operationName)
}

const isMutation = ({ node }: GraphqlOperation): boolean =>
  node.operation === OperationTypeNode.MUTATION

const mutate = async (
  { edge }: GraphqlEndpoint,
  { c, requestId, keyed }: GraphqlRequest,
  execution: Execution,
): Promise<GraphqlResult> => {
  const { data, error, ...written } = await runMutation(execution, { c, edge, keyed })
  const failed = error && failure(edge, error.cause, requestId, error.location)
  const name = execution.operation.node.name?.value
  return { ...failed, data, errors: failed?.errors ?? [], status: 200, name, written }
}

/** A result that is an error and nothing else. A bug is observed, and the caller sees none of its words. */
const failure = (
  edge: HttpContext,
  error: unknown,
  requestId: string,
  location?: ErrorLocation,
): GraphqlResult => {
  // graphql-js throws one by itself if a variable is null and its argument may not be.
  const faults =
    error instanceof GraphQLError ? new GraphqlErrors('BAD_USER_INPUT', [error]) : error
  if (faults instanceof GraphqlErrors)
    return { data: undefined, errors: entriesOf(faults, requestId), status: 400 }
  const known = asApiError(error, requestId, edge.observe)
  return {
    data: undefined,
    errors: entriesOf(known, requestId, location),
    status: known.status,
    headers: errorHeaders(known),
  }
}

const envelope = ({ data, errors }: GraphqlResult): string => {
  const members = errors.length > 0 ? [`"errors":${JSON.stringify(errors)}`] : []
  if (data !== undefined) members.push(`"data":${data}`)
  return `{${members.join()}}`
}

/** Whether a request is a mutation, known without reading bodies that cannot be one; the faults of others are found in their turn. */
const mutating =
  (endpoint: GraphqlEndpoint) =>
  (c: Http, viewer: Viewer): boolean => {
    const body = c.get('body')
    if (c.req.method !== 'POST' || !body || !mayMutate(body)) return false
    try {
      const params = paramsOf(c, endpoint.edge.bodyLimit)
      if (params instanceof Promise) return false
      paramsRead.set(c, params)
      return isMutation(operationOf(endpoint, { c, viewer, params }))
    } catch {
      return false
    }
  }

const documentsFor = (
  { schema }: DerivedSchema,
  { limits, introspection, stored = { documents: [], only: false } }: GraphqlOptions,
  { documents }: Memory,
): Documents => documentsWith(stored, documentCache(schema, limits, introspection, documents))

/** Throws an error with a sentence for each stored document that cannot be served. */
export const checkStored = (
  model: Model,
  actions: readonly RuledAction[],
  options: GraphqlOptions,
): void => {
  documentsFor(deriveSchema(model, actions), options, createMemory())
}

/** Opens the GraphQL API of a model: the handlers of its requests, and of those for the text of its schema. */
export const openGraphql = (core: Core, edge: HttpContext, options: GraphqlOptions) => {
  const { introspection } = options
  const schema = deriveSchema(core.model, core.actions)
  const documents = documentsFor(schema, options, edge.memory)
  const countUse = core.countUse && countingOperations(schema.schema, core.countUse)
  const endpoint = { core, edge, schema, introspection, documents, countUse }
  // For errors before there is a GraphQL request: broken bodies, bad tokens, wrong media types.
  const fail: Fail = (error, requestId, c) => {
    const type = negotiate(header(c, 'accept')) ?? json
    // A bad token and variables that are too large are errors as any other of a well-formed request; at any other path
    // there is no request of GraphQL.
    const isWellFormed = error.code === 'UNAUTHENTICATED' || error.code === 'VALIDATION_ERROR'
    const isRequest = c.req.path === graphqlPath
    const refused = error.code === 'VALIDATION_ERROR' ? 400 : error.status
    return {
      status: isWellFormed && isRequest && type === json ? 200 : refused,
      headers: {
        'Content-Type': type,
        'Cache-Control': 'no-store',
        Vary: 'Accept, Authorization',
        ...errorHeaders(error),
      },
      body: envelope(failure(edge, error, requestId)),
    }
  }
  const isWrite = mutating(endpoint)
  const serve = exchange(edge, fail, answering(endpoint), graphqlPath, { isWrite })
  // Not printed at the start, which that would delay.
  let text: string | undefined
  const answerSchema = (c: Http): Reply => {
    if (!introspection)
      throw new ApiError(
        'NOT_FOUND',
        'Schema not found: this service shows it only with DUET_INTROSPECTION=on',
      )
    text ??= schemaText(schema)
    // Browsers would save a type that they do not know.
    const form = preferred(header(c, 'accept') ?? '*/*', ['application/graphql', 'text/html'])
    const type = form === 'text/html' ? 'text/plain' : 'application/graphql'
    const tag = bodyTag(text)
    const headers = {
      ETag: tag,
      'Cache-Control': 'public, no-cache',
      Vary: 'Accept',
      'Content-Type': `${type}; charset=utf-8`,
    }
    return unlessKnown(c, { status: 200, headers, body: text }, tag)
  }
  return { serve, serveSchema: exchange(edge, fail, answerSchema, schemaPath) }
}

export type GraphqlApi = ReturnType<typeof openGraphql>
