/** A SQLite file as a store: its lock, its migrations, its keys, sessions for commands, and the engine that serves it. */
import type { Migration } from '#engines/shared/migrations.ts'
import { type Store, transactionsOf } from '#engines/shared/store.ts'
import { type Connection, connect } from '#engines/sqlite/connection.ts'
import { dialect } from '#engines/sqlite/dialect.ts'
import { openSqlite } from '#engines/sqlite/engine.ts'
import { holdWhenFree } from '#engines/sqlite/lock.ts'
import { migrateSqlite, pendingMigrations, secretOf } from '#engines/sqlite/migrate.ts'
import type { SqliteFile } from '#engines/sqlite/options.ts'
import { checkPath } from '#engines/sqlite/path.ts'
import { keepLog } from '#engines/sqlite/shared-log.ts'
import type { Session } from '#sql/engine.ts'

type Options = SqliteFile & {
  /** All migrations of the store, in order. */
  readonly migrations: readonly Migration[]
}

/** A session on a connection, which it closes; `begin` is the statement that its transactions begin with. */
const sessionOn = ({ run, query, close }: Connection, begin: string): Session => ({
  query: async statement => query(statement),
  ...transactionsOf(run, begin, 'commit'),
  // Nothing to do: `autoincrement` continues above the highest id that was ever used.
  settleIds: async () => {},
  analyze: async () => run('pragma optimize = 0x10002'),
  close: async () => close(),
})

/** The store in a file, which is made where there is none yet. */
export const sqliteStore = ({ migrations, ...options }: Options): Store => {
  const { file, sync = 'full', sharedLog } = options
  const sharesLog = sharedLog !== undefined
  /** Does it where the log outlives its last connection. */
  const withLog = <Result>(work: () => Result): Result => {
    if (!sharesLog) return work()
    keepLog(file)
    const result = work()
    // Only now if the file is new.
    keepLog(file)
    return result
  }
  return {
    label: file,
    dialect,
    hold: async (wait, onWait) => {
      checkPath(file)
      return holdWhenFree(file, wait, onWait)
    },
    migrate: async () => withLog(() => migrateSqlite(file, migrations, sharesLog)),
    pending: async () => withLog(() => pendingMigrations(file, migrations)),
    secret: async name => withLog(() => secretOf(file, name)),
    session: async purpose =>
      withLog(() =>
        purpose === 'reading'
          ? sessionOn(connect(file, { readOnly: true }), 'begin')
          : sessionOn(connect(file, { sync, sharesLog, takesResponses: true }), 'begin immediate'),
      ),
    open: serving => withLog(() => openSqlite({ ...serving, ...options })),
  }
}
