/** One request from its first header to its log line: who asks, what is answered, what went wrong. */
import { ApiError } from '#errors.ts'
import { corsHeaders, type Origins, type Reply } from '#http/reply.ts'
import { checkPath, type Http, header, requestIdOf } from '#http/request.ts'
import { anonymous, type Viewer } from '#model/viewer.ts'
import type { Observe } from '#observe.ts'

/** What both voices owe HTTP, from the configuration. */
export type Edge = {
  /** The viewer of an `Authorization` header; throws `UNAUTHENTICATED` for a bad one. */
  readonly authenticate: (authorization: string | undefined) => Viewer | Promise<Viewer>
  readonly observe: Observe
  readonly origins: Origins
  /** The largest JSON body, in bytes. */
  readonly bodyLimit: number
  /** The longest URL, in characters. */
  readonly urlLimit: number
  /** Seconds for which caches may keep what anonymous may read; 0: they must ask each time. */
  readonly publicMaxAge: number
}

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
  const always = {
    'X-Content-Type-Options': 'nosniff',
    ...(edge.origins === '*' && corsHeaders('*', undefined)),
  }
  const originHeaders = (c: Http, own: Readonly<Record<string, string>>) => {
    if (edge.origins === '*') return undefined
    const cors = corsHeaders(edge.origins, header(c, 'origin'))
    return { ...cors, Vary: own.Vary ? `${own.Vary}, Origin` : 'Origin' }
  }
  return (c: Http): Response | Promise<Response> => {
    const started = performance.now()
    const requestId = requestIdOf(c)
    let viewer = anonymous
    let code: string | undefined
    const finish = (reply: Reply): Response => {
      const { status, headers, body } = reply
      const all: Record<string, string> = {
        ...always,
        'X-Request-Id': requestId,
        ...headers,
        ...originHeaders(c, headers),
      }
      if (c.req.method === 'HEAD' && body !== null)
        all['Content-Length'] = String(Buffer.byteLength(body))
      edge.observe({
        kind: 'request',
        requestId,
        method: c.req.method,
        path: c.req.path,
        status,
        milliseconds: performance.now() - started,
        viewer: viewer.id,
        ...(code !== undefined && { code }),
      })
      return new Response(body, { status, headers: all })
    }
    const failed = (error: unknown): Response => {
      const known = asApiError(error, requestId, edge.observe)
      code = known.code
      return finish(fail(known, requestId, c))
    }
    const proceed = (who: Viewer): Response | Promise<Response> => {
      viewer = who
      const reply = handle(c, who, requestId)
      return reply instanceof Promise ? reply.then(finish).catch(failed) : finish(reply)
    }
    try {
      if (c.req.url.length > edge.urlLimit)
        throw new ApiError('URI_TOO_LONG', `The URL is longer than ${edge.urlLimit} characters`)
      checkPath(c.req.path)
      const who = edge.authenticate(header(c, 'authorization'))
      return who instanceof Promise ? who.then(proceed).catch(failed) : proceed(who)
    } catch (error) {
      return failed(error)
    }
  }
}
