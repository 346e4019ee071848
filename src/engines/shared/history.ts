/** What a store records about itself, on every engine: the migrations applied to it, and its keys. */
import { randomBytes } from 'node:crypto'
import { type Applied, checksumOf, type Migration } from '#engines/shared/migrations.ts'
import { type Secret, secrets } from '#engines/shared/store.ts'
import type { Dialect } from '#sql/dialect.ts'
import { type Query, type QueryScript, queryOf, queryWith } from '#sql/engine.ts'
import { sql, trusted } from '#sql/sql.ts'

/** The columns of a table, each with whether it is never null; none where there is no such table. */
export const columnsOf = function* (
  dialect: Dialect,
  table: string,
): QueryScript<ReadonlyMap<string, boolean>> {
  const rows = yield queryOf(dialect.columnsOf(table), dialect)
  return new Map(rows.map(([name, isRequired]) => [String(name), Number(isRequired) === 1]))
}

/** The migrations applied to a store; none where it was never migrated. */
export const appliedIn = function* (dialect: Dialect): QueryScript<readonly Applied[]> {
  const columns = yield* columnsOf(dialect, 'migrations')
  if (columns.size === 0) return []
  const checksum = trusted(columns.has('checksum') ? 'checksum' : 'null')
  const rows = yield queryOf(sql`select name, ${checksum} from migrations order by name`, dialect)
  return rows.map(([name, checksum]) => ({
    name: String(name),
    checksum: checksum == null ? null : String(checksum),
  }))
}

/** Makes the table of applied migrations where there is none. */
export const makeMigrationsTable = function* (dialect: Dialect, ddl: string): QueryScript<void> {
  yield queryWith(ddl)
  // Stores made by older programs have no such column.
  if (!(yield* columnsOf(dialect, 'migrations')).has('checksum'))
    yield queryWith('alter table migrations add column checksum text')
}

/** The statement that records a migration as applied. */
export const recordOf = (dialect: Dialect, migration: Migration, now: number): Query =>
  queryOf(
    sql`insert into migrations (name, applied_at, checksum) values (${migration.name}, ${now}, ${checksumOf(migration)})`,
    dialect,
  )

/** Records the checksums of applied migrations that have none. */
export const recordChecksums = function* (
  dialect: Dialect,
  known: readonly Migration[],
  applied: readonly Applied[],
): QueryScript<void> {
  const unrecorded = new Set(applied.flatMap(one => (one.checksum === null ? [one.name] : [])))
  for (const migration of known)
    if (unrecorded.has(migration.name))
      yield queryOf(
        sql`update migrations set checksum = ${checksumOf(migration)} where name = ${migration.name}`,
        dialect,
      )
}

/** Makes the keys that a migrated store lacks; writes nothing where it has them all. */
export const makeSecrets = function* (dialect: Dialect): QueryScript<void> {
  const rows = yield queryWith('select name from secrets')
  const present = new Set(rows.map(([name]) => name))
  for (const name of secrets)
    if (!present.has(name))
      yield queryOf(
        sql`insert into secrets (name, value) values (${name}, ${randomBytes(32)}) on conflict do nothing`,
        dialect,
      )
}

/** A key of a store; throws where it was never migrated. */
export const secretIn = function* (dialect: Dialect, name: Secret): QueryScript<Uint8Array> {
  const isThere = (yield* columnsOf(dialect, 'secrets')).size > 0
  const [row] = isThere
    ? yield queryOf(sql`select value from secrets where name = ${name}`, dialect)
    : []
  if (!(row?.[0] instanceof Uint8Array))
    throw new Error(`the store has no ${name} key; run \`duet migrate\``)
  return row[0]
}
