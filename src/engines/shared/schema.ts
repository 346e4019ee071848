/** The schema that a model needs, shared by all engines: its tables, indexes, search and counts as definitions. */
import type { Field } from '#model/field.ts'
import { type Index, indexesOf } from '#model/indexes.ts'
import { columnName, type Entities } from '#model/model.ts'
import { dependenciesFirst } from '#model/references.ts'

/** One object of the schema: its name and the statement that makes it. */
export type Definition = {
  readonly name: string
  readonly text: string
  /** The table that it belongs to; undefined for a table. */
  readonly of?: string
  /** Statements that bring it up to date with the rows that exist before it does. */
  readonly fill?: readonly string[]
}

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** The default that lets a column be added to a table that has rows; empty if it has none. */
const defaultOf = ({ initial }: Field): string => {
  if (typeof initial !== 'object' || 'slugOf' in initial || initial.value === null) return ''
  const { value } = initial
  return `default ${typeof value === 'string' ? quoted(value) : value}`
}

/** The value that a field gives to rows that exist before its column does, as SQL; empty if it has none. */
export const defaultValue = (field: Field): string => defaultOf(field).slice('default '.length)

/** What a draft puts into rows without a value; `now` is the moment in milliseconds as the engine writes it. */
export const fillValue = (field: Field, now: string): string =>
  field.initial === 'now' ? now : defaultValue(field)

/** The constraint that keeps the column of a choice to its values; empty for any other field. */
export const valuesCheck = (column: string, { values, nullable }: Field): string => {
  if (!values) return ''
  // Said of null too: SQLite takes a check that is added later to be broken by it.
  const isNull = nullable ? `${column} is null or ` : ''
  return `constraint ${valuesName(column)} check (${isNull}${column} in (${values.map(quoted).join(', ')}))`
}

/** The name of that constraint. */
export const valuesName = (column: string): string => `${column}_values`

/** How an engine writes the parts of its DDL. */
export type Ddl = {
  readonly id: string
  readonly typeOf: (field: Field) => string
  /** The check constraint of a column; empty if it has none. */
  readonly checkOf: (column: string, field: Field) => string
  /** What follows the columns of a table. */
  readonly tableEnd: string
  readonly indexTerms: (index: Index) => readonly string[]
  readonly searchDdl: (table: string, column: string) => readonly Definition[]
  readonly countTriggers: (table: string, columns: readonly string[]) => readonly Definition[]
  readonly appendOnlyTriggers: (table: string) => readonly Definition[]
}

/** The definition of a column, for `create table` and for `add column`. */
export const columnDdl = (ddl: Ddl, entities: Entities, key: string, field: Field): string => {
  if (key === 'id') return `id ${ddl.id} check (id between 1 and 9007199254740991)`
  const { references, nullable } = field
  const column = columnName(key)
  const target = references && entities[references.entity]
  const parts = [
    column,
    ddl.typeOf(field),
    nullable ? '' : 'not null',
    defaultOf(field),
    ddl.checkOf(column, field),
    target && !target.view
      ? `references ${target.table} (id) on delete ${references.onDelete}`
      : '',
  ]
  return parts.filter(part => part !== '').join(' ')
}

/** The definitions of all entities but those on views, without the machine's own tables, in an order in which they can be made. */
export const definitionsOf = (ddl: Ddl, entities: Entities): readonly Definition[] =>
  dependenciesFirst(entities).flatMap(([, entity]) => {
    const { table, fields, counted, appendOnly, view } = entity
    if (view) return []
    const columns = Object.entries(fields).map(([key, field]) =>
      columnDdl(ddl, entities, key, field),
    )
    const checks = Object.entries(fields).flatMap(
      ([key, field]) => valuesCheck(columnName(key), field) || [],
    )
    const indexes = indexesOf(entity).map(index => ({
      name: index.name,
      of: table,
      text: `create ${index.unique ? 'unique ' : ''}index ${index.name} on ${table} (${ddl.indexTerms(index).join(', ')})`,
    }))
    const searched = Object.values(entity.rest.listing.filters ?? {})
      .filter(({ kind }) => kind === 'contains')
      .map(({ field }) => columnName(field))
    return [
      {
        name: table,
        text: `create table ${table} (\n  ${[...columns, ...checks].join(',\n  ')}\n) ${ddl.tableEnd}`,
      },
      ...indexes,
      ...(counted === null ? [] : ddl.countTriggers(table, counted.map(columnName))),
      ...(appendOnly ? ddl.appendOnlyTriggers(table) : []),
      ...[...new Set(searched)].flatMap(column => ddl.searchDdl(table, column)),
    ]
  })

/** The statements that count existing rows, all or by a column; `part` if a count is split into parts. */
export const recount = (
  table: string,
  column: string | null,
  { cast = '', part }: { readonly cast?: string; readonly part?: number } = {},
): readonly string[] => {
  const field = column ?? ''
  const [value, end] =
    column === null ? ["''", 'having count(*) > 0'] : [`${column}${cast}`, `group by ${column}`]
  const [partColumn, partValue] = part === undefined ? ['', ''] : [' part,', ` ${part},`]
  return [
    `delete from counts where entity = '${table}' and field = '${field}'`,
    `insert into counts (entity, field, value,${partColumn} n)
  select '${table}', '${field}', ${value},${partValue} count(*) from ${table} ${end}`,
  ]
}
