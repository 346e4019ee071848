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
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql'
import type { Core } from '#core.ts'
import type { ErrorLocation } from '#errors.ts'
import {
  argumentOf,
  filterValue,
  idArgument,
  pageOf,
  type Slots,
  type Variables,
} from '#graphql/arguments.ts'
import type { Operation } from '#graphql/document.ts'
import type { RootField, Schema } from '#graphql/schema.ts'
import type { Entity } from '#model/entity.ts'
import { entityOf, typeName } from '#model/model.ts'
import type { Viewer } from '#model/policy.ts'
import { type Item, type Location, oneRow, type Root, type Slot } from '#read/selection.ts'

/** The field nodes under each response key, which are merged. */
export type Collected = ReadonlyMap<string, readonly FieldNode[]>

const conditionHolds = (node: SelectionNode, variables: Variables): boolean =>
  getDirectiveValues(GraphQLSkipDirective, node, variables)?.if !== true &&
  getDirectiveValues(GraphQLIncludeDirective, node, variables)?.if !== false

/** CollectFields (section 6.3.2). Every type here is an object type, so a fragment that is valid applies. */
export const collectFields = (
  sets: readonly SelectionSetNode[],
  { fragments }: Operation,
  variables: Variables,
): Collected => {
  const grouped = new Map<string, FieldNode[]>()
  const visited = new Set<string>()
  const collect = (set: SelectionSetNode): void => {
    for (const selection of set.selections) {
      if (!conditionHolds(selection, variables)) continue
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
  readonly schema: Schema
  readonly operation: Operation
  readonly variables: Variables
  readonly viewer: Viewer
}

/** An execution on its way to a Selection, with the slots that it fills. */
type Selecting = Execution & { readonly slots: Slots }

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
    return {
      kind: 'relation',
      key,
      relation: name,
      page: field.args.length > 0 ? pageOf(selecting.slots, field, node, null) : null,
      items: itemsOf(selecting, target, nodes),
      ...startOf(node),
    }
  })
}

const rootField = ({ schema }: Schema, name: string): GraphQLField<unknown, unknown> =>
  fieldOfType(schema.getQueryType() as GraphQLObjectType, name)

/** A filter that a request gives a value for. */
type Filter = { readonly field: string; readonly slot: Slot }

/** The rows that the filters of a list refer to, which must exist. */
const existsFor = (entity: Entity, filters: readonly Filter[]): Root['exists'] =>
  filters.flatMap(({ field, slot }) => {
    const { references } = entity.fields[field] ?? {}
    return references ? [{ entity: references.entity, slot }] : []
  })

/** The conditions, sort order and page of a list. */
const listOf = (
  { core: { model }, slots, variables }: Selecting,
  entity: Entity,
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
): Pick<Root, 'where' | 'exists' | 'sort' | 'many' | 'page'> => {
  const { paged, filters } = entity.graphql
  const given = filters.flatMap((name): readonly Filter[] => {
    const read = argumentOf(field, node, name)
    if (read(variables) == null) return []
    const slot = slots.take(values => filterValue(model, entity, node, name, read(values)))
    return [{ field: name, slot }]
  })
  return {
    where: given.map(filter => ({ ...filter, is: 'equals' })),
    exists: existsFor(entity, given),
    sort: [{ field: 'id', descending: !paged }],
    many: true,
    page: pageOf(slots, field, node, paged ? entity.rest.listing.limit : null),
  }
}

/** A root of a query as a root of the read. */
export const rootOf = (
  selecting: Selecting,
  { kind, entity }: RootField,
  key: string,
  nodes: readonly FieldNode[],
): Root => {
  const { core, schema, slots } = selecting
  const node = nodes[0] as FieldNode
  const type = schema.schema.getType(typeName(entity)) as GraphQLObjectType
  const root = { ...oneRow(entity, itemsOf(selecting, type, nodes)), key, ...startOf(node) }
  const field = rootField(schema, node.name.value)
  if (kind === 'list')
    return { ...root, ...listOf(selecting, entityOf(core.model, entity), field, node) }
  const id = argumentOf(field, node, 'id')
  const slot = slots.take(values => idArgument(id(values)))
  return { ...root, where: [{ field: 'id', is: 'equals', slot }] }
}

/** A text of the filters that a request gives: with the operation and its conditions they decide the plan. */
export const shapeOf = ({ core, schema, variables }: Execution, collected: Collected): string => {
  let shape = ''
  for (const [, [node]] of collected) {
    const root = node && schema.roots.get(node.name.value)
    if (root?.kind !== 'list' || !node?.arguments?.length) continue
    const { filters } = entityOf(core.model, root.entity).graphql
    if (filters.length === 0) continue
    const field = rootField(schema, node.name.value)
    shape += filters
      .map(name => (argumentOf(field, node, name)(variables) == null ? '-' : '+'))
      .join('')
  }
  return shape
}
