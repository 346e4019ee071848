/**
 * Spans of OpenTelemetry from Duet's diagnostics channels: one for each request, and below it one for each read and write of the
 * store. Load it after an SDK, as docs/operations.md shows; without one it does nothing that is seen.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { tracingChannel } from 'node:diagnostics_channel'
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'

const tracer = trace.getTracer('duet')

/** The context of the request that is being run. */
const running = new AsyncLocalStorage()

/** The spans that have begun, by what the channel tells of them. */
const spans = new WeakMap()

const parentOf = caller =>
  caller === undefined
    ? ROOT_CONTEXT
    : trace.setSpanContext(ROOT_CONTEXT, {
        traceId: caller.traceId,
        spanId: caller.parentId,
        traceFlags: Number.parseInt(caller.flags, 16),
        isRemote: true,
      })

/** The request's own span, as the log and calls to others shall name it. */
const own = ({ traceId, spanId, traceFlags }, caller) => ({
  traceId,
  spanId,
  parentId: caller?.parentId,
  flags: traceFlags.toString(16).padStart(2, '0'),
})

const beginRequest = facts => {
  const { method, route, path, requestId } = facts
  const parent = parentOf(facts.trace)
  const name = route === undefined ? method : `${method} ${route}`
  const attributes = {
    'http.request.method': method,
    'url.path': path,
    ...(route !== undefined && { 'http.route': route }),
    'duet.request_id': requestId,
  }
  const span = tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, parent)
  spans.set(facts, span)
  // Without an SDK the span has no id of its own, and the caller's trace stays.
  if (span.isRecording()) facts.trace = own(span.spanContext(), facts.trace)
  return trace.setSpan(parent, span)
}

const endRequest = facts => {
  const { status, code, wait, bytes, operation } = facts
  const span = spans.get(facts)
  span?.setAttributes({
    'http.response.status_code': status,
    'http.response.body.size': bytes,
    'duet.wait_ms': wait,
    ...(code !== undefined && { 'error.type': code }),
    ...(operation?.name !== undefined && { 'graphql.operation.name': operation.name }),
  })
  if (status >= 500 || code === 'INTERNAL') span?.setStatus({ code: SpanStatusCode.ERROR })
  span?.end()
}

const requests = tracingChannel('duet:request')
requests.start.bindStore(running, beginRequest)
requests.asyncEnd.subscribe(endRequest)

/** Makes spans of what a channel of the store tells within requests. */
const traceStore = (channel, name, attributesOf) => {
  const { start, end, asyncEnd } = tracingChannel(channel)
  start.subscribe(facts => {
    const parent = running.getStore()
    if (parent === undefined) return
    const attributes = {
      'db.operation.name': name,
      'db.query.text': facts.statements().join(';\n'),
    }
    spans.set(facts, tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, parent))
  })
  const finish = facts => {
    // The synchronous part of one that still runs ends too.
    if (facts.ended === undefined) return
    const span = spans.get(facts)
    span?.setAttributes(attributesOf(facts))
    if (facts.error) span?.recordException(facts.error)
    span?.end()
  }
  end.subscribe(finish)
  asyncEnd.subscribe(finish)
}

traceStore('duet:read', 'read', ({ levels, lane, rows = 0 }) => ({
  'duet.levels': levels,
  'duet.lane': lane,
  'db.response.returned_rows': rows,
}))
traceStore('duet:job', 'write', ({ outcome = 'error' }) => ({ 'duet.outcome': outcome }))
