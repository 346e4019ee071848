/** Orders of the GraphQL API: the inputs of `orderBy`, and the keys that they stand for. */
import {
  type FieldNode,
  GraphQLEnumType,
  type GraphQLField,
  type GraphQLInputFieldConfigMap,
  GraphQLInputObjectType,
  GraphQLList,
  GraphQLNonNull,
} from 'graphql'
import { argumentFault, decidingArgument, small, type Variables } from '#graphql/arguments.ts'
import { searchArgument } from '#graphql/search.ts'
import { foldedCopy } from '#model/condition.ts'
import { type Entity, mayNameField, mayNameRelation } from '#model/entity.ts'
import { isOrdering } from '#model/field.ts'
import { entityOf, type Model, typeName } from '#model/model.ts'
import type { Lifetime } from '#model/version.ts'
import { mostHops, mostKeys, type Sort } from '#read/selection.ts'

export const direction = new GraphQLEnumType({
  name: 'SortDirection',
  description: 'Null comes last in all.',
  values: {
    ASC: {},
    DESC: {},
    ASC_IGNORING_CASE: { description: 'For texts that lists are searched by without case.' },
    DESC_IGNORING_CASE: { description: 'For texts that lists are searched by without case.' },
  },
})

/** Gives the arguments `search` and `orderBy` of the lists of an entity; `marked` says whether a field is deprecated. */
export const orderArguments = (model: Model, marked: (field: Lifetime) => object) => {
  const { entities } = model
  const types = new Map<string, GraphQLInputObjectType>()
  const isOpen = (entity: Entity, key: string): boolean => {
    const field = entity.fields[key]
    return field?.graphql === 'shown' && mayNameField(entity, key) && isOrdering(field)
  }
  /** The relations to rows that an order may go on with. */
  const pathsOf = (entity: Entity) =>
    Object.entries(entity.relations).filter(
      ([key, { kind, graphql, to }]) =>
        kind === 'one' &&
        graphql &&
        entities[to]?.graphql.type &&
        mayNameRelation(entities, entity, key),
    )
  /** Whether an entity has an order at all: an input without members is none. */
  const isOrdered = (entity: Entity, above: readonly Entity[] = []): boolean =>
    Object.keys(entity.search).length > 0 ||
    Object.keys(entity.fields).some(key => isOpen(entity, key)) ||
    pathsOf(entity).some(([, { to }]) => {
      const other = entities[to] as Entity
      return !above.includes(other) && isOrdered(other, [...above, entity])
    })
  for (const [name, entity] of Object.entries(entities)) {
    if (!entity.graphql.type || !isOrdered(entity)) continue
    const fields = () => {
      const all: GraphQLInputFieldConfigMap = {}
      for (const [key, field] of Object.entries(entity.fields))
        if (isOpen(entity, key)) all[key] = { type: direction, ...marked(field) }
      if (Object.keys(entity.search).length > 0)
        all.relevance = { type: direction, description: 'How well they fit the words of search.' }
      for (const [key, relation] of pathsOf(entity)) {
        const type = types.get(relation.to)
        if (type) all[key] = { type, ...marked(relation) }
      }
      return all
    }
    const description = `One key of an order of ${entity.plural}; the id ends each order.`
    const called = { name: `${typeName(name)}Order`, description }
    const type = { ...called, isOneOf: true, fields, extensions: small }
    types.set(name, new GraphQLInputObjectType(type))
  }
  return (entity: string) => {
    const type = types.get(entity)
    const search = searchArgument(entities[entity] as Entity)
    if (!type) return { ...search }
    const description = 'The keys of their order, the first one first.'
    const keys = new GraphQLList(new GraphQLNonNull(type))
    return { ...search, orderBy: { type: keys, description, extensions: { orders: entity } } }
  }
}

/** One key: its only member is a field with a direction, or a relation with a key of the other row. */
type OrderInput = { readonly [member: string]: string | OrderInput }

/** The order in the arguments of a list; undefined if they name none. The variables in it decide the plan. */
export const orderIn = (
  {
    core: { model },
    variables,
  }: { readonly core: { readonly model: Model }; readonly variables: Variables },
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
): readonly Sort[] | undefined => {
  const value = decidingArgument(field, node, 'orderBy', variables)
  const fault = (message: string) => argumentFault(node, 'orderBy', message)
  const keys = (value ?? []) as readonly OrderInput[]
  if (keys.length === 0) return undefined
  if (keys.length > mostKeys)
    throw fault(`has ${keys.length} keys, at most ${mostKeys} are allowed`)
  return keys.map(key => {
    const members: string[] = []
    let direction: string | OrderInput | undefined = key
    while (typeof direction === 'object') {
      const member: string = Object.keys(direction)[0] ?? ''
      members.push(member)
      direction = direction[member]
    }
    const path = members.slice(0, -1)
    if (path.length > mostHops) throw fault(`goes across more than ${mostHops} relations`)
    const own = members.at(-1) ?? ''
    const member = members.join('.')
    const way = String(direction)
    const [descending, isLoose] = [way.startsWith('DESC'), way.endsWith('_IGNORING_CASE')]
    const first = String(field.args.find(({ name }) => name === 'orderBy')?.extensions.orders)
    const entity = path.reduce(
      (at, name) => entityOf(model, at.relations[name]?.to ?? ''),
      entityOf(model, first),
    )
    const copy = isLoose ? foldedCopy(entity, own) : own
    if (copy === undefined)
      throw fault(
        `names ${member}, which has no order without case: take ${descending ? 'DESC' : 'ASC'}`,
      )
    return { path, field: copy, descending, nullsLast: true, member }
  })
}
