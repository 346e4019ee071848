/** ExecuteRequest (GraphQL specification, section 6.1): a request's operation, run on the core. */
import {
  GraphQLError,
  type GraphQLSchema,
  getVariableValues,
  type OperationDefinitionNode,
  OperationTypeNode,
} from 'graphql'
import { after, attempt } from '#base/after.ts'
import type { Core } from '#core.ts'
import { ApiError, type ErrorLocation } from '#errors.ts'
import type { Variables } from '#graphql/arguments.ts'
import { GraphqlErrors, getOperation, type Operation, type ReadNew } from '#graphql/document.ts'
import { type Entry, entriesOf } from '#graphql/errors.ts'
import { runMutation } from '#graphql/mutation.ts'
import type { Params } from '#graphql/params.ts'
import { runQuery } from '#graphql/query.ts'
import type { Schema } from '#graphql/schema.ts'
import { collectFields, type Execution } from '#graphql/selection.ts'
import type { Documents } from '#graphql/stored.ts'
import type { countingOperations } from '#graphql/usage.ts'
import type { Edge } from '#http/edge.ts'
import { asApiError } from '#http/finish.ts'
import type { RateHeaders } from '#http/limit/limiter.ts'
import { errorHeaders } from '#http/reply.ts'
import type { Whole } from '#http/whole.ts'
import type { Viewer } from '#model/viewer.ts'
import type { Asked } from '#read/read.ts'
import type { KeyedRequest } from '#write/idempotency.ts'

type Observe = Edge['observe']

/** The endpoint, as all its requests share it. */
export type Endpoint = {
  readonly core: Core
  readonly observe: Observe
  readonly schema: Schema
  readonly introspection: boolean
  readonly documents: Documents
  /** Counts the operations that use what is deprecated. */
  readonly countUse: ReturnType<typeof countingOperations>
}

export type Request = {
  readonly params: Params
  readonly viewer: Viewer
  readonly method: string
  readonly requestId: string
  /** The idempotency key, where the request has one. */
  readonly keyed: KeyedRequest | undefined
  /** How its reads are asked for. */
  readonly asked: Asked
  /** Counts so much further work against the caller's rate limit; gives the headers that say what is left. */
  readonly count: (work: number) => Counted | Promise<Counted>
  /** Reads a new document within its caller's share of the processor. */
  readonly readNew: ReadNew
  /** Counts a row of an entity that will be created; throws above the limit of the caller's address. */
  readonly countCreation: (entity: string) => void
}

type Counted = RateHeaders | undefined

/** The result of a request: the text of `data` where the operation was run, and its errors. */
export type Result = {
  readonly data: string | undefined
  /** The whole answer of a query without errors, whose `data` is left out here. */
  readonly whole?: Whole
  readonly errors: readonly Entry[]
  /** The status for `application/graphql-response+json`. */
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  /** The name of the operation that was run. */
  readonly name?: string | undefined
}

/** A result that is an error and nothing else. A bug is observed, and the caller sees none of its words. */
export const failure = (
  observe: Observe,
  error: unknown,
  requestId: string,
  location?: ErrorLocation,
): Result => {
  // graphql-js throws one by itself where a variable is null and its argument may not be.
  if (error instanceof GraphQLError)
    return failure(observe, new GraphqlErrors('BAD_USER_INPUT', [error]), requestId)
  if (error instanceof GraphqlErrors)
    return { data: undefined, errors: entriesOf(error, requestId), status: 400 }
  const known = asApiError(error, requestId, observe)
  return {
    data: undefined,
    errors: entriesOf(known, requestId, location),
    status: known.status,
    headers: errorHeaders(known),
  }
}

/** How many faults of variables are reported; one more says how many follow. */
const mostFaults = 20

/** Variables with longer JSON get one fault: graphql-js prints the whole value into each, which takes its time. */
const printable = 2048

