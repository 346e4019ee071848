/** A pool of connections, each used by one transaction at a time. */
import pg from 'pg'
import { endAll } from '#engines/postgres/connection/client.ts'
import { type Connection, connectionOf } from '#engines/postgres/connection/connection.ts'
import { refused } from '#engines/postgres/connection/label.ts'
import { type ConnectionOptions, clientConfig } from '#engines/postgres/connection/settings.ts'
import { ApiError } from '#errors.ts'

/** How long work waits for a connection, in milliseconds. */
const longestWait = 1000

/** An idle connection is closed after so many milliseconds. */
const idleFor = 30_000

export type Pool = {
  /** Runs work on a connection, which is closed where the work broke it. */
  readonly use: <Result>(work: (connection: Connection) => Promise<Result>) => Promise<Result>
  readonly waiting: () => number
  readonly close: () => Promise<void>
}

/** Whether a wait timed out because all connections are in use, not because a new one could not be opened. */
const isFull = (error: unknown): boolean =>
  error instanceof Error && error.message === 'timeout exceeded when trying to connect'

const takeFrom = async (pool: pg.Pool, url: string): Promise<pg.PoolClient> => {
  try {
    return await pool.connect()
  } catch (error) {
    if (!isFull(error)) throw refused(error, url)
    throw new ApiError('OVERLOADED', 'All connections to the database are busy; try again', {
      retryAfter: 1,
    })
  }
}

/** A pool of at most `max` connections, opened when they are needed. */
export const createPool = (options: ConnectionOptions, max: number): Pool => {
  const pool = new pg.Pool({
    ...clientConfig(options),
    connectionTimeoutMillis: longestWait,
    idleTimeoutMillis: idleFor,
    max,
  } as pg.PoolConfig)
  // The loss of an idle connection harms nothing: the pool opens others.
  pool.on('error', () => {})
  const clients = new Set<pg.PoolClient>()
  pool.on('connect', client => {
    clients.add(client)
    // It can end in the same turn in which it is made, before the connection listens.
    client.on('error', () => {})
  })
  pool.on('remove', client => clients.delete(client))
  const connections = new WeakMap<pg.PoolClient, Connection>()
  const use: Pool['use'] = async work => {
    const client = await takeFrom(pool, options.url)
    const connection = connections.get(client) ?? connectionOf(client, options)
    connections.set(client, connection)
    try {
      return await work(connection)
    } finally {
      client.release(!connection.isOpen())
    }
  }
  return { use, waiting: () => pool.waitingCount, close: () => endAll(clients, () => pool.end()) }
}
