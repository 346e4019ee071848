/** What the tests of migrations of PostgreSQL share. */

import { commandConnection, migratePostgres } from '#engines/postgres/migrate.ts'
import type { Migration } from '#engines/shared/migrations.ts'
import { historyFor } from '../../history.ts'
import { connected } from './ask.ts'
import { freshDatabase } from './database.ts'

/** The migrations that there are. */
export const known = historyFor('postgres')

/** Their names. */
export const names = known.map(({ name }) => name)

/** Migrates a database. */
export const migrate = (url: string, migrations: readonly Migration[] = known) =>
  migratePostgres(commandConnection(url, true), migrations)

/** A database that is migrated. */
export const migrated = async (): Promise<string> => {
  const { url } = await freshDatabase()
  await migrate(url)
  return url
}

/** The rows of a query; of one column its values. */
export const rowsOf = async (url: string, sql: string): Promise<readonly unknown[]> => {
  const client = await connected(url)
  const { rows } = await client.query({ text: sql, rowMode: 'array' })
  await client.end()
  return rows.map(row => (row.length === 1 ? row[0] : row))
}

/** The migrations that a database has had. */
export const appliedIn = (url: string) => rowsOf(url, 'select name from migrations order by ctid')
