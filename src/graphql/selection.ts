/** An operation as a Selection: the GraphQL specification's algorithms, by their names. */
import {
  type FieldNode,
  type GraphQLField,
  GraphQLIncludeDirective,
  type GraphQLObjectType,
  GraphQLSkipDirective,
  getDirectiveValues,
  getNamedType,
  isObjectType,
  type SelectionSetNode,
} from 'graphql'
import type { Core } from '#core.ts'
import type { ErrorLocation } from '#errors.ts'
import {
  type ArgumentSlots,
  argumentOf,
  filterValue,
  idArgument,
  pageOf,
  type Variables,
} from '#graphql/arguments.ts'
import type { GraphqlOperation } from '#graphql/document.ts'
import { orderIn } from '#graphql/order.ts'
import type { DerivedSchema, RootField } from '#graphql/schema.ts'
import { searchIn } from '#graphql/search.ts'
import type { Predicate } from '#model/condition.ts'
import type { Entity } from '#model/entity.ts'
import { entityOf, typeName } from '#model/model.ts'
import type { Viewer } from '#model/policy.ts'
import {
  comparing,
  type Item,
  type Location,
  oneRow,
  type Root,
  type Slot,
  type Sort,
} from '#read/selection.ts'

/** The field nodes under each response key, which are merged. */
export type Collected = ReadonlyMap<string, readonly FieldNode[]>

/** CollectFields (section 6.3.2). Every type here is an object type, so a fragment that is valid applies. */
export const collectFields = (
  sets: readonly SelectionSetNode[],
  { fragments }: GraphqlOperation,
  variables: Variables,
): Collected => {
  const grouped = new Map<string, FieldNode[]>()
  const visited = new Set<string>()
  const collect = (set: SelectionSetNode): void => {
    for (const selection of set.selections) {
      if (getDirectiveValues(GraphQLSkipDirective, selection, variables)?.if === true) continue
      if (getDirectiveValues(GraphQLIncludeDirective, selection, variables)?.if === false) continue
      if (selection.kind === 'Field') {
        const key = selection.alias?.value ?? selection.name.value
        grouped.getOrInsert(key, []).push(selection)
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

/** The line and column of a field in its document. */
export const startOf = (node: FieldNode): { readonly at?: Location } => {
  const token = node.loc?.startToken
  return token ? { at: { line: token.line, column: token.column } } : {}
}

/** The location of a root field, for errors. */
export const locationOf = (key: string, node: FieldNode): ErrorLocation => ({
  path: [key],
  ...startOf(node),
})

/** An operation to run: for whom, and with which variables. */
export type Execution = {
  readonly core: Core
  readonly schema: DerivedSchema
  readonly operation: GraphqlOperation
  readonly variables: Variables
  readonly viewer: Viewer
}

/** An execution on its way to a Selection, with the slots that it fills and the conditions of its lists by their fields. */
export type Selecting = Execution & {
  readonly slots: ArgumentSlots
  readonly asked: ReadonlyMap<FieldNode, Predicate>
}

/** The condition of a list, in the member that selections have for it; none without one. */
export const askedOf = (
  { asked }: Pick<Selecting, 'asked'>,
  node: FieldNode,
): { readonly asked?: Predicate } => {
  const predicate = asked.get(node)
  return predicate ? { asked: predicate } : {}
}

const fieldOfType = (type: GraphQLObjectType, name: string): GraphQLField<unknown, unknown> => {
  const field = type.getFields()[name]
  if (!field) throw new Error(`${type.name} has no field ${name}`)
  return field
}

/** The members of an object type that the merged nodes of a field select (section 6.3). */
export const itemsOf = (
  selecting: Selecting,
  type: GraphQLObjectType,
  nodes: readonly FieldNode[],
): readonly Item[] => {
  const sets = nodes.flatMap(({ selectionSet }) => selectionSet ?? [])
  const collected = collectFields(sets, selecting.operation, selecting.variables)
  return [...collected].map(([key, nodes]): Item => {
    const node = nodes[0] as FieldNode
    const name = node.name.value
    if (name === '__typename') return { kind: 'text', key, json: JSON.stringify(type.name) }
    const field = fieldOfType(type, name)
    const target = getNamedType(field.type)
    if (!isObjectType(target)) return { kind: 'field', key, field: name, ...startOf(node) }
    const { slots, variables } = selecting
    return {
      kind: 'relation',
      key,
      relation: name,
      page: field.args.length > 0 ? pageOf(slots, field, node, null) : null,
      ...searchIn(slots, field, node, variables, orderIn(field, node, variables)),
      ...askedOf(selecting, node),
      items: itemsOf(selecting, target, nodes),
      ...startOf(node),
    }
  })
}

/** A field of the type `Query`. */
export const queryField = ({ schema }: DerivedSchema, name: string) =>
  fieldOfType(schema.getQueryType() as GraphQLObjectType, name)

/** The order of a list that is asked for none. */
export const defaultOrder = ({ graphql }: Entity): readonly Sort[] => [
  { field: 'id', descending: !graphql.paged },
]

/** A root of a query as a root of the read. */
export const rootOf = (
  selecting: Selecting,
  { kind, entity: entityName }: RootField,
  key: string,
  nodes: readonly FieldNode[],
): Root => {
  const { core, schema, slots, variables } = selecting
  const node = nodes[0] as FieldNode
  const type = schema.schema.getType(typeName(entityName)) as GraphQLObjectType
  const root = { ...oneRow(entityName, itemsOf(selecting, type, nodes)), key, ...startOf(node) }
  const field = queryField(schema, node.name.value)
  if (kind !== 'list') {
    const id = argumentOf(field, node, 'id')
    const slot = slots.take(values => idArgument(id(values)))
    return { ...root, where: [comparing('id', 'eq', slot)] }
  }
  const entity = entityOf(core.model, entityName)
  const { paged } = entity.graphql
  return {
    ...root,
    ...filteredBy(selecting, entityName, node),
    sort: defaultOrder(entity),
    ...searchIn(slots, field, node, variables, orderIn(field, node, variables)),
    ...askedOf(selecting, node),
    many: true,
    page: pageOf(slots, field, node, paged ? entity.rest.listing.limit : null),
  }
}

/** The conditions of the filters that a list or its groups are given, and the rows that must exist for them. */
export const filteredBy = (
  { core: { model }, schema, slots, variables }: Selecting,
  entityName: string,
  node: FieldNode,
): Pick<Root, 'where' | 'exists'> => {
  const field = queryField(schema, node.name.value)
  const entity = entityOf(model, entityName)
  const { filters } = entity.graphql
  // Only those with a value: with the others the plan is another one.
  const given = filters.flatMap((name): readonly { field: string; slot: Slot }[] => {
    const read = argumentOf(field, node, name)
    if (read(variables) == null) return []
    const slot = slots.take(values => filterValue(model, entity, node, name, read(values)))
    return [{ field: name, slot }]
  })
  return {
    where: given.map(({ field, slot }) => comparing(field, 'eq', slot)),
    // The rows that filters refer to must exist.
    exists: given.flatMap(({ field, slot }) => {
      const { references } = entity.fields[field] ?? {}
      return references ? [{ entity: references.entity, slot }] : []
    }),
  }
}
