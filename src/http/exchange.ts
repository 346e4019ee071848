/** One request from its first header to its log line: who asks, what is answered, what went wrong. */
import { ApiError } from '#errors.ts'
import type { Limiter, RateHeaders } from '#http/limit/limiter.ts'
import type { Queue } from '#http/queue.ts'
import { corsHeaders, type Origins, type Reply } from '#http/reply.ts'
import { checkPath, type Http, header, requestIdOf } from '#http/request.ts'
import { anonymous, type Viewer } from '#model/viewer.ts'
import type { Observe } from '#observe.ts'

/** What both voices owe HTTP, from the configuration. */
export type Edge = {
  /** The viewer of an `Authorization` header; throws `UNAUTHENTICATED` for a bad one. */
  readonly authenticate: (authorization: string | undefined) => Viewer | Promise<Viewer>
  readonly observe: Observe
  readonly queue: Queue
  /** Absent where callers may ask as often as they like. */
  readonly limiter?: Limiter | undefined
  readonly origins: Origins
  /** The largest JSON body, in bytes. */
  readonly bodyLimit: number
  /** The longest URL, in characters. */
  readonly urlLimit: number
  /** Seconds for which caches may keep what anonymous may read; 0: they must ask each time. */
  readonly publicMaxAge: number
}

const overloaded = () =>
  new ApiError(
    'OVERLOADED',
    'The server has more to do than it can do soon; try again in a moment',
    {
      retryAfter: 1 + Math.floor(Math.random() * 3),
    },
  )

/** How a voice prints an error. */
export type Fail = (error: ApiError, requestId: string, c: Http) => Reply

export type Handle = (c: Http, viewer: Viewer, requestId: string) => Reply | Promise<Reply>

/** What is thrown that is no ApiError is a bug: logged whole, answered without a word of it. */
const asApiError = (error: unknown, requestId: string, observe: Observe): ApiError => {
  if (error instanceof ApiError) return error
  observe({ kind: 'bug', requestId, error })
  return new ApiError(
    'INTERNAL',
    'The server failed to answer; its log has the reason under this request id',
  )
}

/** A Hono handler around a voice's own: it authenticates, answers, and observes. */
export const exchange = (edge: Edge, fail: Fail, handle: Handle) => {
  const { origins, observe, limiter } = edge
  const everyone = origins === '*' ? corsHeaders('*', undefined) : undefined
  /** Adds what every response carries. The reply's headers are its own: a copy would cost as much as a small read. */
  const complete = (headers: Record<string, string>, c: Http, requestId: string) => {
    headers['X-Request-Id'] = requestId
    headers['X-Content-Type-Options'] = 'nosniff'
    if (everyone) return void Object.assign(headers, everyone)
    const vary = headers.Vary ? `${headers.Vary}, Origin` : 'Origin'
    Object.assign(headers, corsHeaders(origins, header(c, 'origin')), { Vary: vary })
  }
  return (c: Http): Promise<Response> => {
    const started = performance.now()
    const requestId = requestIdOf(c)
    let viewer = anonymous
    let code: string | undefined
    let rate: RateHeaders | undefined
    const finish = (reply: Reply): Response => {
      const { status, headers, body } = reply
      const { method, path } = c.req
      complete(headers, c, requestId)
      if (rate) Object.assign(headers, rate)
      // Given here, the server need not look for it; for HEAD nothing else would.
      if (body !== null) headers['Content-Length'] = String(Buffer.byteLength(body))
      const milliseconds = performance.now() - started
      observe({
        kind: 'request',
        requestId,
        method,
        path,
        status,
        milliseconds,
        viewer: viewer.id,
        code,
      })
      return new Response(body, { status, headers })
    }
    const failed = (error: unknown): Response => {
      const known = asApiError(error, requestId, observe)
      code = known.code
      return finish(fail(known, requestId, c))
    }
    const answer = (): Response | Promise<Response> => {
      const reply = handle(c, viewer, requestId)
      return reply instanceof Promise ? reply.then(finish).catch(failed) : finish(reply)
    }
    /** Does what is next for a caller that is within its limit. */
    const admit = (who: Viewer, next: typeof answer): Response | Promise<Response> => {
      viewer = who
      const go = (headers: RateHeaders | undefined) => {
        rate = headers
        return next()
      }
      try {
        const counted = limiter?.count(c, who)
        return counted instanceof Promise ? counted.then(go).catch(failed) : go(counted)
      } catch (error) {
        return failed(error)
      }
    }
    const proceed = (who: Viewer) => admit(who, answer)
    // Whoever sends a bad token, or what cannot be read, counts by address.
    const refuse = (error: unknown) =>
      admit(anonymous, () => {
        throw error
      })
    const identify = (): Viewer | Promise<Viewer> => {
      if (c.req.url.length > edge.urlLimit)
        throw new ApiError('URI_TOO_LONG', `The URL is longer than ${edge.urlLimit} characters`)
      checkPath(c.req.path)
      return edge.authenticate(header(c, 'authorization'))
    }
    const run = (): Response | Promise<Response> => {
      let who: Viewer | Promise<Viewer>
      try {
        who = identify()
      } catch (error) {
        return refuse(error)
      }
      return who instanceof Promise ? who.then(proceed, refuse) : proceed(who)
    }
    return new Promise(resolve =>
      edge.queue.enter({ run: () => resolve(run()), shed: () => resolve(failed(overloaded())) }),
    )
  }
}
