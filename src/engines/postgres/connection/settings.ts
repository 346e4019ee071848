/** The settings of a connection to PostgreSQL, and those of a transaction where a session can have none. */
import type pg from 'pg'

export type SessionOptions = {
  /** Whether statements are prepared by name; false behind a pooler that gives each transaction another connection. */
  readonly prepare: boolean
  /** Milliseconds that a statement may take, and that it may wait for a lock; 0: no limit. */
  readonly statementTimeout: number
  readonly lockTimeout: number
  /** Whether queries must use an index, even where the planner thinks a table small or does not know its size. */
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

// The best plan hardly depends on the values, and planning costs more than running a statement.
// JIT compilation and parallel workers pay only for statements that take seconds.
// A stricter isolation of single statements would fail on a standby, and lose to other transactions on the primary.
const usual = [
  String.raw`default_transaction_isolation=read\ committed`,
  'plan_cache_mode=force_generic_plan',
  'jit=off',
  'max_parallel_workers_per_gather=0',
]

const settingsOf = (options: SessionOptions): object => {
  // A pooler keeps no session settings; a writer behind one sets them in each transaction.
  if (!options.prepare) return {}
  const settings = [
    ...usual,
    ...(options.byIndex ? ['enable_seqscan=off'] : []),
    ...(options.readOnly ? ['default_transaction_read_only=on'] : []),
  ]
  return {
    // As texts: pg does not send the number 0, and the limits of the role or of the database would hold.
    statement_timeout: String(options.statementTimeout),
    lock_timeout: String(options.lockTimeout),
    idle_in_transaction_session_timeout: idleTimeout,
    options: settings.map(setting => `-c ${setting}`).join(' '),
  }
}

/** The statements at the beginning of a transaction behind a pooler, since its connection has no settings of its own. */
export const localSettings = ({ statementTimeout, lockTimeout }: SessionOptions): string =>
  `set local statement_timeout = ${statementTimeout}; set local lock_timeout = ${lockTimeout}; set local idle_in_transaction_session_timeout = ${idleTimeout}`

/** The configuration of pg for a connection to a server. */
export const clientConfig = (url: string, options: SessionOptions): pg.ClientConfig =>
  ({
    connectionString: url,
    connectionTimeoutMillis: connectTimeout,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    pipeline: true,
    application_name: 'duet',
    ...settingsOf(options),
  }) as pg.ClientConfig
