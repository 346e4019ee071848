/** Brings a SQLite store up to date: what it lacks, in one transaction with the notes that it was. */
import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { failed, type Migration, migrationsOf, missingOf } from '#engines/migrations.ts'
import { type Connection, connect } from '#engines/sqlite/connection.ts'
import { checkThere } from '#engines/sqlite/lock.ts'
import { type Secret, secrets } from '#engines/store.ts'

const appliedNames = ({ query }: Connection): readonly string[] => {
  const table = "select 1 from sqlite_schema where type = 'table' and name = 'migrations'"
  if (query({ text: table, values: [] }).length === 0) return []
  return query({ text: 'select name from migrations order by name', values: [] }).map(([name]) =>
    String(name),
  )
}

const apply = (connection: Connection, migration: Migration, now: number): void => {
  try {
    connection.run(migration.text)
  } catch (error) {
    throw failed(migration, error)
  }
  connection.query({
    text: 'insert into migrations (name, applied_at) values (?1, ?2) returning name',
    values: [migration.name, now],
  })
}

/** Applies what is missing; gives the names of what it applied. Throws NewerStoreError before it touches anything. */
export const migrateSqlite = (
  file: string,
  migrations: readonly Migration[] = migrationsOf('sqlite'),
  now = Date.now(),
): readonly string[] => {
  mkdirSync(dirname(file), { recursive: true })
  const connection = connect(file)
  try {
    // Two programs that start at once: the second waits here, and then finds it done.
    connection.run('begin immediate')
    const pending = missingOf(migrations, appliedNames(connection))
    connection.run(
      'create table if not exists migrations (name text primary key, applied_at integer not null) strict',
    )
    for (const migration of pending) apply(connection, migration, now)
    for (const name of secrets)
      if (pending.length > 0 || secretIn(connection, name) === undefined)
        connection.query({
          text: 'insert into secrets (name, value) values (?1, ?2) on conflict do nothing returning name',
          values: [name, randomBytes(32)],
        })
    connection.run('commit')
    return pending.map(({ name }) => name)
  } finally {
    connection.close()
  }
}

const secretIn = (connection: Connection, name: Secret): Uint8Array | undefined =>
  connection.query({
    text: 'select value from secrets where name = ?1',
    values: [name],
  })[0]?.[0] as Uint8Array | undefined

/** What is not applied yet; an error where the store is newer, or is not there. */
export const pendingMigrations = (
  file: string,
  migrations: readonly Migration[] = migrationsOf('sqlite'),
): readonly string[] => {
  checkThere(file)
  const connection = connect(file, { readOnly: true })
  try {
    return missingOf(migrations, appliedNames(connection)).map(({ name }) => name)
  } finally {
    connection.close()
  }
}

/** A key of the store; an error where it was never migrated. */
export const secretOf = (file: string, name: Secret): Uint8Array => {
  checkThere(file)
  const connection = connect(file, { readOnly: true })
  try {
    const key = secretIn(connection, name)
    if (!key) throw new Error(`the store has no ${name} key; run \`duet migrate\``)
    return key
  } finally {
    connection.close()
  }
}
