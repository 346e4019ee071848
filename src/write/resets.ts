/** What a change of a field takes back. */
import type { Entity } from '#model/entity.ts'
import type { SqlValue } from '#sql/sql.ts'
import { addFolded, initialValue, type Values } from '#write/input.ts'

/** The fields that a change of this one takes back, with the values that they then have; a folded copy follows its field. */
export const takenBack = (entity: Entity, by: string): Values => {
  const values = new Map<string, SqlValue>()
  for (const [key, { resetBy }] of Object.entries(entity.fields))
    if (resetBy === by) values.set(key, initialValue(entity, key))
  if (values.size > 0) addFolded(entity, values)
  return values
}
