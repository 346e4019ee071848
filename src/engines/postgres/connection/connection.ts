/** One connection to a PostgreSQL server: queries are pipelined over it, and its loss is noticed. */
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
  readonly gone: Promise<void>
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
  /** When the server last answered, or got the first query after a pause. */
  lastHeard: number
}

/** How often the check for a silent server runs, in milliseconds. */
const lookEvery = 250

/** Closes a connection whose server is silent: a query is open, and nothing came back for `patience` milliseconds. */
const cutWhenSilent = (traffic: Traffic, patience: number, cut: () => void) => {
  if (patience === 0) return undefined
  const look = () => {
    if (traffic.waiting > 0 && performance.now() - traffic.lastHeard > patience) cut()
  }
  return setInterval(look, Math.min(patience / 4, lookEvery)).unref()
}

type Done = (error: Error | null) => void

/** A function that sends one query; `send` gets the callback for its whole answer. */
const sending =
  (traffic: Traffic, cork: () => void, cut: () => void) =>
  (send: (done: Done) => void): Promise<void> =>
    new Promise((resolve, reject) => {
      if (!traffic.isOpen || traffic.isEnding)
        return reject(new LostError('the connection is closed'))
      if (traffic.waiting === 0) traffic.lastHeard = performance.now()
      traffic.waiting++
      cork()
      send(error => {
        traffic.waiting--
        traffic.lastHeard = performance.now()
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
  { prepare, patience }: ConnectionOptions,
): Connection => {
  const traffic: Traffic = { isOpen: true, isEnding: false, waiting: 0, lastHeard: 0 }
  const { promise: gone, resolve: setGone } = Promise.withResolvers<void>()
  const setClosed = () => {
    traffic.isOpen = false
    clearInterval(watch)
    setGone()
  }
  const cut = () => {
    setClosed()
    destroy(client)
  }
  const watch = cutWhenSilent(traffic, patience, cut)
  // Without a listener an error of an idle connection would end the process.
  client.on('error', setClosed)
  client.on('end', setClosed)
  const ask = sending(traffic, corking(client), cut)
  return {
    query: querying(client, ask, prepare ? statementNames(client) : () => undefined),
    run: text => ask(done => client.query(text, done)),
    waiting: () => traffic.waiting,
    isOpen: () => traffic.isOpen && !traffic.isEnding,
    gone,
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
