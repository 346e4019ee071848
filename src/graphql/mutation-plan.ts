/** The fields of a mutation, checked and planned before any of them is run. */
import { type FieldNode, type GraphQLObjectType, getArgumentValues } from 'graphql'
import { prepareFor } from '#core.ts'
import { ApiError, type ErrorLocation } from '#errors.ts'
import { type Arguments, createSlots } from '#graphql/arguments.ts'
import type { RootField } from '#graphql/schema.ts'
import { collectFields, type Execution, itemsOf, locationOf, startOf } from '#graphql/selection.ts'
import { entityOf, typeName } from '#model/model.ts'
import { oneRow, VIEWER } from '#read/selection.ts'
import { permit, type Writing } from '#write/steps.ts'
import type { Reading } from '#write/write.ts'

/** A field of the operation that writes. */
export type WriteField = {
  readonly key: string
  readonly root: RootField
  readonly args: Arguments
  /** The read of the row it writes; null for a field without a selection set. */
  readonly reading: Reading | null
  readonly location: ErrorLocation
}

/** A field that writes, or `__typename` with its text. */
export type PlannedField = WriteField | { readonly key: string; readonly json: string }

/** The model, database and viewer for the commands of a mutation. */
export const writingOf = ({ core, viewer }: Execution): Writing => ({
  model: core.model,
  dialect: core.dialect,
  viewer,
})

const argumentsOf = ({ schema, variables }: Execution, node: FieldNode): Arguments => {
  const type = schema.schema.getMutationType() as GraphQLObjectType
  const field = type.getFields()[node.name.value]
  return field ? getArgumentValues(field, node, variables) : {}
}

/** The read of the row that a field writes, without its id, which the write adds. */
const readingOf = (
  execution: Execution,
  root: RootField,
  key: string,
  nodes: readonly FieldNode[],
): Reading => {
  const { core, schema, variables, viewer } = execution
  const writtenId = VIEWER + 1
  const slots = createSlots(writtenId + 1)
  const type = schema.schema.getType(typeName(root.entity)) as GraphQLObjectType
  const items = itemsOf({ ...execution, slots }, type, nodes)
  const start = startOf(nodes[0] as FieldNode)
  const written = root.kind === 'create' ? 'created' : 'changed'
  const selected = { ...oneRow(root.entity, items), written, key, ...start } as const
  const { plan } = prepareFor(core, { encoding: 'graphql', roots: [selected] }, viewer.role)
  return { plan, values: [viewer.id, ...slots.valuesOf(variables)] }
}

const permitField = (
  execution: Execution,
  { kind, entity }: RootField,
  location: ErrorLocation,
) => {
  const { policy, plural } = entityOf(execution.core.model, entity)
  try {
    const rule = policy[kind as 'create' | 'update' | 'delete']
    permit(writingOf(execution), rule, `${kind} ${plural}`)
  } catch (error) {
    throw error instanceof ApiError ? error.locatedAt(location) : error
  }
}

/** The fields in order; throws for a field that the viewer may not run, as far as that is known without the store. */
export const planMutation = (execution: Execution): readonly PlannedField[] => {
  const { schema, operation, variables } = execution
  const collected = collectFields([operation.node.selectionSet], operation, variables)
  return [...collected].map(([key, nodes]): PlannedField => {
    const node = nodes[0] as FieldNode
    const root = schema.roots.get(node.name.value)
    if (!root) return { key, json: '"Mutation"' }
    const location = locationOf(key, node)
    permitField(execution, root, location)
    const args = argumentsOf(execution, node)
    const reading = root.kind === 'delete' ? null : readingOf(execution, root, key, nodes)
    return { key, root, args, reading, location }
  })
}
