/** One connection to a PostgreSQL server: queries are pipelined over it, and a lost one is detected. */
import pg from 'pg'
import { corking, destroy, endAll, statementNames } from '#engines/postgres/connection/client.ts'
import { isStale, LostError, translated } from '#engines/postgres/connection/errors.ts'
import { refused } from '#engines/postgres/connection/label.ts'
import { ArrayQuery } from '#engines/postgres/connection/rows.ts'
import { type ConnectionOptions, clientConfig } from '#engines/postgres/connection/settings.ts'
import { ApiError } from '#errors.ts'
import type { Query, Rows } from '#sql/engine.ts'

export type Connection = {
  readonly query: (query: Query) => Promise<Rows>
  /** Runs statements without values or rows; several with semicolons between them cost one round trip. */
  readonly run: (text: string) => Promise<void>
  /** The number of queries without an answer yet. */
  readonly waiting: () => number
  readonly isOpen: () => boolean
  /** Settles when the connection is closed, by either side. */
  readonly closed: Promise<void>
  /** Waits a moment for open queries, and closes the connection in good order. */
  readonly end: () => Promise<void>
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
        // Its prepared statements are no longer valid: a new connection prepares them again.
        if (isStale(error)) cut()
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
  { prepare, silenceLimit }: ConnectionOptions,
): Connection => {
  const traffic: Traffic = { isOpen: true, isEnding: false, waiting: 0, lastAnswer: 0 }
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
  const ask = sending(traffic, corking(client), cut)
  return {
    query: querying(client, ask, prepare ? statementNames(client) : () => undefined),
    run: text => ask(done => client.query(text, done)),
    waiting: () => traffic.waiting,
    isOpen: () => traffic.isOpen && !traffic.isEnding,
    closed,
    cut,
    end: async () => {
      traffic.isEnding = true
      if (traffic.isOpen && 'end' in client)
        await endAll([client], () => (client as pg.Client).end())
      setClosed()
    },
  }
}

/** Opens a connection. Throws an UnreachableError that names the server and the remedy. */
export const connect = async (options: ConnectionOptions): Promise<Connection> => {
  const client = new pg.Client(clientConfig(options))
  client.on('error', () => {})
  try {
    await client.connect()
  } catch (error) {
    throw refused(error, options.url)
  }
  return connectionOf(client, options)
}
