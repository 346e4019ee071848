/** One connection to a PostgreSQL server: its settings, its queries one behind the other, its end. */
import type { Socket } from 'node:net'
import pg from 'pg'
import { isStale, translated, UnreachableError } from '#engines/postgres/connection/errors.ts'
import { refused } from '#engines/postgres/connection/label.ts'
import { ArrayQuery } from '#engines/postgres/connection/rows.ts'
import { endsWithin } from '#engines/postgres/connection/within.ts'
import { ApiError } from '#errors.ts'
import type { Query, Rows } from '#sql/engine.ts'

export type ConnectionOptions = {
  readonly url: string
  /** Whether statements are prepared by name; not behind a pooler that gives each transaction another connection. */
  readonly prepare: boolean
  /** Milliseconds that a statement may take, and that it may wait for a lock; 0: as long as it takes. */
  readonly statementTimeout: number
  readonly lockTimeout: number
  /** Whether what is sent finds its rows by an index, however small or unknown to the planner a table is. */
  readonly byIndex?: boolean
  /** Only reads are sent over it. */
  readonly readOnly?: boolean
  /** Milliseconds after which a server that says nothing is given up; 0: never. */
  readonly patience: number
}

/** How long a connection may take to be made, in milliseconds. */
const connectTimeout = 2000

/** How often a silent server is looked for, and how long a goodbye may take, in milliseconds. */
const lookEvery = 250
const goodbye = 1000

/** How long a transaction may stand still before the server ends it, in milliseconds. */
const idleTimeout = 10_000

export type Connection = {
  readonly query: (query: Query) => Promise<Rows>
  /** Statements without values or rows; several with semicolons between them are one way there and back. */
  readonly run: (text: string) => Promise<void>
  /** How many queries are on their way. */
  readonly waiting: () => number
  readonly isOpen: () => boolean
  /** Settles when the connection is gone, whoever ended it. */
  readonly gone: Promise<void>
  /** Waits a moment for what is on its way, and says goodbye. */
  readonly end: () => Promise<void>
  /** Cuts it: whatever is on its way fails. */
  readonly cut: () => void
}

/** What pg keeps inside a client, which its types leave out. */
type Inside = {
  readonly stream: Pick<Socket, 'cork' | 'uncork' | 'destroy'>
  parsedStatements: object
  submittedNamedStatements: object
}

const insideOf = (client: pg.ClientBase): Inside =>
  (client as unknown as { readonly connection: Inside }).connection

/** Ends clients in good order where that goes fast, else as it is. */
export const endAll = async (clients: Iterable<pg.ClientBase>, end: () => Promise<void>) => {
  if (
    await endsWithin(
      goodbye,
      end().catch(() => {}),
    )
  )
    return
  for (const client of clients) insideOf(client).stream.destroy()
}

/** So many statements keep a name; then all names are dropped, so that neither side remembers them for ever. */
const namesKept = 1000

const namesOf = (client: pg.ClientBase) => {
  let names = new Map<string, string>()
  let generation = 0
  return (text: string): string => {
    const known = names.get(text)
    if (known !== undefined) return known
    if (names.size >= namesKept) {
      names = new Map()
      generation++
      // Behind the queries that use the old names, before the first that uses a new one.
      client.query('deallocate all', () => {})
      const inside = insideOf(client)
      inside.parsedStatements = {}
      inside.submittedNamedStatements = {}
    }
    const name = `d${generation}_${names.size}`
    names.set(text, name)
    return name
  }
}

const planning = [
  'plan_cache_mode=force_generic_plan',
  'jit=off',
  'max_parallel_workers_per_gather=0',
]

