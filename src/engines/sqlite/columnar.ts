/** Rows that come as one JSON list of each column: their lengths cost less to count than the rows. */
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import { errorCode, TOOBIG } from '#engines/sqlite/codes.ts'
import type { Rows } from '#sql/engine.ts'
import type { SqlValue } from '#sql/sql.ts'

/** The most bytes of a list: above it the rows are read one by one. */
export const longestList = 2_000_000

/** The rows from the texts of their columns, each a list of values. */
const rowsOfColumns = ([first, ...others]: readonly string[]): Rows => {
  const columns = others.map(text => JSON.parse(text) as SqlValue[])
  return (JSON.parse(first ?? '[]') as SqlValue[]).map((value, at) => {
    const row = [value]
    for (const column of columns) row.push(column[at] as SqlValue)
    return row
  })
}

/** The rows of a columnar query; undefined where they hold more characters than `most`, or than fit in a list. */
export const columnarRows = (
  { limits }: DatabaseSync,
  statement: StatementSync,
  values: readonly SQLInputValue[],
  most: number,
): Rows | undefined => {
  const { length } = limits
  const takesMore = length > longestList
  if (takesMore) limits.length = longestList
  try {
    const lists = statement.get(...values) as unknown as readonly string[]
    const characters = lists.reduce((sum, list) => sum + list.length, 0)
    return characters > most ? undefined : rowsOfColumns(lists)
  } catch (error) {
    if (errorCode(error) !== TOOBIG) throw error
    return undefined
  } finally {
    if (takesMore) limits.length = length
  }
}
