/** A pool of connections, each used by one transaction at a time. */
import pg from 'pg'
import { destroy, endAll, ServerClient } from '#engines/postgres/connection/client.ts'
import {
  type Connection,
  checkRole,
  connectionOf,
} from '#engines/postgres/connection/connection.ts'
import type { Hosts } from '#engines/postgres/connection/hosts.ts'
import { refused } from '#engines/postgres/connection/label.ts'
import { clientConfig, type SessionOptions } from '#engines/postgres/connection/settings.ts'
import type { PostgresOptions } from '#engines/postgres/options.ts'
import { ApiError } from '#errors.ts'

/** How long it waits for the primary to be found, in milliseconds: writes are held through a short change of primaries. */
const longestFind = 1500

/** An idle connection is closed after so many milliseconds. */
const idleFor = 30_000

/** Whether a wait timed out because all connections are in use, not because a new one could not be opened. */
const isFull = (error: unknown): boolean =>
  error instanceof Error && error.message === 'timeout exceeded when trying to connect'

/** The class of a pool's clients: each new one connects to where the server is by then. */
const clientsOf = (hosts: Hosts) =>
  class extends ServerClient {
    readonly moves = hosts.moves()

    constructor(config: pg.ClientConfig) {
      super({ ...config, connectionString: hosts.current() })
    }
  }

type PoolClient = InstanceType<ReturnType<typeof clientsOf>> & pg.PoolClient

const takeFrom = async (pool: pg.Pool, hosts: Hosts): Promise<PoolClient> => {
  try {
    for (;;) {
      const client = (await pool.connect()) as PoolClient
      if (client.moves === hosts.moves()) return client
      // Another server became the primary while it connected.
      client.release(true)
    }
  } catch (error) {
    if (!isFull(error)) {
      hosts.doubt()
      throw refused(error, hosts.current())
    }
    throw new ApiError('OVERLOADED', 'All connections to the database are busy; try again', {
      retryAfter: 1,
    })
  }
}

/** A pool of at most so many connections, opened when they are needed. */
export const createPool = (
  hosts: Hosts,
  options: SessionOptions,
  { pool: max, poolWait = 1000 }: Pick<PostgresOptions, 'pool' | 'poolWait'>,
) => {
  const pool = new pg.Pool({
    ...clientConfig(hosts.current(), options),
    Client: clientsOf(hosts),
    connectionTimeoutMillis: poolWait,
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
  const connections = new WeakMap<pg.PoolClient, Connection>()
  let finding = 0
  const find = async () => {
    finding++
    try {
      await hosts.find(longestFind)
    } finally {
      finding--
    }
  }
  /** Runs work on a connection, which is closed where the work broke it. */
  const use = async <Result>(
    work: (connection: Connection) => Promise<Result>,
  ): Promise<Result> => {
    await find()
    const client = await takeFrom(pool, hosts)
    const connection = connections.getOrInsertComputed(client, one => connectionOf(one, options))
    try {
      checkRole(client, connection, hosts)
      return await work(connection)
    } finally {
      if (!connection.isOpen()) hosts.doubt()
      client.release(!connection.isOpen())
    }
  }
  hosts.onMove(() => {
    for (const client of clients) destroy(client)
  })
  return {
    use,
    /** How many wait for a connection. */
    waiting: () => finding + pool.waitingCount,
    close: () => endAll(clients, () => pool.end()),
  }
}

export type Pool = ReturnType<typeof createPool>
