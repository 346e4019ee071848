/** Questions to an open store, in one statement each. */
import type { OpenStore } from '#cli/row-sources.ts'
import type { Rows } from '#sql/engine.ts'
import { queryOf } from '#sql/engine.ts'
import { name, type Sql, sql } from '#sql/sql.ts'

/** The rows of a statement. */
export const ask = ({ session, dialect }: OpenStore, piece: Sql): Promise<Rows> =>
  session.query(queryOf(piece, dialect))

/** Whether any of these tables has a row. */
export const hasRows = async (store: OpenStore, tables: readonly string[]): Promise<boolean> => {
  for (const table of tables)
    if ((await ask(store, sql`select 1 from ${name(table)} limit 1`)).length > 0) return true
  return false
}
