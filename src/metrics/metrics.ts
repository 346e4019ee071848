/** The metrics of a serving process for Prometheus: what is measured, from which events, and its port. */
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { AggregatorRegistry, Counter, collectDefaultMetrics, Registry } from 'prom-client'
import { createServer } from '#base/http.ts'
import { urlOn } from '#base/paths.ts'
import { jobs, onEnd, reads } from '#channels.ts'
import { createHistogram, register } from '#metrics/histogram.ts'
import type { Observe } from '#observe.ts'

/** The upper bounds of all durations, in seconds: the ones of the semantic conventions for HTTP, and three for shorter durations. */
const durations = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
]

/** The upper bounds of numbers of things. */
const counts = [1, 2, 5, 10, 20, 50, 100, 200, 500]

/** A number that is kept elsewhere, or one for each value of a label; it is read when Prometheus asks. */
type GaugeReading = {
  readonly name: string
  readonly help: string
} & (
  | { readonly label?: undefined; readonly read: () => number }
  | { readonly label: string; readonly read: () => ReadonlyMap<string, number> }
)

type Timing = { readonly name: string; readonly help: string; readonly labels?: readonly string[] }

const readingOn =
  (registry: Registry, type: 'gauge' | 'counter') =>
  ({ name, help, label, read }: GaugeReading): void =>
    register(registry, { name, help, type }, () =>
      label === undefined
        ? [{ labels: {}, value: read() }]
        : Array.from(read(), ([of, value]) => ({ labels: { [label]: of }, value })),
    )

/** The codes of errors that an operator has an alarm for. */
const alarming = ['INTERNAL', 'OVERLOADED', 'UNAVAILABLE', 'TIMEOUT']

/** The methods of RFC 9110, RFC 5789 and RFC 10008; any other is `_OTHER`, as the semantic conventions have it. */
const methods = /^(CONNECT|DELETE|GET|HEAD|OPTIONS|PATCH|POST|PUT|QUERY|TRACE)$/

/** The metrics of a thread, to be added to those of others. */
export type ThreadMetrics = Awaited<ReturnType<Registry['getMetricsAsJSON']>>

/** What the metrics of a thread that ended leave: counts never fall, and gauges are gone. */
export const countsOf = (metrics: ThreadMetrics): ThreadMetrics =>
  metrics.filter(({ type }) => String(type) !== 'gauge')

/** The sum of the metrics of several threads. */
export const summed = async (all: readonly ThreadMetrics[]): Promise<ThreadMetrics> =>
  AggregatorRegistry.aggregate([...all]).getMetricsAsJSON()

/** Metrics of the process, which one thread alone tells. */
const ofProcess = /^process_|^nodejs_(version|active)/