const firstOf = (faults: readonly GraphQLError[]): readonly GraphQLError[] => {
  const rest = faults.length - mostFaults
  if (rest <= 0) return faults
  const more = new GraphQLError(`And ${rest} more ${rest === 1 ? 'fault' : 'faults'}.`)
  return [...faults.slice(0, mostFaults), more]
}

/** CoerceVariableValues (section 6.1.2), by graphql-js. */
const coerceVariables = (
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  values: Params['variables'],
  introspection: boolean,
): Variables => {
  const coerce = (maxErrors: number) =>
    getVariableValues(schema, operation.variableDefinitions ?? [], values, {
      maxErrors,
      hideSuggestions: !introspection,
    })
  const result = coerce(1)
  if (!result.errors) return result.variableValues
  const isLong = JSON.stringify(values).length > printable
  const { errors = [] } = isLong ? result : coerce(Number.POSITIVE_INFINITY)
  throw new GraphqlErrors('BAD_USER_INPUT', firstOf(errors))
}

const mutate = async (
  observe: Observe,
  requestId: string,
  execution: Execution,
  keyed: KeyedRequest | undefined,
): Promise<Result> => {
  const { data, error, replayed, position } = await runMutation(execution, keyed)
  const headers: Record<string, string> = {}
  if (replayed) headers['Idempotency-Replayed'] = 'true'
  if (position !== undefined) headers['Duet-Position'] = position
  if (!error) return { data, errors: [], status: 200, headers }
  const failed = failure(observe, error.cause, requestId, error.location)
  return { ...failed, data, status: 200, headers: { ...failed.headers, ...headers } }
}

/** Each mutation of an operation counts as a request does, and what it creates; the first request is counted already. */
const countMutations = (
  execution: Execution,
  { count, countCreation }: Request,
): Counted | Promise<Counted> => {
  const { schema, operation, variables } = execution
  const fields = collectFields([operation.node.selectionSet], operation, variables).values()
  const roots = [...fields].flatMap(([node]) => schema.roots.get(node?.name.value ?? '') ?? [])
  for (const { kind, entity } of roots) if (kind === 'create') countCreation(entity)
  return roots.length > 1 ? count(roots.length - 1) : undefined
}

const isMutation = ({ node }: Operation): boolean => node.operation === OperationTypeNode.MUTATION

const run = (endpoint: Endpoint, request: Request): Result | Promise<Result> => {
  const { core, observe, schema, documents, introspection } = endpoint
  const { params, viewer, method, requestId, keyed, asked } = request
  const operation = getOperation(documents.find(params, request.readNew), params.operationName)
  const mutates = isMutation(operation)
  if (mutates && method !== 'POST')
    throw new ApiError('METHOD_NOT_ALLOWED', 'A mutation must be sent by POST', {
      headers: { Allow: 'POST' },
    })
  const variables = coerceVariables(schema.schema, operation.node, params.variables, introspection)
  endpoint.countUse(operation, variables, viewer)
  const name = operation.node.name?.value
  const execution = { core, schema, operation, variables, viewer }
  if (mutates)
    return after(countMutations(execution, request), async rate => {
      const result = await mutate(observe, requestId, execution, keyed)
      return { ...result, headers: { ...rate, ...result.headers }, name }
    })
  return after(runQuery({ ...execution, isTagged: method !== 'POST' }, asked), queried =>
    'error' in queried
      ? { ...failure(observe, queried.error, requestId), data: 'null', status: 200, name }
      : { data: undefined, whole: queried, errors: [], status: 200, name },
  )
}

/** The result of a request; it never throws. */
export const executeRequest = (endpoint: Endpoint, request: Request): Result | Promise<Result> =>
  attempt<Result>(
    () => run(endpoint, request),
    error => failure(endpoint.observe, error, request.requestId),
  )

/** Whether a request asks for a mutation; throws where its document has no such operation. */
export const asksForMutation = (
  { documents }: Endpoint,
  params: Params,
  readNew: ReadNew,
): boolean => isMutation(getOperation(documents.find(params, readNew), params.operationName))
