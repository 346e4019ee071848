/** The life of a request, from its first header to its log line. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { ServerResponse } from 'node:http'
import { passingOn } from '#base/traceparent.ts'
import {
  type CollectStats,
  noStats,
  type RequestFacts,
  requests,
  serverTiming,
  traced,
} from '#channels.ts'
import { ApiError, Failure, overloaded } from '#errors.ts'
import { responseOf, sent } from '#http/answer.ts'
import { announcesBody, receiveBody, transferCost } from '#http/body.ts'
import type { Connections } from '#http/connections.ts'
import type { NameCaller } from '#http/limit/address.ts'
import type { Limiter, RateHeaders } from '#http/limit/limiter.ts'
import { type Memory, tooManyUnread } from '#http/memory.ts'
import type { Queue } from '#http/queue.ts'
import { type Chunks, corsHeaders, notAPage, type Origins, type Reply } from '#http/reply.ts'
import {
  checkRequest,
  type Http,
  hasHungUp,
  header,
  hungUp,
  isSafe,
  requestIdOf,
  traceOf,
  traceparentOf,
} from '#http/request.ts'
import {
  anonymous,
  type Conditions,
  callerOf,
  judge,
  type Rule,
  type Viewer,
} from '#model/policy.ts'
import type { Observe, RequestEvent, RequestStats } from '#observe.ts'

/** The part of the service around both APIs, from the configuration. */
export type HttpContext = {
  /** The viewer of an `Authorization` header; throws `UNAUTHENTICATED` for a bad one. `beforeCheck` is awaited before a signature is verified, and what it throws is thrown. */
  readonly authenticate: (
    authorization: string | undefined,
    beforeCheck?: (wasAccepted: boolean) => void | Promise<void>,
  ) => Viewer | Promise<Viewer>
  /** The name of a caller, for a fair share of what is scarce. */
  readonly callerOf: NameCaller
  readonly observe: Observe
  readonly queue: Queue
  /** Absent where no connection rests. */
  readonly connections?: Connections | undefined
  /** Absent where requests are not limited. */
  readonly limiter?: Limiter | undefined
  readonly memory: Memory
  /** How many requests are being answered, by method. */
  readonly active: Map<string, number>
  readonly origins: Origins
  /** Names of headers that web pages may send beside those of the APIs. */
  readonly corsHeaders: readonly string[]
  /** The largest JSON body, in bytes. */
  readonly bodyLimit: number
  /** The longest URL, in characters. */
  readonly urlLimit: number
  /** Seconds for which caches may store what anonymous may read; 0: they must revalidate each time. */
  readonly publicMaxAge: number
  /** Collects what requests do in the store; absent where nobody asks. */
  readonly collect?: CollectStats | undefined
  /** Whether each answer says in `Server-Timing` where its time went. */
  readonly sendsTiming?: boolean
  /** The indexes that these statements use, as far as they are known; absent in production. */
  readonly indexesOf?: ((statements: readonly string[]) => readonly string[]) | undefined
  /** What is to be said of the position of a request; undefined where all is well. */
  readonly positionStatus?: ((position: string) => string | undefined) | undefined
}

/** How an API prints an error. */
export type Fail = (error: ApiError, requestId: string, c: Http) => Reply

export type Handle = (c: Http, viewer: Viewer, requestId: string) => Reply | Promise<Reply>

/** What differs between the routes of an API. */
type RouteOptions = {
  /** Whether a request may change something, by its head and its body, where that is received already; by its method unless it is given. */
  readonly isWrite?: (c: Http, viewer: Viewer) => boolean
  /** Those who may send such requests at all, whatever is in them: whom one of these rules lets through, perhaps. All may unless it is given. */
  readonly openTo?: { readonly rules: readonly Rule[]; readonly conditions: Conditions } | undefined
  /** What handles a request for a document, which only browsers say that they want (`Sec-Fetch-Dest`, Fetch Metadata); else all are handled alike. */
  readonly visited?: Handle
}

/** What is the same for all requests of a route. */
type Serving = RouteOptions & {
  readonly visited: Handle
  readonly edge: HttpContext
  readonly fail: Fail
  readonly handle: Handle
  /** The pattern of the path; absent where no route takes it. */
  readonly route: string | undefined
}

/** A request in progress, with the facts for its answer and log line. */
type Exchange = {
  readonly c: Http
  readonly facts: RequestFacts
  readonly stats: RequestStats | undefined
  readonly started: number
  /** How long it waited for its turns, in milliseconds. */
  wait: number
  /** Whether it had a turn already. */
  hadTurn: boolean
  viewer: Viewer
  rate: RateHeaders | undefined
  code: string | undefined
}

/**
 * A Hono handler around an API's own, which takes each request through its life: `live`. `route` is the pattern of its path, where it
 * has one.
 */
