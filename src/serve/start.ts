/** What serves: the prepared store opened once in a process; and in each thread that serves the core, the app and a server that listens. */
import { flushCompileCache } from 'node:module'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { dayNumber, dayNumbered } from '#base/dates.ts'
import { graphqlPath, versionPath } from '#base/paths.ts'
import type { ThreadCounts } from '#base/rate-counts.ts'
import { talliesOf } from '#base/tallies.ts'
import { withOpened } from '#base/with-opened.ts'
import { collecting } from '#channels.ts'
import { type Config, version } from '#config.ts'
import type { Core } from '#core.ts'
import type { ServingThread, Store } from '#engines/shared/store.ts'
import { loadGraphql } from '#graphql/mount.ts'
import { createConnections } from '#http/connections.ts'
import type { HttpContext } from '#http/exchange.ts'
import { callersBehind } from '#http/limit/address.ts'
import { createLimiter } from '#http/limit/limiter.ts'
import { createMemory } from '#http/memory.ts'
import { createQueue } from '#http/queue.ts'
import { createMail, type Delivery } from '#mail/mail.ts'
import type { Versions } from '#model/version.ts'
import type { Observe } from '#observe.ts'
import { listed } from '#pages/page.ts'
import { tokenCommand } from '#pages/start.ts'
import { cachedReader, publishing } from '#read/read.ts'
import { createApp } from '#serve/app.ts'
import { authOf } from '#serve/auth.ts'
import { checkedGraphql } from '#serve/graphql.ts'
import { listen } from '#serve/listen.ts'
import { logging } from '#serve/log.ts'
import { addServingGauges, measured, metricsOf, serveMetrics } from '#serve/metrics.ts'
import type { Program } from '#serve/prepare.ts'
import { modelFor, storeOf } from '#serve/store.ts'
import { usedIndexes } from '#serve/used-indexes.ts'
import { endSettings, usualRateLimit } from '#settings.ts'
import { queryWith } from '#sql/engine.ts'
import { type Announced, createUsage, startFlushing } from '#versions/deprecated-use.ts'
import { createNotices, type DeprecationDays, shortNotice } from '#versions/deprecation.ts'
import { startPurging } from '#write/idempotency.ts'
import { type Outbox, startOutbox } from '#write/outbox.ts'

export type Running = {
  readonly url: string
  /** The greeting for the person who started it. */
  readonly hello: string
  /** Finishes running requests, and closes everything. */
  readonly stop: () => Promise<void>
}

/** How long a service whose store stopped still answers, in milliseconds. */
const lastAnswers = 300

/** How long the last counts may take to be written at the end, in milliseconds. */
export const lastCounts = 3000

/** How long effects that are due are still run at the end, in milliseconds. */
const lastEffects = 3000

/** How long after its start a service opens the GraphQL API, in milliseconds. */
const graphqlDelay = 250

/**
 * Has V8 make all objects young, whatever became of those before. When many requests wait at once their objects live long, and V8 learns from
 * it to make the objects of all later ones old from the start: each then costs half as much again, for as long as the process lives.
 * It also has V8 look through the old objects when they are half as much again as was left the last time, and not when they are several times
 * that: bodies and answers are old by the time that they are done with, and what is left is small.
 * Compiled code is kept for the flags at that moment, so what was compiled until now is written first; call it once all is loaded.
 */
export const keepHeapSmall = (): void => {
  flushCompileCache()
  setFlagsFromString('--no-allocation-site-pretenuring')
  setFlagsFromString('--heap-growing-percent=50')
}

/** Mail goes over SMTP if that is set up; otherwise development shows it and production has none. */
const deliveryOf = ({ values, development }: Config): Delivery => {
  const { DUET_SMTP_URL: url, DUET_MAIL_FROM: from } = values
  if (url !== undefined && from !== undefined) return { kind: 'smtp', url, from }
  return { kind: development ? 'shown' : 'none' }
}

