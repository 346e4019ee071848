/** One request from its first header to its log line: its viewer, its turn, its answer. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { after, attempt } from '#base/after.ts'
import { passingOn } from '#base/traceparent.ts'
import { requests, traced } from '#channels.ts'
import { ApiError } from '#errors.ts'
import type { Fail, Handle, HttpContext, IsWrite, Serving } from '#http/edge.ts'
import { affordable, finish, overloaded, refuse, tooManyUnread } from '#http/finish.ts'
import { checkHead, checkPath } from '#http/head.ts'
import { goOn, isBehindEnd, mustWait, pipelineOf, takePlace, waitBehind } from '#http/pipeline.ts'
import { begin, type Exchange } from '#http/progress.ts'
import type { Reply } from '#http/reply.ts'
import { type Http, hasHungUp, hasKnownBody, header, hungUp, receiveBody } from '#http/request.ts'
import { isSafe } from '#http/safe.ts'
import { traceparentOf } from '#http/trace.ts'
import { noWork } from '#http/work.ts'
import type { Viewer } from '#model/policy.ts'

const byMethod: IsWrite = ({ req }) => !isSafe(req.method)

/** The viewer, or the error of a URL or token that is not accepted. */
const identify = ({ urlLimit, authenticate, limiter }: HttpContext, c: Http) =>
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

/** What the body of a request is received under: the part of its caller, and its token, which may expire meanwhile. */
const receiving = ({ memory, callerOf, authenticate }: HttpContext, c: Http, viewer: Viewer) => ({
  account: memory.bodies.of(callerOf(c, viewer)),
  checkAgain: () => authenticate(header(c, 'authorization')),
})

/** The viewer of a request, which gets its part of the room for bodies; throws where its token is not accepted or its caller is over the limit. */
const admit = ({ edge }: Serving, exchange: Exchange): Viewer | Promise<Viewer> => {
  const { c } = exchange
  return after(identify(edge, c), found => {
    // Without an accepted token, the request counts for its address.
    if (!('error' in found)) exchange.viewer = found
    return after(edge.limiter?.count(c, exchange.viewer), rate => {
      exchange.rate = rate
      if ('error' in found) throw found.error
      // A GET is spared the Map that it is kept in.
      if (c.req.method !== 'GET') c.set('receiving', receiving(edge, c, found))
      return found
    })
  })
}

/** Makes the reply of a request; throws the error that its caller gets. */
type Answer = () => Reply | Promise<Reply>

const respond = (
  serving: Serving,
  exchange: Exchange,
  answer: Answer,
): Response | Promise<Response> => {
  const finished = (reply: Reply) => finish(serving, exchange, reply)
  return attempt(
    () => after(answer(), reply => finished(affordable(serving, exchange, reply))),
    error => finished(refuse(serving, exchange, error)),
  )
}

/** Runs a part of a request so that its calls to others belong to its trace, and what it does in the store to it. */
const inContext = <Result>(
  { edge }: Serving,
  { work, facts: { trace } }: Exchange,
  run: () => Result,
): Result => {
  const inTrace = trace ? () => passingOn(traceparentOf(trace), run) : run
  return work && edge.collect ? edge.collect(work, inTrace) : inTrace()
}

/** Runs a request whose turn has come. */
const run = (
  serving: Serving,
  exchange: Exchange,
  answer: Answer,
): Response | Promise<Response> => {
  const refused = (error: ApiError) => finish(serving, exchange, refuse(serving, exchange, error))
  const { c, pipeline } = exchange
  if (hasHungUp(c) || (pipeline && isBehindEnd(pipeline, c.env.outgoing))) return refused(hungUp())
  if (serving.edge.memory.answers.isFull()) return refused(tooManyUnread())
  return inContext(serving, exchange, () => respond(serving, exchange, answer))
}

/** Waits for the request's turn; where somebody traces requests, it is run in the context in which it came. */
const inTurn = (
  serving: Serving,
  exchange: Exchange,
  answer: Answer,
  since = exchange.started,
): Promise<Response> =>
  new Promise(resolve => {
    const { edge } = serving
    const isWrite = serving.isWrite(exchange.c, exchange.viewer)
    const waited = () => {
      exchange.wait = performance.now() - since
      if (!isWrite) edge.pacing?.answering(exchange.c)
    }
    const enter = () => {
      waited()
      resolve(run(serving, exchange, answer))
    }
    edge.queue.enter({
      run: requests.hasSubscribers ? AsyncLocalStorage.bind(enter) : enter,
      shed: () => {
        waited()
        resolve(finish(serving, exchange, refuse(serving, exchange, overloaded())))
      },
      isWrite,
    })
  })

