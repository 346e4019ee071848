/** Brings a SQLite store up to date: applies and records the missing migrations in one transaction. */
import { makeOwnFile } from '#engines/shared/files.ts'
import {
  appliedIn,
  failed,
  type Migration,
  makeSecrets,
  missingOf,
  recordOf,
  secretsIn,
} from '#engines/shared/migrations.ts'
import type { Secrets } from '#engines/shared/store.ts'
import { connect } from '#engines/sqlite/connection.ts'
import { dialect } from '#engines/sqlite/dialect.ts'
import { checkExists, checkPath } from '#engines/sqlite/file.ts'
import { drive, type QueryScript } from '#sql/engine.ts'

const migrationsTable =
  'create table if not exists migrations (name text primary key, applied_at integer not null, checksum text) strict'

/** Applies the missing migrations; gives their names. Throws NewerStoreError before it changes anything. */
export const migrateSqlite = (
  file: string,
  migrations: readonly Migration[],
  sharesLog = false,
): readonly string[] => {
  checkPath(file)
  makeOwnFile(file)
  const { query, run, close } = connect(file, { sharesLog })
  try {
    // If two programs start at once, the second waits here and then finds nothing to do.
    run('begin immediate')
    const pending = missingOf(migrations, drive(appliedIn(dialect), query))
    run(migrationsTable)
    for (const migration of pending) {
      try {
        run(migration.text)
      } catch (error) {
        throw failed(migration, error)
      }
      query(recordOf(dialect, migration, Date.now()))
    }
    drive(makeSecrets(dialect), query)
    run('commit')
    return pending.map(({ name }) => name)
  } finally {
    close()
  }
}

const ask = <Result>(file: string, work: QueryScript<Result>): Result => {
  checkExists(file)
  const { query, close } = connect(file, { readOnly: true })
  try {
    return drive(work, query)
  } finally {
    close()
  }
}

/** The names of the missing migrations; throws if the store is newer, or does not exist. */
export const pendingMigrations = (
  file: string,
  migrations: readonly Migration[],
): readonly string[] => missingOf(migrations, ask(file, appliedIn(dialect))).map(({ name }) => name)

/** The keys of the store; throws if it was never migrated. */
export const secretsOf = (file: string): Secrets => ask(file, secretsIn(dialect))
