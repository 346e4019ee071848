/** Columns by whose values rows are asked for, and which of those values a write touches: by triggers, so that cascades report theirs too. */
import { hashOf } from '#base/text.ts'
import type { Connection } from '#engines/sqlite/connection.ts'
import { queryWith } from '#sql/engine.ts'
import type { SqlValue } from '#sql/sql.ts'

/** A column of numbers (an id or a reference) or of texts. */
export type Key = { readonly table: string; readonly column: string; readonly type: string }

/** The cells of all values together; values that share one are taken to be written together. */
export const cellsOfKeys = 65_536

// The ids, the references, and texts that an index begins with, compared to the byte: a comparison goes by the collation of the
// column, which only the definition of its table shows. One that names any has no such text.
const keyColumns =
  queryWith(`select t.name, c.name, c.type from pragma_table_list t, pragma_table_info(t.name) c
  where t.schema = 'main' and t.type = 'table'
    and exists (select 1 from pragma_table_info(t.name) where pk = 1 and type = 'INTEGER')
    and (c.type = 'INTEGER' and (c.pk = 1
        or exists (select 1 from pragma_foreign_key_list(t.name) f where f."from" = c.name))
      or c.type = 'TEXT' and exists (select 1 from pragma_index_list(t.name) i, pragma_index_xinfo(i.name) x
        where x.seqno = 0 and x.name = c.name)
        and not exists (select 1 from sqlite_schema where name = t.name and sql like '%collate%'))
  order by 1, 2`)

/** The keys of a store; those of a table follow one another. */
export const keysOf = ({ query }: Connection): readonly Key[] =>
  query(keyColumns).map(([table, column, type]) => ({
    table: String(table),
    column: String(column),
    type: String(type),
  }))

const cellOf = (key: number, value: unknown): number =>
  hashOf(`${key} ${value}`) & (cellsOfKeys - 1)

/** Whether a value is compared with those of the column as it is: SQLite converts one of another kind first. */
const isOfKind = ({ type }: Key, value: SqlValue): boolean =>
  type === 'TEXT' ? typeof value === 'string' && value.isWellFormed() : Number.isSafeInteger(value)

/**
 * A function that gives the cell of a value of a key, undefined for one of another kind than the column's; undefined for a column
 * that is no key.
 */
export const cellsBy = (
  keys: readonly Key[],
  table: string,
  column: string,
): ((value: SqlValue) => number | undefined) | undefined => {
  const at = keys.findIndex(key => key.table === table && key.column === column)
  const key = keys[at]
  if (!key) return undefined
  return value => (isOfKind(key, value) ? cellOf(at, value) : undefined)
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** The triggers on a table: they report the values of its keys, before and after an update. */
const triggersOn = (table: string, first: number, columns: readonly string[]): string => {
  const valuesOf = (row: string) => columns.map(column => `${row}.${quoted(column)}`).join()
  const on = (event: string, rows: readonly string[]) =>
    `create temp trigger ${quoted(`${table}_keys_${event}`)} after ${event} on main.${quoted(table)}
     begin select duet_wrote(${first}, ${columns.length}, ${rows.map(valuesOf).join()}); end;`
  return [on('insert', ['new']), on('update', ['old', 'new']), on('delete', ['old'])].join('\n')
}

/** Makes the connection report the cells of the keys of each row that it writes, in whatever way. */
export const reportKeys = (
  { database, run }: Connection,
  keys: readonly Key[],
  report: (cell: number) => void,
): void => {
  database.function('duet_wrote', { varargs: true }, (first, count, ...values) => {
    for (let at = 0; at < values.length; at++)
      report(cellOf(Number(first) + (at % Number(count)), values[at]))
    return null
  })
  for (const [first, { table }] of keys.entries()) {
    if (keys[first - 1]?.table === table) continue
    const columns = keys.filter(key => key.table === table).map(({ column }) => column)
    run(triggersOn(table, first, columns))
  }
}
