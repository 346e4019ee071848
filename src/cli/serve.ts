/** `duet serve`: opens the store, listens, and ends cleanly when it is told to. */
import { type IncomingMessage, ServerResponse } from 'node:http'
import { serve as listen } from '@hono/node-server'
import { createApp } from '#app.ts'
import { createAuthenticator } from '#auth/authenticate.ts'
import { mint } from '#auth/token.ts'
import { demoContent } from '#cli/demo.ts'
import { logging } from '#cli/log.ts'
import { mailOf } from '#cli/mail.ts'
import { authSecret } from '#cli/secret.ts'
import { modelOf } from '#cli/store.ts'
import { type CliCommand, readArgs } from '#cli/usage.ts'
import { version } from '#cli/version.ts'
import { type Config, loadConfig } from '#config.ts'
import { openSqlite } from '#engines/sqlite/engine.ts'
import { holdStore } from '#engines/sqlite/lock.ts'
import { cursorKey, migrateSqlite } from '#engines/sqlite/migrate.ts'
import { createQueue } from '#http/queue.ts'
import type { Core } from '#write/core.ts'
import { startPurging } from '#write/purge.ts'

const help = `Usage: duet serve

Serves GraphQL at /graphql and REST at /api. Settings come from the environment
(DUET_…, see docs/settings.md). On SQLite the store is migrated first; an empty
development store is filled with a small demo content.`

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

const authConfig = ({ values }: Config, secret: string | undefined) => ({
  ...(secret !== undefined && { secret }),
  ...(values.DUET_JWKS_URL !== undefined && { jwksUrl: values.DUET_JWKS_URL }),
  ...(values.DUET_JWKS_FILE !== undefined && { jwksFile: values.DUET_JWKS_FILE }),
  ...(values.DUET_AUTH_ISSUER !== undefined && { issuer: values.DUET_AUTH_ISSUER }),
  ...(values.DUET_AUTH_AUDIENCE !== undefined && { audience: values.DUET_AUTH_AUDIENCE }),
})

/** A line that can be pasted into a shell, for each voice. */
const hello = async (config: Config, url: string, secret: string | undefined): Promise<string> => {
  if (!config.development || secret === undefined) return `Duet ${version} listens on ${url}`
  const token = await mint(
    { sub: 1, role: 'admin', ttl: 24 * 3600, ...authConfig(config, undefined) },
    secret,
    Date.now(),
  )
  return `Duet ${version} listens on ${url}

  GraphQL  curl -s ${url}/graphql -H 'Authorization: Bearer ${token}' -H 'Content-Type: application/json' -d '{"query":"{ users(limit: 3) { id name posts(limit: 2) { title comments { text author { name } } } } }"}'

  REST     curl -s ${url}/api/users -H 'Authorization: Bearer ${token}'
`
}

const originsOf = (text: string) =>
  text === '*' ? text : text.split(',').map(origin => origin.trim())

/** How long a service whose store stopped still answers, in milliseconds. */
const lastAnswers = 300

/** How long messages that wait are still sent at the end, in milliseconds. */
const lastMails = 3000

