/** One connection to a PostgreSQL server: queries are pipelined over it, and it tells when it is gone. */
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
  /** Statements without values or rows; several with semicolons between them are one way there and back. */
  readonly run: (text: string) => Promise<void>
  /** How many queries are on their way. */
  readonly waiting: () => number
  readonly isOpen: () => boolean
  /** Settles when the connection is gone, from whichever side it was ended. */
  readonly gone: Promise<void>
  /** Waits a moment for what is on its way, and says goodbye. */
  readonly end: () => Promise<void>
  /** Cuts it: whatever is on its way fails. */
  readonly cut: () => void
}

type Traffic = {
  isOpen: boolean
  isEnding: boolean
  /** How many queries are on their way. */
  waiting: number
  /** When the server answered last, or was first asked after a pause. */
  lastHeard: number
}

/** How often a silent server is looked for, in milliseconds. */
const lookEvery = 250

/** Cuts a connection whose server has gone silent: something waits, and nothing came back for so long. */
const cutWhenSilent = (traffic: Traffic, patience: number, cut: () => void) => {
  if (patience === 0) return undefined
  const look = () => {
    if (traffic.waiting > 0 && performance.now() - traffic.lastHeard > patience) cut()
  }
  return setInterval(look, Math.min(patience / 4, lookEvery)).unref()
}

type Done = (error: Error | null) => void

/** A function that sends one thing; `send` is given what to call when the answer is whole. */
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
        // Its prepared statements are not valid any more: a new connection prepares them again.
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

/** The connection that a connected client is. */
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

/** Opens a connection. Throws an UnreachableError that says where it was to be, and what to do. */
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
