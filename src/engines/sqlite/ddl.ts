/** The tables, indexes and triggers of a model in SQLite: what migrations are drafted from and compared with. */

import { dialect, searchTable } from '#engines/sqlite/dialect.ts'
import type { Entity } from '#model/entity.ts'
import type { Field } from '#model/field.ts'
import { columnName, type Entities } from '#model/model.ts'

/** One thing of the schema: its name and the statement that makes it. */
export type Definition = { readonly name: string; readonly text: string }

const quoted = (value: unknown) =>
  typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value)

/** The default that lets a column be added to a table that has rows. */
const initialOf = ({ initial }: Field): string =>
  initial === undefined || typeof initial === 'string' || initial.value === null
    ? ''
    : ` default ${quoted(initial.value)}`

const columnDdl = (entities: Entities, key: string, field: Field): string => {
  if (key === 'id')
    return 'id integer primary key autoincrement check (id between 1 and 9007199254740991)'
  const { references, scalar, nullable } = field
  const target = references && entities[references.entity]
  return [
    columnName(key),
    dialect.columnType[scalar],
    nullable ? '' : 'not null',
    initialOf(field).trim(),
    target ? `references ${target.table} (id) on delete ${references.onDelete}` : '',
  ]
    .filter(part => part !== '')
    .join(' ')
}

const tableDdl = (entities: Entities, entity: Entity): Definition => {
  const columns = Object.entries(entity.fields).map(([key, field]) =>
    columnDdl(entities, key, field),
  )
  return {
    name: entity.table,
    text: `create table ${entity.table} (\n  ${columns.join(',\n  ')}\n) strict`,
  }
}

type Term = { readonly column: string; readonly nullable: boolean; readonly descending: boolean }

const termOf = (entity: Entity, signed: string): Term => {
  const descending = signed.startsWith('-')
  const field = descending ? signed.slice(1) : signed
  const { nullable = false } = entity.fields[field] ?? {}
  return { column: columnName(field), nullable, descending }
}

const termDdl = ({ column, nullable, descending }: Term): string => {
  const direction = descending ? ' desc' : ''
  return nullable ? `${column} is null${direction}, ${column}${direction}` : `${column}${direction}`
}

/** `sorted`: the index serves an order, in which null has a place of its own. */
type IndexUse = { readonly unique?: boolean; readonly sorted?: boolean }

const indexDdl = (
  entity: Entity,
  terms: readonly string[],
  { unique = false, sorted = false }: IndexUse = {},
): Definition => {
  const parts = terms.map(term => termOf(entity, term))
  const label = parts
    .map(({ column, descending }) => `${column}${descending ? '_down' : ''}`)
    .join('_')
  const name = `${entity.table}_by_${label}`
  const columns = parts.map(part => termDdl(sorted ? part : { ...part, nullable: false }))
  return {
    name,
    text: `create ${unique ? 'unique ' : ''}index ${name} on ${entity.table} (${columns.join(', ')})`,
  }
}

/** The sorts that a list offers, each in the directions it has: ties are always by id ascending. */
const sortsOf = (entity: Entity): readonly string[] => {
  const { sort } = entity.rest.listing
  if (!sort) return []
  const fields = sort.fields.filter(field => field !== 'id')
  return sort.style === 'signed list' ? fields : fields.flatMap(field => [field, `-${field}`])
}

const indexesOf = (entity: Entity): readonly Definition[] => {
  const fields = Object.entries(entity.fields)
  const keys = fields.flatMap(([key, { references, unique }]) =>
    references || unique !== undefined
      ? [indexDdl(entity, [key], { unique: unique !== undefined })]
      : [],
  )
  return [
    ...keys,
    ...sortsOf(entity).map(sort => indexDdl(entity, [sort], { sorted: true })),
    ...entity.indexes.map(terms => indexDdl(entity, terms)),
    ...entity.sets.map(terms => indexDdl(entity, terms, { unique: true })),
  ]
}

const count = (table: string, field: string, value: string, by: string) =>
  `insert into counts (entity, field, value, n) values ('${table}', '${field}', ${value}, ${by})
    on conflict do update set n = n + excluded.n;`