/** Begins to serve; resolves when it listens, with how to stop it. */
export const start = async (config: Config, onFatal: () => void) => {
  const { values } = config
  const secret = authSecret(config)
  const authenticate = createAuthenticator(authConfig(config, secret), Date.now)
  const model = modelOf(config)
  // The lock first: a store that another process serves is not migrated under its feet.
  const release = holdStore(config.file)
  migrateSqlite(config.file)
  if (config.development) demoContent(config, model)
  const log = logging(values.DUET_LOG)
  let draining = false
  const engine = openSqlite({
    file: config.file,
    digits: model.settings.currency.digits,
    limits: limitsOf(config),
    readTimeout: values.DUET_READ_TIMEOUT,
    queue: values.DUET_WRITE_QUEUE,
    minDisk: values.DUET_MIN_DISK,
    onTrouble: message => log.observe({ kind: 'trouble', message }),
    onFatal: message => {
      draining = true
      log.observe({ kind: 'fatal', message })
      process.stderr.write(`duet: ${message}; the service ends, start it again\n`)
      // Those who wait are told first that the outcome is unknown.
      setTimeout(() => {
        log.flush()
        onFatal()
      }, lastAnswers)
    },
  })
  const mail = mailOf(config, log.observe, () => url)
  const core: Core = {
    model,
    dialect: engine.dialect,
    reader: engine,
    writer: engine,
    limits: limitsOf(config),
    cursorKey: cursorKey(config.file),
    proofs: mail,
    now: Date.now,
  }
  const edge = {
    authenticate,
    observe: log.observe,
    queue: createQueue({ wait: values.DUET_QUEUE_WAIT, size: values.DUET_QUEUE_SIZE }),
    origins: originsOf(values.DUET_CORS_ORIGINS) as '*' | readonly string[],
    bodyLimit: values.DUET_MAX_BODY,
    urlLimit: values.DUET_MAX_URL,
    publicMaxAge: values.DUET_PUBLIC_MAX_AGE,
  }
  const app = createApp({
    core,
    edge,
    graphql: {
      limits: documentLimits(config),
      introspection: values.DUET_INTROSPECTION ?? config.development,
    },
    development: config.development,
    version,
    ready: async () => {
      if (draining) return 'draining'
      return engine.ready().then(
        () => null,
        error => (error as Error).message,
      )
    },
    readOnly: engine.readOnly,
  })
  const endPurging = startPurging({ writer: engine, dialect: engine.dialect, now: Date.now })
  // What is answered on the way to the end is the last answer on its connection.
  class Answer<Asked extends IncomingMessage> extends ServerResponse<Asked> {
    override writeHead(...head: readonly unknown[]): this {
      if (draining) this.shouldKeepAlive = false
      return Reflect.apply(super.writeHead, this, head)
    }
  }
  const server = await new Promise<ReturnType<typeof listen>>((resolve, reject) => {
    const made = listen(
      {
        fetch: app.fetch,
        hostname: config.host,
        port: config.port,
        serverOptions: {
          ServerResponse: Answer,
          headersTimeout: 10_000,
          requestTimeout: 30_000,
          connectionsCheckingInterval: 1000,
          keepAliveTimeout: 65_000,
          maxHeaderSize: 16_384,
        },
      },
      () => resolve(made),
    )
    made.once('error', reject)
  })
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : config.port
  const host = config.host.includes(':') ? `[${config.host}]` : config.host
  const url = `http://${host === '0.0.0.0' || host === '[::]' ? '127.0.0.1' : host}:${port}`
  const stop = async () => {
    draining = true
    endPurging()
    const forced = setTimeout(
      () => 'closeAllConnections' in server && server.closeAllConnections(),
      values.DUET_SHUTDOWN_TIMEOUT,
    )
    await new Promise(resolve => server.close(resolve))
    clearTimeout(forced)
    await mail.close(lastMails)
    await engine.close()
    release()
    log.flush()
  }
  return { url, stop, hello: await hello(config, url, secret) }
}

const run = async (args: readonly string[]): Promise<void> => {
  readArgs(args, {}, 0)
  const config = loadConfig(process.env)
  const running = await start(config, () => process.exit(1))
  let endsSince: number | undefined
  const end = () => {
    if (endsSince !== undefined) {
      // One Ctrl-C comes twice at once: from the terminal and from npm. A later one means now.
      if (performance.now() - endsSince >= 1000) process.exit(1)
      return
    }
    endsSince = performance.now()
    running.stop().then(
      () => process.exit(0),
      error => {
        process.stderr.write(`duet: ${error.message}\n`)
        process.exit(1)
      },
    )
  }
  process.on('SIGTERM', end)
  process.on('SIGINT', end)
  process.stderr.write(`${running.hello}\n`)
}

export const serve: CliCommand = { name: 'serve', about: 'serve both voices', help, run }
