/** The options of a PostgreSQL store. */
import type { Migration } from '#engines/shared/migrations.ts'
import type { EngineOptions } from '#engines/shared/store.ts'

/** How long a write waits, in milliseconds. */
export const usualTimeouts = {
  statement: 5000,
  lock: 2000,
  /** For the first request of its key. */
  key: 4500,
  /** For a server that says nothing. */
  silence: 5500,
  /** Within which the last try after conflicts may begin. */
  tries: 3000,
}
export type WriteTimeouts = Readonly<typeof usualTimeouts>

/** How long a write waits for its turn and for a connection, in milliseconds, unless it is told otherwise. */
export const usualWriteWait = 5000

export type PostgresOptions = {
  readonly url: string
  /** The addresses of its replicas, or that they are looked for, by Patroni's REST endpoints where there are any. */
  readonly replicas: readonly string[] | { readonly patroni: readonly string[] }
  /** Whether statements are prepared by name. */
  readonly prepare: boolean
  /** The number of connections that quick reads share, to the primary and to each replica. */
  readonly readers: number
  /** The number of connections for writes and for long reads. */
  readonly pool: number
  /** How many milliseconds a long read waits for a connection, and any work for one that is being opened: a second unless it is given. */
  readonly poolWait?: number
  /** Other waits of writes than the usual ones. */
  readonly timeouts?: WriteTimeouts
  /** All migrations of the store, in order. */
  readonly migrations: readonly Migration[]
}

export type PostgresServing = PostgresOptions & EngineOptions
