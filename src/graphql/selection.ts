/** An operation as a Selection: the GraphQL specification's algorithms, by their names. */
import {
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLField,
  GraphQLIncludeDirective,
  type GraphQLObjectType,
  GraphQLSkipDirective,
  getDirectiveValues,
  getNamedType,
  type getVariableValues,
  isNonNullType,
  isObjectType,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql'
import { GraphqlErrors } from '#graphql/document.ts'
import type { Schema } from '#graphql/schema.ts'
import type { Entity } from '#model/entity.ts'
import { parseId } from '#model/id.ts'
import { entityOf, type Model, typeName } from '#model/model.ts'
import type { Item, Place, Root, Slot, Value } from '#read/selection.ts'

/** The coerced variables of a request, as graphql-js makes them. */
export type Variables = ReturnType<typeof getVariableValues>['variableValues'] & {}

export type Arguments = Readonly<Record<string, unknown>>

/** What is selected under one response key: nodes that are merged. */
export type Collected = ReadonlyMap<string, readonly FieldNode[]>

const conditionHolds = (node: SelectionNode, variables: Variables): boolean =>
  getDirectiveValues(GraphQLSkipDirective, node, variables)?.if !== true &&
  getDirectiveValues(GraphQLIncludeDirective, node, variables)?.if !== false

/** CollectFields (section 6.3.2). Every type here is an object type, so a fragment that is valid applies. */
export const collectFields = (
  sets: readonly SelectionSetNode[],
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  variables: Variables,
): Collected => {
  const grouped = new Map<string, FieldNode[]>()
  const visited = new Set<string>()
  const collect = (set: SelectionSetNode): void => {
    for (const selection of set.selections) {
      if (!conditionHolds(selection, variables)) continue
      if (selection.kind === 'Field') {
        const key = selection.alias?.value ?? selection.name.value
        const group = grouped.get(key)
        if (group) group.push(selection)
        else grouped.set(key, [selection])
      } else if (selection.kind === 'InlineFragment') collect(selection.selectionSet)
      else if (!visited.has(selection.name.value)) {
        visited.add(selection.name.value)
        const fragment = fragments.get(selection.name.value)
        if (fragment) collect(fragment.selectionSet)
      }
    }
  }
  for (const set of sets) collect(set)
  return grouped
}

/** Where a field stands in its document, for errors. */
export const placeOf = (node: FieldNode): { at?: Place } => {
  const token = node.loc?.startToken
  return token ? { at: { line: token.line, column: token.column } } : {}
}

/** Slots that are filled anew for each request, from its variables. */
export type Slots = {
  /** The index that this value will have. */
  readonly take: (value: (variables: Variables) => Value) => Slot
  readonly fill: (first: Value, variables: Variables) => Value[]
}

/** Slots after the viewer's and `reserved` ones that the caller sets. */
export const createSlots = (reserved: number): Slots => {
  const makers: ((variables: Variables) => Value)[] = []
  return {
    take: value => makers.push(value) + reserved,
    fill: (first, variables) => {
      const values: Value[] = [first]
      for (let index = 0; index < reserved; index++) values.push(null)
      for (const make of makers) values.push(make(variables))
      return values
    },
  }
}

const mostPerPage = 100
// Above every budget: the statement's own limit and the count of objects decide.
const everything = 1_000_000

/** How many a `limit` argument asks for; `usual` where it asks for none. */
const limitOf = (limit: unknown, usual: number): number =>
  limit == null ? usual : Math.min(Math.max(Number(limit), 1), mostPerPage)

const offsetOf = (offset: unknown): number => Math.max(Number(offset ?? 0), 0)

/** Gives an argument's value for some variables; undefined where the request gives none. */
type ReadArgument = (variables: Variables) => unknown

/**
 * CoerceArgumentValues (section 6.4.1) for one argument of a scalar type, settled as far as the document goes:
 * graphql-js's own took a tenth of a small query, each time anew.
 */
const argumentOf = (
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
  name: string,
): ReadArgument => {
  const argument = field.args.find(argument => argument.name === name)
  const value = node.arguments?.find(({ name: given }) => given.value === name)?.value
  if (!argument || !value) return () => undefined
  if (value.kind !== 'Variable') {
    const literal = 'value' in value ? value.value : null
    return () => literal
  }
  const variable = value.name.value
  if (!isNonNullType(argument.type)) return ({ coerced }) => coerced[variable]
  return ({ coerced }) => {
    if (coerced[variable] != null) return coerced[variable]
    const message = `Argument "${name}" of non-null type "${argument.type}" must not be null.`
    throw new GraphqlErrors('BAD_USER_INPUT', [new GraphQLError(message, { nodes: value })])
  }
}

export type Selecting = {
  readonly schema: Schema
  readonly model: Model
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>
  readonly variables: Variables
  readonly slots: Slots
}

const fieldOfType = (type: GraphQLObjectType, name: string): GraphQLField<unknown, unknown> => {
  const field = type.getFields()[name]
  if (!field) throw new Error(`${type.name} has no field ${name}`)
  return field
}

/** The slots of a list's page, from its arguments; null where the document gives none and the list is whole. */
const pageOf = (
  selecting: Selecting,
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
  usual: number,
) => {
  const isAsked = node.arguments?.some(
    ({ name }) => name.value === 'limit' || name.value === 'offset',
  )
  if (!isAsked && usual === everything) return null
  const limit = argumentOf(field, node, 'limit')
  const offset = argumentOf(field, node, 'offset')
  return {
    limit: selecting.slots.take(variables => limitOf(limit(variables), usual)),
    offset: node.arguments?.some(({ name }) => name.value === 'offset')
      ? selecting.slots.take(variables => offsetOf(offset(variables)))
      : null,
  }
}

/** The members of an object type that a selection set asks for (section 6.3). */
export const itemsOf = (
  selecting: Selecting,
  type: GraphQLObjectType,
  sets: readonly SelectionSetNode[],
): readonly Item[] => {
  const collected = collectFields(sets, selecting.fragments, selecting.variables)
  return [...collected].map(([key, nodes]): Item => {
    const node = nodes[0] as FieldNode
    const name = node.name.value
    if (name === '__typename') return { kind: 'text', key, json: JSON.stringify(type.name) }
    const field = fieldOfType(type, name)
    const target = getNamedType(field.type)
    if (!isObjectType(target)) return { kind: 'field', key, field: name, ...placeOf(node) }
    return {
      kind: 'relation',
      key,
      relation: name,
      page: field.args.length > 0 ? pageOf(selecting, field, node, everything) : null,
      items: itemsOf(
        selecting,
        target,
        nodes.flatMap(({ selectionSet }) => selectionSet ?? []),
      ),
      ...placeOf(node),
    }
  })
}

/** The id that an argument names, 0 where it names nothing: no row has it. */
export const idArgument = (value: unknown): number => parseId(String(value)) ?? 0

/** A root of a query: what it reads, and the arguments of it that name nothing. */
export const rootOf = (
  selecting: Selecting,
  kind: 'one' | 'list',
  entityName: string,
  key: string,
  nodes: readonly FieldNode[],
): Root => {
  const { model, schema, slots, variables } = selecting
  const entity: Entity = entityOf(model, entityName)
  const node = nodes[0] as FieldNode
  const field = fieldOfType(schema.schema.getQueryType() as GraphQLObjectType, node.name.value)
  const type = schema.schema.getType(typeName(entityName)) as GraphQLObjectType
  const argument = (name: string) => {
    const read = argumentOf(field, node, name)
    return slots.take(values => idArgument(read(values)))
  }
  const shared = {
    entity: entityName,
    items: itemsOf(
      selecting,
      type,
      nodes.flatMap(({ selectionSet }) => selectionSet ?? []),
    ),
    fetchOneMore: false,
    total: false,
    key,
    ...placeOf(node),
  }
  if (kind === 'one')
    return {
      ...shared,
      where: [{ field: 'id', is: 'equals', slot: argument('id') }],
      exists: [],
      sort: [],
      many: false,
      page: null,
    }
  const filters = entity.graphql.filters
    .filter(name => argumentOf(field, node, name)(variables) != null)
    .map(name => ({ name, slot: argument(name) }))
  const exists = filters.flatMap(({ name, slot }) => {
    const { references } = entity.fields[name] ?? {}
    return references ? [{ entity: references.entity, slot }] : []
  })
  return {
    ...shared,
    where: filters.map(({ name, slot }) => ({ field: name, is: 'equals', slot })),
    exists,
    sort: [{ field: 'id', descending: !entity.graphql.paged }],
    many: true,
    page: pageOf(
      selecting,
      field,
      node,
      entity.graphql.paged ? entity.rest.listing.limit : everything,
    ),
  }
}

/** Which filters of the roots a request gives: with the operation and its conditions they decide the plan. */
export const shapeOf = (
  collected: Collected,
  schema: Schema,
  model: Model,
  variables: Variables,
): string => {
  let shape = ''
  for (const [, [node]] of collected) {
    const root = node && schema.roots.get(node.name.value)
    if (root?.kind !== 'list' || !node?.arguments?.length) continue
    const { filters } = entityOf(model, root.entity).graphql
    if (filters.length === 0) continue
    const field = fieldOfType(schema.schema.getQueryType() as GraphQLObjectType, node.name.value)
    shape += filters
      .map(name => (argumentOf(field, node, name)(variables) == null ? '-' : '+'))
      .join('')
  }
  return shape
}
