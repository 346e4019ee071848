/** The metrics of a serving process, if the settings ask for them; without, none of their code is loaded. */
import { type Config, version } from '#config.ts'
import type { Engine } from '#engines/shared/store.ts'
import type { HttpContext } from '#http/exchange.ts'
import type { Metrics, ThreadMetrics } from '#metrics/metrics.ts'
import { ConfigError } from '#settings.ts'

/** The names of the semantic conventions. */
const systems = { sqlite: 'sqlite', postgres: 'postgresql' } as const

/** Begins to measure, in the serving thread of that number if there are several; undefined if the settings do not ask for it. */
export const metricsOf = async (
  { values, store }: Config,
  thread?: number,
): Promise<Metrics | undefined> => {
  if (values.DUET_METRICS_PORT === undefined) return undefined
  const { createMetrics } = await import('#metrics/metrics.ts')
  return createMetrics(systems[store.kind], version, thread)
}

/** Adds what is looked at in a thread that serves, which is one of so many, when Prometheus asks. */
export const addServingGauges = (
  { gauge, total }: Metrics,
  edge: HttpContext,
  engine: Engine,
  threads = 1,
): void => {
  const { active, queue, connections, memory } = edge
  const perPurpose = (read: (purpose: keyof typeof memory) => number) => () =>
    new Map((Object.keys(memory) as (keyof typeof memory)[]).map(name => [name, read(name)]))
  gauge({
    name: 'http_server_active_requests',
    help: 'Requests that wait for their turn or are being answered.',
    label: 'http_request_method',
    read: () => active,
  })
  gauge({
    name: 'duet_queue_requests',
    help: 'Requests that wait for their turn.',
    read: () => queue.size() + (connections?.held() ?? 0),
  })
  gauge({
    name: 'duet_memory_bytes',
    help: 'Bytes of bodies that are being received, of answers that clients have not taken, of cached ones, and of GraphQL documents with their plans.',
    label: 'purpose',
    read: perPurpose(purpose => memory[purpose].taken()),
  })
  gauge({
    name: 'duet_memory_budget_bytes',
    help: 'Most of these bytes; above that requests are refused, or cached answers are dropped.',
    label: 'purpose',
    read: perPurpose(purpose => memory[purpose].budget / threads),
  })
  gauge({
    name: 'duet_writes_waiting',
    help: 'Writes that wait for their commit, or for a connection.',
    read: engine.figures.writesWaiting,
  })
  // Without it nothing is cached.
  if (engine.changes)
    total({
      name: 'duet_cache_lookups_total',
      help: 'Reads that were looked for among the cached answers, and whether they were there.',
      label: 'result',
      read: () => new Map(Object.entries(memory.cached.lookups)),
    })
}

/** Adds what a process has once, however many of its threads serve. */
const addStoreGauges = ({ gauge }: Metrics, engine: Engine): void => {
  gauge({
    name: 'duet_store_read_only',
    help: '1 while the store can only be read, such as for want of room on the disk.',
    read: () => (engine.readOnly() === null ? 0 : 1),
  })
  const { walBytes, replicaLags } = engine.figures
  if (walBytes)
    gauge({
      name: 'duet_wal_bytes',
      help: 'Length of the log of writes beside the SQLite file.',
      read: walBytes,
    })
  if (replicaLags)
    gauge({
      name: 'duet_replica_lag_seconds',
      help: 'How far replicas are behind the primary, to a second and up to 11; above 10 one gets no reads. NaN for one that does not answer.',
      label: 'replica',
      read: replicaLags,
    })
}

/** The parts of a service that are looked at when Prometheus asks: without `edge` its other threads serve, whose metrics `others` gathers. */
type Looked = {
  readonly engine: Engine
  readonly edge?: HttpContext
  readonly others?: () => Promise<readonly ThreadMetrics[]>
}

/** Serves the metrics on their port; gives the address, and a function that ends it. Throws ConfigError if the port is taken. */
export const serveMetrics = async (
  metrics: Metrics,
  { values }: Config,
  { engine, edge, others }: Looked,
) => {
  const { DUET_METRICS_HOST: host, DUET_METRICS_PORT: port = 0 } = values
  const { listenForMetrics } = await import('#metrics/metrics.ts')
  addStoreGauges(metrics, engine)
  if (edge) addServingGauges(metrics, edge, engine)
  try {
    return await listenForMetrics(metrics, host, port, others)
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    const why = code === 'EADDRINUSE' ? 'is in use already' : `cannot be listened on (${message})`
    throw new ConfigError(
      `port ${port} of ${host} ${why}; set DUET_METRICS_PORT or DUET_METRICS_HOST to another, or to 0 for a free port`,
      { cause },
    )
  }
}
