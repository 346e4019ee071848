/** A SQLite session for CLI commands: the answers come as promises, as those of other databases do. */
import { transactionsOf } from '#engines/session.ts'
import type { Connection } from '#engines/sqlite/connection.ts'
import type { Session } from '#sql/engine.ts'

/** A session on a connection, which it closes; `begin` is the statement that its transactions begin with. */
export const sqliteSession = (
  { database, run, query, close }: Connection,
  begin: 'begin' | 'begin immediate',
): Session => ({
  query: async asked => query(asked),
  ...transactionsOf(run, begin, 'commit', text => {
    // A full disk ends a transaction by itself: undoing it then would hide why.
    if (database.isTransaction) run(text)
  }),
  // The next id of `autoincrement` is above every id there ever was.
  settleIds: async () => {},
  analyze: async () => run('pragma optimize = 0x10002'),
  close: async () => close(),
})
