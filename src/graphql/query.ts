/** A query operation: all its roots in one read, from one snapshot. */
import { type ExecutionResult, execute, type FieldNode, Kind, OperationTypeNode } from 'graphql'
import { after } from '#base/after.ts'
import { prepareFor } from '#core.ts'
import { createSlots, idArgument, type Slots } from '#graphql/arguments.ts'
import { GraphqlErrors } from '#graphql/document.ts'
import {
  type Collected,
  collectFields,
  type Execution,
  locationOf,
  rootOf,
  shapeOf,
} from '#graphql/selection.ts'
import { type Whole, wholeOf } from '#http/whole.ts'
import { entityOf, notFound } from '#model/model.ts'
import { type Answer, type Prepared, type ReadOptions, read, readAs } from '#read/read.ts'
import { type Root, VIEWER } from '#read/selection.ts'

/** A member of `data`: given text, introspection, or the n-th root of the read. */
type Member =
  | { readonly kind: 'text'; readonly key: string; readonly json: string }
  | { readonly kind: 'introspection'; readonly key: string; readonly nodes: readonly FieldNode[] }
  | { readonly kind: 'read'; readonly key: string; readonly root: number; readonly node: FieldNode }

/** An operation ready to run for one role and shape. */
type Ready = {
  readonly members: readonly Member[]
  readonly prepared: Prepared | null
  readonly slots: Slots
}

const prepareQuery = (execution: Execution, collected: Collected): Ready => {
  const { core, schema, viewer } = execution
  const slots = createSlots(VIEWER + 1)
  const roots: Root[] = []
  const members = [...collected].map(([key, nodes]): Member => {
    const node = nodes[0] as FieldNode
    const name = node.name.value
    if (name === '__typename') return { kind: 'text', key, json: '"Query"' }
    const root = schema.roots.get(name)
    if (!root) return { kind: 'introspection', key, nodes }
    roots.push(rootOf({ ...execution, slots }, root, key, nodes))
    return { kind: 'read', key, root: roots.length - 1, node }
  })
  const prepared =
    roots.length > 0 ? prepareFor(core, { encoding: 'graphql', roots }, viewer.role) : null
  return { members, prepared, slots }
}

/** The value of `__schema` or `__type`, which graphql-js executes by itself; throws the first fault of its arguments, as other fields do. */
const introspect = (
  { schema, operation, variables }: Execution,
  nodes: readonly FieldNode[],
): string => {
  const { node, fragments } = operation
  const definition = {
    kind: Kind.OPERATION_DEFINITION,
    operation: OperationTypeNode.QUERY,
    variableDefinitions: node.variableDefinitions ?? [],
    selectionSet: { kind: Kind.SELECTION_SET, selections: nodes },
  } as const
  const { data, errors = [] } = execute({
    schema: schema.schema,
    document: { kind: Kind.DOCUMENT, definitions: [definition, ...fragments.values()] },
    variableValues: { ...variables.coerced },
  }) as ExecutionResult
  if (errors.length > 0) throw new GraphqlErrors('BAD_USER_INPUT', errors.slice(0, 1))
  return JSON.stringify(Object.values(data ?? {})[0])
}

/** The error of a root whose argument names a row that does not exist. */
const missingOf = (
  members: readonly Member[],
  answers: readonly Answer[],
  execution: Execution,
): Error => {
  for (const member of members) {
    if (member.kind !== 'read') continue
    const missing = answers[member.root]?.missing
    if (!missing) continue
    const id = namedBy(member.node, missing, execution) ?? missing.id
    return notFound(missing.entity, id, locationOf(member.key, member.node))
  }
  throw new Error('no root misses a row')
}

/** The id of a missing row in the form in which the caller wrote it: in the argument that refers to such rows by that id. */
const namedBy = (
  node: FieldNode,
  missing: NonNullable<Answer['missing']>,
  { core: { model }, schema, variables }: Execution,
): unknown => {
  const { fields } = entityOf(model, schema.roots.get(node.name.value)?.entity ?? '')
  return node.arguments
    ?.filter(({ name }) => fields[name.value]?.references?.entity === missing.entity)
    .map(({ value }) => {
      if (value.kind === 'Variable') return variables.coerced[value.name.value]
      return 'value' in value ? value.value : undefined
    })
    .find(value => value != null && idArgument(value) === missing.id)
}

/** The whole answer, or the error that makes `data` null: every root list is non-null. */
export type Queried = Whole | { readonly error: Error }

/** The query prepared for the viewer's role, the conditions of its fields and the filters that are given. */
const readyFor = (execution: Execution): Ready => {
  const { operation, variables, viewer } = execution
  const conditions = operation.conditions.map(name => String(variables.coerced[name])).join()
  const collected = operation.derived(`fields ${conditions}`, () =>
    collectFields([operation.node.selectionSet], operation, variables),
  )
  const shape = shapeOf(execution, collected)
  return operation.derived(`${viewer.role} ${conditions} ${shape}`, () =>
    prepareQuery(execution, collected),
  )
}

/** The answer, or, where a row is missing, the answers that say so: how the caller named it is not in them. */
type Made = Whole | { readonly missing: readonly Answer[] }

/** An execution whose answer has an ETag or not. */
type Querying = Execution & { readonly isTagged: boolean }

const madeOf = (
  querying: Querying,
  members: readonly Member[],
  answers: readonly Answer[],
): Made | Promise<Made> => {
  if (answers.some(({ missing }) => missing)) return { missing: answers }
  const textOf = (member: Member): string => {
    if (member.kind === 'text') return member.json
    if (member.kind === 'read') return answers[member.root]?.text ?? 'null'
    return introspect(querying, member.nodes)
  }
  const texts = members.flatMap((member, index) => [
    `${index > 0 ? ',' : ''}${JSON.stringify(member.key)}:`,
    textOf(member),
  ])
  return wholeOf(['{"data":{', ...texts, '}}'], querying.isTagged)
}

/** Runs the query; throws where the viewer may not read something, and where it is too large or takes too long. */
export const runQuery = (querying: Querying, asked: ReadOptions): Queried | Promise<Queried> => {
  const { core, variables, viewer, isTagged } = querying
  const { members, prepared, slots } = readyFor(querying)
  const make = (answers: readonly Answer[]) => madeOf(querying, members, answers)
  const orError = (made: Made): Queried =>
    'missing' in made ? { error: missingOf(members, made.missing, querying) } : made
  if (!prepared) return after(make([]), orError)
  const values = [viewer.id, ...slots.valuesOf(variables)]
  // Introspection may depend on variables that are in no slot.
  const found = members.some(({ kind }) => kind === 'introspection')
    ? after(read(core.reader, prepared, values, asked), make)
    : readAs(core.reader, prepared, values, { by: isTagged ? 'tagged' : '', make }, asked)
  return after(found, orError)
}
