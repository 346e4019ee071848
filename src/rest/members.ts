/** The members of an entity's object in the REST API, derived from its fields and links. */
import type { Entity } from '#model/entity.ts'
import { entityOf, type Model } from '#model/model.ts'
import type { Item } from '#read/selection.ts'

/** The public name of a field in version 1. */
export const memberName = (entity: Entity, field: string): string =>
  entity.fields[field]?.nameInV1 ?? field

/** The names of all the members of its object, in their order. */
export const memberNames = (entity: Entity): readonly string[] => [
  ...Object.entries(entity.fields).flatMap(([key, field]) => {
    if (!field.rest) return []
    const member = memberName(entity, key)
    return [member, ...embeddedAfter(entity, key)]
  }),
  ...(entity.links ? ['_links'] : []),
]

const embeddedAfter = (entity: Entity, field: string): readonly string[] =>
  Object.entries(entity.rest.embedded).flatMap(([key, { after }]) => (after === field ? [key] : []))

/** What to read for the members, all or the chosen ones, in the object's own order; links stand below `prefix`. */
export const itemsOf = (
  model: Model,
  entity: Entity,
  prefix: string,
  chosen: readonly string[] | null,
): readonly Item[] => {
  const embedded = (relation: string): Item => {
    const target = entityOf(model, entity.relations[relation]?.to ?? '')
    return {
      kind: 'relation',
      key: relation,
      relation,
      page: null,
      items: itemsOf(model, target, prefix, null),
    }
  }
  const items: Item[] = Object.entries(entity.fields).flatMap(([key, field]): Item[] => {
    if (!field.rest) return []
    const member = memberName(entity, key)
    return [{ kind: 'field', key: member, field: key }, ...embeddedAfter(entity, key).map(embedded)]
  })
  if (entity.links) items.push({ kind: 'links', key: '_links', prefix, links: entity.links })
  return chosen === null ? items : items.filter(({ key }) => chosen.includes(key))
}
