/** The options of a PostgreSQL store, of its sessions, and of the client that opens them. */
import type pg from 'pg'
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
export type PostgresOptions = {
  readonly url: string
  /** The addresses of its replicas, or that they are looked for, by Patroni's REST endpoints if there are any. */
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
  readonly timeouts?: Readonly<typeof usualTimeouts>
  /** All migrations of the store, in order. */
  readonly migrations: readonly Migration[]
}

export type PostgresServing = PostgresOptions & EngineOptions

export type SessionOptions = {
  /** Whether statements are prepared by name; false behind a pooler that gives each transaction another connection. */
  readonly prepare: boolean
  /** Milliseconds that a statement may take, and that it may wait for a lock; 0: no limit. */
  readonly statementTimeout: number
  readonly lockTimeout: number
  /** Whether queries must use an index, even if the planner thinks a table small or does not know its size. */
  readonly byIndex?: boolean
  /** Only reads are sent over it. */
  readonly readOnly?: boolean
  /** Milliseconds after which a connection to a silent server is closed; 0: never. */
  readonly silenceLimit: number
}

export type ConnectionOptions = SessionOptions & { readonly url: string }

/** How long opening a connection may take, in milliseconds. */
const connectTimeout = 2000

/** How long a transaction may be idle before the server ends it, in milliseconds. */
const idleTimeout = 10_000

/** The statements at the beginning of a transaction behind a pooler, since its connection has no settings of its own. */
export const localSettings = ({ statementTimeout, lockTimeout }: SessionOptions): string =>
  `set local standard_conforming_strings = on; set local statement_timeout = ${statementTimeout}; set local lock_timeout = ${lockTimeout}; set local idle_in_transaction_session_timeout = ${idleTimeout}`

/** The configuration of pg for a connection to a server. */
export const clientConfig = (url: string, options: SessionOptions): pg.ClientConfig => {
  const config = {
    connectionString: url,
    connectionTimeoutMillis: connectTimeout,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    pipeline: true,
    application_name: 'duet',
  }
  // A pooler keeps no session settings; a writer behind one sets them in each transaction.
  if (!options.prepare) return config as pg.ClientConfig
  const settings = [
    // A stricter isolation of single statements would fail on a standby, and lose to other transactions on the primary.
    String.raw`default_transaction_isolation=read\ committed`,
    // The best plan of quick statements hardly depends on the values, and planning costs more than running them. That of a long read
    // does if it has a range: PostgreSQL takes any for a part of the table, and goes through it all for one that finds nothing (36 ms,
    // not 0.4).
    `plan_cache_mode=${options.readOnly && !options.byIndex ? 'auto' : 'force_generic_plan'}`,
    // JIT compilation and parallel workers pay only for statements that take seconds.
    'jit=off',
    'max_parallel_workers_per_gather=0',
    // A backslash in a text of a migration is itself.
    'standard_conforming_strings=on',
    ...(options.byIndex ? ['enable_seqscan=off'] : []),
    ...(options.readOnly ? ['default_transaction_read_only=on'] : []),
  ]
  return {
    ...config,
    // They are texts, since pg does not send the number 0, and the limits of the role or of the database would hold.
    statement_timeout: String(options.statementTimeout),
    lock_timeout: String(options.lockTimeout),
    idle_in_transaction_session_timeout: idleTimeout,
    options: settings.map(setting => `-c ${setting}`).join(' '),
  } as object
}