/**
 * The longest body that is received before its request waits, in bytes. A longer one is received in its turn, so that what is
 * refused was never there; so does a request that no route takes, whose body nobody reads.
 */
const shortBody = 32_768

/** Receives a body before it waits for its turn, which then has all that it needs; token and rate limit come before the body. */
const withBody = (
  serving: Serving,
  exchange: Exchange,
  others?: Promise<void>,
): Response | Promise<Response> => {
  const { c, requestId } = exchange
  const answered = (viewer: Viewer) => {
    const answer = () => serving.handle(c, viewer, requestId)
    // Refused for a lacking right without waiting for the body.
    if (!others && !serving.isOpenTo(viewer)) return inTurn(serving, exchange, answer)
    return after(receiveBody(c), () => {
      const since = performance.now()
      return after(others, () => inTurn(serving, exchange, answer, since))
    })
  }
  return attempt(
    () =>
      after(
        inContext(serving, exchange, () => admit(serving, exchange)),
        answered,
      ),
    // After the others too: those behind it go on when it is answered.
    error => after(others, () => finish(serving, exchange, refuse(serving, exchange, error))),
  )
}

const withoutBody = (
  serving: Serving,
  exchange: Exchange,
  others?: Promise<void>,
): Response | Promise<Response> => {
  const { c, requestId } = exchange
  const answer = () =>
    after(admit(serving, exchange), viewer => serving.handle(c, viewer, requestId))
  return after(others, () => inTurn(serving, exchange, answer))
}

/** How many requests of one connection may wait for others of it. */
const mostWaiting = 100

/** What a request waits for on its connection; undefined: for nothing, as most do; false: for so many others that it is refused. */
const othersOf = ({ edge }: Serving, exchange: Exchange): Promise<void> | false | undefined => {
  const { incoming, outgoing } = exchange.c.env ?? {}
  if (!incoming?.socket || !outgoing) return undefined
  const pipeline = pipelineOf(incoming.socket)
  takePlace(pipeline, outgoing)
  const isShared = isSafe(exchange.c.req.method)
  if (!mustWait(pipeline, isShared)) {
    exchange.pipeline = pipeline
    goOn(pipeline, isShared)
    return undefined
  }
  if (pipeline.waiting.length >= mostWaiting || !edge.queue.keepPlace()) return false
  exchange.pipeline = pipeline
  return waitBehind(pipeline, isShared).then(edge.queue.leavePlace)
}

const serve = (serving: Serving, exchange: Exchange): Response | Promise<Response> => {
  const { c } = exchange
  const { edge, route } = serving
  // Who is not served does nothing, so nothing is waited for.
  if (route === undefined) return withoutBody(serving, exchange)
  const others = othersOf(serving, exchange)
  if (others === false) return finish(serving, exchange, refuse(serving, exchange, overloaded()))
  if (c.req.method === 'GET') return withoutBody(serving, exchange, others)
  // A body that comes while its request waits for others is received, and counted, since Node would keep the beginning of it anyway.
  const most = others ? edge.bodyLimit : Math.min(edge.bodyLimit, shortBody)
  return hasKnownBody(c, most)
    ? withBody(serving, exchange, others)
    : withoutBody(serving, exchange, others)
}

/**
 * A Hono handler around an API's own: it authenticates, counts, waits for its turn, answers, and observes; without a body it waits
 * first. `route` is the pattern of its path, where it has one.
 */
export const exchange = (
  edge: HttpContext,
  fail: Fail,
  handle: Handle,
  route?: string,
  {
    isWrite = byMethod,
    isOpenTo = () => true,
  }: Partial<Pick<Serving, 'isWrite' | 'isOpenTo'>> = {},
) => {
  const serving = { edge, fail, handle, route, isWrite, isOpenTo }
  return (c: Http): Response | Promise<Response> => {
    edge.active.began(c.req.method)
    const exchange = begin(c, route, edge.collect && noWork())
    if (!requests.hasSubscribers) return serve(serving, exchange)
    return traced(
      requests,
      exchange.facts,
      () => serve(serving, exchange),
      () => {},
    )
  }
}
