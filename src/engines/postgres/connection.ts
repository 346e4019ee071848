/** One connection to a PostgreSQL server: queries are pipelined over it, and a lost one is detected. */
import type pg from 'pg'
import {
  ArrayQuery,
  corking,
  destroy,
  endAll,
  processOf,
  ServerClient,
  type ServerRole,
  statementNames,
} from '#engines/postgres/client.ts'
import {
  isReadOnly,
  isStale,
  LostError,
  refused,
  translated,
  UnreachableError,
} from '#engines/postgres/errors.ts'
import { clientConfig, localSettings, type SessionOptions } from '#engines/postgres/options.ts'
import { ApiError } from '#errors.ts'
import type { Query, Rows } from '#sql/engine.ts'

export type PostgresConnection = {
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

/** How often the check for a silent server runs, in milliseconds. */
const checkEvery = 250

/** A connected client of pg as a connection. */
export const connectionOf = (
  client: pg.ClientBase,
  { prepare, silenceLimit }: SessionOptions,
): PostgresConnection => {
  let isOpen = true
  let isEnding = false
  let waiting = 0
  let warnings = 0
  /** When the server last answered, or was sent the first query after a pause. */
  let lastAnswer = 0
  const { promise: closed, resolve: resolveClosed } = Promise.withResolvers<void>()
  const setClosed = () => {
    isOpen = false
    clearInterval(watch)
    resolveClosed()
  }
  const cut = () => {
    setClosed()
    destroy(client)
  }
  const checkSilence = () => {
    if (waiting > 0 && performance.now() - lastAnswer > silenceLimit) cut()
  }
  const watch =
    silenceLimit === 0
      ? undefined
      : setInterval(checkSilence, Math.min(silenceLimit / 4, checkEvery)).unref()
  // Without a listener an error of an idle connection would end the process.
  client.on('error', setClosed)
  client.on('end', setClosed)
  client.on('notice', ({ code }) => {
    if (code?.startsWith('01')) warnings++
  })
  const cork = corking(client)
  const nameOf = prepare ? statementNames(client) : () => undefined
  /** Sends one query; `send` gets the callback for its whole answer. */
  const ask = (send: (done: (error: Error | null) => void) => void): Promise<void> =>
    new Promise((resolve, reject) => {
      if (!isOpen || isEnding) return reject(new LostError('the connection is closed'))
      if (waiting === 0) lastAnswer = performance.now()
      waiting++
      cork()
      send(error => {
        waiting--
        lastAnswer = performance.now()
        if (!error) return resolve()
        // Prepared statements that are no longer valid are prepared again on a new connection; and if a server takes
        // no writes, a new connection may lead to the one that does.
        if (isStale(error) || isReadOnly(error)) cut()
        reject(translated(error))
      })
    })
  return {
    query: async query => {
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
    },
    run: text => ask(done => client.query(text, done)),
    process: processOf(client),
    waiting: () => waiting,
    warnings: () => warnings,
    isOpen: () => isOpen && !isEnding,
    closed,
    cut,
    close: async () => {
      isEnding = true
      if (isOpen && 'end' in client) await endAll([client], () => (client as pg.Client).end())
      setClosed()
    },
  }
}

/** Closes a connection whose server is not what it must be, and throws an UnreachableError. */
export const checkRole = (
  { role: is, host, port }: ServerClient,
  { cut }: PostgresConnection,
  { role }: { readonly role?: ServerRole | undefined },
): void => {
  if (!role || !is || is === role) return
  cut()
  throw new UnreachableError(`${host}:${port} is a ${is} now, and not the ${role} that is needed`)
}

/** Opens a connection to the server of a URL. Throws an UnreachableError that names it and the remedy. */
export const connectTo = async (
  url: string,
  options: SessionOptions,
  role?: ServerRole,
): Promise<PostgresConnection> => {
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
export const begin = (
  connection: PostgresConnection,
  options: SessionOptions,
  how: string,
): void => {
  const text = options.prepare ? `begin ${how}` : `begin ${how}; ${localSettings(options)}`
  // If it fails, so do the queries behind it, and those are awaited.
  connection.run(text).catch(() => {})
}

/** Rolls a transaction back; a connection that cannot do so is closed. */
export const rollBack = async (connection: PostgresConnection): Promise<void> => {
  try {
    await connection.run('rollback')
  } catch {
    connection.cut()
  }
}
