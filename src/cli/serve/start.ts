/** One process that serves: the prepared store opened, the core and the app on it, and a server that listens. */
import { setTimeout as sleep } from 'node:timers/promises'
import { createApp } from '#app.ts'
import { type Logging, logging } from '#cli/log.ts'
import { mailOf } from '#cli/mail.ts'
import { authOf } from '#cli/serve/auth.ts'
import { hello } from '#cli/serve/hello.ts'
import { listen } from '#cli/serve/listen.ts'
import type { Program } from '#cli/serve/prepare.ts'
import { modelFor, storeOf } from '#cli/store.ts'
import { version } from '#cli/version.ts'
import type { Config } from '#config.ts'
import type { Core } from '#core.ts'
import type { Engine } from '#engines/store.ts'
import type { Edge } from '#http/exchange.ts'
import { createLimiter, type Limiter } from '#http/limit/limiter.ts'
import { createQueue } from '#http/queue.ts'
import { startPurging } from '#write/purge.ts'

export type Running = {
  readonly url: string
  /** What to tell the person who started it. */
  readonly hello: string
  /** Finishes what runs, and lets go of everything. */
  readonly stop: () => Promise<void>
}

const limitsOf = ({ values }: Config) => ({
  objects: values.DUET_MAX_OBJECTS,
  bytes: values.DUET_MAX_RESPONSE,
})

const documentLimits = ({ values }: Config) => ({
  depth: values.DUET_MAX_DEPTH,
  source: values.DUET_MAX_SOURCE,
  tokens: values.DUET_MAX_TOKENS,
  comments: values.DUET_MAX_COMMENTS,
  aliases: values.DUET_MAX_ALIASES,
  directives: values.DUET_MAX_DIRECTIVES,
  rootFields: values.DUET_MAX_ROOT_FIELDS,
})

const originsOf = (text: string) =>
  text === '*' ? text : text.split(',').map(origin => origin.trim())

/** How many requests a caller may make in a minute where the operator says nothing. */
const usualLimit = { production: 6000, development: 0 }

const limiterOf = ({ development, values }: Config, { tally }: Engine): Limiter | undefined => {
  const usual = usualLimit[development ? 'development' : 'production']
  const limit = values.DUET_RATE_LIMIT ?? usual
  if (limit === 0) return undefined
  return createLimiter({ limit, now: Date.now, tally, proxies: values.DUET_TRUSTED_PROXIES })
}

const edgeOf = (
  { values }: Config,
  { authenticate, observe, limiter }: Pick<Edge, 'authenticate' | 'observe' | 'limiter'>,
): Edge => ({
  authenticate,
  observe,
  limiter,
  queue: createQueue({ wait: values.DUET_QUEUE_WAIT, size: values.DUET_QUEUE_SIZE }),
  origins: originsOf(values.DUET_CORS_ORIGINS) as '*' | readonly string[],
  bodyLimit: values.DUET_MAX_BODY,
  urlLimit: values.DUET_MAX_URL,
  publicMaxAge: values.DUET_PUBLIC_MAX_AGE,
})

/** How long a service whose store stopped still answers, in milliseconds. */
const lastAnswers = 300

/** How long messages that wait are still sent at the end, in milliseconds. */
const lastMails = 3000

/** Tells that the store stopped; those who wait are told first that the outcome is unknown. */
const tellFatal = (log: Logging, message: string, onFatal: () => void) => {
  log.observe({ kind: 'fatal', message })
  process.stderr.write(`duet: ${message}; the service ends, start it again\n`)
  setTimeout(() => {
    log.flush()
    onFatal()
  }, lastAnswers)
}

const whyNotReady = (engine: Engine): Promise<string | null> =>
  engine.ready().then(
    () => null,
    error => (error as Error).message,
  )

/** Begins to serve a store that `prepare` made ready; resolves when it listens. `onFatal`: it can serve no more. */
export const start = async (
  { config, content }: Program,
  onFatal: () => void,
): Promise<Running> => {
  const { values } = config
  const auth = authOf(config)
  const model = modelFor(config, content)
  const store = await storeOf(config, content.migrations)
  const cursorKey = await store.secret('cursor')
  const mailKey = await store.secret('mail')
  const log = logging(values.DUET_LOG)
  let isDraining = false
  const engine = store.open({
    digits: model.settings.currency.digits,
    limits: limitsOf(config),
    readTimeout: values.DUET_READ_TIMEOUT,
    queue: values.DUET_WRITE_QUEUE,
    onTrouble: message => log.observe({ kind: 'trouble', message }),
    onFatal: message => {
      isDraining = true
      tellFatal(log, message, onFatal)
    },
  })
  const mail = mailOf(config, log.observe)
  const core: Core = {
    model,
    dialect: engine.dialect,
    reader: engine,
    writer: engine,
    limits: limitsOf(config),
    cursorKey,
    services: {
      mail,
      key: mailKey,
      publicUrl: () => values.DUET_PUBLIC_URL ?? server.url,
      now: Date.now,
    },
    now: Date.now,
  }
  const limiter = limiterOf(config, engine)
  const app = createApp({
    content,
    core,
    edge: edgeOf(config, { authenticate: auth.authenticate, observe: log.observe, limiter }),
    graphql: {
      limits: documentLimits(config),
      introspection: values.DUET_INTROSPECTION ?? config.development,
    },
    development: config.development,
    version,
    ready: async () => (isDraining ? 'draining' : whyNotReady(engine)),
    readOnly: engine.readOnly,
  })
  const endPurging = startPurging({ writer: engine, dialect: engine.dialect, now: Date.now })
  const server = await listen(app, config, () => isDraining)
  const stop = async () => {
    isDraining = true
    endPurging()
    // Whoever sends requests here learns first that it is to send them elsewhere.
    await sleep(values.DUET_DRAIN_WAIT)
    await server.close(values.DUET_SHUTDOWN_TIMEOUT)
    await mail.close(lastMails)
    limiter?.close()
    await engine.close()
    log.flush()
  }
  return { url: server.url, hello: await hello({ config, content }, auth, server.url), stop }
}
