/** Rows for all the entities of any model, as they are stored. */

import type { OpenStore } from '#content.ts'
import { fileOf, taken, validValue } from '#kit/check/values.ts'
import type { Entity } from '#model/entity.ts'
import { type Field, isDerived } from '#model/field.ts'
import { entityOf, type Model } from '#model/model.ts'
import { dependenciesFirst } from '#model/references.ts'
import { foldedAs } from '#model/words.ts'
import { manyInserter } from '#serve/insert.ts'
import type { SqlValue } from '#sql/sql.ts'

/** The subject of the row with an id, where tokens have subjects. */
export const subjectFor = (id: number): string => `idp|${id}`

/** How many rows each entity has; the last of the viewers is blocked. */
export const rowCount = 11

/** A value of a body as it is stored. */
export const stored = (field: Field, value: unknown, digits: number): SqlValue => {
  if (value === null) return null
  if (field.file) return fileOf(String(value))
  const data = taken(field.rule, value)
  if (field.scalar === 'money') return Math.round(Number(data) * 10 ** digits)
  if (field.scalar === 'decimal') return Math.round(Number(data) * 10 ** field.scale)
  if (field.scalar === 'time') return Date.parse(String(data))
  if (field.scalar === 'flag') return data === true ? 1 : 0
  if (field.scalar === 'json' || field.scalar === 'list') return JSON.stringify(data)
  return data as SqlValue
}

/** The id that a reference holds: spread over the rows, so that some have many and some none. */
const referredId = (name: string, key: string, entity: Entity, n: number): number | null => {
  const { references, unique, nullable } = entity.fields[key] as Field
  if (references?.entity === name) return n % 3 === 0 ? null : Math.floor(n / 3) + 1
  if (unique !== undefined) return nullable && n % 4 === 3 ? null : n + 1
  if (nullable && n % 4 === 3) return null
  const place = Object.keys(entity.fields)
    .filter(other => entity.fields[other]?.references)
    .indexOf(key)
  // The first leads to four, each with several rows; no two rows have the same first and second.
  return place === 0 ? (n % 4) + 1 : ((n * place + Math.floor(n / 4)) % (rowCount - 2)) + 1
}

/** The n-th row of an entity, by field. */
const rowOf = (model: Model, name: string, n: number): Map<string, SqlValue> => {
  const entity = entityOf(model, name)
  const { digits } = model.settings.currency
  const row = new Map<string, SqlValue>()
  for (const [key, field] of Object.entries(entity.fields)) {
    if (key === 'id') row.set(key, n + 1)
    else if (key === 'revision') row.set(key, 1)
    else if (field.references) row.set(key, referredId(name, key, entity, n))
    // What the store computes and counts is left to it.
    else if (!isDerived(field)) {
      // What no API takes has its form from the code that writes it, which a plain word suits best.
      const isClosed = !field.rest && field.graphql === 'hidden' && !field.values
      const word = `text-of-${10_000_000 + n}`.slice(0, field.range?.max)
      const isWord = isClosed && field.scalar === 'text' && taken(field.rule, word) !== undefined
      const value = isWord ? word : validValue(`${name}.${key}`, field, n)
      row.set(key, stored(field, value, digits))
    }
  }
  for (const [key, field] of Object.entries(entity.fields))
    if (field.foldedFrom !== undefined)
      row.set(key, foldedAs(field, String(row.get(field.foldedFrom))))
  const { entity: viewers, blocked, by } = model.viewers
  if (name !== viewers) return row
  if (by !== undefined) row.set(by, subjectFor(n + 1))
  if (!blocked) return row
  if (n === rowCount - 1) row.set(blocked.field, blocked.value)
  else if (row.get(blocked.field) === blocked.value)
    row.set(
      blocked.field,
      entity.fields[blocked.field]?.values?.find(v => v !== blocked.value) ?? '',
    )
  return row
}

/** Puts generated rows of each entity into an empty store; gives a sentence for each entity of which some could not be made. */
export const fillWith = async (model: Model, store: OpenStore): Promise<readonly string[]> => {
  const notes: string[] = []
  const entities = dependenciesFirst(model.entities).filter(([, { view }]) => !view)
  for (const [name, entity] of entities) {
    const put = manyInserter(store, entity)
    const faults: string[] = []
    for (let n = 0; n < rowCount; n++)
      await put([rowOf(model, name, n)]).catch(error => faults.push(error.message))
    if (faults.length > 0)
      notes.push(`${faults.length} of ${rowCount} rows of ${name} could not be made: ${faults[0]}`)
  }
  await store.session.settleIds(entities.map(([, { table }]) => table))
  return notes
}
