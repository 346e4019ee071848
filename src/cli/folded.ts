/** Fills folded copies of texts in rows that were made before their columns: SQL does not fold as the program does. */
import { closing } from '#base/closing.ts'
import type { Store } from '#engines/store.ts'
import type { Entity } from '#model/entity.ts'
import { columnName, type Entities } from '#model/model.ts'
import { fold } from '#model/text.ts'
import { queryOf, type Rows, type Session } from '#sql/engine.ts'
import { name, type Sql, sql } from '#sql/sql.ts'

/** A column of folded texts that may be null, and the column that it is made from. */
type Copy = { readonly of: string; readonly table: Sql; readonly column: Sql; readonly from: Sql }

// Rows that are never changed stay as they are: what is added later does not find them.
const copiesOf = ({ fields, table, plural, appendOnly }: Entity): readonly Copy[] =>
  Object.entries(appendOnly ? {} : fields).flatMap(([key, { foldedFrom, nullable }]) =>
    foldedFrom !== undefined && nullable
      ? [
          {
            of: `${key} of ${plural}`,
            table: name(table),
            column: name(columnName(key)),
            from: name(columnName(foldedFrom)),
          },
        ]
      : [],
  )

/** Rows that are filled in one transaction, for which writers wait. */
const batch = 500

/** The first rows that lack the copy, each with its id and the text to fold. */
const lackOf = ({ table, column, from }: Copy, most: number): Sql =>
  sql`select id, ${from} from ${table} where ${column} is null and ${from} is not null limit ${most}`

const fillOne = async (
  session: Session,
  ask: (piece: Sql) => Promise<Rows>,
  copy: Copy,
): Promise<number> => {
  const { table, column } = copy
  const fillSome = () =>
    session.transaction(async () => {
      const rows = await ask(lackOf(copy, batch))
      for (const [id = null, text] of rows)
        await ask(sql`update ${table} set ${column} = ${fold(String(text))} where id = ${id}`)
      return rows.length
    })
  let filled = 0
  for (let some = await fillSome(); some > 0; some = await fillSome()) filled += some
  return filled
}

/**
 * Fills the folded copies that rows lack, batch by batch, so that an interrupted run goes on where it was; gives what it filled, such as
 * `titleKey of books in 12 rows`. Throws with the remedy where a copy cannot be stored, such as one of two that must differ.
 */
export const fillFolded = async (store: Store, entities: Entities): Promise<readonly string[]> => {
  const copies = Object.values(entities).flatMap(copiesOf)
  if (copies.length === 0) return []
  const asking =
    ({ query }: Session) =>
    (piece: Sql) =>
      query(queryOf(piece, store.dialect))
  const lacking = await closing(store.session('reading'), async session => {
    const found = await Promise.all(
      copies.map(async copy => ((await asking(session)(lackOf(copy, 1))).length > 0 ? [copy] : [])),
    )
    return found.flat()
  })
  if (lacking.length === 0) return []
  return closing(store.session('filling'), async session => {
    const told: string[] = []
    for (const copy of lacking)
      try {
        const count = await fillOne(session, asking(session), copy)
        told.push(`${copy.of} in ${count} rows`)
      } catch (cause) {
        const reason = (cause as Error).message
        throw new Error(
          `${copy.of} cannot be filled for the rows that are there (${reason}): change them, then run duet migrate again`,
          { cause },
        )
      }
    return told
  })
}
