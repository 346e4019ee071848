/** What statements put into the fields of rows: of new ones, and of those that are changed. */
import type { Entity } from '#model/entity.ts'
import { type Field, isUpload, madeSlug } from '#model/field.ts'
import { columnName, entityOf, fieldOf, type Model } from '#model/model.ts'
import { columnsOf } from '#read/predicate.ts'
import type { Dialect } from '#sql/dialect.ts'
import { comma, join, name, type Sql, type SqlPart, sql } from '#sql/sql.ts'
import { conditionOf, type Writing } from '#write/command.ts'
import { fieldsToReset } from '#write/input.ts'

/** What each change of a row raises beside the fields that it is about: its revision, and when it was last changed; nothing for an entity without either. */
export const raised = (
  { model, now }: { readonly model: Model; readonly now: SqlPart },
  entity: string,
): readonly (readonly [string, Sql])[] => {
  const found: [string, Sql][] = []
  for (const [key, { touched }] of Object.entries(entityOf(model, entity).fields)) {
    if (key === 'revision') found.push([key, sql`revision + 1`])
    else if (touched) found.push([key, sql`${now}`])
  }
  return found
}

/** The slugs among the values of a new row that are as its texts make them, so that nobody asked for that one. */
export const madeSlugs = (
  entity: Entity,
  values: ReadonlyMap<string, SqlPart>,
): readonly { readonly key: string; readonly text: string; readonly target: string }[] => {
  const made: { key: string; text: string; target: string }[] = []
  for (const [key, text] of values) {
    const field = fieldOf(entity, key)
    const { initial } = field
    const source =
      typeof initial === 'object' && 'slugOf' in initial ? values.get(initial.slugOf) : null
    if (typeof source === 'string' && typeof text === 'string' && madeSlug(source, field) === text)
      made.push({ key, text, target: `${entity.table}.${columnName(key)}` })
  }
  return made
}

/** A made slug, told apart from those that other rows have by the id that comes next, or the first number after it that is free. */
export const slugApart = (
  { dialect }: Pick<Writing, 'dialect'>,
  { table, key, text }: { readonly table: string; readonly key: string; readonly text: string },
): Sql => {
  const [rows, of] = [name(table), name(columnName(key))]
  const slug = dialect.typed(text, 'text')
  const isTaken = (one: Sql) => sql`exists (select 1 from ${rows} where ${of} = ${one})`
  return sql`case when ${isTaken(slug)} then (
    with recursive "tries" ("n") as (select coalesce(max(id), 0) + 1 from ${rows}
      union all select "n" + 1 from "tries" where ${isTaken(sql`${slug} || '-' || "n"`)})
    select ${slug} || '-' || max("n") from "tries") else ${slug} end`
}

/** A value as a statement has it: an upload as the file that it becomes, which the step that takes it on guards afterwards. */
const placed = (dialect: Dialect, { scalar, file }: Field, value: SqlPart): Sql =>
  file && isUpload(value)
    ? sql`coalesce((select stored from uploads where id = ${value}), '{}')`
    : dialect.typed(value, scalar)

/** Whether a file was sent back as it was read, and so stays. */
export const isKeptFile = ({ file }: Field, value: SqlPart): value is string =>
  file !== undefined && typeof value === 'string' && value.startsWith('v:')

/** What an insert puts into the fields of these values. */
export const insertedValues = (
  { model, dialect }: Pick<Writing, 'model' | 'dialect'>,
  entityName: string,
  values: ReadonlyMap<string, SqlPart>,
): ReadonlyMap<string, Sql> => {
  const entity = entityOf(model, entityName)
  const inserted = new Map<string, Sql>()
  for (const [key, value] of values) inserted.set(key, placed(dialect, fieldOf(entity, key), value))
  for (const { key, text } of madeSlugs(entity, values))
    inserted.set(key, slugApart({ dialect }, { table: entity.table, key, text }))
  return inserted
}

/** The statement that inserts a row with these fields, up to its condition. */
export const insertInto = (table: string, given: ReadonlyMap<string, Sql>): Sql => {
  const columns = [...given.keys()].map(key => name(columnName(key)))
  return sql`insert into ${name(table)} (${join(columns, comma)})
    select ${join([...given.values()], comma)}`
}

/**
 * What a change of these values makes of the fields, those among them that such a change resets or raises. Of a caller who may not read
 * a field a value resets also if it is the same: what is left would tell that it is.
 */
export const changesOf = (
  writing: Pick<Writing, 'model' | 'dialect'> & { readonly now: SqlPart },
  entityName: string,
  values: ReadonlyMap<string, SqlPart>,
  caller?: Writing,
): Map<string, Sql> => {
  const entity = entityOf(writing.model, entityName)
  const columnOf = columnsOf(entity.table)
  const changes = new Map<string, Sql>()
  for (const [key, value] of values)
    changes.set(
      key,
      isKeptFile(fieldOf(entity, key), value)
        ? columnOf(key)
        : placed(writing.dialect, fieldOf(entity, key), value),
    )
  for (const [by, value] of values)
    for (const [key, initial] of fieldsToReset(entity, by)) {
      if (values.has(key)) continue
      const isRead = caller
        ? conditionOf(caller, entityName, fieldOf(entity, by).readableBy)
        : sql`true`
      const isSame = sql`${columnOf(by)} is not distinct from ${value} and ${isRead}`
      changes.set(key, sql`case when ${isSame} then ${columnOf(key)} else ${initial} end`)
    }
  for (const [key, to] of raised(writing, entityName)) changes.set(key, to)
  return changes
}

/** The list of what an update sets, by field. */
export const assignments = (changes: ReadonlyMap<string, Sql>): Sql => {
  const set: Sql[] = []
  for (const [key, to] of changes) set.push(sql`${name(columnName(key))} = ${to}`)
  return join(set, comma)
}
