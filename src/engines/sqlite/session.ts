/** A SQLite session for CLI commands: the answers come as promises, as those of other databases do. */
import type { Connection } from '#engines/sqlite/connection.ts'
import type { Session } from '#sql/engine.ts'

/** A session on a connection, which it closes; `begin` is the statement that its transactions begin with. */
export const sqliteSession = (
  connection: Connection,
  begin: 'begin' | 'begin immediate',
): Session => {
  // A full disk ends a transaction by itself: undoing it then would hide why.
  const undo = (text: string) => {
    if (connection.database.isTransaction) connection.run(text)
  }
  const within =
    (first: string, last: string, undone: string) =>
    async <Result>(work: () => Promise<Result>): Promise<Result> => {
      connection.run(first)
      try {
        const result = await work()
        connection.run(last)
        return result
      } catch (error) {
        undo(undone)
        throw error
      }
    }
  return {
    query: async query => connection.query(query),
    transaction: within(begin, 'commit', 'rollback'),
    attempt: within('savepoint attempt', 'release attempt', 'rollback to attempt; release attempt'),
    // The next id of `autoincrement` is above every id there ever was.
    settleIds: async () => {},
    analyze: async () => connection.run('pragma optimize = 0x10002'),
    close: async () => connection.close(),
  }
}
