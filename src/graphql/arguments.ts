/** Variables and arguments: coerced as the GraphQL specification says, and read into the slots of a plan. */
import {
  type ASTNode,
  coerceInputLiteral,
  type FieldNode,
  GraphQLError,
  type GraphQLField,
  type GraphQLSchema,
  getVariableValues,
  isNonNullType,
  type OperationDefinitionNode,
  type ValueNode,
} from 'graphql'
import { type FieldFault, mostFaults } from '#errors.ts'
import { GraphqlErrors } from '#graphql/errors.ts'
import type { Params } from '#graphql/over-http.ts'
import type { Entity } from '#model/entity.ts'
import { fieldOf, type Model } from '#model/model.ts'
import type { Viewer } from '#model/policy.ts'
import { comparedWith, parseId } from '#model/values.ts'
import { type Page, type ParameterValue, pageSize, type Slot } from '#read/selection.ts'

/** The coerced variables of a request, as graphql-js makes them. */
export type Variables = ReturnType<typeof getVariableValues>['variableValues'] & {}

/** Variables with longer JSON get one fault: graphql-js prints the whole value into each, which takes its time. */
const printable = 1024

/** What marks the types of conditions and orders, whose values are small. */
export const small = { isSmall: true } as const

/** The most objects and lists in the value of such a type; graphql-js takes some microseconds for each. */
const mostParts = 1000

const isLarge = (value: unknown): boolean => {
  const parts = [value]
  for (let at = 0; at < parts.length && parts.length <= mostParts; at++)
    for (const part of Object.values(parts[at] as object))
      if (typeof part === 'object' && part !== null) parts.push(part)
  return parts.length > mostParts
}

/** CoerceVariableValues (section 6.1.2), by graphql-js. */
export const coerceVariables = (
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
  values: Params['variables'],
  introspection: boolean,
): Variables => {
  for (const { variable, type } of variableDefinitions) {
    const { value: name } = variable.name
    const value = values?.[name]
    if (typeof value !== 'object' || value === null) continue
    let inner = type
    while (inner.kind !== 'NamedType') inner = inner.type
    if (!schema.getType(inner.name.value)?.extensions.isSmall || !isLarge(value)) continue
    const message = `Variable "$${name}" has more than ${mostParts} objects and lists in it.`
    throw new GraphqlErrors('BAD_USER_INPUT', [new GraphQLError(message, { nodes: variable })])
  }
  const hideSuggestions = !introspection
  const result = getVariableValues(schema, variableDefinitions, values, {
    maxErrors: 1,
    hideSuggestions,
  })
  if (!result.errors) return result.variableValues
  if (JSON.stringify(values).length > printable)
    throw new GraphqlErrors('BAD_USER_INPUT', result.errors)
  const maxErrors = Number.POSITIVE_INFINITY
  const all = getVariableValues(schema, variableDefinitions, values, { maxErrors, hideSuggestions })
  const { errors = [] } = all
  const more = errors.length - mostFaults
  const last = new GraphQLError(`And ${more} more ${more === 1 ? 'fault' : 'faults'}.`)
  const reported = more > 0 ? [...errors.slice(0, mostFaults), last] : errors
  throw new GraphqlErrors('BAD_USER_INPUT', reported)
}

/** The value that a node has for an argument. */
export const givenFor = (node: FieldNode, name: string): ValueNode | undefined =>
  node.arguments?.find(argument => argument.name.value === name)?.value

/** The fault of an input, told where a node stands: `details` have the input with its own message, without the sentence around it. */
export const inputFault = (nodes: ASTNode, fault: FieldFault, sentence: string): GraphQLError =>
  new GraphQLError(sentence, { nodes, extensions: { fault } })

/** The first faults of arguments, by their paths, each told where its argument stands. */
export const argumentFaults = (
  node: FieldNode,
  faults: readonly { readonly path: string; readonly message: string }[],
): GraphqlErrors => {
  const errors = faults.slice(0, mostFaults).map(({ path, message }) => {
    const nodes = givenFor(node, path.split('.')[0] ?? '') ?? node
    const end = message.endsWith('?') ? '' : '.'
    return inputFault(nodes, { field: path, message }, `Argument "${path}" ${message}${end}`)
  })
  return new GraphqlErrors('BAD_USER_INPUT', errors)
}

