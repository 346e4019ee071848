/** What serves: the prepared store opened once in a process; and in each thread that serves the core, the app and a server that listens. */

import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { loadVerifying } from '#auth/authenticate.ts'
import { talliesOf } from '#base/tallies.ts'
import { collecting } from '#channels.ts'
import { version } from '#config.ts'
import type { Core } from '#core.ts'
import { loadGraphql } from '#graphql/mount.ts'
import { createConnections } from '#http/connections.ts'
import type { HttpContext } from '#http/exchange.ts'
import { callersBehind } from '#http/limit/address.ts'
import { createLimiter } from '#http/limit/limiter.ts'
import { createMemory } from '#http/memory.ts'
import { createQueue } from '#http/queue.ts'
import { cachedReader, publishing } from '#read/read.ts'
import { createApp } from '#serve/app.ts'
import { authOf, keySource } from '#serve/auth.ts'
import { checkedGraphql } from '#serve/graphql.ts'
import { keepHeapSmall } from '#serve/heap.ts'
import { listen } from '#serve/listen.ts'
import { addServingGauges, serveMetrics } from '#serve/metrics.ts'
import type { Program } from '#serve/prepare.ts'
import { greetingOf, type OpenedService, openService, type Running } from '#serve/service.ts'
import { usedIndexes } from '#serve/used-indexes.ts'
import { usualRateLimit } from '#settings.ts'
import { createNotices } from '#versions/deprecation.ts'

/** How long after its start a service opens the GraphQL API, in milliseconds. */
const graphqlDelay = 250

/** Serves on an opened service, in this thread; `listen` in what it gives begins to. */
export const serveOn = async ({ config, content, socket }: Program, service: OpenedService) => {
  const { values, development } = config
  const { thread, model, limits, state, metrics, observe, engine } = service
  const now = Date.now
  const tally = thread && talliesOf(thread.tallies, thread.number - 1)
  const { people } = service
  const auth = authOf(config, content, observe, people?.own)

  // Who asks, how often, how long they wait, and how much is kept for them.
  const limit = values.DUET_RATE_LIMIT ?? usualRateLimit[development ? 'development' : 'production']
  const limiter =
    limit === 0
      ? undefined
      : createLimiter({
          limit,
          now,
          rateCounts: engine.rateCounts,
          shared: thread?.counts,
          proxies: values.DUET_TRUSTED_PROXIES,
          creations: content.creationRates(config.content),
          superuser: content.viewers.roles.superuser,
        })
  const { DUET_QUEUE_WAIT: wait, DUET_WRITE_WAIT: writeWait, DUET_QUEUE_SIZE } = values
  const size = Math.ceil(DUET_QUEUE_SIZE / (tally?.('connections').threads ?? 1))
  const queue = createQueue({ wait, writeWait, size, takesTurns: config.store.kind === 'sqlite' })
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
    corsHeaders: values.DUET_CORS_HEADERS,
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
    cursorKey: service.secrets.cursor,
    services: service.services,
    files: service.files,
    wakeOutbox: service.outbox.wake,
    countUse: metrics?.deprecated,
    now,
  }
  const whyNotReady = (): Promise<string | null> =>
    engine.ready().then(
      () => null,
      error => (error as Error).message,
    )
  const { deprecation, announced } = service
  const { app, openGraphql } = createApp({
    content,
    served: await content.served(),
    core,
    edge,
    graphql: await checkedGraphql(config, model, content.actions),
    development,
    hasAdmin: config.values.DUET_ADMIN,
    makesTokens: !keySource(config).includes('JWKS'),
    version,
    ready: async () => (state.isDraining ? 'draining' : whyNotReady()),
    readOnly: engine.readOnly,
    people,
    notices: deprecation && createNotices(deprecation, core, announced),
  })
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
        .then(loadVerifying)
        .then(loadGraphql)
        // Loading holds others up for long enough: they get a turn before the schema is derived.
        .then(() => nextTurn())
        .then(openGraphql)
        .then(onLoaded)
        .catch((cause: Error) =>
          service.reportFatal(`what is loaded after the start cannot be: ${cause.message}`),
        )
      return server.url
    },
    stop: async () => {
      state.isDraining = true
      service.endPurging()
      // First a balancer learns from /readyz to send requests elsewhere.
      await sleep(values.DUET_DRAIN_WAIT)
      connections.end()
      await server?.close(values.DUET_SHUTDOWN_TIMEOUT)
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
      program.config.development ? await service.people?.invitation() : undefined,
    ),
    stop: async () => {
      await serving.stop()
      await service.close()
      forPrometheus?.close()
    },
  }
}
