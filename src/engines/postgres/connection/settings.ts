/** What a connection to PostgreSQL is opened with, and what a transaction sets where a session cannot. */
import type pg from 'pg'

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

/** How long a transaction may stand still before the server ends it, in milliseconds. */
const idleTimeout = 10_000

// The values of a statement change little about its best plan; to plan it anew costs more than to run it.
// Compiling it, or sharing it between processes of the server, pays for statements of seconds only.
const planning = [
  'plan_cache_mode=force_generic_plan',
  'jit=off',
  'max_parallel_workers_per_gather=0',
]

const settingsOf = (options: ConnectionOptions): pg.ClientConfig => {
  // A pooler knows no such settings of a session; a writer behind one sets them in each transaction.
  if (!options.prepare) return {}
  const settings = [
    ...planning,
    ...(options.byIndex ? ['enable_seqscan=off'] : []),
    ...(options.readOnly ? ['default_transaction_read_only=on'] : []),
  ]
  return {
    statement_timeout: options.statementTimeout,
    lock_timeout: options.lockTimeout,
    idle_in_transaction_session_timeout: idleTimeout,
    options: settings.map(setting => `-c ${setting}`).join(' '),
  }
}

/** What a transaction behind a pooler begins with, since its connection has no settings of its own. */
export const localSettings = ({ statementTimeout, lockTimeout }: ConnectionOptions): string =>
  `set local statement_timeout = ${statementTimeout}; set local lock_timeout = ${lockTimeout}; set local idle_in_transaction_session_timeout = ${idleTimeout}`

/** The configuration of pg for a connection. */
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
