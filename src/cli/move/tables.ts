/** The tables of a move, in an order in which they can be filled. */
import type { MovedTable } from '#engines/shared/moving.ts'
import type { Entity } from '#model/entity.ts'
import { longest } from '#model/field.ts'
import { columnName, type Entities } from '#model/model.ts'
import { dependenciesFirst, selfReferences } from '#model/references.ts'

/** The number of rows in a batch: the larger a row may be, the fewer. */
const pageOf = ({ fields }: Entity): number => {
  const all = Object.values(fields)
  if (all.some(({ scalar }) => scalar === 'bytes')) return 20
  return all.some(field => longest(field) > 0) ? 250 : 1000
}

const tableOf = (entity: Entity, entities: Entities): MovedTable => ({
  name: entity.table,
  key: ['id'],
  columns: Object.fromEntries(
    Object.entries(entity.fields).map(([key, { scalar }]) => [columnName(key), scalar]),
  ),
  own: selfReferences(entities, entity).map(columnName),
  appendOnly: entity.appendOnly,
  page: pageOf(entity),
})

/** The entities' tables; targets of references come first. */
export const contentTables = (entities: Entities): readonly MovedTable[] =>
  dependenciesFirst(entities).map(([, entity]) => tableOf(entity, entities))