/** The deprecation of the oldest version that the settings say; undefined if they say none. */
const deprecationOf = (
  { values, content }: Config,
  { oldest: version }: Versions,
): DeprecationDays | undefined => {
  const [from, sunset] = endSettings(version).map(name => content[name] as string | undefined)
  if (from === undefined) return undefined
  const { DUET_DEPRECATION: header, DUET_NOTICE: notice } = values
  return { version, from, sunset, header, holds: notice === 'kept' ? 'notice' : 'sunset' }
}

/** Since when the deprecations of versions are announced, as the store remembers it. */
export const announcedIn = async (store: Store): Promise<Announced> => {
  const query = queryWith('select version, first_day from version_notices')
  const rows = await withOpened(store.session('reading'), session => session.query(query))
  return new Map(rows.map(([version, day]) => [Number(version), String(day)]))
}

/** What an address that stands for all of them means. */
const anyAddress: Readonly<Record<string, string>> = {
  '0.0.0.0': 'all other IPv4 addresses',
  '::': 'all other addresses',
}

/** Says where it listens; with a token also how others are made, and a line for each API that can be pasted into a shell. */
export const greetingOf = (
  { config, content }: Program,
  url: string,
  metrics: string | undefined,
  token: string | null,
  threads = 1,
): string => {
  const everywhere = anyAddress[config.host]
  const where = everywhere === undefined ? url : `${url} and ${everywhere}`
  const many = threads === 1 ? '' : ` in ${threads} threads`
  const listens = `Duet ${version} listens on ${where}${metrics === undefined ? '' : ` with metrics on ${metrics}`}${many}`
  if (token === null) return listens
  const { graphql, rest } = content.examples.withToken
  const address = `${url}${versionPath(content.versions.newest)}${rest}`
  // Shells look for files by some of its letters.
  const asked = /[?&*;]/.test(address) ? `'${address}'` : address
  // In another terminal `token` would sign with the key of other settings.
  const decide = ['DUET_DATABASE_URL', 'DUET_AUTH_SECRET', 'DUET_AUTH_ISSUER', 'DUET_AUTH_AUDIENCE']
  const needed = decide.filter(name => process.env[name])
  const same = needed.length === 0 ? '' : ` with the same ${listed(needed)}`
  return `${listens}

  Tokens   ${tokenCommand(content.viewers)}, in ${process.cwd()}${same}

  GraphQL  curl -s ${url}${graphqlPath} -H 'Authorization: Bearer ${token}' -H 'Content-Type: application/json' -d '${JSON.stringify({ query: graphql })}' -w '\\n'

  REST     curl -s ${asked} -H 'Authorization: Bearer ${token}' -w '\\n'
`
}

/** What one of several threads that serve has of the main thread, which has no app itself. */
type ThreadContext = ServingThread & {
  /** Adds lines to the log of the process. */
  readonly log: (lines: string) => void
  readonly outbox: Outbox
  readonly counts: ThreadCounts
  readonly onDamage: (message: string) => void
}

type Opening = {
  /** Called when the process can serve no more. */
  readonly onFatal: () => void
  /** The thread is one of several that serve, or, as `host`, the main thread of them. */
  readonly thread?: ThreadContext | 'host'
  /** Called with what SQLite says of a damaged page. */
  readonly onDamage?: (message: string) => void
  /** Called when nothing can be written any more. */
  readonly onStop?: (message: string) => void
}

