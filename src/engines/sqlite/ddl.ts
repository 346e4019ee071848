/** The tables, indexes and triggers of a model in SQLite: what migrations are drafted from and compared with. */
import {
  type Definition,
  type Index,
  indexesOf,
  initialOf,
  searchedColumns,
  spaced,
  type Term,
} from '#engines/ddl.ts'
import { dialect, searchTable } from '#engines/sqlite/dialect.ts'
import type { Entity } from '#model/entity.ts'
import type { Field } from '#model/field.ts'
import { columnName, dependenciesFirst, type Entities } from '#model/model.ts'

/** A column as a table is made with it, or has it added. */
export const columnDdl = (entities: Entities, key: string, field: Field): string => {
  if (key === 'id')
    return 'id integer primary key autoincrement check (id between 1 and 9007199254740991)'
  const { references, scalar, nullable } = field
  const target = references && entities[references.entity]
  return spaced([
    columnName(key),
    dialect.columnType[scalar],
    nullable ? '' : 'not null',
    initialOf(field),
    target ? `references ${target.table} (id) on delete ${references.onDelete}` : '',
  ])
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

const termDdl = ({ column, nullable, descending }: Term): string => {
  const direction = descending ? ' desc' : ''
  return nullable ? `${column} is null${direction}, ${column}${direction}` : `${column}${direction}`
}

const indexDdl = ({ table }: Entity, { name, terms, unique, sorted }: Index): Definition => {
  const columns = terms.map(term => termDdl(sorted ? term : { ...term, nullable: false }))
  return {
    name,
    of: table,
    text: `create ${unique ? 'unique ' : ''}index ${name} on ${table} (${columns.join(', ')})`,
  }
}

const trigger = (table: string, name: string, event: string, body: string): Definition => ({
  name,
  of: table,
  text: `create trigger ${name} ${event} on ${table} begin\n  ${body}\nend`,
})

const count = (table: string, field: string, value: string, by: string) =>
  `insert into counts (entity, field, value, n) values ('${table}', '${field}', ${value}, ${by})
    on conflict do update set n = n + excluded.n;`

/** Counts the rows that are there. */
const recount = (table: string, column: string | null): readonly string[] => {
  const [value, end] =
    column === null ? ["''", 'having count(*) > 0'] : [column, `group by ${column}`]
  return [
    `delete from counts where entity = '${table}' and field = '${column ?? ''}'`,
    `insert into counts (entity, field, value, n)
  select '${table}', '${column ?? ''}', ${value}, count(*) from ${table} ${end}`,
  ]
}

/** The triggers that keep the numbers of rows, so that a list's total is one look-up. */
const countTriggers = ({ table, counted }: Entity): readonly Definition[] => {
  if (counted === null) return []
  const columns = counted.map(columnName)
  const all = (row: 'new' | 'old', by: string) =>
    [
      count(table, '', "''", by),
      ...columns.map(column => count(table, column, `${row}.${column}`, by)),
    ].join('\n  ')
  const moved = columns.map(column => ({
    ...trigger(
      table,
      `${table}_count_${column}`,
      `after update of ${column}`,
      `${count(table, column, `old.${column}`, '-1')}\n  ${count(table, column, `new.${column}`, '1')}`,
    ),
    fill: recount(table, column),
  }))
  return [
    {
      ...trigger(table, `${table}_count_insert`, 'after insert', all('new', '1')),
      fill: recount(table, null),
    },
    trigger(table, `${table}_count_delete`, 'after delete', all('old', '-1')),
    ...moved,
  ]
}

/** The trigram index of a folded column, kept by triggers; the text itself stays in the table. */
const searchDdl = ({ table }: Entity, column: string): readonly Definition[] => {
  const index = searchTable(table, column)
  const put = (row: string) =>
    `insert into ${index} (rowid, ${column}) values (${row}.id, ${row}.${column});`
  const drop = `insert into ${index} (${index}, rowid, ${column}) values ('delete', old.id, old.${column});`
  return [
    {
      name: index,
      of: table,
      text: `create virtual table ${index} using fts5 (${column}, content = '${table}', content_rowid = 'id', columnsize = 0, tokenize = 'trigram case_sensitive 1')`,
      fill: [`insert into ${index} (${index}) values ('rebuild')`],
    },
    trigger(table, `${index}_insert`, 'after insert', put('new')),
    trigger(table, `${index}_delete`, 'after delete', drop),
    trigger(table, `${index}_update`, `after update of ${column}`, `${drop}\n  ${put('new')}`),
  ]
}

/** What keeps a record of what happened from being rewritten. */
const appendOnlyTriggers = ({ table, appendOnly }: Entity): readonly Definition[] =>
  appendOnly
    ? ['update', 'delete'].map(event =>
        trigger(
          table,
          `${table}_no_${event}`,
          `before ${event}`,
          `select raise(abort, '${table} are only ever added');`,
        ),
      )
    : []

/** All that the entities are made of beside the machine's own tables, in the order in which it can be made. */
export const definitions = (entities: Entities): readonly Definition[] =>
  dependenciesFirst(entities).flatMap(([, entity]) => [
    tableDdl(entities, entity),
    ...indexesOf(entity).map(index => indexDdl(entity, index)),
    ...countTriggers(entity),
    ...appendOnlyTriggers(entity),
    ...searchedColumns(entity).flatMap(column => searchDdl(entity, column)),
  ])
