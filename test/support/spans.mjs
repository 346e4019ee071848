/** Starts an SDK of OpenTelemetry that prints each span on standard error, and Duet's spans on it, as an operator would. */
import { threadId } from 'node:worker_threads'
import { trace } from '@opentelemetry/api'
import { SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'

const told = span => ({
  name: span.name,
  ...span.spanContext(),
  parent: span.parentSpanContext?.spanId,
  attributes: span.attributes,
})

const exporter = {
  export: (spans, done) => {
    for (const span of spans) process.stderr.write(`span ${JSON.stringify(told(span))}\n`)
    done({ code: 0 })
  },
  shutdown: async () => {},
}

process.stderr.write(`spans begin in thread ${threadId}\n`)
const spanProcessors = [new SimpleSpanProcessor({ exporter })]
trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors }))
await import('../../deploy/opentelemetry.mjs')
