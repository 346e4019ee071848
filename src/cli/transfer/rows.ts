/** Puts in one row of an import, checked by the model's rules; gives its faults where it has any. */
import { ask } from '#cli/ask.ts'
import { inserter } from '#cli/fill.ts'
import type { ContentStore, OpenStore, PutRow } from '#cli/row-sources.ts'
import type { FieldFault } from '#errors.ts'
import type { Entity } from '#model/entity.ts'
import { entityOf, uniqueFields } from '#model/model.ts'
import { ConstraintError } from '#sql/engine.ts'
import { name, sql } from '#sql/sql.ts'
import { checkInput, type Use, type Values } from '#write/input.ts'

/** The faults of a row that refers to missing rows. */
export const dangling = async (
  store: ContentStore,
  entity: Entity,
  values: Values,
): Promise<readonly FieldFault[]> => {
  const faults: FieldFault[] = []
  for (const [key, value] of values) {
    const { references } = entity.fields[key] ?? {}
    if (!references || value === null) continue
    const { table } = entityOf(store.model, references.entity)
    const found = await ask(store, sql`select 1 from ${name(table)} where id = ${value}`)
    if (found.length > 0) continue
    const message = `names ${references.entity} ${value}, which does not exist`
    faults.push({ field: key, message })
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

/** Puts rows of an entity in, each of which is one row of its table. */
export const plainRows = (store: ContentStore, entity: Entity, use: Use): PutRow => {
  const put = inserter(store, entity)
  return async row => {
    const { values, faults } = checkInput(entity, row, use)
    if (faults.length > 0) return faults
    const missing = await dangling(store, entity, values)
    return missing.length > 0 ? missing : orTaken(store, entity, () => put(values))
  }
}
