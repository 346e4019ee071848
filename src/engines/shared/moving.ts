/** Reads a table that is moved from one engine to another, page by page in the order of its key, the same on both sides. */
import type { Scalar } from '#model/values.ts'
import type { Dialect } from '#sql/dialect.ts'
import { queryOf, type Row, type Rows, type Session } from '#sql/engine.ts'
import { comma, join, name, number, type SqlValue, sql, trusted } from '#sql/sql.ts'

export type MovedTable = {
  readonly name: string
  /** The columns that no two rows share all of. */
  readonly key: readonly string[]
  readonly columns: Readonly<Record<string, Scalar>>
  /** Columns with ids of rows of the same table, whose key is then its id. */
  readonly own: readonly string[]
  /** Whether its rows are never changed. */
  readonly appendOnly: boolean
  /** The number of rows in a batch. */
  readonly page: number
}

/** A position in a table: the key of a row. */
export type RowKey = readonly SqlValue[]

/** One side of a move. */
export type Side = Pick<Session, 'query'> & { readonly dialect: Dialect }

export const keyOf = ({ key, columns }: MovedTable, row: Row): RowKey => {
  const names = Object.keys(columns)
  return key.map(column => row[names.indexOf(column)] ?? null)
}

const restOf = ({ name: table, key }: MovedTable, after: RowKey | null) => {
  const behind = sql`(${join(key.map(name), comma)}) > (${join(after ?? [], comma)})`
  return sql`from ${name(table)} where ${after === null ? trusted('true') : behind}`
}

/**
 * The next rows after a key, values in the order of the columns; none at the end. `isLater`: of those that refer to later rows of the same
 * table, their ids and the values of the columns that refer.
 */
export const pageBehind = (
  { query, dialect }: Side,
  table: MovedTable,
  after: RowKey | null,
  isLater = false,
): Promise<Rows> => {
  const columns = isLater ? ['id', ...table.own] : Object.keys(table.columns)
  const later = table.own.map(column => sql`${name(column)} > id`)
  const wanted = isLater ? sql` and (${join(later, trusted(' or '))})` : sql``
  const keys = join(table.key.map(name), comma)
  // The limit is in the text: a planner that knows it walks the index and sorts nothing.
  const page = sql`select ${join(columns.map(name), comma)} ${restOf(table, after)}${wanted} order by ${keys} limit ${number(table.page)}`
  return query(queryOf(page, dialect))
}
