/** The end of an exchange: its error as a reply, the headers of every response, and its log line. */
import { requests } from '#channels.ts'
import { ApiError } from '#errors.ts'
import type { HttpContext, Serving } from '#http/edge.ts'
import { leave } from '#http/pipeline.ts'
import { type Exchange, eventOf } from '#http/progress.ts'
import { corsHeaders, notAPage, type Reply } from '#http/reply.ts'
import { hasHungUp, header, hungUp } from '#http/request.ts'
import { isSafe } from '#http/safe.ts'
import { serverTiming } from '#http/work.ts'
import type { Observe } from '#observe.ts'

/** The error to answer with. Anything thrown that is no ApiError is a bug: it is observed, and the caller sees none of its words. */
export const asApiError = (error: unknown, requestId: string, observe: Observe): ApiError => {
  if (error instanceof ApiError) return error
  observe({ kind: 'bug', requestId, error })
  return new ApiError(
    'INTERNAL',
    'The server failed to answer; its log has the reason under this request id',
  )
}

export const refuse = ({ edge, fail }: Serving, exchange: Exchange, error: unknown): Reply => {
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
export const overloaded = () => overloads[Math.floor(Math.random() * overloads.length)] as ApiError

export const tooManyUnread = () =>
  new ApiError(
    'OVERLOADED',
    'Too many answers wait for their clients to read them; try again soon',
    { retryAfter: 2 },
  )

/** Shorter answers fit into the buffers of their sockets, and are not counted where they go out at once. */
const smallAnswer = 4096

/**
 * The reply, whose bytes are counted until its client has taken them. Where too many wait already, the reply to a read is an error
 * instead; what was written is reported in any case.
 */
export const affordable = (serving: Serving, exchange: Exchange, reply: Reply): Reply => {
  const { c } = exchange
  const outgoing = c.env?.outgoing
  if (reply.body === null || outgoing === undefined || outgoing.destroyed) return reply
  const bytes = Buffer.byteLength(reply.body)
  // One behind others on its connection has no socket until those are taken.
  if ((bytes < smallAnswer && outgoing.socket) || c.req.method === 'HEAD') return reply
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
  { origins, positionStatus }: HttpContext,
  { c, requestId, rate }: Exchange,
): void => {
  headers['X-Request-Id'] = requestId
  headers['X-Content-Type-Options'] = 'nosniff'
  const position = header(c, 'duet-position')
  const status = position && positionStatus?.(position)
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

export const finish = ({ edge }: Serving, exchange: Exchange, reply: Reply): Response => {
  const { c, facts } = exchange
  c.get('giveBack')?.()
  if (exchange.pipeline) leave(exchange.pipeline)
  const { headers, body } = reply
  // A client that is gone was not answered, whatever the answer would have been.
  const status = hasHungUp(c) ? hungUp().status : reply.status
  complete(reply, edge, exchange)
  edge.active.ended(facts.method)
  const event = eventOf(exchange, reply, status)
  if (requests.hasSubscribers) Object.assign(facts, event)
  if (edge.sendsTiming) headers['Server-Timing'] = serverTiming(event)
  edge.observe(event)
  return new Response(body, { status, headers })
}
