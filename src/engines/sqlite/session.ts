/** A SQLite session for CLI commands; it answers with promises, as sessions of other databases do. */
import { transactionsOf } from '#engines/session.ts'
import type { Connection } from '#engines/sqlite/connection.ts'
import type { Session } from '#sql/engine.ts'

/** A session on a connection, which it closes; `begin` is the statement that its transactions begin with. */
export const sqliteSession = (
  { run, query, close }: Connection,
  begin: 'begin' | 'begin immediate',
): Session => ({
  query: async statement => query(statement),
  ...transactionsOf(run, begin, 'commit'),
  // Nothing to do: `autoincrement` continues above the highest id that was ever used.
  settleIds: async () => {},
  analyze: async () => run('pragma optimize = 0x10002'),
  close: async () => close(),
})