const settingsOf = ({
  prepare,
  statementTimeout,
  lockTimeout,
  byIndex,
  readOnly,
}: ConnectionOptions) =>
  // A pooler knows no such settings of a session; who writes through one sets them in each transaction.
  prepare
    ? {
        statement_timeout: statementTimeout,
        lock_timeout: lockTimeout,
        idle_in_transaction_session_timeout: idleTimeout,
        // What a statement is given changes little about how it is best done; planning it anew costs more than it.
        // Nor is it compiled, or pipelined between processes of the server: that is for statements of seconds.
        options: [
          ...planning,
          ...(byIndex ? ['enable_seqscan=off'] : []),
          ...(readOnly ? ['default_transaction_read_only=on'] : []),
        ]
          .map(setting => `-c ${setting}`)
          .join(' '),
      }
    : {}

/** What a transaction behind a pooler begins with, since its connection has no settings of its own. */
export const localSettings = ({ statementTimeout, lockTimeout }: ConnectionOptions): string =>
  `set local statement_timeout = ${statementTimeout}; set local lock_timeout = ${lockTimeout}; set local idle_in_transaction_session_timeout = ${idleTimeout}`

/** What pg is told about a connection. */
export const clientConfig = (options: ConnectionOptions): pg.ClientConfig =>
  ({
    connectionString: options.url,
    connectionTimeoutMillis: connectTimeout,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    pipeline: true,
    application_name: 'duet',
    ...settingsOf(options),
  }) as pg.ClientConfig

/** The connection that a connected client is. */
export const connectionOf = (
  client: pg.ClientBase,
  { prepare, patience }: ConnectionOptions,
): Connection => {
  const { promise: gone, resolve: setGone } = Promise.withResolvers<void>()
  let open = true
  let ending = false
  let waiting = 0
  let lastHeard = 0
  const setClosed = () => {
    open = false
    clearInterval(watch)
    setGone()
  }
  const cut = () => {
    setClosed()
    insideOf(client).stream.destroy()
  }
  // A server that has gone silent is found by this: something waits, and nothing came back for so long.
  const look = () => {
    if (waiting > 0 && performance.now() - lastHeard > patience) cut()
  }
  const watch = patience > 0 ? setInterval(look, Math.min(patience / 4, lookEvery)) : undefined
  watch?.unref()
  // Without a listener an error of an idle connection would end the process.
  client.on('error', setClosed)
  client.on('end', setClosed)

  let isGathering = false
  /** All that is sent in one turn of the event loop leaves in one packet. */
  const gather = () => {
    if (isGathering) return
    isGathering = true
    const { stream } = insideOf(client)
    stream.cork()
    process.nextTick(() => {
      isGathering = false
      stream.uncork()
    })
  }

  /** Sends one thing; `send` is given what to call when the answer is whole. */
  const ask = (send: (done: (error: Error | null) => void) => void): Promise<void> =>
    new Promise((resolve, reject) => {
      if (!open || ending) return reject(new UnreachableError('the connection is closed'))
      if (waiting === 0) lastHeard = performance.now()
      waiting++
      gather()
      send(error => {
        waiting--
        lastHeard = performance.now()
        if (!error) return resolve()
        // What it prepared is not what it was: it starts afresh.
        if (isStale(error)) cut()
        reject(translated(error))
      })
    })
  const nameOf = namesOf(client)
  const query = async (asked: Query): Promise<Rows> => {
    let sent: ArrayQuery | undefined
    await ask(done => {
      sent = new ArrayQuery(asked, prepare ? nameOf(asked.text) : undefined, done)
      client.query(sent as unknown as pg.Query)
    })
    const { bytes, most, found } = sent as ArrayQuery
    if (bytes <= most) return found
    throw new ApiError(
      'RESPONSE_TOO_LARGE',
      'The answer would be too large; use `limit` on the lists in it',
    )
  }
  const run = (text: string): Promise<void> => ask(done => client.query(text, done))
  return {
    query,
    run,
    waiting: () => waiting,
    isOpen: () => open && !ending,
    gone,
    cut,
    end: async () => {
      ending = true
      if (open && 'end' in client) await endAll([client], () => (client as pg.Client).end())
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
