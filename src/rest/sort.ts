/** The order of a list of the REST API: what `sort` may name, and the keys that it stands for. */
import { nearest } from '#base/text.ts'
import { foldedCopy } from '#model/condition.ts'
import { type Entity, mayNameField, type Relation } from '#model/entity.ts'
import { isOrdering } from '#model/field.ts'
import { fieldOf, type Model } from '#model/model.ts'
import { type Resource, resourceOf } from '#model/resource.ts'
import type { VersionStyle } from '#model/version.ts'
import { mostHops, mostKeys, type Sort } from '#read/selection.ts'
import type { QueryParameters } from '#rest/query.ts'

/** The order of a list without `sort`. */
export const byId: Sort = { field: 'id', descending: false }

/** Whether rows can be ordered by members of the row that a relation leads to: its id is shown, or GraphQL shows the row. */
const leadsOn = ({ entity }: Resource, name: string, { kind, by, graphql }: Relation): boolean =>
  (entity.filterable?.includes(name) ?? true) &&
  kind === 'one' &&
  (graphql || fieldOf(entity, by).rest)

/** Whether rows can be ordered by a field, and grouped. */
export const isSortable = (entity: Entity, key: string): boolean =>
  mayNameField(entity, key) && isOrdering(fieldOf(entity, key))

/** The folded copy of a text, by which rows are ordered without case. */
const looseOf = (entity: Entity, key: string): string | undefined =>
  fieldOf(entity, key).scalar === 'text' ? foldedCopy(entity, key) : undefined

/** What stands behind a member whose case an order ignores. */
const ignoringCase = ':ignoringCase'

/** The members of an object that rows can be ordered by, those whose case may be ignored also without it, `relevance` in a search, and those across one of its relations to one row. */
export const sortableMembers = (model: Model, resource: Resource): readonly string[] => {
  const own = ({ members, entity }: Resource): readonly string[] =>
    members.flatMap(member =>
      member.kind === 'field' && isSortable(entity, member.field)
        ? [member.name, ...(looseOf(entity, member.field) ? [member.name + ignoringCase] : [])]
        : [],
    )
  const across = Object.entries(resource.entity.relations).flatMap(([name, relation]) =>
    leadsOn(resource, name, relation)
      ? own(resourceOf(model, relation.to, resource.version)).map(member => `${name}.${member}`)
      : [],
  )
  const relevance = Object.keys(resource.entity.search).length > 0 ? ['relevance'] : []
  return [...own(resource), ...relevance, ...across]
}

/** The key that a value such as `-author.name` stands for; undefined if it stands for none. */
const keyOf = (model: Model, resource: Resource, value: string): Sort | undefined => {
  const descending = value.startsWith('-')
  const member = descending ? value.slice(1) : value
  const isLoose = member.endsWith(ignoringCase)
  if (member === 'relevance' && Object.keys(resource.entity.search).length > 0)
    return { field: member, isRelevance: true, descending, member }
  const path = (isLoose ? member.slice(0, -ignoringCase.length) : member).split('.')
  const last = path.pop() ?? ''
  if (path.length > mostHops) return undefined
  let at = resource
  for (const name of path) {
    const { relations } = at.entity
    const relation = Object.hasOwn(relations, name) ? relations[name] : undefined
    if (!relation || !leadsOn(at, name, relation)) return undefined
    at = resourceOf(model, relation.to, resource.version)
  }
  const shown = at.members.find(one => one.kind === 'field' && one.name === last)
  if (shown?.kind !== 'field' || !isSortable(at.entity, shown.field)) return undefined
  const field = isLoose ? looseOf(at.entity, shown.field) : shown.field
  return field === undefined ? undefined : { path, field, descending, nullsLast: true, member }
}

/**
 * The order that a request names; by id ascending if it names none, or newest first where pages have cursors. A strict version
 * refuses unknown values of a signed list such as `-price,name`; in others such a value stands for id ascending, after which nothing
 * matters. A strict one takes a signed list of any members, beside what is declared; what a lenient one ignores means nothing to it.
 */
export const sortOf = (
  model: Model,
  resource: Resource,
  query: QueryParameters,
  { isStrict }: Pick<VersionStyle, 'isStrict'>,
): readonly Sort[] => {
  const { entity, sorts } = resource
  const { sort, paging } = entity.rest.listing
  const usual = paging === 'cursor' ? { ...byId, descending: true } : byId
  const text = sort || isStrict ? query.get('sort') : undefined
  const declared = (value: string | undefined) => sorts.find(({ name }) => name === value)
  const term = declared(text)
  if (sort?.style === 'field and order' && (text === undefined || term || !isStrict)) {
    const order = query.get('order')
    if (text !== undefined && !term)
      query.fault('sort', `must be one of ${sorts.map(({ name }) => name).join(', ')}`)
    if (order !== undefined && order !== 'asc' && order !== 'desc')
      query.fault('order', 'must be asc or desc')
    const [field, member] = term ? [term.field, term.name] : ['id', 'id']
    return [{ field, member, descending: order === 'desc' }]
  }
  if (sort?.style === 'field and order' && query.get('order') !== undefined)
    query.fault('order', 'goes with one field alone: write - before each that descends')
  const found: Sort[] = []
  for (const value of text?.split(',') ?? []) {
    const own = declared(value)
    const key = own
      ? { field: own.field, descending: own.descending, member: value.replace(/^-/, '') }
      : isStrict
        ? keyOf(model, resource, value)
        : undefined
    if (!key && !isStrict) return [...found, sort ? byId : usual]
    if (!key) {
      const known = sortableMembers(model, resource)
      const near = nearest(value.replace(/^-/, ''), known)
      const hint =
        near === undefined
          ? `each value must be one of ${[...new Set([...sorts.map(({ name }) => name), ...known])].join(', ')}`
          : `did you mean ${value.startsWith('-') ? '-' : ''}${near}?`
      query.fault('sort', `names ${value || 'nothing'}; ${hint}`)
      return [byId]
    }
    if (key.isRelevance && !query.has('search'))
      query.fault('sort', 'names relevance, and there is no search')
    // A second sort by the same field has no effect.
    if (!found.some(({ member }) => member === key.member)) found.push(key)
  }
  if (found.length > mostKeys && found.some(({ nullsLast }) => nullsLast))
    query.fault('sort', `names ${found.length} members, and at most ${mostKeys} are taken`)
  return found.length > 0 ? found : [usual]
}
