/** Connections that one transaction at a time has for itself. */
import pg from 'pg'
import { endAll } from '#engines/postgres/connection/client.ts'
import { type Connection, connectionOf } from '#engines/postgres/connection/connection.ts'
import { refused } from '#engines/postgres/connection/label.ts'
import { type ConnectionOptions, clientConfig } from '#engines/postgres/connection/settings.ts'
import { ApiError } from '#errors.ts'

/** How long work waits for a connection, in milliseconds. */
const longestWait = 1000

/** A connection that nobody used for so long is closed, in milliseconds. */
const idleFor = 30_000

export type Pool = {
  /** Hands a connection to the work; it is closed where the work broke it. */
  readonly use: <Result>(work: (connection: Connection) => Promise<Result>) => Promise<Result>
  readonly waiting: () => number
  readonly close: () => Promise<void>
}

/** Whether the pool said so of a wait for a connection that others have, not of one that it opens. */
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

/** A pool of at most `max` connections, which are opened when they are needed. */
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
    // It can be ended in the very turn in which it is made, before the connection listens.
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