export const exchange = (
  edge: HttpContext,
  fail: Fail,
  handle: Handle,
  route?: string,
  { visited = handle, ...options }: RouteOptions = {},
) => {
  const serving: Serving = { edge, fail, handle, route, visited, ...options }
  return (c: Http): Response | Promise<Response> => {
    const { method, path } = c.req
    edge.active.set(method, (edge.active.get(method) ?? 0) + 1)
    const parent = header(c, 'traceparent')
    const trace = parent === undefined ? undefined : traceOf(parent)
    const exchange: Exchange = {
      c,
      facts: { requestId: requestIdOf(c), method, path, route, trace },
      stats: edge.collect && noStats(),
      started: performance.now(),
      wait: 0,
      hadTurn: false,
      viewer: anonymous,
      rate: undefined,
      code: undefined,
    }
    if (!requests.hasSubscribers) return live(serving, exchange)
    const run = () => live(serving, exchange)
    return traced(requests, exchange.facts, run, () => {})
  }
}

/** The life of a request: its head is checked, its caller identified and counted, a short body received; then it waits for its turn, is handled, answered and observed. */
const live = async (serving: Serving, exchange: Exchange): Promise<Response> => {
  const { edge } = serving
  const { c } = exchange
  try {
    try {
      checkRequest(c, edge.urlLimit)
      const viewer = identify(serving, exchange)
      exchange.viewer = viewer instanceof Promise ? await viewer : viewer
    } catch (error) {
      if (exchange.hadTurn && refusedAtOnce.has((error as ApiError).code)) throw error
      // Without an accepted token, a request counts for its address.
      exchange.rate = await edge.limiter?.count(c, anonymous)
      throw error
    }
    const rate = edge.limiter?.count(c, exchange.viewer)
    exchange.rate = rate instanceof Promise ? await rate : rate
    if (c.req.method !== 'GET') {
      c.set('receiving', {
        account: edge.memory.bodies.of(edge.callerOf(c, exchange.viewer)),
        // A token may expire while the body of its request comes.
        checkAgain: () => edge.authenticate(header(c, 'authorization')),
      })
      // Refused for a lacking right without waiting for the body.
      if (serving.route !== undefined && isOpen(serving, exchange.viewer)) {
        await receiveBody(c, Math.min(edge.bodyLimit, shortBody))
        if (c.get('body')) exchange.hadTurn = false
      }
    }
    const writes = serving.isWrite?.(c, exchange.viewer) ?? !isSafe(c.req.method)
    return await inTurn(serving, exchange, writes)
  } catch (error) {
    // Nothing is kept for those who are refused at once; other faults are answered in turn, as all that costs time.
    if (exchange.hadTurn || refusedAtOnce.has((error as ApiError).code))
      return finish(serving, exchange, refuse(serving, exchange, error))
    return inTurn(serving, exchange, false, error)
  }
}

/** Whether a viewer may send requests of a route at all. */
const isOpen = ({ openTo }: Serving, viewer: Viewer): boolean => {
  if (!openTo) return true
  for (const rule of openTo.rules) if (judge(rule, viewer, openTo.conditions) !== 'no') return true
  return false
}

/** The codes of those for whom nothing is to be done now. */
const refusedAtOnce: ReadonlySet<string> = new Set([
  'RATE_LIMITED',
  'OVERLOADED',
  'CLIENT_CLOSED_REQUEST',
])

/** The viewer of a request by its token; one that is not cached is verified in a turn of its own, as a signature costs more than a refusal. */
const identify = ({ edge }: Serving, exchange: Exchange): Viewer | Promise<Viewer> => {
  const { c, facts } = exchange
  const turn = (wasAccepted: boolean): Promise<void> => {
    // One that was accepted before is counted for its viewer again, if its key still holds.
    if (!wasAccepted) edge.limiter?.checkAddress(c)
    const entered = performance.now()
    return new Promise((resolve, reject) => {
      const waited = () => {
        exchange.wait += performance.now() - entered
        exchange.hadTurn = true
        if (isSafe(c.req.method)) edge.connections?.mayRest(c)
      }
      const run = () => {
        waited()
        if (hasHungUp(c)) reject(hungUp())
        else resolve()
      }
      const shed = (isLast?: boolean) => {
        waited()
        if (isLast) endConnection(c)
        reject(tooBusy())
      }
      edge.queue.enter({ run, shed })
    })
  }
  const token = header(c, 'authorization')
  if (!facts.trace) return edge.authenticate(token, turn)
  return passingOn(traceparentOf(facts.trace), () => edge.authenticate(token, turn))
}

/**
 * The longest body that is received before its request waits, in bytes. A longer one is received in its turn, so that what is
 * refused was never there; so is that of a request that no route takes, which nobody reads.
 */
