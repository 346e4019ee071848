/** Connections that one transaction at a time has for itself. */
import pg from 'pg'
import {
  type Connection,
  type ConnectionOptions,
  clientConfig,
  connectionOf,
  endAll,
  localSettings,
} from '#engines/postgres/connection/connection.ts'
import { refused } from '#engines/postgres/connection/label.ts'
import { ApiError } from '#errors.ts'
import { ConstraintError, type Query, type Rows, type Work } from '#sql/engine.ts'

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

export const createPool = (options: ConnectionOptions, max: number): Pool => {
  const pool = new pg.Pool({
    ...clientConfig(options),
    connectionTimeoutMillis: longestWait,
    idleTimeoutMillis: idleFor,
    max,
  } as pg.PoolConfig)
  // Idle connections that are lost are nobody's trouble: the pool opens others.
  pool.on('error', () => {})
  const clients = new Set<pg.PoolClient>()
  pool.on('connect', client => {
    clients.add(client)
    // It can be ended in the very turn in which it is made, before the connection listens.
    client.on('error', () => {})
  })
  pool.on('remove', client => clients.delete(client))
  const connections = new WeakMap<pg.PoolClient, Connection>()
  const take = async (): Promise<pg.PoolClient> => {
    try {
      return await pool.connect()
    } catch (error) {
      if (!isFull(error)) throw refused(error, options.url)
      throw new ApiError('OVERLOADED', 'All connections to the database are busy; try again', {
        retryAfter: 1,
      })
    }
  }
  const use: Pool['use'] = async work => {
    const client = await take()
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

/** Runs work to its end, query by query, each as `ask` answers it. */
export const driveBy = async <Result>(
  work: Work<Result>,
  ask: (query: Query) => Promise<Rows>,
): Promise<Result> => {
  let step = work.next()
  while (!step.done) {
    let rows: Rows
    try {
      rows = await ask(step.value)
    } catch (error) {
      // Only what the data decides is the work's own affair.
      if (!(error instanceof ConstraintError)) throw error
      step = work.throw(error)
      continue
    }
    step = work.next(rows)
  }
  return step.value
}

/** What a transaction begins with. Not waited for: what comes next is sent behind it. */
export const begin = (connection: Connection, options: ConnectionOptions, how: string): void => {
  const text = options.prepare ? `begin ${how}` : `begin ${how}; ${localSettings(options)}`
  // If it fails, so does all that is behind it, which is waited for.
  connection.run(text).catch(() => {})
}

/** Ends a transaction with nothing kept; a connection that cannot do so is cut. */
export const rollBack = async (connection: Connection): Promise<void> => {
  try {
    await connection.run('rollback')
  } catch {
    connection.cut()
  }
}