/** The triggers that keep the numbers of rows, so that a list's total is one look-up. */
const countTriggers = ({ table, counted }: Entity): readonly Definition[] => {
  if (counted === null) return []
  const columns = counted.map(columnName)
  const all = (row: 'new' | 'old', by: string) =>
    [
      count(table, '', "''", by),
      ...columns.map(column => count(table, column, `${row}.${column}`, by)),
    ].join('\n  ')
  const trigger = (event: string, suffix: string, body: string): Definition => ({
    name: `${table}_count_${suffix}`,
    text: `create trigger ${table}_count_${suffix} after ${event} on ${table} begin\n  ${body}\nend`,
  })
  const moved = columns.map(column =>
    trigger(
      `update of ${column}`,
      column,
      `${count(table, column, `old.${column}`, '-1')}\n  ${count(table, column, `new.${column}`, '1')}`,
    ),
  )
  return [
    trigger('insert', 'insert', all('new', '1')),
    trigger('delete', 'delete', all('old', '-1')),
    ...moved,
  ]
}

const searchedFields = (entity: Entity): readonly string[] =>
  Object.values(entity.rest.listing.filters ?? {}).flatMap(filter =>
    filter.kind === 'contains' ? [columnName(filter.field)] : [],
  )

/** The trigram index of a folded column, kept by triggers; the text itself stays in the table. */
const searchDdl = ({ table }: Entity, column: string): readonly Definition[] => {
  const index = searchTable(table, column)
  const put = (row: string) =>
    `insert into ${index} (rowid, ${column}) values (${row}.id, ${row}.${column});`
  const drop = `insert into ${index} (${index}, rowid, ${column}) values ('delete', old.id, old.${column});`
  const trigger = (event: string, suffix: string, body: string): Definition => ({
    name: `${index}_${suffix}`,
    text: `create trigger ${index}_${suffix} after ${event} on ${table} begin\n  ${body}\nend`,
  })
  return [
    {
      name: index,
      text: `create virtual table ${index} using fts5 (${column}, content = '${table}', content_rowid = 'id', columnsize = 0, tokenize = 'trigram case_sensitive 1')`,
    },
    trigger('insert', 'insert', put('new')),
    trigger('delete', 'delete', drop),
    trigger(`update of ${column}`, 'update', `${drop}\n  ${put('new')}`),
  ]
}

/** What the service itself keeps beside the content. */
const machinery: readonly Definition[] = [
  {
    name: 'counts',
    text: `create table counts (
  entity text not null,
  field text not null,
  value text not null,
  n integer not null,
  primary key (entity, field, value)
) strict, without rowid`,
  },
  {
    name: 'secrets',
    text: 'create table secrets (\n  name text primary key,\n  value blob not null\n) strict',
  },
]

/** What keeps a record of what happened from being rewritten. */
const appendOnlyTriggers = ({ table, appendOnly }: Entity): readonly Definition[] =>
  appendOnly
    ? ['update', 'delete'].map(event => ({
        name: `${table}_no_${event}`,
        text: `create trigger ${table}_no_${event} before ${event} on ${table} begin\n  select raise(abort, '${table} are only ever added');\nend`,
      }))
    : []

const replies: readonly Definition[] = [
  {
    name: 'replies',
    text: `create table replies (
  scope text not null,
  key text not null,
  fingerprint text not null,
  made_at integer not null,
  status integer not null,
  body text not null,
  row_id integer,
  revision integer,
  primary key (scope, key)
) strict`,
  },
  { name: 'replies_by_made_at', text: 'create index replies_by_made_at on replies (made_at)' },
]

/** Everything that a store of these entities is made of, in the order in which it can be made. */
export const definitions = (entities: Entities): readonly Definition[] => [
  ...machinery,
  ...replies,
  ...Object.values(entities).flatMap(entity => [
    tableDdl(entities, entity),
    ...indexesOf(entity),
    ...countTriggers(entity),
    ...appendOnlyTriggers(entity),
    ...searchedFields(entity).flatMap(column => searchDdl(entity, column)),
  ]),
]

/** The statement that adds a field to a table that exists. */
export const addColumn = (entities: Entities, entity: string, key: string): string => {
  const { table, fields } = entities[entity] as Entity
  return `alter table ${table} add column ${columnDdl(entities, key, fields[key] as Field)}`
}
