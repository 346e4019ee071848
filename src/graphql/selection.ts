/** An operation as a Selection: its fields as the members of objects, and the roots of its read. */
import { type FieldNode, type GraphQLObjectType, getNamedType, isObjectType } from 'graphql'
import { argumentOf, filterValue, idArgument, pageOf } from '#graphql/arguments.ts'
import { type Connects, connectionItem, defaultOrder } from '#graphql/connection.ts'
import {
  collectFields,
  conditionIn,
  fieldOfType,
  queryField,
  type Selecting,
  startOf,
} from '#graphql/execution.ts'
import { orderIn } from '#graphql/order.ts'
import type { RootField } from '#graphql/schema.ts'
import { searchIn } from '#graphql/search.ts'
import { entityOf, typeName } from '#model/model.ts'
import type { FileForm } from '#model/stored-file.ts'
import { comparing, type Item, oneRow, type Root, type Slot } from '#read/selection.ts'

/** The members of an object type that the merged nodes of a field select (section 6.3). */
export const itemsOf = (
  selecting: Selecting,
  type: GraphQLObjectType,
  nodes: readonly FieldNode[],
): readonly Item[] =>
  [...collectFields(nodes, selecting)].map(([key, nodes]): Item => {
    const node = nodes[0] as FieldNode
    const name = node.name.value
    if (name === '__typename') return { kind: 'text', key, json: JSON.stringify(type.name) }
    const field = fieldOfType(type, name)
    const target = getNamedType(field.type)
    if (!isObjectType(target)) return { kind: 'field', key, field: name, ...startOf(node) }
    const { slots, variables } = selecting
    const { connects } = field.extensions
    const file = field.extensions.file as FileForm | undefined
    if (file) {
      const shown = collectFields(nodes, selecting)
      const members = [...shown].map(([key, [one]]) => [key, one?.name.value ?? ''] as const)
      return { kind: 'field', key, field: name, file: { ...file, members }, ...startOf(node) }
    }
    if (connects) return connectionItem(selecting, connects as Connects, field, key, nodes, itemsOf)
    return {
      kind: 'relation',
      key,
      relation: name,
      page: field.args.length > 0 ? pageOf(slots, field, node, null) : null,
      ...searchIn(slots, field, node, variables, orderIn(selecting, field, node)),
      ...conditionIn(selecting, node),
      items: itemsOf(selecting, target, nodes),
      ...startOf(node),
    }
  })

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
    ...searchIn(slots, field, node, variables, orderIn(selecting, field, node)),
    ...conditionIn(selecting, node),
    many: true,
    page: pageOf(slots, field, node, paged ? entity.pageSize : null),
  }
}

/** The conditions of the filters that a list or its groups are given, and the rows that must exist for them; names that are `taken` are no filters. */
export const filteredBy = (
  { core: { model }, schema, slots, variables }: Selecting,
  entityName: string,
  node: FieldNode,
  taken: readonly string[] = [],
): Pick<Root, 'where' | 'exists'> => {
  const field = queryField(schema, node.name.value)
  const entity = entityOf(model, entityName)
  const filters = entity.graphql.filters.filter(name => !taken.includes(name))
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