/** Begins to measure; `system` is the database's name in the semantic conventions, `thread` the number of one of several that serve. */
export const createMetrics = (system: string, version: string, thread?: number) => {
  const registry = new Registry()
  const duration = (timing: Timing) => createHistogram(registry, { ...timing, buckets: durations })
  const counter = (name: string, help: string, ...labelNames: string[]) =>
    new Counter({ name, help, labelNames, registers: [registry] })
  const gauge = readingOn(registry, 'gauge')
  collectDefaultMetrics({
    register: registry,
    ...(thread !== undefined && { labels: { thread: String(thread) } }),
  })
  if (thread !== undefined)
    for (const { name } of registry.getMetricsAsArray())
      if (ofProcess.test(name)) registry.removeSingleMetric(name)

  // Requests, and what else is counted by events.
  const requests = duration({
    name: 'http_server_request_duration_seconds',
    help: 'Duration of requests, from their arrival to their answer.',
    labels: ['http_request_method', 'http_route', 'http_response_status_code'],
  })
  const waits = duration({
    name: 'duet_queue_wait_seconds',
    help: 'How long requests waited for their turn.',
  }).series()
  const refusals = counter('duet_refusals_total', 'Answers that are errors, by code.', 'code')
  // There from the start, so that the first one is seen as an increase.
  for (const code of alarming) refusals.inc({ code }, 0)
  const mails = counter('duet_mail_failures_total', 'Messages that could not be sent.')
  const failed = counter('duet_effect_failures_total', 'Effects of writes that are tried again.')
  const dead = counter('duet_effects_dead_total', 'Effects of writes that were given up.')
  const problems = counter('duet_store_problems_total', 'Failures of the store that it survived.')
  const observe: Observe = event => {
    if (event.kind === 'request') {
      const { method, route = '', status } = event
      const label = methods.test(method) ? method : '_OTHER'
      requests.series(label, route, String(status)).observe(event.milliseconds / 1000)
      waits.observe(event.wait / 1000)
      if (event.code !== undefined) refusals.inc({ code: event.code })
    } else if (event.kind === 'mail failed') mails.inc()
    else if (event.kind === 'effect failed') (event.again ? failed : dead).inc()
    else if (event.kind === 'problem') problems.inc()
  }

  // The reads and writes of the store, by any caller.
  const operations = duration({
    name: 'db_client_operation_duration_seconds',
    help: 'Duration of reads (one snapshot each) and writes (one transaction each), with the wait for a connection or the writer.',
    labels: ['db_system_name', 'db_operation_name', 'duet_lane'],
  })
  const replayed = counter(
    'duet_stored_responses_total',
    'Responses that were given again under an Idempotency-Key.',
  )
  const reading = {
    quick: operations.series(system, 'read', 'quick'),
    slow: operations.series(system, 'read', 'slow'),
  }
  const writing = operations.series(system, 'write', '')
  const ends = [
    onEnd(reads, ({ lane }, milliseconds) => reading[lane].observe(milliseconds / 1000)),
    onEnd(jobs, (facts, milliseconds) => {
      writing.observe(milliseconds / 1000)
      if (facts.replayed) replayed.inc()
    }),
  ]
  const batches = createHistogram(registry, {
    name: 'duet_commit_writes',
    help: 'Writes that were committed together.',
    buckets: counts,
  }).series()
  const commits = duration({
    name: 'duet_commit_duration_seconds',
    help: 'Duration of commits, with the flush to the disk.',
  }).series()
  const deprecated = counter(
    'duet_deprecated_requests_total',
    'Uses of deprecated versions and members.',
    'api',
    'member',
  )
  if (thread === undefined)
    gauge({
      name: 'duet_build_info',
      help: 'The version that runs; always 1.',
      label: 'version',
      read: () => new Map([[version, 1]]),
    })
  return {
    observe,
    /** After a commit: how many writes it held, and its milliseconds. */
    committed: (writes: number, milliseconds: number): void => {
      batches.observe(writes)
      commits.observe(milliseconds / 1000)
    },
    /** A use of what is deprecated, of an API or of a member in it. */
    deprecated: ({ api, member = '' }: { readonly api: string; readonly member?: string }): void =>
      deprecated.inc({ api, member }),
    /** Adds a number that may fall again. */
    gauge,
    /** Adds a number that only grows. */
    total: readingOn(registry, 'counter'),
    /** All of it in Prometheus' text format, whose media type is `type`, with that of the other threads. */
    text: async (others: readonly ThreadMetrics[] = []): Promise<string> =>
      others.length === 0
        ? registry.metrics()
        : AggregatorRegistry.aggregate([await registry.getMetricsAsJSON(), ...others]).metrics(),
    type: registry.contentType,
    json: () => registry.getMetricsAsJSON(),
    close: (): void => {
      for (const end of ends) end()
    },
  }
}

export type Metrics = ReturnType<typeof createMetrics>

const path = '/metrics'

/** Serves metrics on a port of their own, which callers of the APIs do not reach, with those that `others` gathers; rejects if the port cannot be had. */
export const listenForMetrics = async (
  { text, type }: Pick<Metrics, 'text' | 'type'>,
  host: string,
  port: number,
  others: () => Promise<readonly ThreadMetrics[]> = async () => [],
): Promise<{ readonly url: string; readonly close: () => void }> => {
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { url = '', method = '' } = request
    if (url.split('?', 1)[0] !== path) {
      response.writeHead(404).end(`The metrics are at ${path}\n`)
    } else if (method !== 'GET' && method !== 'HEAD') {
      response.writeHead(405, { Allow: 'GET, HEAD' }).end()
    } else {
      const body = await text(await others())
      response.writeHead(200, { 'Content-Type': type }).end(method === 'HEAD' ? undefined : body)
    }
  }
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.writeHead(500).end())
  })
  // `exclusive`: each of several processes has a port of its own.
  server.listen({ host, port, exclusive: true })
  await once(server, 'listening')
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { url: urlOn(host, (server.address() as AddressInfo).port) + path, close }
}
