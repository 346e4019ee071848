/** Drafts a migration: what the model has and the known migrations do not make. */
import { writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { type Migration, migrationsOf } from '#engines/migrations.ts'
import { addColumn, definitions } from '#engines/sqlite/ddl.ts'
import type { Entity } from '#model/entity.ts'
import { columnName, type Entities } from '#model/model.ts'

/** What a store made by these migrations has: names of tables, indexes and triggers, and columns as `table.column`. */
export const madeBy = (migrations: readonly Migration[]): ReadonlySet<string> => {
  const database = new DatabaseSync(':memory:')
  for (const { text } of migrations) database.exec(text)
  const names = database
    .prepare('select name from sqlite_schema')
    .all()
    .map(({ name }) => String(name))
  const columns = database
    .prepare(
      "select s.name || '.' || c.name as name from sqlite_schema s, pragma_table_info(s.name) c where s.type = 'table'",
    )
    .all()
    .map(({ name }) => String(name))
  database.close()
  return new Set([...names, ...columns])
}

/** The statements that are missing, in the order in which they can run. */
export const missingStatements = (
  entities: Entities,
  has: ReadonlySet<string>,
): readonly string[] => {
  const columns = Object.entries(entities).flatMap(([name, entity]: [string, Entity]) =>
    has.has(entity.table)
      ? Object.keys(entity.fields)
          .filter(key => !has.has(`${entity.table}.${columnName(key)}`))
          .map(key => addColumn(entities, name, key))
      : [],
  )
  const things = definitions(entities)
    .filter(({ name }) => !has.has(name))
    .map(({ text }) => text)
  return [...columns, ...things]
}

/** Writes the next migration file; gives its path, or null where nothing is missing. */
export const draftMigration = (entities: Entities, name: string): string | null => {
  const known = migrationsOf('sqlite')
  const statements = missingStatements(entities, madeBy(known))
  if (statements.length === 0) return null
  const number = String(known.length + 1).padStart(4, '0')
  const file = `migrations/sqlite/${number}-${name.replace(/[^a-z0-9]+/gi, '-').toLowerCase()}.sql`
  writeFileSync(
    new URL(`../../../${file}`, import.meta.url),
    `${statements.map(text => `${text};`).join('\n\n')}\n`,
    { flag: 'wx' },
  )
  return file
}
