/** One request from its first header to its log line: its viewer, its answer, its error. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { after, attempt } from '#base/after.ts'
import { graphqlPath } from '#base/paths.ts'
import { passingOn } from '#base/traceparent.ts'
import { requests, traced } from '#channels.ts'
import { ApiError } from '#errors.ts'
import type { Active } from '#http/active.ts'
import type { NameCaller } from '#http/limit/caller.ts'
import type { Limiter } from '#http/limit/limiter.ts'
import type { Memory } from '#http/memory.ts'
import { begin, type Exchange, eventOf } from '#http/progress.ts'
import type { Queue } from '#http/queue.ts'
import { corsHeaders, notAPage, type Origins, type Reply } from '#http/reply.ts'
import { checkHead, checkPath, type Http, hasHungUp, header, hungUp } from '#http/request.ts'
import { isSafe } from '#http/safe.ts'
import { traceparentOf } from '#http/trace.ts'
import { type Collect, noWork, serverTiming } from '#http/work.ts'
import type { Viewer } from '#model/viewer.ts'
import type { Observe } from '#observe.ts'

/** The part of the service around both APIs, from the configuration. */
export type Edge = {
  /** The viewer of an `Authorization` header; throws `UNAUTHENTICATED` for a bad one, and what `beforeCheck` throws before a signature is checked. */
  readonly authenticate: (
    authorization: string | undefined,
    beforeCheck?: () => void,
  ) => Viewer | Promise<Viewer>
  /** The name of a caller, for a fair share of what is scarce. */
  readonly callerOf: NameCaller
  readonly observe: Observe
  readonly queue: Queue
  /** Absent where requests are not limited. */
  readonly limiter?: Limiter | undefined
  readonly memory: Memory
  readonly active: Active
  readonly origins: Origins
  /** The largest JSON body, in bytes. */
  readonly bodyLimit: number
  /** The longest URL, in characters. */
  readonly urlLimit: number
  /** Seconds for which caches may store what anonymous may read; 0: they must revalidate each time. */
  readonly publicMaxAge: number
  /** Collects what requests do in the store; absent where nobody asks. */
  readonly collect?: Collect | undefined
  /** Whether each answer says in `Server-Timing` where its time went. */
  readonly tellsTiming?: boolean
  /** What is to be said of the position of a request; undefined where all is well. */
  readonly standing?: ((position: string) => string | undefined) | undefined
}

/** How an API prints an error. */
export type Fail = (error: ApiError, requestId: string, c: Http) => Reply

export type Handle = (c: Http, viewer: Viewer, requestId: string) => Reply | Promise<Reply>

/** A handler with its surroundings, the same for all its requests. */
type Serving = {
  readonly edge: Edge
  readonly fail: Fail
  readonly handle: Handle
  /** The pattern of the path; absent where no route takes it. */
  readonly route: string | undefined
}

/** The viewer, or the error of a URL or token that is not accepted. */
const identify = ({ urlLimit, authenticate, limiter }: Edge, c: Http) =>
  attempt<Viewer | { readonly error: unknown }>(
    () => {
      if (c.req.url.length > urlLimit)
        throw new ApiError('URI_TOO_LONG', `The URL is longer than ${urlLimit} characters`)
      checkHead(c)
      checkPath(c.req.path)
      // A signature costs more than a refusal: a caller above the limit is not given one.
      return authenticate(header(c, 'authorization'), () => limiter?.checkAddress(c))
    },
    error => ({ error }),
  )

/** The API's own answer, unless the caller is over its limit. */
const answer = ({ edge, handle }: Serving, exchange: Exchange): Reply | Promise<Reply> => {
  const { c, requestId } = exchange
  return after(identify(edge, c), found => {
    // Without an accepted token, the request counts for its address.
    if (!('error' in found)) exchange.viewer = found
    return after(edge.limiter?.count(c, exchange.viewer), rate => {
      exchange.rate = rate
      if ('error' in found) throw found.error
      return handle(c, found, requestId)
    })
  })
}

/** The error to answer with. Anything thrown that is no ApiError is a bug: it is observed, and the caller sees none of its words. */
export const asApiError = (error: unknown, requestId: string, observe: Observe): ApiError => {
  if (error instanceof ApiError) return error
  observe({ kind: 'bug', requestId, error })
  return new ApiError(
    'INTERNAL',
    'The server failed to answer; its log has the reason under this request id',
  )
}

const refuse = ({ edge, fail }: Serving, exchange: Exchange, error: unknown): Reply => {
  const { c, requestId } = exchange
  const known = asApiError(error, requestId, edge.observe)
  exchange.code = known.code
  return fail(known, requestId, c)
}

/** Made once: finding out where each is made would cost as much as the rest of a refusal. */
const overloads = [1, 2, 3].map(
  retryAfter =>
    new ApiError(
      'OVERLOADED',
      'The server has more to do than it can do soon; try again in a moment',
      { retryAfter },
    ),
)

/** A refusal for now; spread, so that not all callers return at the same moment. */
const overloaded = () => overloads[Math.floor(Math.random() * overloads.length)] as ApiError

const tooManyUnread = () =>
  new ApiError(
    'OVERLOADED',
    'Too many answers wait for their clients to read them; try again soon',
    {
      retryAfter: 2,
    },
  )

