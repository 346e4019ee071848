/** The tables, indexes and triggers of a model in SQLite: what migrations are drafted from and compared with. */
import { DatabaseSync } from 'node:sqlite'
import type { Drafting } from '#engines/shared/draft.ts'
import { type Ddl, type Definition, recount } from '#engines/shared/schema.ts'
import { dialect, searchTable } from '#engines/sqlite/dialect.ts'

const trigger = (table: string, name: string, event: string, body: string): Definition => ({
  name,
  of: table,
  text: `create trigger ${name} ${event} on ${table} begin\n  ${body}\nend`,
})

const count = (table: string, field: string, value: string, by: string) =>
  `insert into counts (entity, field, value, n) values ('${table}', '${field}', ${value}, ${by})
    on conflict do update set n = n + excluded.n;`

/** The triggers that count rows, so that a list's total is one look-up. */
const countTriggers: Ddl['countTriggers'] = (table, columns) => {
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

/** The trigram index of a folded column, updated by triggers; the text itself is only in the table. */
const searchDdl: Ddl['searchDdl'] = (table, column) => {
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

/** How SQLite writes its DDL. */
export const ddl: Ddl = {
  id: 'integer primary key autoincrement',
  typeOf: ({ scalar }) => dialect.columnType[scalar],
  checkOf: () => '',
  tableEnd: 'strict',
  indexTerms: ({ terms, sorted }) =>
    terms.map(({ column, nullable, descending }) => {
      const direction = descending ? ' desc' : ''
      const first = sorted && nullable ? `${column} is null${direction}, ` : ''
      return `${first}${column}${direction}`
    }),
  searchDdl,
  countTriggers,
  appendOnlyTriggers: table =>
    ['update', 'delete'].map(event =>
      trigger(
        table,
        `${table}_no_${event}`,
        `before ${event}`,
        `select raise(abort, '${table} are only ever added');`,
      ),
    ),
}

const columns = `select s.name || '.' || c.name as name, '' as text
  from sqlite_schema s, pragma_table_info(s.name) c where s.type = 'table'`

export const sqliteDrafting: Drafting = {
  engine: 'sqlite',
  madeBy: migrations => {
    const database = new DatabaseSync(':memory:')
    for (const { text } of migrations) database.exec(text)
    const rows = database
      .prepare(`select name, coalesce(sql, '') as text from sqlite_schema union all ${columns}`)
      .all()
    database.close()
    return new Map(rows.map(({ name, text }) => [String(name), String(text)]))
  },
  ddl,
  replace: ({ name, text }) => [`drop trigger ${name}`, text],
  outside: () => null,
  replaceIndex: ({ name, text }) => ({ inside: [`drop index ${name}`, text], outside: [] }),
  dropTrigger: name => [`drop trigger ${name}`],
}
