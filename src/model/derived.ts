/**
 * What an entity has that its declaration leaves out: its names, and, if it says no route, both APIs as its policy opens them. It fills
 * in the declaration, so what it derives could as well be written there; the table in docs/model.md says the same.
 */
import { mapped } from '#base/object.ts'
import { optionsOf } from '#base/shape.ts'
import { type AnyDeclaration, type Entity, entity, type Filter } from '#model/entity.ts'
import { listArguments, listParameters } from '#model/faults/lists.ts'
import { type Field, id, longest, revision } from '#model/field.ts'
import { columnName, withArticle } from '#model/names.ts'
import { type DeclaredRule, isForAll, ruleOf } from '#model/policy.ts'

type Entities = Readonly<Record<string, Entity>>

/** Whether an entity leaves its routes to its policy: one that says some of them says them all, and its operations too. */
const saysNoRoute = ({ rest = {} }: AnyDeclaration): boolean =>
  (['list', 'one', 'writes', 'nested'] as const).every(part => rest[part] === undefined)

const isOpen = (rule: DeclaredRule | undefined): boolean =>
  rule !== undefined && ruleOf(rule).kind !== 'nobody'

/** The plural of an English word, by its end alone. */
const pluralOf = (name: string): string => {
  if (/[^aeiou]y$/.test(name)) return `${name.slice(0, -1)}ies`
  return /(s|x|z|ch|sh)$/.test(name) ? `${name}es` : `${name}s`
}

/** Whether callers mean rows by the field's values: values of a choice, flags, references, and what is unique. */
const isFiltered = ({ values, scalar, references, unique, rest, readableBy }: Field): boolean =>
  rest &&
  isForAll(readableBy) &&
  (values !== undefined || references !== undefined || unique !== undefined || scalar === 'flag')

/** The first folded copy of a short text, which a list that names no filters is searched by. */
const searchedIn = (fields: Entity['fields']): string | undefined =>
  Object.keys(fields).find(key => {
    const from = fields[fields[key]?.foldedFrom ?? '']
    return from && isForAll(from.readableBy) && longest(from) === 0
  })

/** The filters of a list by their parameters: the fields' own names, and `q` for the folded copy that is searched. */
const filtersOf = (
  fields: Entity['fields'],
  searched: string | undefined,
): Readonly<Record<string, Filter>> => {
  const all: Record<string, Filter> = {}
  for (const [key, field] of Object.entries(fields)) {
    if (key === searched) all.q = { kind: 'contains', field: key }
    if (isFiltered(field) && !listParameters.includes(key))
      all[key] = { kind: 'equals', field: key }
  }
  return all
}

/** The declaration with its id, the revision that updates need, its routes and its operations, if it says no route; links have no list. */
const withRoutes = (draft: AnyDeclaration, isLink: boolean): AnyDeclaration => {
  if (!saysNoRoute(draft)) return draft
  const { policy = {}, rest = {}, graphql = {}, view = false, appendOnly = false } = draft
  const writes = (['create', 'update', 'delete'] as const).filter(
    kind => isOpen(policy[kind]) && !view && (kind === 'create' || !appendOnly),
  )
  const lacks = (key: string) => !Object.hasOwn(draft.fields, key)
  const fields: Record<string, Field> = {
    ...(lacks('id') ? { id: id() } : {}),
    ...draft.fields,
    ...(writes.includes('update') && lacks('revision') ? { revision: revision() } : {}),
  }
  // A field of the name `q` is its own filter.
  const isSearched = !rest.listing?.filters && lacks('q')
  const searched = isSearched ? searchedIn(fields) : undefined
  if (searched !== undefined && fields[searched])
    fields[searched] = { ...fields[searched], indexed: true }
  const isRead = isOpen(policy.enter ?? policy.read)
  const { type = isOpen(policy.read) } = graphql
  const sorts = Object.entries(fields).flatMap(([key, { scalar, initial, touched, rest }]) =>
    scalar === 'time' && initial === 'now' && !touched && rest ? [key, `-${key}`] : [],
  )
  const isSorted = sorts.length > 0 && rest.listing?.paging !== 'cursor'
  return {
    ...draft,
    fields,
    rest: {
      selectable: true,
      ...rest,
      list: isRead && !isLink,
      one: isRead,
      writes: writes.flatMap(kind => (kind === 'update' ? (['replace', kind] as const) : [kind])),
      listing: {
        ...(isSorted && { sort: { style: 'signed list', fields: sorts } }),
        filters: filtersOf(fields, searched),
        ...rest.listing,
      },
    },
    graphql: {
      roots: type && isRead,
      paged: type && isRead,
      mutations: type ? writes : [],
      ...graphql,
      type,
    },
  }
}

/** The links of an object: to itself, to the rows that it refers to, and to the lists below it. */
const linksOf = (entities: Entities, { plural, fields, relations, rest }: Entity) => {
  if (!rest.one) return undefined
  const links: Record<string, string> = { self: `/${plural}/{id}` }
  for (const [key, { kind, to, by, rest: isList }] of Object.entries(relations)) {
    const target = entities[to]
    const field = fields[by]
    if (!target) continue
    if (kind === 'many' && isList) links[key] = `/${plural}/{id}/${key}`
    if (kind === 'one' && target.rest.one && field?.rest && isForAll(field.readableBy))
      links[key] = `/${target.plural}/{${by}}`
  }
  return links
}

/** The fields that are filters of an entity's list in GraphQL; a reference only if its rows may be read. */
const argumentsOf = (entities: Entities, { fields, graphql }: Entity): readonly string[] =>
  Object.entries(fields).flatMap(([key, field]) => {
    const { references: to } = field
    const isNamed = field.graphql === 'shown' && !listArguments.includes(key)
    const isRead = !to || entities[to.entity]?.policy.read !== undefined
    return graphql.type && graphql.roots && isFiltered(field) && isNamed && isRead ? [key] : []
  })

/** The entities with what follows from their names, their policies and each other. */
export const withDerived = <M extends Entities>(entities: M): M => {
  const isLink = (name: string) =>
    Object.values(entities).some(({ relations }) =>
      Object.values(relations).some(({ through }) => through === name),
    )
  const drafts = mapped(entities, (self, name): AnyDeclaration | undefined => {
    const draft = optionsOf(self)?.options as AnyDeclaration | undefined
    if (!draft) return undefined
    const { plural = pluralOf(name), table = columnName(plural) } = draft
    const description = `${withArticle(columnName(name).replaceAll('_', ' '))}.`
    const named = { description: description[0]?.toUpperCase() + description.slice(1), ...draft }
    const isWhole = draft.plural && draft.table && draft.description !== undefined
    return isWhole && !saysNoRoute(draft)
      ? undefined
      : withRoutes({ ...named, plural, table }, isLink(name))
  })
  if (Object.values(drafts).every(draft => draft === undefined)) return entities
  const made: Entities = mapped(entities, (self, name) =>
    drafts[name] ? entity(drafts[name]) : self,
  )
  return mapped(made, (self, name) => {
    const declared = optionsOf(entities[name] as Entity)?.options as AnyDeclaration | undefined
    const draft = drafts[name]
    if (!draft || !declared || !saysNoRoute(declared)) return self
    const { links = draft.linksBy ? undefined : linksOf(made, self), graphql = {} } = draft
    const filters = graphql.filters ?? argumentsOf(made, self)
    return entity({ ...draft, ...(links && { links }), graphql: { ...graphql, filters } })
  }) as M
}
