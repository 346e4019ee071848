/** Executions of operations, and the fields that they select, collected by the GraphQL specification's algorithm. */
import {
  type FieldNode,
  type GraphQLField,
  GraphQLIncludeDirective,
  type GraphQLObjectType,
  GraphQLSkipDirective,
  getDirectiveValues,
  type SelectionSetNode,
} from 'graphql'
import type { Core } from '#core.ts'
import type { ErrorLocation } from '#errors.ts'
import type { ArgumentSlots, Variables } from '#graphql/arguments.ts'
import type { GraphqlOperation } from '#graphql/document.ts'
import type { DerivedSchema } from '#graphql/schema.ts'
import { hasWords } from '#graphql/search.ts'
import type { Predicate } from '#model/condition.ts'
import type { Viewer } from '#model/policy.ts'
import type { Location } from '#read/selection.ts'

/** The field nodes under each response key, which are merged. */
export type Collected = ReadonlyMap<string, readonly FieldNode[]>

/** The fields that the operation or merged nodes select (section 6.3.2). Every type is an object type, so a valid fragment applies. */
export const collectFields = (
  nodes: readonly Pick<FieldNode, 'selectionSet'>[],
  { operation: { fragments }, variables }: Pick<Execution, 'operation' | 'variables'>,
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
  for (const { selectionSet } of nodes) if (selectionSet) collect(selectionSet)
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

/** What the variables of an execution decide of its reads, beside their values. */
export const decidedBy = ({ operation, variables: { coerced } }: Execution): string =>
  [
    ...operation.conditions.map(name => JSON.stringify(coerced[name])),
    ...operation.searches.map(name => hasWords(coerced[name])),
    ...operation.places.map(name => coerced[name] != null),
  ].join()

/** An execution on its way to a Selection, with the slots that it fills and the conditions of its lists by their fields. */
export type Selecting = Execution & {
  readonly slots: ArgumentSlots
  readonly predicates: ReadonlyMap<FieldNode, Predicate>
}

/** The condition of a list, in the member that selections have for it; none without one. */
export const conditionIn = (
  { predicates }: Pick<Selecting, 'predicates'>,
  node: FieldNode,
): { readonly condition?: Predicate } => {
  const predicate = predicates.get(node)
  return predicate ? { condition: predicate } : {}
}

/** A field of a type that a valid document names. */
export const fieldOfType = (
  type: GraphQLObjectType,
  name: string,
): GraphQLField<unknown, unknown> => {
  const field = type.getFields()[name]
  if (!field) throw new Error(`${type.name} has no field ${name}`)
  return field
}

/** A field of the type `Query`. */
export const queryField = ({ schema }: DerivedSchema, name: string) =>
  fieldOfType(schema.getQueryType() as GraphQLObjectType, name)
