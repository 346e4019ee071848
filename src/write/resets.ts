/** What a change of a field takes back. */
import type { Entity } from '#model/entity.ts'
import { fold } from '#model/text.ts'
import type { SqlValue } from '#sql/sql.ts'
import { initialValue } from '#write/input.ts'

/** The fields that a change of this one takes back, with the values that they then have; a folded copy follows its field. */
export const takenBack = (
  entity: Entity,
  by: string,
): readonly (readonly [key: string, value: SqlValue])[] =>
  Object.entries(entity.fields).flatMap(([key, { resetBy }]) => {
    if (resetBy !== by) return []
    const value = initialValue(entity, key)
    const copy = typeof value === 'string' ? fold(value) : null
    const copies = Object.entries(entity.fields).filter(([, { foldedFrom }]) => foldedFrom === key)
    return [[key, value], ...copies.map(([own]) => [own, copy] as const)]
  })