const shortBody = 32_768

const endConnection = ({ env }: Http): void => {
  if (env?.outgoing) env.outgoing.shouldKeepAlive = false
}

/** Waits for the request's turn, and answers it then, with a fault where there is one; where somebody traces requests, in the context in which it came. */
const inTurn = (
  serving: Serving,
  exchange: Exchange,
  isWrite: boolean,
  fault?: unknown,
): Response | Promise<Response> => {
  const { edge } = serving
  if (exchange.hadTurn && !isWrite) return respond(serving, exchange, fault)
  const entered = performance.now()
  const { promise, resolve } = Promise.withResolvers<Response>()
  const run = () => {
    exchange.wait += performance.now() - entered
    if (!isWrite) edge.connections?.mayRest(exchange.c)
    const response = respond(serving, exchange, fault)
    resolve(response)
    return response
  }
  const shed = (isLast?: boolean) => {
    exchange.wait += performance.now() - entered
    if (!isWrite) edge.connections?.mayRest(exchange.c)
    if (isLast) endConnection(exchange.c)
    // Nobody is told of a rate where nothing was done.
    exchange.rate = undefined
    resolve(finish(serving, exchange, refuse(serving, exchange, tooBusy())))
  }
  edge.queue.enter({
    run: requests.hasSubscribers ? AsyncLocalStorage.bind(run) : run,
    shed,
    isWrite,
    caller: isWrite ? callerOf(exchange.viewer) : undefined,
    isReceiving: isWrite && !exchange.c.get('body') && announcesBody(exchange.c),
  })
  return promise
}

/** Handles a request whose turn has come. Its calls to others belong to its trace, and what it does in the store to it. */
const respond = (
  serving: Serving,
  exchange: Exchange,
  fault: unknown,
): Response | Promise<Response> => {
  const { edge } = serving
  const { c, stats, facts, viewer } = exchange
  const handle = header(c, 'sec-fetch-dest') === 'document' ? serving.visited : serving.handle
  const failed = (error: unknown) => finish(serving, exchange, refuse(serving, exchange, error))
  const handled = () => handle(c, viewer, facts.requestId)
  try {
    if (hasHungUp(c)) throw hungUp()
    if (!edge.memory.answers.hasRoom(1)) throw tooManyUnread()
    if (fault !== undefined) throw fault
    const traced = facts.trace ? { by: traceparentOf(facts.trace) } : undefined
    const inTrace = traced ? () => passingOn(traced.by, handled) : handled
    const reply = stats && edge.collect ? edge.collect(stats, inTrace) : inTrace()
    if (!(reply instanceof Promise)) return finish(serving, exchange, reply)
    return reply.then(reply => finish(serving, exchange, reply)).catch(failed)
  } catch (error) {
    return failed(error)
  }
}

/** Made once: finding out where each is made would cost as much as the rest of a refusal. */
const overloads = [1, 2, 3].map(seconds =>
  overloaded('The server has more to do than it can do soon; try again in a moment', seconds),
)

/** A refusal for now; spread, so that not all callers return at the same moment. */
const tooBusy = () => overloads[Math.floor(Math.random() * overloads.length)] as ApiError

/** The error to answer with. Anything thrown that is no ApiError is a bug: it is observed, and the caller sees none of its words. */
export const asApiError = (error: unknown, requestId: string, observe: Observe): ApiError => {
  if (error instanceof ApiError) {
    const { cause } = error
    if (cause instanceof Failure) observe({ kind: 'problem', message: cause.message })
    return error
  }
  observe({ kind: 'bug', requestId, error })
  return new ApiError(
    'INTERNAL',
    'The server failed to answer; its log has the reason under this request id',
  )
}

const refuse = ({ edge, fail }: Serving, exchange: Exchange, error: unknown): Reply => {
  const { requestId } = exchange.facts
  const known = asApiError(error, requestId, edge.observe)
  exchange.code = known.code
  return fail(known, requestId, exchange.c)
}

/**
 * Sends a body behind its head as the client takes it, by Node's stream: a web stream around it would collect garbage for longer than it
 * sends. One that breaks off, or is not of its announced length, is told of and ends the connection: nothing else shows it.
 */
const sendBody = async (
  outgoing: ServerResponse,
  body: Chunks,
  told: (error: unknown) => void,
): Promise<void> => {
  let goOn = () => {}
  // Node forgets what is written to a connection that is just being closed.
  outgoing.once('close', () => goOn())
  try {
    for await (const chunk of body) {
      if (outgoing.destroyed) return
      await new Promise<void>(resolve => {
        goOn = resolve
        outgoing.write(chunk, () => resolve())
      })
      body.spent?.(chunk)
    }
    outgoing.end()
  } catch (error) {
    told(error)
    // Before its turn on its connection it has none to end.
    if (outgoing.socket) outgoing.destroy()
    else outgoing.once('socket', socket => socket.destroy())
  }
}

