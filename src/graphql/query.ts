/** A query operation: all its roots in one read, from one snapshot. */
import {
  type ExecutionResult,
  execute,
  type FieldNode,
  type GraphQLObjectType,
  Kind,
  OperationTypeNode,
} from 'graphql'
import { after } from '#base/after.ts'
import { prepareFor } from '#core.ts'
import { aggregateRoot } from '#graphql/aggregate-root.ts'
import { argumentOf, createSlots, idArgument } from '#graphql/arguments.ts'
import { conditionsFor, filteredFieldsIn } from '#graphql/conditions.ts'
import { connectionRoots, type WriteConnection } from '#graphql/connection.ts'
import { GraphqlErrors } from '#graphql/errors.ts'
import {
  type Collected,
  collectFields,
  decidedBy,
  type Execution,
  locationOf,
  queryField,
} from '#graphql/execution.ts'
import { itemsOf, rootOf } from '#graphql/selection.ts'
import { type EncodedBody, encodeBody } from '#http/encode-body.ts'
import { entityOf, notFound } from '#model/model.ts'
import { type Answer, type ReadOptions, read, readCached } from '#read/read.ts'
import { type Root, VIEWER } from '#read/selection.ts'

type DataMember = { readonly key: string } & (
  | { readonly kind: 'text'; readonly json: string }
  | { readonly kind: 'introspection'; readonly nodes: readonly FieldNode[] }
  | { readonly kind: 'read'; readonly root: number; readonly node: FieldNode }
  | { readonly kind: 'connection'; readonly write: WriteConnection }
)

/** The answer, or, if a row is missing, the answers that say so: how the caller named it is not in them. */
type QueryOutcome =
  | (EncodedBody & { readonly isByRow?: boolean })
  | { readonly missing: readonly Answer[] }

/** The whole answer, or the error that makes `data` null: every root list is non-null. */
export type Queried = (EncodedBody & { readonly isByRow?: boolean }) | { readonly error: Error }

/** Runs the query; throws if the viewer may not read something, or it is too large or takes too long. The answer has an ETag if it is `isTagged`. */
export const runQuery = (
  execution: Execution,
  isTagged: boolean,
  options: ReadOptions,
): Queried | Promise<Queried> => {
  const { core, operation, variables, viewer } = execution
  // The operation is prepared once for each role, for the conditions of its fields, and for the filters that are given.
  const conditions = decidedBy(execution)
  const { collected, filters, filteredFields } = operation.derived(
    `fields ${conditions}`,
    variables,
    () => {
      const collected = collectFields([operation.node], execution)
      const type = execution.schema.schema.getQueryType() as GraphQLObjectType
      const filteredFields = filteredFieldsIn(execution, type, collected)
      return { collected, filters: filtersIn(execution, collected), filteredFields }
    },
  )
  // Their values come first, so that those of one shape share a plan.
  const {
    predicates,
    values: conditionValues,
    shape,
  } = conditionsFor(execution, filteredFields, VIEWER + 1)
  const given = filters.map(valueFor => (valueFor(variables) == null ? '-' : '+')).join('')
  const key = `${viewer.role} ${conditions} ${given}${shape}`
  const { members, prepared, slots, introspects } = operation.derived(key, variables, () => {
    const slots = createSlots(VIEWER + 1 + conditionValues.length)
    const selecting = { ...execution, slots, predicates }
    const roots: Root[] = []
    const members = [...collected].map(([key, nodes]): DataMember => {
      const node = nodes[0] as FieldNode
      const name = node.name.value
      if (name === '__typename') return { kind: 'text', key, json: '"Query"' }
      const root = execution.schema.roots.get(name)
      if (!root) return { kind: 'introspection', key, nodes }
      if (root.kind === 'connection') {
        const { length } = roots
        const made = connectionRoots(selecting, root.entity, key, nodes, length, itemsOf)
        roots.push(...made.roots)
        return { kind: 'connection', key, write: made.write }
      }
      if (root.kind === 'aggregate') {
        const made = aggregateRoot(selecting, root, key, nodes, roots.length)
        roots.push(made.root)
        return { kind: 'connection', key, write: made.write }
      }
      roots.push(rootOf(selecting, root, key, nodes))
      return { kind: 'read', key, root: roots.length - 1, node }
    })
    // A query may read no rows.
    const prepared =
      roots.length > 0 ? prepareFor(core, { encoding: 'graphql', roots }, viewer.role) : null
    return {
      members,
      prepared,
      slots,
      introspects: members.some(({ kind }) => kind === 'introspection'),
    }
  })
  const make = (answers: readonly Answer[]): QueryOutcome | Promise<QueryOutcome> => {
    if (answers.some(({ missing }) => missing)) return { missing: answers }
    const texts = ['{"data":{']
    for (const member of members) {
      texts.push(`${texts.length > 1 ? ',' : ''}${JSON.stringify(member.key)}:`)
      if (member.kind === 'text') texts.push(member.json)
      else if (member.kind === 'read') texts.push(answers[member.root]?.text ?? 'null')
      else if (member.kind === 'connection') texts.push(member.write(answers))
      else texts.push(introspect(execution, member.nodes))
    }
    texts.push('}}')
    const body = encodeBody(texts, isTagged)
    const isByRow = prepared?.plan.isByRow === true
    return isByRow ? after(body, body => ({ ...body, isByRow })) : body
  }
  const orError = (outcome: QueryOutcome): Queried =>
    'missing' in outcome ? { error: missingRow(members, outcome.missing, execution) } : outcome
  if (!prepared) return after(make([]), orError)
  const own = viewer.subject ?? viewer.id
  const values = [own, ...conditionValues, ...slots.valuesOf(variables, viewer)]
  // Introspection may depend on variables that are in no slot.
  const found = introspects
    ? after(read(core.reader, prepared, values, options), make)
    : readCached(core.reader, prepared, values, { by: isTagged ? 'tagged' : '', make }, options)
  return after(found, orError)
}

/** The filters that a query's lists may be given, each as the value that it has for some variables. */
const filtersIn = ({ core, schema }: Execution, collected: Collected) =>
  [...collected.values()].flatMap(([node]) => {
    const root = node && schema.roots.get(node.name.value)
    if (!root || !node?.arguments?.length) return []
    const field = queryField(schema, node.name.value)
    if (root.kind !== 'list' && root.kind !== 'aggregate') return []
    const { filters } = entityOf(core.model, root.entity).graphql
    return [...filters, ...(root.kind === 'aggregate' ? ['limit'] : [])].map(name =>
      argumentOf(field, node, name),
    )
  })

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

/** The error of the first root with an argument that names a row which does not exist. */
const missingRow = (
  members: readonly DataMember[],
  answers: readonly Answer[],
  { core: { model }, schema, variables }: Execution,
): Error => {
  for (const member of members) {
    if (member.kind !== 'read') continue
    const { key, node, root } = member
    const missing = answers[root]?.missing
    if (!missing) continue
    // Its id is told in the form in which the caller wrote it: in the argument that refers to such rows by that id.
    const { fields } = entityOf(model, schema.roots.get(node.name.value)?.entity ?? '')
    const written = node.arguments
      ?.filter(({ name }) => fields[name.value]?.references?.entity === missing.entity)
      .map(({ value }) => {
        if (value.kind === 'Variable') return variables.coerced[value.name.value]
        return 'value' in value ? value.value : undefined
      })
      .find(value => value != null && idArgument(value) === missing.id)
    return notFound(missing.entity, written ?? missing.id, locationOf(key, node))
  }
  throw new Error('no root misses a row')
}
