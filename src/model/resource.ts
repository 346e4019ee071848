/** Resources: the part of an entity that a version of the REST API shows and takes, derived from its declaration. */
import { mapped } from '#base/object.ts'
import type { Entity, Filter, Links } from '#model/entity.ts'
import type { Field } from '#model/field.ts'
import { entityOf } from '#model/names.ts'
import { type Form, isIn, type Version, variantOf } from '#model/version.ts'

/** A member of an object, in its order. */
export type Member =
  | {
      readonly kind: 'field'
      readonly name: string
      readonly field: string
      readonly form: Form | undefined
    }
  | { readonly kind: 'embedded'; readonly name: string }
  | { readonly kind: 'links'; readonly name: '_links'; readonly links: Links }

/** A value of `sort`, with a sign if it descends, and the field it sorts by. */
type SortTerm = { readonly name: string; readonly field: string; readonly descending: boolean }

/** An entity as a version of the REST API has it. */
export type Resource = {
  readonly name: string
  readonly entity: Entity
  readonly version: Version
  readonly members: readonly Member[]
  readonly filters: Readonly<Record<string, Filter>>
  readonly sorts: readonly SortTerm[]
  /** The field behind a member, shown or not; undefined if this version has no such member. */
  readonly fieldNamed: (member: string) => string | undefined
  /** The name of a field's member; the field's own name if this version does not have it. */
  readonly nameOf: (field: string) => string
  readonly formOf: (field: string) => Form | undefined
}

const derived = (name: string, entity: Entity, version: Version): Resource => {
  const { fields, links, rest } = entity
  const variants = new Map(
    Object.entries(fields)
      .filter(([, field]) => isIn(field, version))
      .map(([key, field]) => {
        const { name = key, form } = variantOf(field, version)
        return [key, { name, form }] as const
      }),
  )
  const keys = new Map([...variants].map(([key, variant]) => [variant.name, key] as const))

  const members = Object.entries(fields).flatMap(([key, field]): Member[] => {
    const variant = variants.get(key)
    const embedded = Object.entries(rest.embedded)
      .filter(([, { after, ...lifetime }]) => after === key && isIn(lifetime, version))
      .map(([name]) => ({ kind: 'embedded', name }) as const)
    return variant && field.rest
      ? [{ kind: 'field', field: key, ...variant }, ...embedded]
      : embedded
  })
  if (links) {
    const cases = mapped(links.cases, named =>
      Object.fromEntries(Object.entries(named).filter(([, link]) => isIn(link, version))),
    )
    members.push({ kind: 'links', name: '_links', links: { by: links.by, cases } })
  }

  const filters = Object.entries(rest.listing.filters ?? {}).filter(
    ([, filter]) => isIn(filter, version) && variants.has(filter.field),
  )

  const { fields: terms = [], lifetimes = {} } = rest.listing.sort ?? {}
  const sorts = terms.flatMap(term => {
    const descending = term.startsWith('-')
    const field = descending ? term.slice(1) : term
    const variant = variants.get(field)
    if (!variant || !isIn(lifetimes[term] ?? {}, version)) return []
    return [{ name: descending ? `-${variant.name}` : variant.name, field, descending }]
  })

  return {
    name,
    entity,
    version,
    members,
    filters: Object.fromEntries(filters),
    sorts,
    fieldNamed: member => keys.get(member),
    nameOf: field => variants.get(field)?.name ?? field,
    formOf: field => variants.get(field)?.form,
  }
}

// Each route asks for it, under each prefix and for each version: to derive it anew made the start a third slower.
const known = new WeakMap<Entity, Map<string, Resource>>()

/** An entity as a version of the REST API has it. */
export const resourceIn = (name: string, entity: Entity, version: Version): Resource =>
  known
    .getOrInsertComputed(entity, () => new Map())
    .getOrInsertComputed(`${version} ${name}`, () => derived(name, entity, version))

/** The resource of an entity of a model in a version; an error if there is no such entity. */
export const resourceOf = (
  model: { readonly entities: Readonly<Record<string, Entity>> },
  name: string,
  version: Version,
): Resource => resourceIn(name, entityOf(model, name), version)

/** The field of that name, or else the one that some version calls so: another field may have had the name before. */
export const fieldNamedEver = (entity: Entity, member: string): string | undefined => {
  if (Object.hasOwn(entity.fields, member)) return member
  const isNamed = ({ until, from }: Field) =>
    [...Object.values(until), ...Object.values(from)].some(({ name }) => name === member)
  const [key] = Object.entries(entity.fields).find(([, field]) => isNamed(field)) ?? []
  return key
}
