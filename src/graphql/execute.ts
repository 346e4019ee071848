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
import type { countingOperations } from '#graphql/deprecated-use.ts'
import { GraphqlErrors, getOperation, type Operation } from '#graphql/document.ts'
import { type Entry, entriesOf } from '#graphql/errors.ts'
import { runMutation } from '#graphql/mutation.ts'
import type { Params } from '#graphql/params.ts'
import { runQuery } from '#graphql/query.ts'
import type { Schema } from '#graphql/schema.ts'
import { collectFields, type Execution } from '#graphql/selection.ts'
import type { Documents } from '#graphql/stored.ts'
import { askedBy } from '#http/asked.ts'
import type { HttpContext } from '#http/edge.ts'
import { asApiError } from '#http/finish.ts'
import type { RateHeaders } from '#http/limit/limiter.ts'
import { errorHeaders, writeHeaders } from '#http/reply.ts'
import type { Http } from '#http/request.ts'
import type { Whole } from '#http/whole.ts'
import type { Viewer } from '#model/policy.ts'
import type { KeyedRequest } from '#write/idempotency.ts'

type Observe = HttpContext['observe']

/** The endpoint, as all its requests share it. */
export type Endpoint = {
  readonly core: Core
  readonly edge: HttpContext
  readonly schema: Schema
  readonly introspection: boolean
  readonly documents: Documents
  /** Counts the operations that use what is deprecated. */
  readonly countUse: ReturnType<typeof countingOperations>
}

export type Request = {
  readonly c: Http
  readonly viewer: Viewer
  readonly params: Params
  readonly requestId: string
  /** The idempotency key, where the request has one. */
  readonly keyed: KeyedRequest | undefined
}

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
  { requestId, keyed }: Request,
  execution: Execution,
): Promise<Result> => {
  const { data, error, ...write } = await runMutation(execution, keyed)
  const headers = writeHeaders(write)
  if (!error) return { data, errors: [], status: 200, headers }
  const failed = failure(observe, error.cause, requestId, error.location)
  return { ...failed, data, status: 200, headers: { ...failed.headers, ...headers } }
}

/** Each mutation of an operation counts as a request does, and what it creates; the first request is counted already. */
const countMutations = (
  { limiter }: HttpContext,
  c: Http,
  { schema, operation, variables, viewer }: Execution,
): RateHeaders | undefined | Promise<RateHeaders> => {
  const fields = collectFields([operation.node.selectionSet], operation, variables).values()
  const roots = [...fields].flatMap(([node]) => schema.roots.get(node?.name.value ?? '') ?? [])
  for (const { kind, entity } of roots)
    if (kind === 'create') limiter?.countCreation(c, viewer, entity)
  return roots.length > 1 ? limiter?.count(c, viewer, roots.length - 1) : undefined
}

/** The operation that a request asks for; a new document is read within its caller's share of the processor. */
const operationOf = (
  { documents, edge: { limiter } }: Endpoint,
  { c, viewer, params }: Pick<Request, 'c' | 'viewer' | 'params'>,
): Operation => {
  const document = documents.find(params, read =>
    limiter ? limiter.readNew(c, viewer, read) : read(),
  )
  return getOperation(document, params.operationName)
}

const isMutation = ({ node }: Operation): boolean => node.operation === OperationTypeNode.MUTATION

/** Whether a request asks for a mutation; throws where its document has no such operation. */
export const asksForMutation = (
  endpoint: Endpoint,
  request: Pick<Request, 'c' | 'viewer' | 'params'>,
): boolean => isMutation(operationOf(endpoint, request))

const run = (endpoint: Endpoint, request: Request): Result | Promise<Result> => {
  const { core, edge, schema, introspection } = endpoint
  const { c, params, viewer, requestId } = request
  const { method } = c.req
  const operation = operationOf(endpoint, request)
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
    return after(countMutations(edge, c, execution), async rate => {
      const result = await mutate(edge.observe, request, execution)
      return { ...result, headers: { ...rate, ...result.headers }, name }
    })
  const asked = askedBy(edge, c, viewer)
  return after(runQuery({ ...execution, isTagged: method !== 'POST' }, asked), queried =>
    'error' in queried
      ? { ...failure(edge.observe, queried.error, requestId), data: 'null', status: 200, name }
      : { data: undefined, whole: queried, errors: [], status: 200, name },
  )
}

/** The result of a request; it never throws. */
export const executeRequest = (endpoint: Endpoint, request: Request): Result | Promise<Result> =>
  attempt<Result>(
    () => run(endpoint, request),
    error => failure(endpoint.edge.observe, error, request.requestId),
  )
