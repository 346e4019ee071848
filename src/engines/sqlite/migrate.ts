/** The history of the store: SQL files applied in order, each in one transaction with the note that it was. */
import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Connection, connect } from '#engines/sqlite/connection.ts'

const folder = new URL('../../../migrations/sqlite/', import.meta.url)

export type Migration = { readonly name: string; readonly text: string }

/** The migrations that this program knows, in order. */
export const knownMigrations = (): readonly Migration[] =>
  readdirSync(folder)
    .filter(file => file.endsWith('.sql'))
    .sort()
    .map(file => ({
      name: file.slice(0, -'.sql'.length),
      text: readFileSync(new URL(file, folder), 'utf8'),
    }))

const appliedNames = (connection: Connection): readonly string[] => {
  connection.run(
    'create table if not exists migrations (name text primary key, applied_at integer not null) strict',
  )
  return connection
    .query({ text: 'select name from migrations order by name', values: [] })
    .map(([name]) => String(name))
}

/** The store was migrated by a newer program than this one. */
export class NewerStoreError extends Error {
  override readonly name = 'NewerStoreError'
}

const pendingIn = (
  connection: Connection,
  migrations: readonly Migration[],
): readonly Migration[] => {
  const applied = new Set(appliedNames(connection))
  const unknown = [...applied].filter(
    name => !migrations.some(migration => migration.name === name),
  )
  if (unknown.length > 0)
    throw new NewerStoreError(
      `the store has the migration ${unknown.join(', ')}, which this program does not know: it is of a newer Duet; use that one, or restore an older backup`,
    )
  return migrations.filter(({ name }) => !applied.has(name))
}

/** Applies what is missing; gives the names of what it applied. Throws NewerStoreError before it touches anything. */
export const migrateSqlite = (
  file: string,
  migrations: readonly Migration[] = knownMigrations(),
  now = Date.now(),
): readonly string[] => {
  mkdirSync(dirname(file), { recursive: true })
  const connection = connect(file)
  try {
    // Two programs that start at once: the second waits here, and then finds it done.
    connection.run('begin immediate')
    const pending = pendingIn(connection, migrations)
    for (const { name, text } of pending) {
      connection.run(text)
      connection.query({
        text: 'insert into migrations (name, applied_at) values (?1, ?2) returning name',
        values: [name, now],
      })
    }
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

/** The keys that every store has of its own. */
const secrets = ['cursor', 'mail'] as const
type Secret = (typeof secrets)[number]

const secretIn = (connection: Connection, name: Secret): Uint8Array | undefined =>
  connection.query({
    text: 'select value from secrets where name = ?1',
    values: [name],
  })[0]?.[0] as Uint8Array | undefined

/** What is not applied yet; an error where the store is newer, or was never made. */
export const pendingMigrations = (file: string): readonly string[] => {
  const connection = connect(file)
  try {
    return pendingIn(connection, knownMigrations()).map(({ name }) => name)
  } finally {
    connection.close()
  }
}

const secretOf = (file: string, name: Secret): Uint8Array => {
  const connection = connect(file, { readOnly: true })
  try {
    const key = secretIn(connection, name)
    if (!key) throw new Error(`the store has no ${name} key; run \`duet migrate\``)
    return key
  } finally {
    connection.close()
  }
}

/** What cursors of this store are signed with. */
export const cursorKey = (file: string): Uint8Array => secretOf(file, 'cursor')

/** What the tokens in this store's mail are signed with. */
export const mailKey = (file: string): Uint8Array => secretOf(file, 'mail')
