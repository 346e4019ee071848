/** The connections to one server: some that many quick reads share, and a pool of those that one transaction has at a time. */
import pg from 'pg'
import { endsWithin } from '#base/retry.ts'
import { destroy, endAll, ServerClient } from '#engines/postgres/client.ts'
import {
  checkRole,
  connectionOf,
  connectTo,
  type PostgresConnection,
} from '#engines/postgres/connection.ts'
import { refused, UnreachableError } from '#engines/postgres/errors.ts'
import {
  clientConfig,
  type PostgresOptions,
  type SessionOptions,
} from '#engines/postgres/options.ts'
import type { ServerFinder } from '#engines/postgres/primary.ts'
import { overloaded } from '#errors.ts'
import type { Query, Rows } from '#sql/engine.ts'

/** How long work waits for the primary to be found, in milliseconds: writes are held through a short change of primaries. */
const longestFind = 1500

/** An idle connection of a pool is closed after so many milliseconds. */
const idleFor = 30_000

/** The error for work that found no connection free in time. */
export const allBusy = () => overloaded('All connections to the database are busy; try again')

/** A pool of at most so many connections, opened when they are needed. */
export const createPool = (
  finder: ServerFinder,
  options: SessionOptions,
  { pool: max, poolWait = 1000 }: Pick<PostgresOptions, 'pool' | 'poolWait'>,
) => {
  let renewals = 0
  const currentEpoch = () => finder.moves() + renewals
  /** Each new client connects to where the server is by then. */
  class Client extends ServerClient {
    readonly epoch = currentEpoch()

    constructor(config: pg.ClientConfig) {
      super({
        ...config,
        connectionString: finder.current(),
        connectionTimeoutMillis: poolWait,
      })
    }
  }
  const pool = new pg.Pool({
    ...clientConfig(finder.current(), options),
    Client,
    connectionTimeoutMillis: 0,
    idleTimeoutMillis: idleFor,
    max,
  } as object)
  // The loss of an idle connection harms nothing: the pool opens others.
  pool.on('error', () => {})
  const clients = new Set<pg.PoolClient>()
  pool.on('connect', client => {
    clients.add(client)
    // It can end in the same turn in which it is made, before the connection listens.
    client.on('error', () => {})
  })
  pool.on('remove', client => clients.delete(client))
  finder.onMove(() => {
    for (const client of clients) destroy(client)
  })
  const connections = new WeakMap<pg.PoolClient, PostgresConnection>()
  let waiting = 0

  /** A client that was made in the present epoch, for which it waits so many milliseconds at most. */
  const take = async (wait: number): Promise<Client & pg.PoolClient> => {
    await finder.find(longestFind)
    const due = performance.now() + wait
    for (;;) {
      const taken = pool.connect() as Promise<Client & pg.PoolClient>
      let isTaken: boolean
      try {
        isTaken = await endsWithin(Math.max(due - performance.now(), 0), taken)
      } catch (error) {
        finder.doubt()
        throw refused(error, finder.current())
      }
      if (!isTaken) {
        // pg's pool has one time limit for all, so this one keeps its place in line, and gives its client back there.
        taken.then(
          client => client.release(),
          () => {},
        )
        throw allBusy()
      }
      const client = await taken
      if (client.epoch === currentEpoch()) return client
      // Another server became the primary while it connected, or sessions have other settings now.
      client.release(true)
    }
  }
  return {
    /** Runs work on a connection, for which it waits so many milliseconds; one that the work broke is closed. */
    use: async <Result>(
      work: (connection: PostgresConnection) => Promise<Result>,
      wait = poolWait,
    ): Promise<Result> => {
      waiting++
      const client = await take(wait).finally(() => waiting--)
      const connection = connections.getOrInsertComputed(client, one => connectionOf(one, options))
      try {
        checkRole(client, connection, finder)
        return await work(connection)
      } finally {
        if (!connection.isOpen()) finder.doubt()
        client.release(!connection.isOpen())
      }
    },
    /** From now on work runs on new connections, since sessions have other settings now; what runs goes on. */
    renew: () => void renewals++,
    /** How many wait for a connection. */
    waiting: () => waiting,
    close: () => endAll(clients, () => pool.end()),
  }
}

/** Pauses between tries to connect, in milliseconds: from the first to the longest, each twice the one before. */
const pauses = { first: 100, longest: 2000 }

