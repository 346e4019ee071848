/** Brings a SQLite store up to date: what it lacks, in one transaction with the notes that it was. */
import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import {
  type Applied,
  checksumOf,
  failed,
  type Migration,
  missingOf,
  uncheckedOf,
} from '#engines/migrations.ts'
import { type Connection, connect } from '#engines/sqlite/connection.ts'
import { checkPlace, checkThere } from '#engines/sqlite/place.ts'
import { type Secret, secrets } from '#engines/store.ts'

const isThere = ({ query }: Connection): boolean =>
  query({
    text: "select 1 from sqlite_schema where type = 'table' and name = 'migrations'",
    values: [],
  }).length > 0

const hasChecksums = ({ query }: Connection): boolean =>
  query({
    text: "select 1 from pragma_table_info('migrations') where name = 'checksum'",
    values: [],
  }).length > 0

const appliedIn = (connection: Connection): readonly Applied[] => {
  if (!isThere(connection)) return []
  const text = hasChecksums(connection)
    ? 'select name, checksum from migrations order by name'
    : 'select name, null from migrations order by name'
  return connection.query({ text, values: [] }).map(([name, checksum]) => ({
    name: String(name),
    checksum: checksum == null ? null : String(checksum),
  }))
}

const makeNotes = (connection: Connection): void => {
  connection.run(
    'create table if not exists migrations (name text primary key, applied_at integer not null, checksum text) strict',
  )
  // Stores of older programs have none.
  if (!hasChecksums(connection)) connection.run('alter table migrations add column checksum text')
}

const apply = (connection: Connection, migration: Migration, now: number): void => {
  try {
    connection.run(migration.text)
  } catch (error) {
    throw failed(migration, error)
  }
  connection.query({
    text: 'insert into migrations (name, applied_at, checksum) values (?1, ?2, ?3) returning name',
    values: [migration.name, now, checksumOf(migration)],
  })
}

const makeSecrets = (connection: Connection): void => {
  for (const name of secrets)
    connection.query({
      text: 'insert into secrets (name, value) values (?1, ?2) on conflict do nothing returning name',
      values: [name, randomBytes(32)],
    })
}

/** Applies what is missing; gives the names of what it applied. Throws NewerStoreError before it touches anything. */
export const migrateSqlite = (
  file: string,
  migrations: readonly Migration[],
  now = Date.now(),
): readonly string[] => {
  checkPlace(file)
  mkdirSync(dirname(file), { recursive: true })
  const connection = connect(file)
  try {
    // Two programs that start at once: the second waits here, and then finds it done.
    connection.run('begin immediate')
    const applied = appliedIn(connection)
    const pending = missingOf(migrations, applied)
    makeNotes(connection)
    for (const migration of pending) apply(connection, migration, now)
    for (const migration of uncheckedOf(migrations, applied))
      connection.query({
        text: 'update migrations set checksum = ?2 where name = ?1 returning name',
        values: [migration.name, checksumOf(migration)],
      })
    makeSecrets(connection)
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
  migrations: readonly Migration[],
): readonly string[] => {
  checkThere(file)
  const connection = connect(file, { readOnly: true })
  try {
    return missingOf(migrations, appliedIn(connection)).map(({ name }) => name)
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
