/** What `move` takes from a SQLite store beside the content. */
import type { MovedTable } from '#engines/shared/moving.ts'
import type { Scalar } from '#model/values.ts'
import { queryWith, type Session } from '#sql/engine.ts'

/** Keys, stored responses, and what is remembered of deprecated versions: all stays valid after the move. */
const machineTables = ['secrets', 'replies', 'version_notices', 'version_uses']

const scalarOf: Readonly<Record<string, Scalar>> = { INTEGER: 'int', TEXT: 'text', BLOB: 'bytes' }

/** The machine's own tables that are moved too. */
export const machineryOf = ({ query }: Session): Promise<readonly MovedTable[]> =>
  Promise.all(
    machineTables.map(async table => {
      const text = 'select name, type, pk from pragma_table_info(?1) order by cid'
      const rows = await query(queryWith(text, table))
      const columns = rows.map(([name, type]) => [
        String(name),
        scalarOf[String(type).toUpperCase()] ?? 'text',
      ])
      const key = rows.filter(([, , position]) => Number(position) > 0)
      return {
        name: table,
        key: key.toSorted((a, b) => Number(a[2]) - Number(b[2])).map(([name]) => String(name)),
        columns: Object.fromEntries(columns),
        own: [],
        appendOnly: false,
        page: 200,
      }
    }),
  )

/** The highest id that each table ever gave out, including those of deleted rows. */
export const highestIds = async ({ query }: Session): Promise<ReadonlyMap<string, number>> => {
  const rows = await query(queryWith('select name, seq from sqlite_sequence'))
  return new Map(rows.map(([table, id]) => [String(table), Number(id)]))
}