/** What is there once in a thread, whether or not it serves: the store, its log and its metrics. */
export const openService = async (
  { config, content }: Program,
  { onFatal, onDamage, onStop, thread }: Opening,
) => {
  const { values } = config
  const own = thread === 'host' ? undefined : thread
  const model = modelFor(config, content)
  const limits = { objects: values.DUET_MAX_OBJECTS, bytes: values.DUET_MAX_RESPONSE }
  const state = { isDraining: false, url: '' }
  const store = await storeOf(config, content.migrations)
  const log = logging(values.DUET_LOG, values.DUET_SLOW, own?.log)
  const metrics = await metricsOf(config, own?.number)
  const observe: Observe = metrics
    ? event => {
        log.observe(event)
        metrics.observe(event)
      }
    : log.observe
  /** Before the end, callers that wait are told that the outcome is unknown. */
  const reportFatal = (message: string): void => {
    log.observe({ kind: 'fatal', message })
    process.stderr.write(`duet: ${message}; the service ends, start it again\n`)
    setTimeout(() => {
      log.flush()
      onFatal()
    }, lastAnswers)
  }
  const engine = store.open({
    digits: model.settings.currency.digits,
    limits,
    readTimeout: values.DUET_READ_TIMEOUT,
    queue: values.DUET_WRITE_QUEUE,
    writeWait: values.DUET_WRITE_WAIT,
    isWatched: values.DUET_CACHE > 0,
    isHost: thread === 'host',
    ...(own && { thread: own }),
    ...(metrics && { onCommit: metrics.committed }),
    onProblem: message => observe({ kind: 'problem', message }),
    onNotice: message => observe({ kind: 'notice', message }),
    onDamage: own?.onDamage ?? onDamage ?? (() => {}),
    onFatal: message => {
      state.isDraining = true
      onStop?.(message)
      // The main thread has the same reason to end the process.
      if (!own) reportFatal(message)
    },
  })
  const ofStore = { writer: engine, dialect: engine.dialect, now: Date.now }
  const services = {
    mail: createMail({ now: Date.now, observe, delivery: deliveryOf(config) }),
    key: await store.secret('mail'),
    publicUrl: () => values.DUET_PUBLIC_URL ?? state.url,
    now: Date.now,
  }
  const { entities } = model
  const outbox =
    own?.outbox ?? startOutbox({ ...ofStore, reader: engine, entities, services, observe })
  // Who uses what is deprecated, and since when callers are told.
  const deprecation = deprecationOf(config, model.versions)
  const announced = deprecation && (await announcedIn(store))
  const usage = measured(createUsage({ ...ofStore, ...(announced && { announced }) }), metrics)
  if (deprecation && !own) {
    const today = dayNumbered(dayNumber(Date.now()))
    const message = shortNotice(deprecation, today, usage.firstAnnounced(deprecation.version))
    if (message !== undefined) observe({ kind: 'notice', message })
  }
  const endPurging = own ? () => {} : startPurging(ofStore)
  return {
    ...{ thread: own, model, limits, state, store, log, metrics, observe, reportFatal },
    ...{ engine, services, outbox, deprecation, usage, endPurging },
    /** Ends what it has, after what serves on it. */
    close: async () => {
      endPurging()
      await outbox.close(lastEffects)
      await engine.close()
      log.flush()
    },
  }
}

export type OpenedService = Awaited<ReturnType<typeof openService>>

