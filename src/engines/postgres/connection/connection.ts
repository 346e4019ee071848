/** One connection to a PostgreSQL server: queries are pipelined over it, and a lost one is detected. */
import type pg from 'pg'
import {
  corking,
  destroy,
  endAll,
  processOf,
  type Role,
  ServerClient,
  statementNames,
} from '#engines/postgres/connection/client.ts'
import {
  isReadOnly,
  isStale,
  LostError,
  translated,
  UnreachableError,
} from '#engines/postgres/connection/errors.ts'
import { refused } from '#engines/postgres/connection/label.ts'
import { ArrayQuery } from '#engines/postgres/connection/rows.ts'
import {
  clientConfig,
  localSettings,
  type SessionOptions,
} from '#engines/postgres/connection/settings.ts'
import { ApiError } from '#errors.ts'
import type { Query, Rows } from '#sql/engine.ts'

export type Connection = {
  readonly query: (query: Query) => Promise<Rows>
  /** Runs statements without values or rows; several with semicolons between them cost one round trip. */
  readonly run: (text: string) => Promise<void>
  /** The process that serves it there; another session may cancel what it runs. */
  readonly process: number
  /** The number of queries without an answer yet. */
  readonly waiting: () => number
  /** The number of warnings that the server has given. */
  readonly warnings: () => number
  readonly isOpen: () => boolean
  /** Settles when the connection is closed, by either side. */
  readonly closed: Promise<void>
  /** Waits a moment for open queries, and closes the connection in good order. */
  readonly close: () => Promise<void>
  /** Closes it at once: open queries fail. */
  readonly cut: () => void
}

type Traffic = {
  isOpen: boolean
  isEnding: boolean
  /** The number of queries without an answer yet. */
  waiting: number
  /** When the server last answered, or was sent the first query after a pause. */
  lastAnswer: number
  warnings: number
}

/** How often the check for a silent server runs, in milliseconds. */
const checkEvery = 250

/** Closes a connection whose server is silent: a query is open, and nothing came back for `silenceLimit` milliseconds. */
const cutWhenSilent = (traffic: Traffic, silenceLimit: number, cut: () => void) => {
  if (silenceLimit === 0) return undefined
  const check = () => {
    if (traffic.waiting > 0 && performance.now() - traffic.lastAnswer > silenceLimit) cut()
  }
  return setInterval(check, Math.min(silenceLimit / 4, checkEvery)).unref()
}

type Done = (error: Error | null) => void

/** A function that sends one query; `send` gets the callback for its whole answer. */
const sending =
  (traffic: Traffic, cork: () => void, cut: () => void) =>
  (send: (done: Done) => void): Promise<void> =>
    new Promise((resolve, reject) => {
      if (!traffic.isOpen || traffic.isEnding)
        return reject(new LostError('the connection is closed'))
      if (traffic.waiting === 0) traffic.lastAnswer = performance.now()
      traffic.waiting++
      cork()
      send(error => {
        traffic.waiting--
        traffic.lastAnswer = performance.now()
        if (!error) return resolve()
        // Prepared statements that are no longer valid are prepared again on a new connection; and where a server takes
        // no writes, a new connection may lead to the one that does.
        if (isStale(error) || isReadOnly(error)) cut()
        reject(translated(error))
      })
    })

type Ask = ReturnType<typeof sending>

const querying =
  (client: pg.ClientBase, ask: Ask, nameOf: (text: string) => string | undefined) =>
  async (query: Query): Promise<Rows> => {
    let sent: ArrayQuery | undefined
    await ask(done => {
      sent = new ArrayQuery(query, nameOf(query.text), done)
      client.query(sent as unknown as pg.Query)
    })
    const { bytes, most, found } = sent as ArrayQuery
    if (bytes <= most) return found
    throw new ApiError(
      'RESPONSE_TOO_LARGE',
      'The answer would be too large; use `limit` on the lists in it',
    )
  }

/** A connected client of pg as a Connection. */
export const connectionOf = (
  client: pg.ClientBase,
  { prepare, silenceLimit }: SessionOptions,
): Connection => {
  const traffic: Traffic = { isOpen: true, isEnding: false, waiting: 0, lastAnswer: 0, warnings: 0 }
  const { promise: closed, resolve: resolveClosed } = Promise.withResolvers<void>()
  const setClosed = () => {
    traffic.isOpen = false
    clearInterval(watch)
    resolveClosed()
  }
  const cut = () => {
    setClosed()
    destroy(client)
  }
  const watch = cutWhenSilent(traffic, silenceLimit, cut)
  // Without a listener an error of an idle connection would end the process.
  client.on('error', setClosed)
  client.on('end', setClosed)
  client.on('notice', ({ code }) => {
    if (code?.startsWith('01')) traffic.warnings++
  })
  const ask = sending(traffic, corking(client), cut)
  return {
    query: querying(client, ask, prepare ? statementNames(client) : () => undefined),
    run: text => ask(done => client.query(text, done)),
    process: processOf(client),
    waiting: () => traffic.waiting,
    warnings: () => traffic.warnings,
    isOpen: () => traffic.isOpen && !traffic.isEnding,
    closed,
    cut,
    close: async () => {
      traffic.isEnding = true
      if (traffic.isOpen && 'end' in client)
        await endAll([client], () => (client as pg.Client).end())
      setClosed()
    },
  }
}

/** Closes a connection whose server is not what it must be, and throws an UnreachableError. */
export const checkRole = (
  { role: is, host, port }: ServerClient,
  { cut }: Connection,
  { role }: { readonly role?: Role | undefined },
): void => {
  if (!role || !is || is === role) return
  cut()
  throw new UnreachableError(`${host}:${port} is a ${is} now, and not the ${role} that is needed`)
}

/** Opens a connection to the server of a URL. Throws an UnreachableError that names it and the remedy. */
export const connectTo = async (
  url: string,
  options: SessionOptions,
  role?: Role,
): Promise<Connection> => {
  const client = new ServerClient(clientConfig(url, options))
  client.on('error', () => {})
  try {
    await client.connect()
  } catch (error) {
    throw refused(error, url)
  }
  const connection = connectionOf(client, options)
  checkRole(client, connection, { role })
  return connection
}

/** Begins a transaction without waiting for the answer: the next query is pipelined behind it. */
export const begin = (connection: Connection, options: SessionOptions, how: string): void => {
  const text = options.prepare ? `begin ${how}` : `begin ${how}; ${localSettings(options)}`
  // If it fails, so do the queries behind it, and those are awaited.
  connection.run(text).catch(() => {})
}

/** Rolls a transaction back; a connection that cannot do so is closed. */
export const rollBack = async (connection: Connection): Promise<void> => {
  try {
    await connection.run('rollback')
  } catch {
    connection.cut()
  }
}
