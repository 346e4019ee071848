/** The conditions of an operation: found in its document once, and resolved for the variables of each request. */
import { type FieldNode, type GraphQLObjectType, getNamedType, isObjectType } from 'graphql'
import { ApiError } from '#errors.ts'
import { argumentFaults, givenFor, type Variables } from '#graphql/arguments.ts'
import { type Collected, collectFields, type Execution } from '#graphql/execution.ts'
import { conditionOf, variablesIn } from '#graphql/where.ts'
import { type OperandPlace, OperandValue, type Predicate, someOf } from '#model/condition.ts'
import { mostComparisonsOfRequest } from '#read/access.ts'
import { type CallerCondition, mostSlots, resolveCallerCondition } from '#read/caller-condition.ts'
import type { ParameterValue, Slot } from '#read/selection.ts'

/** A field of a document with a condition on the rows of an entity. */
type FilteredField = {
  readonly node: FieldNode
  readonly entity: string
  readonly conditionFor: (variables: Variables) => unknown
  readonly resolvedFrom: (first: Slot) => ResolvedOnce | undefined
}

/** A condition of a document, resolved once for all requests: those of its variables that bring their values alone. */
type ResolvedOnce = {
  readonly condition: CallerCondition
  readonly variables: readonly (readonly [name: string, stored: OperandPlace['stored']])[]
}

/**
 * Resolves a condition with its variables as operands: to resolve it for each request takes a tenth of a small read. Undefined if
 * the values of variables decide its form.
 */
const resolveOnce = (
  { core: { model }, schema }: Execution,
  { node, entity, conditionFor }: Omit<FilteredField, 'resolvedFrom'>,
  first: Slot,
): ResolvedOnce | undefined => {
  const where = givenFor(node, 'where')
  const names = new Set(where ? variablesIn(where).map(({ name }) => name) : [])
  const variables = [...names].map(
    (name, at) => [name, new OperandValue({ kind: 'slot', slot: first + at })] as const,
  )
  const condition = conditionFor({ sources: {}, coerced: Object.fromEntries(variables) })
  if (condition == null) return undefined
  const resolved = resolveCallerCondition(
    model,
    entity,
    condition,
    schema.vocabulary,
    first + names.size,
  )
  if ('faults' in resolved) return undefined
  // One that is compared twice may have a form for each field, and a long list has one slot.
  const places = variables.map(
    ([name, value]) =>
      [name, resolved.operands.filter(({ operand }) => operand === value)] as const,
  )
  const isOnce = places.every(([, of]) => of.length === 1)
  const isLong = someOf(
    resolved.predicate,
    one => one.kind === 'among' && one.values.length > mostSlots,
  )
  if (!isOnce || isLong) return undefined
  const stored = places.flatMap(([name, of]) => of.map(({ stored }) => [name, stored] as const))
  return { condition: resolved, variables: stored }
}

/** The values that a request has for such a condition; undefined if they need it to be resolved. */
const valuesFor = (
  { variables, condition }: ResolvedOnce,
  { coerced }: Variables,
): readonly ParameterValue[] | undefined => {
  const values: ParameterValue[] = []
  for (const [name, stored] of variables) {
    const given = coerced[name]
    const found = given == null ? undefined : stored(given)
    if (!found || !('value' in found)) return undefined
    // An amount between two minor units, which another comparison finds.
    if (typeof found.value === 'number' && !Number.isInteger(found.value)) return undefined
    values.push(found.value)
  }
  return [...values, ...condition.values]
}

/** The fields with conditions among those that were collected of a type, and below them; a field of a fragment is one, wherever it is spread. */
export const filteredFieldsIn = (
  execution: Execution,
  type: GraphQLObjectType,
  collected: Collected,
): readonly FilteredField[] => {
  const found = new Map<FieldNode, FilteredField>()
  const collect = (type: GraphQLObjectType, collected: Collected): void => {
    for (const nodes of collected.values()) {
      const node = nodes[0] as FieldNode
      const field = type.getFields()[node.name.value]
      const target = field && getNamedType(field.type)
      if (!isObjectType(target)) continue
      const entity = field?.args.find(({ name }) => name === 'where')?.extensions.conditionOn
      if (field && entity && givenFor(node, 'where')) {
        const filtered = { node, entity: String(entity), conditionFor: conditionOf(field, node) }
        const made = new Map<Slot, ResolvedOnce | undefined>()
        const resolvedFrom = (first: Slot) =>
          made.getOrInsertComputed(first, () => resolveOnce(execution, filtered, first))
        found.set(node, { ...filtered, resolvedFrom })
      }
      collect(target, collectFields(nodes, execution))
    }
  }
  if (execution.operation.hasConditions) collect(type, collected)
  // Each has a comparison at the least, and more than so many are refused for a plan.
  if (found.size > mostComparisonsOfRequest)
    throw new ApiError(
      'QUERY_TOO_COMPLEX',
      `The operation has ${found.size} conditions, at most ${mostComparisonsOfRequest} are allowed`,
    )
  return [...found.values()]
}

/** The conditions of a request by their fields, their values for the slots from `first` on, and what tells them from those of other shapes. */
export type RequestConditions = {
  readonly predicates: ReadonlyMap<FieldNode, Predicate>
  readonly values: readonly ParameterValue[]
  readonly shape: string
}

const nothing: RequestConditions = { predicates: new Map(), values: [], shape: '' }

/** Resolves the conditions of an operation for its variables; throws `BAD_USER_INPUT` with all faults of the first one that has some. */
export const conditionsFor = (
  { core: { model }, schema, variables }: Execution,
  fields: readonly FilteredField[],
  first: Slot,
): RequestConditions => {
  if (fields.length === 0) return nothing
  const predicates = new Map<FieldNode, Predicate>()
  const values: ParameterValue[] = []
  const shapes = fields.map(({ node, entity, conditionFor, resolvedFrom }) => {
    const once = resolvedFrom(first + values.length)
    const brought = once && valuesFor(once, variables)
    if (once && brought) {
      predicates.set(node, once.condition.predicate)
      values.push(...brought)
      return once.condition.shape
    }
    const condition = conditionFor(variables)
    if (condition == null) return '-'
    const found = resolveCallerCondition(
      model,
      entity,
      condition,
      schema.vocabulary,
      first + values.length,
    )
    if ('faults' in found) throw argumentFaults(node, found.faults)
    predicates.set(node, found.predicate)
    values.push(...found.values)
    return found.shape
  })
  return { predicates, values, shape: ` ${shapes.join('\n')}` }
}
