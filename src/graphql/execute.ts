/** ExecuteRequest (GraphQL specification, section 6.1): a request's operation, run on the core. */
import {
  type GraphQLSchema,
  getVariableValues,
  type OperationDefinitionNode,
  OperationTypeNode,
} from 'graphql'
import type { Core } from '#core.ts'
import { ApiError } from '#errors.ts'
import type { Variables } from '#graphql/arguments.ts'
import { type Document, GraphqlErrors, getOperation } from '#graphql/document.ts'
import { type Entry, entriesOf, statusOf, type Where } from '#graphql/errors.ts'
import { type Mutating, runMutation } from '#graphql/mutation.ts'
import type { Params } from '#graphql/params.ts'
import { runQuery } from '#graphql/query.ts'
import type { Schema } from '#graphql/schema.ts'
import type { Edge } from '#http/exchange.ts'
import { errorHeaders } from '#http/reply.ts'
import type { Viewer } from '#model/viewer.ts'
import type { KeyedRequest } from '#write/idempotency.ts'

type Observe = Edge['observe']

/** What all requests to the endpoint share. */
export type Endpoint = {
  readonly core: Core
  readonly observe: Observe
  readonly schema: Schema
  readonly introspection: boolean
  readonly documents: (source: string) => Document
}

export type Request = {
  readonly params: Params
  readonly viewer: Viewer
  readonly method: string
  readonly requestId: string
  /** The key under which the answers are kept, where the request has one. */
  readonly keyed: KeyedRequest | undefined
  /** The position that a read must not be before. */
  readonly after: string | undefined
}

/** What a request came to: the text of `data` where it was run, and its errors. */
export type Result = {
  readonly data: string | undefined
  readonly errors: readonly Entry[]
  /** The status for `application/graphql-response+json`. */
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
}

const hidden = new ApiError(
  'INTERNAL',
  'The server failed to answer; its log has the reason under this request id',
)

/** A result that is an error alone. A bug is observed, and the caller is told none of its words. */
export const failure = (
  observe: Observe,
  error: unknown,
  requestId: string,
  where: Where = {},
): Result => {
  const known = entriesOf(error, requestId, where)
  if (!known) observe({ kind: 'bug', requestId, error })
  return {
    data: undefined,
    errors: known ?? entriesOf(hidden, requestId, where) ?? [],
    status: known ? statusOf(error) : hidden.status,
    ...(error instanceof ApiError && { headers: errorHeaders(error) }),
  }
}

/** CoerceVariableValues (section 6.1.2), by graphql-js. */
const coerceVariables = (
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  values: Params['variables'],
  introspection: boolean,
): Variables => {
  const result = getVariableValues(schema, operation.variableDefinitions ?? [], values, {
    maxErrors: 10,
    hideSuggestions: !introspection,
  })
  if (result.errors) throw new GraphqlErrors('BAD_USER_INPUT', result.errors)
  return result.variableValues
}

const mutate = async (observe: Observe, requestId: string, mutating: Mutating): Promise<Result> => {
  const { data, error, replayed, position } = await runMutation(mutating)
  const headers: Record<string, string> = {}
  if (replayed) headers['Idempotency-Replayed'] = 'true'
  if (position !== undefined) headers['Duet-Position'] = position
  if (!error) return { data, errors: [], status: 200, headers }
  const failed = failure(observe, error.cause, requestId, error.where)
  return { ...failed, data, status: 200, headers: { ...failed.headers, ...headers } }
}

const run = async (endpoint: Endpoint, request: Request): Promise<Result> => {
  const { core, observe, schema, documents, introspection } = endpoint
  const { params, viewer, method, requestId, keyed, after } = request
  const operation = getOperation(documents(params.query), params.operationName)
  const isMutation = operation.node.operation === OperationTypeNode.MUTATION
  if (isMutation && method !== 'POST')
    throw new ApiError('METHOD_NOT_ALLOWED', 'A mutation must be sent by POST', {
      headers: { Allow: 'POST' },
    })
  const variables = coerceVariables(schema.schema, operation.node, params.variables, introspection)
  if (isMutation)
    return mutate(observe, requestId, { core, schema, operation, variables, viewer, keyed })
  const { data, error } = await runQuery(core, schema, operation, variables, viewer, after)
  if (error) return { ...failure(observe, error, requestId), data, status: 200 }
  return { data, errors: [], status: 200 }
}

/** The result of a request, whatever goes wrong with it. */
export const executeRequest = async (endpoint: Endpoint, request: Request): Promise<Result> => {
  try {
    return await run(endpoint, request)
  } catch (error) {
    return failure(endpoint.observe, error, request.requestId)
  }
}
