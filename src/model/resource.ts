/** Resources: what a version of the REST API shows and takes of an entity, derived from its declaration. */
import { mapped } from '#base/object.ts'
import type { Entity, Filter, Links } from '#model/entity.ts'
import type { Field } from '#model/field.ts'
import type { Form } from '#model/form.ts'
import { entityOf } from '#model/names.ts'
import { isIn, type Version, variantOf } from '#model/version.ts'

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

/** A value of `sort`, signed where it descends, and the field it sorts by. */
export type SortTerm = {
  readonly name: string
  readonly field: string
  readonly descending: boolean
}

export type Resource = {
  readonly name: string
  readonly entity: Entity
  readonly version: Version
  readonly members: readonly Member[]
  readonly filters: Readonly<Record<string, Filter>>
  readonly sorts: readonly SortTerm[]
  /** The field that a member is of, shown or not; undefined where this version has no such member. */
  readonly fieldNamed: (member: string) => string | undefined
  /** The name of a field's member; the field's own name where this version does not have it. */
  readonly nameOf: (field: string) => string
  readonly formOf: (field: string) => Form | undefined
}

const linksIn = ({ by, cases }: Links, version: Version): Links => ({
  by,
  cases: mapped(cases, named =>
    Object.fromEntries(Object.entries(named).filter(([, link]) => isIn(link, version))),
  ),
})

type NamedFields = ReadonlyMap<string, { readonly name: string; readonly form: Form | undefined }>

const namedIn = (entity: Entity, version: Version): NamedFields =>
  new Map(
    Object.entries(entity.fields)
      .filter(([, field]) => isIn(field, version))
      .map(([key, field]) => {
        const { name = key, form } = variantOf(field, version)
        return [key, { name, form }]
      }),
  )

const membersOf = (entity: Entity, version: Version, named: NamedFields): readonly Member[] => {
  const members: Member[] = Object.entries(entity.fields).flatMap(([key, field]): Member[] => {
    const own = named.get(key)
    const embedded = Object.entries(entity.rest.embedded).flatMap(
      ([name, { after, ...lifetime }]) =>
        after === key && isIn(lifetime, version) ? [{ kind: 'embedded', name } as const] : [],
    )
    return own && field.rest ? [{ kind: 'field', field: key, ...own }, ...embedded] : embedded
  })
  return entity.links
    ? [...members, { kind: 'links', name: '_links', links: linksIn(entity.links, version) }]
    : members
}

const sortsOf = ({ rest }: Entity, version: Version, named: NamedFields): readonly SortTerm[] => {
  const { fields = [], lifetimes = {} } = rest.listing.sort ?? {}
  return fields.flatMap(term => {
    const descending = term.startsWith('-')
    const field = descending ? term.slice(1) : term
    const own = named.get(field)
    if (!own || !isIn(lifetimes[term] ?? {}, version)) return []
    return [{ name: descending ? `-${own.name}` : own.name, field, descending }]
  })
}

const derived = (name: string, entity: Entity, version: Version): Resource => {
  const named = namedIn(entity, version)
  const fields = new Map([...named].map(([key, own]) => [own.name, key] as const))
  const filters = Object.entries(entity.rest.listing.filters ?? {}).filter(
    ([, filter]) => isIn(filter, version) && named.has(filter.field),
  )
  return {
    name,
    entity,
    version,
    members: membersOf(entity, version, named),
    filters: Object.fromEntries(filters),
    sorts: sortsOf(entity, version, named),
    fieldNamed: member => fields.get(member),
    nameOf: field => named.get(field)?.name ?? field,
    formOf: field => named.get(field)?.form,
  }
}

// Each route asks for it, under each prefix and for each version: to derive it anew made the start a third slower.
const known = new WeakMap<Entity, Map<string, Resource>>()

/** An entity as a version of the REST API has it. */
export const resourceIn = (name: string, entity: Entity, version: Version): Resource =>
  known
    .getOrInsertComputed(entity, () => new Map())
    .getOrInsertComputed(`${version} ${name}`, () => derived(name, entity, version))

/** The resource of an entity of a model in a version; an error where there is no such entity. */
export const resourceOf = (
  model: { readonly entities: Readonly<Record<string, Entity>> },
  name: string,
  version: Version,
): Resource => {
  return resourceIn(name, entityOf(model, name), version)
}

/** The field of that name, or else the one that some version calls so: another field may have had the name before. */
export const fieldNamedEver = (entity: Entity, member: string): string | undefined => {
  if (Object.hasOwn(entity.fields, member)) return member
  const isNamed = ({ until, from }: Field) =>
    [...Object.values(until), ...Object.values(from)].some(({ name }) => name === member)
  const [key] = Object.entries(entity.fields).find(([, field]) => isNamed(field)) ?? []
  return key
}
