/** Rows that count as one once their texts are composed, found before a migration adds what keeps them apart. */
import { withOpened } from '#base/with-opened.ts'
import { catalogueOf, type MadeObjects } from '#engines/shared/catalogue.ts'
import type { Store } from '#engines/shared/store.ts'
import { columnName, type Entities } from '#model/model.ts'
import { foldedAs } from '#model/words.ts'
import { queryOf, type Rows } from '#sql/engine.ts'
import { and, comma, join, name, type Sql, type SqlValue, sql } from '#sql/sql.ts'

/** The sentence for two rows whose copies, such as `titleKey of books`, would be one, and which may be there once. */
export const twoRows = (
  copies: string,
  plural: string,
  from: string | undefined,
  ids: readonly SqlValue[],
): string =>
  `${copies} cannot be filled, as the ${plural} ${ids.join(' and ')} have a ${from} that counts as one, and only one of them may have it: change one of them in the database, then run duet migrate again`

/** How many rows are looked at together. */
const batch = 500

/**
 * Throws a sentence for the first two rows that would be one by composed copies of their texts which a migration is yet to add: nothing
 * of it is applied then, so that the release before still serves the store.
 */
export const checkComposed = async (store: Store, entities: Entities): Promise<void> => {
  const copied = Object.values(entities).flatMap(entity => {
    const { fields, sets, appendOnly } = entity
    const alone = Object.keys(fields).filter(key => fields[key]?.unique)
    const all = [...alone.map(key => [key]), ...sets.map(set => set.fields)]
    const isCopy = (key: string) => fields[key]?.copied === 'nfc'
    return all
      .filter(keys => !appendOnly && keys.some(isCopy))
      .map(keys => ({ entity, copy: keys.find(isCopy) ?? '', keys }))
  })
  if (copied.length === 0) return
  // A store that is not there yet is made by the migrations; one that does not answer, they tell.
  const made: MadeObjects = await store.made(true).catch(() => new Map())
  const catalogue = catalogueOf(made)
  for (const { entity, copy, keys } of copied) {
    const { table, plural, fields } = entity
    const columns = catalogue.get(table)?.columns
    const isCopied = (key: string) => fields[key]?.copied === 'nfc'
    const from = keys.map(key => (isCopied(key) && fields[key]?.foldedFrom) || key)
    if (columns?.has(columnName(copy)) || !from.every(key => columns?.has(columnName(key))))
      continue
    await withOpened(store.session('reading'), async ({ query }) => {
      const ask = (piece: Sql): Promise<Rows> => query(queryOf(piece, store.dialect))
      const texts = from.map(key => name(columnName(key)))
      // What is not composed is longer in bytes than in letters, as all is that is beyond ASCII.
      const isLong = texts
        .filter((_, at) => isCopied(keys[at] ?? ''))
        .map(text => sql`octet_length(${text}) > length(${text})`)
      const others = new Map<string, SqlValue>()
      let last: SqlValue = 0
      for (;;) {
        const rows = await ask(
          sql`select id, ${join(texts, comma)} from ${name(table)}
            where id > ${last} and (${join(isLong, sql` or `)}) order by id limit ${batch}`,
        )
        for (const [id = null, ...values] of rows) {
          last = id
          const composed = values.map((value, at) => {
            const field = fields[keys[at] ?? '']
            return field?.copied === 'nfc' && value !== null
              ? foldedAs(field, String(value))
              : value
          })
          const isAsIs = composed.every((value, at) => value === values[at])
          if (isAsIs || composed.includes(null)) continue
          const isSame = texts.map((text, at) => sql`${text} = ${composed[at] ?? null}`)
          const [[stored] = []] = await ask(
            sql`select id from ${name(table)} where ${and(isSame)} limit 1`,
          )
          const known = JSON.stringify(composed.map(String))
          const other = stored ?? others.get(known)
          if (other != null) {
            const from = fields[copy]?.foldedFrom
            throw new Error(twoRows(`${copy} of ${plural}`, plural, from, [other, id]))
          }
          others.set(known, id)
        }
        if (rows.length < batch) return
      }
    })
  }
}
