/** Reads a table that is moved from one engine to another, page by page in the order of its key, the same on both sides. */
import type { Scalar } from '#model/values.ts'
import type { Dialect } from '#sql/dialect.ts'
import { queryOf, type Row, type Rows, type Session } from '#sql/engine.ts'
import { comma, join, name, number, sql, trusted } from '#sql/sql.ts'

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

/** One side of a move. */
export type Side = Pick<Session, 'query'> & { readonly dialect: Dialect }

/**
 * The rows of a table page by page, values in the order of the columns. `isLater`: of those that refer to later rows of the same table, their
 * ids and the values of the columns that refer.
 */
export const pagesOf = async function* (
  { query, dialect }: Side,
  table: MovedTable,
  isLater = false,
): AsyncGenerator<Rows> {
  const columns = isLater ? ['id', ...table.own] : Object.keys(table.columns)
  const later = table.own.map(column => sql`${name(column)} > id`)
  const wanted = isLater ? sql` and (${join(later, trusted(' or '))})` : sql``
  const keys = join(table.key.map(name), comma)
  const pageBehind = (last?: Row): Promise<Rows> => {
    const key = table.key.map(column => last?.[columns.indexOf(column)] ?? null)
    const behind = last ? sql`(${keys}) > (${join(key, comma)})` : trusted('true')
    // The limit is in the text: a planner that knows it walks the index and sorts nothing.
    const page = sql`select ${join(columns.map(name), comma)} from ${name(table.name)} where ${behind}${wanted} order by ${keys} limit ${number(table.page)}`
    return query(queryOf(page, dialect))
  }
  let rows = await pageBehind()
  for (let last = rows.at(-1); last; last = rows.at(-1)) {
    // The next page is read while this one is used; what it fails of is told then.
    const next = pageBehind(last)
    next.catch(() => {})
    yield rows
    rows = await next
  }
}