/** Shorter answers fit into the buffers of their sockets, and are not counted where they go out at once. */
const smallAnswer = 4096

const everyone = corsHeaders('*', undefined)

/**
 * The answer of a reply, with the headers of every response; it is observed, and what its request took is given back. The bytes of a long
 * one are counted until its client has taken them: where too many wait already, the reply to a read is an error instead; what was
 * written is reported in any case.
 */
const finish = (serving: Serving, exchange: Exchange, made: Reply): Response => {
  const { edge } = serving
  const { c, facts, wait } = exchange
  const outgoing = c.env?.outgoing
  let reply = made
  let bytes = made.stream
    ? Math.min(made.stream.bytes, transferCost)
    : Buffer.byteLength(reply.body ?? '')
  // One behind others on its connection has no socket until those are taken.
  const isShort = bytes < smallAnswer && outgoing?.socket
  if (bytes > 0 && !isShort && outgoing?.destroyed === false && c.req.method !== 'HEAD') {
    const { answers } = edge.memory
    const mayRefuse = exchange.code === undefined && isSafe(c.req.method) && !made.stream
    if (mayRefuse && !answers.hasRoom(bytes)) {
      reply = refuse(serving, exchange, tooManyUnread())
      bytes = Buffer.byteLength(reply.body ?? '')
    } else {
      const held = bytes
      const account = made.stream ? answers.of(edge.callerOf(c, exchange.viewer)) : answers
      account.force(held)
      outgoing.once('close', () => account.give(held))
    }
  }
  // The reply's headers are its own: a copy would cost as much as a small read.
  const { headers, stream, written } = reply
  const told = (error: unknown) => edge.observe({ kind: 'bug', requestId: facts.requestId, error })
  if (stream) bytes = stream.bytes
  headers['X-Request-Id'] = facts.requestId
  headers['X-Content-Type-Options'] = 'nosniff'
  if (written?.replayed) headers['Idempotency-Replayed'] = 'true'
  if (written?.position !== undefined) headers['Duet-Position'] = written.position
  const position = header(c, 'duet-position')
  const positionStatus = position && edge.positionStatus?.(position)
  if (positionStatus) headers['Duet-Position-Status'] = positionStatus
  // A page brings a policy of its own.
  headers['Content-Security-Policy'] ??= notAPage
  if (edge.origins === '*') Object.assign(headers, everyone)
  else {
    const vary = headers.Vary ? `${headers.Vary}, Origin` : 'Origin'
    Object.assign(headers, corsHeaders(edge.origins, header(c, 'origin')), { Vary: vary })
  }
  const rate = c.get('rate') ?? exchange.rate
  // A refusal above the limit has headers of its own.
  if (rate && headers.RateLimit === undefined) Object.assign(headers, rate)
  // Set here because the server sets none for HEAD.
  if ((stream || reply.body !== null) && reply.status !== 204)
    headers['Content-Length'] = String(bytes)
  // A client that is gone was not answered, whatever the answer would have been.
  const status = hasHungUp(c) ? hungUp().status : reply.status
  const { id, subject, service = null } = exchange.viewer
  const event: RequestEvent = {
    kind: 'request',
    requestId: facts.requestId,
    method: facts.method,
    path: facts.path,
    route: facts.route,
    status,
    milliseconds: performance.now() - exchange.started,
    wait,
    viewer: subject === undefined ? id : service,
    code: exchange.code ?? reply.code,
    bytes,
    trace: facts.trace,
    operation: reply.operation,
    work: exchange.stats,
  }
  if (edge.sendsTiming) headers['Server-Timing'] = serverTiming(event, edge.indexesOf)
  const { cookies } = reply
  const exposed = cookies && headers['Access-Control-Expose-Headers']
  if (exposed !== undefined) headers['Access-Control-Expose-Headers'] = `${exposed}, Set-Auth-Token`
  const isStreamed = stream !== undefined && c.req.method !== 'HEAD'
  if (outgoing) outgoing.strictContentLength = isStreamed
  // It throws for a header that cannot be sent: what is answered in its place is then all that is told.
  outgoing?.writeHead(status, cookies ? { ...headers, 'Set-Cookie': [...cookies] } : headers)
  const response = outgoing ? sent : responseOf(status, reply)
  c.get('giveBack')?.()
  edge.active.set(facts.method, Number(edge.active.get(facts.method)) - 1)
  if (requests.hasSubscribers) Object.assign(facts, event)
  edge.observe(event)
  if (outgoing && isStreamed) void sendBody(outgoing, stream.body, told)
  else outgoing?.end(reply.body)
  return response
}