/** Serves on an opened service, in this thread; `listen` in what it gives begins to. */
export const serveOn = async ({ config, content, socket }: Program, service: OpenedService) => {
  const { values, development } = config
  const { thread, model, limits, state, store, metrics, observe, engine, usage } = service
  const now = Date.now
  const tally = thread && talliesOf(thread.tallies, thread.number - 1)
  const auth = authOf(config, content.viewers, observe)

  // Who asks, how often, how long they wait, and how much is kept for them.
  const limit = values.DUET_RATE_LIMIT ?? usualRateLimit[development ? 'development' : 'production']
  const limiter =
    limit === 0
      ? undefined
      : createLimiter({
          limit,
          now,
          rateCounts: engine.rateCounts,
          threadCounts: thread?.counts,
          proxies: values.DUET_TRUSTED_PROXIES,
          creations: content.creationRates(config.content),
          superuser: content.viewers.roles.superuser,
        })
  const { DUET_QUEUE_WAIT: wait, DUET_WRITE_WAIT: writeWait, DUET_QUEUE_SIZE } = values
  const size = Math.ceil(DUET_QUEUE_SIZE / (tally?.('connections').threads ?? 1))
  const queue = createQueue({ wait, writeWait, size })
  const connections = createConnections(queue, { held: size, rest: wait })
  const memory = createMemory({ cached: values.DUET_CACHE }, tally)
  const origins = values.DUET_CORS_ORIGINS
  const explained = development ? usedIndexes(engine, engine.dialect.plans) : undefined
  const edge: HttpContext = {
    authenticate: auth.authenticate,
    observe,
    limiter,
    memory,
    callerOf: callersBehind(values.DUET_TRUSTED_PROXIES),
    queue,
    connections,
    active: new Map(),
    origins: origins === '*' ? origins : origins.split(',').map(origin => origin.trim()),
    bodyLimit: values.DUET_MAX_BODY,
    urlLimit: values.DUET_MAX_URL,
    publicMaxAge: values.DUET_PUBLIC_MAX_AGE,
    collect: development || values.DUET_SLOW !== undefined ? collecting() : undefined,
    sendsTiming: development,
    indexesOf: explained?.indexesOf,
  }
  const core: Core = {
    model,
    actions: content.actions,
    dialect: engine.dialect,
    reader: cachedReader(publishing(explained?.reader ?? engine), engine.changes, memory.cached),
    writer: engine,
    limits,
    cursorKey: await store.secret('cursor'),
    services: service.services,
    wakeOutbox: service.outbox.wake,
    usage,
    now,
  }
  const whyNotReady = (): Promise<string | null> =>
    engine.ready().then(
      () => null,
      error => (error as Error).message,
    )
  const { deprecation } = service
  const { app, openGraphql } = createApp({
    content,
    served: await content.served(),
    core,
    edge,
    graphql: await checkedGraphql(config, model, content.actions),
    development,
    version,
    ready: async () => (state.isDraining ? 'draining' : whyNotReady()),
    readOnly: engine.readOnly,
    notices: deprecation && createNotices(deprecation, model.versions, now, usage),
  })
  const endFlushing = startFlushing(usage)
  if (metrics && tally) addServingGauges(metrics, edge, engine, tally('connections').threads)
  let server: Awaited<ReturnType<typeof listen>> | undefined
  return {
    edge,
    token: auth.superuserToken,
    /** Resolves with the address when it listens, on that port if one is given; what it loads later, `onLoaded` is told of. */
    listen: async (onLoaded: () => void, port = config.port): Promise<string> => {
      const { versions } = model
      const listening = {
        ...{ versions, state, socket, queue, connections },
        tally: tally?.('connections'),
      }
      server = await listen(app, { ...config, port }, listening)
      state.url = server.url
      // Who waited for the service gets an answer first.
      sleep(graphqlDelay, undefined, { ref: false })
        .then(loadGraphql)
        // Loading holds others up for long enough: they get a turn before the schema is derived.
        .then(() => nextTurn())
        .then(openGraphql)
        .then(onLoaded)
        .catch((cause: Error) => service.reportFatal(`GraphQL cannot be opened: ${cause.message}`))
      return server.url
    },
    stop: async () => {
      state.isDraining = true
      service.endPurging()
      // First a balancer learns from /readyz to send requests elsewhere.
      await sleep(values.DUET_DRAIN_WAIT)
      connections.end()
      await server?.close(values.DUET_SHUTDOWN_TIMEOUT)
      await Promise.race([endFlushing(), sleep(lastCounts, undefined, { ref: false })])
      limiter?.close()
    },
  }
}

/** Begins to serve a store that `prepare` made ready, in this thread alone; resolves when it listens. `onFatal`: it can serve no more. */
export const start = async (program: Program, onFatal: () => void): Promise<Running> => {
  const service = await openService(program, { onFatal })
  const { engine, metrics } = service
  const serving = await serveOn(program, service)
  const forPrometheus =
    metrics && (await serveMetrics(metrics, program.config, { engine, edge: serving.edge }))
  const url = await serving.listen(keepHeapSmall)
  return {
    url,
    hello: greetingOf(
      program,
      url,
      forPrometheus?.url,
      program.config.development ? await serving.token() : null,
    ),
    stop: async () => {
      await serving.stop()
      await service.close()
      forPrometheus?.close()
    },
  }
}
