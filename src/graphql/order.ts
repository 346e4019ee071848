/** Orders of the GraphQL API: the inputs of `orderBy`, and what they ask for. */
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
import { type Entity, mayAskField, mayAskRelation } from '#model/entity.ts'
import { isOrdering } from '#model/field.ts'
import { type Model, typeName } from '#model/model.ts'
import type { Lifetime } from '#model/version.ts'
import { mostHops, mostKeys, type Sort } from '#read/selection.ts'

export const direction = new GraphQLEnumType({
  name: 'SortDirection',
  description: 'Null comes last in both.',
  values: { ASC: {}, DESC: {} },
})

/** Gives the arguments `search` and `orderBy` of the lists of an entity; `marked` says whether a field is deprecated. */
export const orderArguments = (model: Model, marked: (field: Lifetime) => object) => {
  const { entities } = model
  const types = new Map<string, GraphQLInputObjectType>()
  const isOpen = (entity: Entity, key: string): boolean => {
    const field = entity.fields[key]
    return field?.graphql === 'shown' && mayAskField(entity, key) && isOrdering(field)
  }
  /** The relations to rows that an order may go on with. */
  const pathsOf = (entity: Entity) =>
    Object.entries(entity.relations).filter(
      ([key, { kind, graphql, to }]) =>
        kind === 'one' &&
        graphql &&
        entities[to]?.graphql.type &&
        mayAskRelation(entities, entity, key),
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
    return {
      ...search,
      orderBy: { type: new GraphQLList(new GraphQLNonNull(type)), description },
    }
  }
}

/** One key: its only member is a field with a direction, or a relation with a key of the other row. */
type OrderInput = { readonly [member: string]: string | OrderInput }

/** The order that a list is asked for; undefined if it is asked for none. The variables in it decide the plan. */
export const orderIn = (
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
  variables: Variables,
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
    const field = members.at(-1) ?? ''
    const descending = direction === 'DESC'
    return { path, field, descending, nullsLast: true, member: members.join('.') }
  })
}
