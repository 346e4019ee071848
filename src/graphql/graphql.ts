/** GraphQL over HTTP: the endpoint, and the envelope and headers of its answers. */

import { graphqlPath } from '#base/paths.ts'
import type { Core } from '#core.ts'
import { ApiError } from '#errors.ts'
import { documentCache } from '#graphql/document.ts'
import { type Endpoint, executeRequest, failure, type Result } from '#graphql/execute.ts'
import type { DocumentLimits } from '#graphql/limits.ts'
import { json, negotiate, wantsPage } from '#graphql/media-types.ts'
import { paramsOf } from '#graphql/params.ts'
import { deriveSchema } from '#graphql/schema.ts'
import { mountSchema } from '#graphql/sdl.ts'
import { bodyTag, isNotModified } from '#http/conditional.ts'
import { type Edge, exchange, type Fail } from '#http/exchange.ts'
import { errorHeaders, type Reply } from '#http/reply.ts'
import { type App, type Http, header, positionOf } from '#http/request.ts'
import { anonymous, type Viewer } from '#model/viewer.ts'
import { keyedRequest } from '#write/idempotency.ts'

export type GraphqlOptions = {
  readonly limits: DocumentLimits
  readonly introspection: boolean
  /** The page for a browser that opens the endpoint. */
  readonly page: (c: Http) => Response | Promise<Response>
}

const envelope = ({ data, errors }: Result): string => {
  const members = errors.length > 0 ? [`"errors":${JSON.stringify(errors)}`] : []
  if (data !== undefined) members.push(`"data":${data}`)
  return `{${members.join()}}`
}

/** A well-formed request is 200 for `application/json`, whatever its errors; 405 is about the method itself. */
const statusFor = (type: string, { data, status }: Result): number =>
  data !== undefined || (type === json && status !== 405) ? 200 : status

/** An answer without errors to a GET may be cached, and is 304 to a caller who has it. */
const cacheable = (c: Http, reply: Reply & { readonly body: string }, viewer: Viewer): Reply => {
  const tag = bodyTag(reply.body)
  const audience = viewer.role === anonymous.role ? 'public' : 'private'
  const headers: Reply['headers'] = {
    ...reply.headers,
    ETag: tag,
    'Cache-Control': `${audience}, no-cache`,
  }
  if (!isNotModified(header(c, 'if-none-match'), tag)) return { ...reply, headers }
  const { 'Content-Type': _, ...validators } = headers
  return { status: 304, headers: validators, body: null }
}

const replyOf = (c: Http, result: Result, type: string, viewer: Viewer): Reply => {
  const body = envelope(result)
  const status = statusFor(type, result)
  const headers = { ...result.headers, 'Content-Type': type, Vary: 'Accept, Authorization' }
  return c.req.method === 'POST' || status !== 200 || result.errors.length > 0
    ? { status, headers: { ...headers, 'Cache-Control': 'no-store' }, body }
    : cacheable(c, { status, headers, body }, viewer)
}

const answer = async (
  endpoint: Endpoint,
  bodyLimit: number,
  c: Http,
  viewer: Viewer,
  requestId: string,
): Promise<Reply> => {
  const type = negotiate(header(c, 'accept'))
  if (type === undefined)
    throw new ApiError(
      'NOT_ACCEPTABLE',
      'Answers are application/graphql-response+json or application/json',
    )
  const params = await paramsOf(c, bodyLimit)
  const { method, path } = c.req
  const keyed =
    method === 'POST'
      ? keyedRequest(header(c, 'idempotency-key'), viewer, { method, path, body: params })
      : undefined
  const request = { params, viewer, method, requestId, keyed, position: positionOf(c) }
  return replyOf(c, await executeRequest(endpoint, request), type, viewer)
}

/** Errors before there is a GraphQL request: broken bodies, bad tokens, wrong media types. */
const failWith =
  (observe: Edge['observe']): Fail =>
  (error, requestId, c) => {
    const type = negotiate(header(c, 'accept')) ?? json
    // A bad token is an error as any other of a well-formed request; at any other path it is no request of GraphQL.
    const isRequest = c.req.path === graphqlPath
    const status = error.status === 401 && type === json && isRequest ? 200 : error.status
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

/** Mounts the GraphQL API of a model. */
export const mountGraphql = (app: App, core: Core, edge: Edge, options: GraphqlOptions): void => {
  const { limits, introspection, page } = options
  const { observe, bodyLimit } = edge
  const schema = deriveSchema(core.model)
  const documents = documentCache(schema.schema, limits, introspection)
  const endpoint = { core, observe, schema, introspection, documents }
  const fail = failWith(observe)
  const serve = exchange(edge, fail, (c, viewer, requestId) =>
    answer(endpoint, bodyLimit, c, viewer, requestId),
  )
  app.post(graphqlPath, serve)
  app.get(graphqlPath, c => (wantsPage(header(c, 'accept')) ? page(c) : serve(c)))
  mountSchema(app, edge, fail, endpoint)
}