/** After a connection that lasted so many milliseconds, the next pause is the first again. */
const goodAfter = 100

/** How long a connection waits in one piece for the primary to be found, in milliseconds; then it says that there is none. */
const findWait = 2000

/** Opens a connection and again whenever it is lost, after growing pauses; `onChange` is called with the problem, or with null when there is one again. */
const keepConnected = (
  finder: ServerFinder,
  options: SessionOptions,
  onChange: (error: Error | null) => void,
) => {
  let current: PostgresConnection | undefined
  let isClosed = false
  let timer: NodeJS.Timeout | undefined
  /** The next pause, and when the next try to connect is, on the clock of `performance`. */
  let pause = 0
  let due = 0
  const lose = (error: Error) => {
    current = undefined
    if (isClosed) return
    finder.doubt()
    onChange(error)
    // Spread, so that not all processes connect at the same moment.
    const wait = pause * (0.75 + Math.random() / 2)
    due = performance.now() + wait
    timer = setTimeout(open, wait)
    pause = Math.min(Math.max(pause * 2, pauses.first), pauses.longest)
  }
  const open = async () => {
    let made: PostgresConnection
    try {
      await finder.find(findWait)
      const moves = finder.moves()
      made = await connectTo(finder.current(), options, finder.role)
      if (moves !== finder.moves()) {
        made.cut()
        throw new UnreachableError('another server has become the primary meanwhile')
      }
    } catch (error) {
      return lose(error as Error)
    }
    if (isClosed) return void made.close()
    current = made
    onChange(null)
    const madeAt = performance.now()
    await made.closed
    if (performance.now() - madeAt > goodAfter) pause = 0
    lose(new UnreachableError('the connection to the database was lost'))
  }
  finder.onMove(() => current?.cut())
  open()
  return {
    /** The connection, while there is one. */
    connection: () => (current?.isOpen() ? current : undefined),
    /** Milliseconds until the next try to connect. */
    wait: () => Math.max(due - performance.now(), 0),
    close: async () => {
      isClosed = true
      clearTimeout(timer)
      await current?.close()
    },
  }
}

/** How long a read waits for a connection that is being opened, in milliseconds. */
const connectionWait = 250

/**
 * Opens `count` connections for quick reads and keeps them open; `onChange` is called with the problem when the last one is
 * lost, with null when there is one again.
 */
export const createPipelinedPool = (
  finder: ServerFinder,
  options: SessionOptions,
  count: number,
  onChange: (problem: string | null) => void,
) => {
  let reason: Error = new UnreachableError('the database was not reached yet')
  let wasUp = true
  let isClosed = false
  let change = Promise.withResolvers<void>()
  /** The connection with the fewest open queries: a slow answer delays only those behind it. */
  const leastBusy = (): PostgresConnection | undefined => {
    let found: PostgresConnection | undefined
    for (const slot of slots) {
      const connection = slot.connection()
      if (connection && (!found || connection.waiting() < found.waiting())) found = connection
    }
    return found
  }
  const slots = Array.from({ length: count }, () =>
    keepConnected(finder, options, error => {
      if (error) reason = error
      const isUp = leastBusy() !== undefined
      if (isUp !== wasUp) onChange(isUp ? null : reason.message)
      wasUp = isUp
      change.resolve()
      change = Promise.withResolvers()
    }),
  )
  const waitForConnection = async (): Promise<PostgresConnection> => {
    const last = performance.now() + connectionWait
    for (;;) {
      const found = leastBusy()
      if (found) return found
      const left = last - performance.now()
      if (left <= 0 || isClosed) throw reason
      await endsWithin(left, change.promise)
    }
  }
  return {
    /** The rows of a query. Throws a LostError if its connection was lost; it does not try again. */
    query: async (query: Query): Promise<Rows> =>
      (leastBusy() ?? (await waitForConnection())).query(query),
    /** The number of queries without an answer yet. */
    waiting: () => leastBusy()?.waiting() ?? 0,
    isUp: () => leastBusy() !== undefined,
    /** Settles with the first connection; rejects with the reason if there is none. */
    ready: async () => void (await waitForConnection()),
    /** Seconds until the next try to connect, at least 1. */
    nextTry: () => Math.max(1, Math.ceil(Math.min(...slots.map(slot => slot.wait())) / 1000)),
    close: async () => {
      isClosed = true
      await Promise.all(slots.map(slot => slot.close()))
    },
  }
}
