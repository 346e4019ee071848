/** What to read for the members of a resource. */
import type { Model } from '#model/model.ts'
import { type Member, type Resource, resourceOf } from '#model/resource.ts'
import type { Item } from '#read/selection.ts'

/** The names of all the members of its object, in their order. */
export const memberNames = ({ members }: Resource): readonly string[] =>
  members.map(({ name }) => name)

/** What to read for the members, all or the chosen ones, in the object's own order; links stand below `prefix`. */
export const itemsOf = (
  model: Model,
  { entity, version, members }: Resource,
  prefix: string,
  chosen: readonly string[] | null,
): readonly Item[] => {
  const itemOf = (member: Member): Item => {
    const key = member.name
    if (member.kind === 'field')
      return { kind: 'field', key, field: member.field, form: member.form }
    if (member.kind === 'links') return { kind: 'links', key, prefix, links: member.links }
    const target = resourceOf(model, entity.relations[key]?.to ?? '', version)
    const items = itemsOf(model, target, prefix, null)
    return { kind: 'relation', key, relation: key, page: null, items }
  }
  return members.filter(({ name }) => chosen === null || chosen.includes(name)).map(itemOf)
}
