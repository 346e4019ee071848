/** The members of an entity's object in the REST voice, derived from its fields and links. */
import type { Entity } from '#model/entity.ts'
import type { Item } from '#read/selection.ts'

/** The public name of a field in version 1. */
export const memberName = (entity: Entity, field: string): string =>
  entity.fields[field]?.nameInV1 ?? field

/** The names of all the members of its object, in their order. */
export const memberNames = (entity: Entity): readonly string[] => [
  ...Object.entries(entity.fields).flatMap(([key, field]) =>
    field.rest ? [memberName(entity, key)] : [],
  ),
  ...(Object.keys(entity.links).length > 0 ? ['_links'] : []),
]

/** What to read for the members, all or the chosen ones, in the object's own order; links stand below `prefix`. */
export const itemsOf = (
  entity: Entity,
  prefix: string,
  chosen: readonly string[] | null,
): readonly Item[] => {
  const items: Item[] = Object.entries(entity.fields).flatMap(([key, field]) =>
    field.rest ? [{ kind: 'field', key: memberName(entity, key), field: key }] : [],
  )
  if (Object.keys(entity.links).length > 0)
    items.push({ kind: 'links', key: '_links', prefix, links: entity.links })
  return chosen === null ? items : items.filter(({ key }) => chosen.includes(key))
}
