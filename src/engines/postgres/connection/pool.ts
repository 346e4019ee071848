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
import { endsWithin } from '#engines/postgres/connection/within.ts'
import type { PostgresOptions } from '#engines/postgres/options.ts'
import { ApiError } from '#errors.ts'

/** How long it waits for the primary to be found, in milliseconds: writes are held through a short change of primaries. */
const longestFind = 1500

/** An idle connection is closed after so many milliseconds. */
const idleFor = 30_000

/** The error for work that found no connection free in time. */
export const allBusy = () =>
  new ApiError('OVERLOADED', 'All connections to the database are busy; try again', {
    retryAfter: 1,
  })

/** The class of a pool's clients: each new one connects to where the server is by then. */
const clientsOf = (hosts: Hosts, epoch: () => number, connectionTimeoutMillis: number) =>
  class extends ServerClient {
    readonly epoch = epoch()

    constructor(config: pg.ClientConfig) {
      super({ ...config, connectionString: hosts.current(), connectionTimeoutMillis })
    }
  }

type PoolClient = InstanceType<ReturnType<typeof clientsOf>> & pg.PoolClient

/** A client of the pool, made in the present epoch, for which it waits so many milliseconds at most. */
const takeFrom = async (
  pool: pg.Pool,
  hosts: Hosts,
  epoch: () => number,
  wait: number,
): Promise<PoolClient> => {
  const last = performance.now() + wait
  try {
    for (;;) {
      const taken = pool.connect() as Promise<PoolClient>
      if (!(await endsWithin(Math.max(last - performance.now(), 0), taken))) {
        // Nobody waits for it any more; pg's pool can give up a place in its line by its own time limit only, the same for all.
        taken.then(
          client => client.release(),
          () => {},
        )
        throw allBusy()
      }
      const client = await taken
      if (client.epoch === epoch()) return client
      // Another server became the primary while it connected, or sessions have other settings now.
      client.release(true)
    }
  } catch (error) {
    if (error instanceof ApiError) throw error
    hosts.doubt()
    throw refused(error, hosts.current())
  }
}

/** A pool of at most so many connections, opened when they are needed. */
export const createPool = (
  hosts: Hosts,
  options: SessionOptions,
  { pool: max, poolWait = 1000 }: Pick<PostgresOptions, 'pool' | 'poolWait'>,
) => {
  let renewals = 0
  const epoch = () => hosts.moves() + renewals
  const pool = new pg.Pool({
    ...clientConfig(hosts.current(), options),
    Client: clientsOf(hosts, epoch, poolWait),
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
  const connections = new WeakMap<pg.PoolClient, Connection>()
  let waiting = 0
  const take = async (wait: number) => {
    waiting++
    try {
      await hosts.find(longestFind)
      return await takeFrom(pool, hosts, epoch, wait)
    } finally {
      waiting--
    }
  }
  /** Runs work on a connection, which is closed where the work broke it; waits so many milliseconds for one. */
  const use = async <Result>(
    work: (connection: Connection) => Promise<Result>,
    wait = poolWait,
  ): Promise<Result> => {
    const client = await take(wait)
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
    /** From now on work runs on new connections, as what it may do there has changed; what runs goes on. */
    renew: () => void renewals++,
    /** How many wait for a connection. */
    waiting: () => waiting,
    close: () => endAll(clients, () => pool.end()),
  }
}

export type Pool = ReturnType<typeof createPool>
