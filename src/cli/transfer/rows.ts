/** The faults of a row of an import that only the store can tell: what it refers to is missing, or its values are taken. */
import { ask } from '#cli/ask.ts'
import type { ContentStore, OpenStore } from '#cli/row-sources.ts'
import type { FieldFault } from '#errors.ts'
import type { Entity } from '#model/entity.ts'
import { entityOf, uniqueFields } from '#model/model.ts'
import { ConstraintError } from '#sql/engine.ts'
import { name, type SqlValue, sql } from '#sql/sql.ts'
import type { Values } from '#write/input.ts'

/** The fault of a row whose reference names a row that is not there. */
export const absent = (entity: Entity, field: string, value: SqlValue): FieldFault => ({
  field,
  message: `names ${entity.fields[field]?.references?.entity} ${value}, which does not exist`,
})

/** The faults of a row that refers to missing rows; it may refer to itself. */
export const dangling = async (
  store: ContentStore,
  entity: Entity,
  values: Values,
): Promise<readonly FieldFault[]> => {
  const faults: FieldFault[] = []
  for (const [key, value] of values) {
    const { references } = entity.fields[key] ?? {}
    if (!references || value === null) continue
    const target = entityOf(store.model, references.entity)
    if (target === entity && value === values.get('id')) continue
    const found = await ask(store, sql`select 1 from ${name(target.table)} where id = ${value}`)
    if (found.length === 0) faults.push(absent(entity, key, value))
  }
  return faults
}

const taken = (error: ConstraintError, entity: Entity): readonly FieldFault[] => {
  const columns = error.target.split('.')[1] ?? ''
  const keys = uniqueFields(entity, columns)
  const message = error.kind === 'unique' ? 'is in use already' : 'is out of range'
  const named = keys.length > 0 ? keys : [columns]
  return named.map(key => ({ field: entity.fields[key]?.foldedFrom ?? key, message }))
}

/** Puts a checked row in; a constraint of the store is a fault of the row, and nothing of it stays. */
export const orTaken = async (
  { session }: OpenStore,
  entity: Entity,
  put: () => Promise<unknown>,
): Promise<readonly FieldFault[]> => {
  try {
    await session.attempt(put)
    return []
  } catch (error) {
    if (error instanceof ConstraintError) return taken(error, entity)
    throw error
  }
}