/** The fault of an argument. */
export const argumentFault = (node: FieldNode, path: string, message: string): GraphqlErrors =>
  argumentFaults(node, [{ path, message }])

/** The value of an argument whose variables decide the plan; throws for one in it that has no value. */
export const decidingArgument = (
  { args }: AnyField,
  node: FieldNode,
  name: string,
  variables: Variables,
): unknown => {
  const argument = args.find(argument => argument.name === name)
  const given = givenFor(node, name)
  if (!argument || !given) return undefined
  const value = coerceInputLiteral(given, argument.type, variables)
  if (value === undefined && given.kind !== 'Variable')
    throw argumentFault(node, name, 'has a variable without a value')
  return value
}

/** The value of an argument that is an id; 0, which no row has, if it is none. */
export const idArgument = (value: unknown): number => parseId(String(value)) ?? 0

type SlotValue = (variables: Variables, viewer: Viewer) => ParameterValue

/** Slots from the number `first` on, whose values come from the variables of each request; the caller fills those before it. */
export const createSlots = (first: Slot) => {
  const makers: SlotValue[] = []
  return {
    /** The slot that this value will have. */
    take: (value: SlotValue): Slot => makers.push(value) - 1 + first,
    valuesOf: (variables: Variables, viewer: Viewer): readonly ParameterValue[] =>
      makers.map(make => make(variables, viewer)),
  }
}

export type ArgumentSlots = ReturnType<typeof createSlots>

type AnyField = GraphQLField<unknown, unknown>

/**
 * CoerceArgumentValues (section 6.4.1) for one argument of a scalar type, done once for each document as far as possible: graphql-js
 * does it in each request, which took a tenth of a small query. Gives the value for some variables, undefined if the request has none.
 */
export const argumentOf = (
  field: AnyField,
  node: FieldNode,
  name: string,
): ((variables: Variables) => unknown) => {
  const argument = field.args.find(argument => argument.name === name)
  const value = givenFor(node, name)
  if (!argument || !value) return () => undefined
  if (value.kind !== 'Variable') {
    const literal = 'value' in value ? value.value : null
    return () => literal
  }
  const variable = value.name.value
  if (!isNonNullType(argument.type)) return ({ coerced }) => coerced[variable]
  return ({ coerced }) => {
    if (coerced[variable] != null) return coerced[variable]
    throw argumentFault(node, name, `of non-null type "${argument.type}" must not be null`)
  }
}

// Above every budget: the statement's own limit and the count of objects decide.
const wholeList = 1_000_000

/** The slots of a list's page, from its arguments; null if the document gives none and the list is whole. */
export const pageOf = (
  slots: ArgumentSlots,
  field: AnyField,
  node: FieldNode,
  defaultLimit: number | null,
): Page => {
  const isGiven = (argument: string) => givenFor(node, argument) !== undefined
  if (defaultLimit === null && !isGiven('limit') && !isGiven('offset')) return null
  const limit = argumentOf(field, node, 'limit')
  const offset = argumentOf(field, node, 'offset')
  return {
    limit: slots.take(variables => {
      const most = limit(variables)
      return most == null ? (defaultLimit ?? wholeList) : pageSize(Number(most))
    }),
    offset: isGiven('offset')
      ? slots.take(variables => Math.max(Number(offset(variables) ?? 0), 0))
      : null,
  }
}

/** The stored value that a filter's argument stands for; throws BAD_USER_INPUT if it does not have the form of the field. */
export const filterValue = (
  model: Model,
  entity: Entity,
  node: FieldNode,
  name: string,
  given: unknown,
): ParameterValue => {
  const field = fieldOf(entity, name)
  // A number beyond 32 bits comes as a Float, which a document may write as 1e10.
  const text = String(field.scalar === 'int' ? Number(given) : given)
  const compared = comparedWith(field, text, model.settings.currency.digits)
  if ('value' in compared) {
    const { value } = compared
    // No row has a time between two milliseconds.
    return typeof value === 'number' && !Number.isInteger(value) ? null : value
  }
  throw argumentFault(node, name, compared.fault)
}
