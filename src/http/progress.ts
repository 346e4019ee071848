/** A request in progress, and the event that it becomes. */
import type { RequestFacts } from '#channels.ts'
import type { RateHeaders } from '#http/limit/limiter.ts'
import type { Pipeline } from '#http/pipeline.ts'
import type { Reply } from '#http/reply.ts'
import { type Http, header, requestIdOf } from '#http/request.ts'
import { traceOf } from '#http/trace.ts'
import { anonymous, type Viewer } from '#model/policy.ts'
import type { RequestEvent, RequestStats } from '#observe.ts'

/** A request in progress, with the facts for its answer and log line. */
export type Exchange = {
  readonly c: Http
  readonly requestId: string
  readonly facts: RequestFacts
  readonly work: RequestStats | undefined
  readonly started: number
  /** How long it waited for its turn, in milliseconds. */
  wait: number
  viewer: Viewer
  rate: RateHeaders | undefined
  code: string | undefined
  /** The pipeline of its connection, where it is in one. */
  pipeline: Pipeline | undefined
}

/** A request that has just come; `route` is the pattern of its path, `work` what it does in the store where that is collected. */
export const begin = (
  c: Http,
  route: string | undefined,
  work: RequestStats | undefined,
): Exchange => {
  const { method, path } = c.req
  const requestId = requestIdOf(c)
  return {
    c,
    requestId,
    facts: { requestId, method, path, route, trace: traceOf(header(c, 'traceparent')) },
    work,
    started: performance.now(),
    wait: 0,
    viewer: anonymous,
    rate: undefined,
    code: undefined,
    pipeline: undefined,
  }
}

/** The event of a request that is answered. */
export const eventOf = (
  { facts, work, started, wait, viewer, code }: Exchange,
  reply: Reply,
  status: number,
): RequestEvent => ({
  kind: 'request',
  requestId: facts.requestId,
  method: facts.method,
  path: facts.path,
  route: facts.route,
  status,
  milliseconds: performance.now() - started,
  wait,
  viewer: viewer.id,
  code: code ?? reply.code,
  bytes: Number(reply.headers['Content-Length'] ?? 0),
  trace: facts.trace,
  operation: reply.operation,
  work,
})