/** Shorter answers fit into the buffers of their sockets, and are not counted. */
const smallAnswer = 4096

/**
 * The reply, whose bytes are counted until its client has taken them. Where too many wait already, the reply to a read is an error
 * instead; what was written is told in any case.
 */
const affordable = (serving: Serving, exchange: Exchange, reply: Reply): Reply => {
  const { c } = exchange
  const outgoing = c.env?.outgoing
  if (reply.body === null || outgoing === undefined || outgoing.destroyed) return reply
  const bytes = Buffer.byteLength(reply.body)
  if (bytes < smallAnswer || c.req.method === 'HEAD') return reply
  const { answers } = serving.edge.memory
  if (!isSafe(c.req.method)) answers.force(bytes)
  else if (!answers.take(bytes)) return refuse(serving, exchange, tooManyUnread())
  outgoing.once('close', () => answers.give(bytes))
  return reply
}

const everyone = corsHeaders('*', undefined)

/** Adds the headers of every response. The reply's headers are its own: a copy would cost as much as a small read. */
const complete = (
  { headers, body }: Reply,
  { origins, standing }: Edge,
  { c, requestId, rate }: Exchange,
): void => {
  headers['X-Request-Id'] = requestId
  headers['X-Content-Type-Options'] = 'nosniff'
  const position = header(c, 'duet-position')
  const status = position && standing?.(position)
  if (status) headers['Duet-Position-Status'] = status
  // A page brings a policy of its own.
  headers['Content-Security-Policy'] ??= notAPage
  if (origins === '*') Object.assign(headers, everyone)
  else {
    const vary = headers.Vary ? `${headers.Vary}, Origin` : 'Origin'
    Object.assign(headers, corsHeaders(origins, header(c, 'origin')), { Vary: vary })
  }
  // A reply that did more work has counted it, and has headers of its own.
  if (rate && headers.RateLimit === undefined) Object.assign(headers, rate)
  // Set here because the server sets none for HEAD.
  if (body !== null) headers['Content-Length'] = String(Buffer.byteLength(body))
}

const finish = ({ edge }: Serving, exchange: Exchange, reply: Reply): Response => {
  const { c, facts } = exchange
  const { headers, body } = reply
  // A client that is gone was not answered, whatever the answer would have been.
  const status = hasHungUp(c) ? hungUp().status : reply.status
  complete(reply, edge, exchange)
  edge.active.ended(facts.method)
  const event = eventOf(exchange, reply, status)
  if (requests.hasSubscribers) Object.assign(facts, event)
  if (edge.tellsTiming) headers['Server-Timing'] = serverTiming(event)
  edge.observe(event)
  return new Response(body, { status, headers })
}

const respond = (serving: Serving, exchange: Exchange): Response | Promise<Response> => {
  const finished = (reply: Reply) => finish(serving, exchange, reply)
  return attempt(
    () => after(answer(serving, exchange), reply => finished(affordable(serving, exchange, reply))),
    error => finished(refuse(serving, exchange, error)),
  )
}

/** Runs a request whose turn has come. */
const run = (serving: Serving, exchange: Exchange): Response | Promise<Response> => {
  const { edge } = serving
  const { c, work, facts } = exchange
  exchange.ran = performance.now()
  const refused = (error: ApiError) => finish(serving, exchange, refuse(serving, exchange, error))
  if (hasHungUp(c)) return refused(hungUp())
  if (edge.memory.answers.isFull()) return refused(tooManyUnread())
  const answered = () => respond(serving, exchange)
  const { trace } = facts
  const inTrace = trace ? () => passingOn(traceparentOf(trace), answered) : answered
  return work && edge.collect ? edge.collect(work, inTrace) : inTrace()
}

/** Whether a request may change something, as far as its head says: an operation of GraphQL counts as a read. */
const isWrite = ({ req }: Http): boolean => !isSafe(req.method) && req.path !== graphqlPath

/** Waits for the request's turn; where somebody traces requests, it is run in the context in which it came. */
const inTurn = (serving: Serving, exchange: Exchange): Promise<Response> =>
  new Promise(resolve => {
    const enter = () => resolve(run(serving, exchange))
    serving.edge.queue.enter({
      run: requests.hasSubscribers ? AsyncLocalStorage.bind(enter) : enter,
      shed: () => resolve(finish(serving, exchange, refuse(serving, exchange, overloaded()))),
      isWrite: isWrite(exchange.c),
    })
  })

/**
 * A Hono handler around an API's own: it waits for its turn, authenticates, counts, answers, and observes. `route` is the pattern
 * of its path, where it has one.
 */
export const exchange = (edge: Edge, fail: Fail, handle: Handle, route?: string) => {
  const serving = { edge, fail, handle, route }
  return (c: Http): Response | Promise<Response> => {
    edge.active.began(c.req.method)
    const exchange = begin(c, route, edge.collect && noWork())
    // Only these have bodies; a GET is spared the Map that it is kept in.
    if (c.req.method !== 'GET') c.set('bodies', edge.memory.bodies)
    if (!requests.hasSubscribers) return inTurn(serving, exchange)
    return traced(
      requests,
      exchange.facts,
      () => inTurn(serving, exchange),
      () => {},
    )
  }
}
