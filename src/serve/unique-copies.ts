/** Rows that count as one by the copies of their texts, found before a migration adds what keeps them apart. */
import { hash } from 'node:crypto'
import { withOpened } from '#base/with-opened.ts'
import { catalogueOf, type MadeObjects } from '#engines/shared/catalogue.ts'
import type { Store } from '#engines/shared/store.ts'
import { type Entity, uniquesOf } from '#model/entity.ts'
import { columnName, type Entities } from '#model/model.ts'
import { foldedAs } from '#model/words.ts'
import { queryOf } from '#sql/engine.ts'
import { comma, join, name, type SqlValue, sql } from '#sql/sql.ts'

/** The sentence for two rows whose copies, such as `titleKey of books`, would be one, and which may be there once. */
export const twoRows = (
  copies: string,
  plural: string,
  from: string | undefined,
  ids: readonly SqlValue[],
): string =>
  `${copies} cannot be filled, as the ${plural} ${ids.join(' and ')} have a ${from} that counts as one, and only one of them may have it: change one of them in the database, then run duet migrate again`

/** How many rows are looked at together, and of how many it is known at a time what others may not have. */
const batch = 500
const mostKnown = 1_000_000

/** The fields of an entity, alone or in sets, of which only one row may have the same and some are copies of texts that are filled later. */
const uniqueCopies = (entity: Entity): readonly (readonly string[])[] => {
  const { fields, appendOnly, view } = entity
  if (appendOnly || view) return []
  return uniquesOf(entity).filter(keys => keys.some(key => fields[key]?.foldedFrom !== undefined))
}

/**
 * Throws a sentence for the first two rows that would be one by copies of their texts which a migration is yet to add: nothing of it is
 * applied then, so that the release before still serves the store. Of more than `most` rows some are compared at a time.
 */
export const checkCopies = async (
  store: Store,
  entities: Entities,
  most = mostKnown,
): Promise<void> => {
  const copied = Object.values(entities).flatMap(entity =>
    uniqueCopies(entity).map(keys => ({ entity, keys })),
  )
  if (copied.length === 0) return
  // A store that is not there yet is made by the migrations; one that does not answer, they tell.
  const made: MadeObjects = await store.made(true).catch(() => new Map())
  const catalogue = catalogueOf(made)
  for (const { entity, keys } of copied) {
    const { table, plural, fields } = entity
    const columns = catalogue.get(table)?.columns
    const copies = keys.filter(key => fields[key]?.foldedFrom !== undefined)
    const from = keys.map(key => fields[key]?.foldedFrom ?? key)
    const isMade = copies.every(key => columns?.has(columnName(key)))
    if (isMade || !from.every(key => columns?.has(columnName(key)))) continue
    const texts = from.map(key => name(columnName(key)))
    await withOpened(store.session('reading'), async ({ query }) => {
      const rowsAfter = (last: SqlValue) =>
        query(
          queryOf(
            sql`select id, ${join(texts, comma)} from ${name(table)}
              where id > ${last} order by id limit ${batch}`,
            store.dialect,
          ),
        )
      const count = sql`select count(*) from ${name(table)}`
      const [[rows] = []] = await query(queryOf(count, store.dialect))
      const parts = Math.max(1, Math.ceil(Number(rows) / most))
      for (let part = 0; part < parts; part++) {
        const known = new Map<string, SqlValue>()
        let last: SqlValue = 0
        for (;;) {
          const rows = await rowsAfter(last)
          for (const [id = null, ...values] of rows) {
            last = id
            if (values.includes(null)) continue
            const made = values.map((value, at) => {
              const field = fields[keys[at] ?? '']
              return field?.foldedFrom === undefined ? value : foldedAs(field, String(value))
            })
            const text = JSON.stringify(made.map(String))
            if (parts > 1 && hash('md5', text, 'buffer').readUInt32LE() % parts !== part) continue
            const other = known.get(text)
            if (other !== undefined) {
              const [copy = ''] = copies
              const source = fields[copy]?.foldedFrom
              throw new Error(twoRows(`${copy} of ${plural}`, plural, source, [other, id]))
            }
            known.set(text, id)
          }
          if (rows.length < batch) break
        }
      }
    })
  }
}
