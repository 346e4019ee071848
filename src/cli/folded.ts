/** Fills folded copies of texts in rows that were made before their columns: SQL does not fold as the program does. */
import { closing } from '#base/closing.ts'
import { ask } from '#cli/ask.ts'
import type { OpenStore } from '#cli/row-sources.ts'
import type { Store } from '#engines/shared/store.ts'
import type { Entity } from '#model/entity.ts'
import { columnName, type Entities } from '#model/model.ts'
import { fold } from '#model/values.ts'
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
const lacking = ({ table, column, from }: Copy, most: number): Sql =>
  sql`select id, ${from} from ${table} where ${column} is null and ${from} is not null limit ${most}`

const fillOne = async (store: OpenStore, copy: Copy): Promise<number> => {
  const { table, column } = copy
  const fillSome = () =>
    store.session.transaction(async () => {
      const rows = await ask(store, lacking(copy, batch))
      for (const [id = null, text] of rows)
        await ask(
          store,
          sql`update ${table} set ${column} = ${fold(String(text))} where id = ${id}`,
        )
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
export const fillFolded = async (
  { session: open, dialect }: Store,
  entities: Entities,
): Promise<readonly string[]> => {
  const copies = Object.values(entities).flatMap(copiesOf)
  if (copies.length === 0) return []
  const unfilled = await closing(open('reading'), async session => {
    const found: Copy[] = []
    for (const copy of copies)
      if ((await ask({ session, dialect }, lacking(copy, 1))).length > 0) found.push(copy)
    return found
  })
  if (unfilled.length === 0) return []
  return closing(open('filling'), async session => {
    const told: string[] = []
    for (const copy of unfilled)
      try {
        told.push(`${copy.of} in ${await fillOne({ session, dialect }, copy)} rows`)
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
