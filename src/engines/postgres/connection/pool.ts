/** Connections that one transaction at a time has for itself. */
import pg from 'pg'
import {
  clientConfig,
  endAll,
  type Line,
  type LineOptions,
  lineOf,
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
  readonly use: <Result>(work: (line: Line) => Promise<Result>) => Promise<Result>
  readonly waiting: () => number
  readonly close: () => Promise<void>
}

/** Whether the pool said so of a wait for a connection that others have, not of one that it opens. */
const isFull = (error: unknown): boolean =>
  error instanceof Error && error.message === 'timeout exceeded when trying to connect'

export const createPool = (options: LineOptions, max: number): Pool => {
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
    // It can be ended in the very turn in which it is made, before the line listens.
    client.on('error', () => {})
  })
  pool.on('remove', client => clients.delete(client))
  const lines = new WeakMap<pg.PoolClient, Line>()
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
    const line = lines.get(client) ?? lineOf(client, options)
    lines.set(client, line)
    try {
      return await work(line)
    } finally {
      client.release(!line.isOpen())
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
export const begin = (line: Line, options: LineOptions, how: string): void => {
  const text = options.prepare ? `begin ${how}` : `begin ${how}; ${localSettings(options)}`
  // If it fails, so does all that is behind it, which is waited for.
  line.run(text).catch(() => {})
}

/** Ends a transaction with nothing kept; a connection that cannot do so is cut. */
export const rollBack = async (line: Line): Promise<void> => {
  try {
    await line.run('rollback')
  } catch {
    line.cut()
  }
}
