/** The arguments of a query's fields, read from each request's variables into the slots of its plan. */
import {
  type FieldNode,
  GraphQLError,
  type GraphQLField,
  type getVariableValues,
  isNonNullType,
} from 'graphql'
import { GraphqlErrors } from '#graphql/document.ts'
import type { Entity } from '#model/entity.ts'
import { fieldOf, type Model } from '#model/model.ts'
import { comparedWith, parseId } from '#model/values.ts'
import { type Page, pageSize, type Slot, type Value } from '#read/selection.ts'

/** The coerced variables of a request, as graphql-js makes them. */
export type Variables = ReturnType<typeof getVariableValues>['variableValues'] & {}

export type Arguments = Readonly<Record<string, unknown>>

type AnyField = GraphQLField<unknown, unknown>

/** Slots from the number `first` on, whose values come from the variables of each request; the caller fills those before it. */
export const createSlots = (first: Slot) => {
  const makers: ((variables: Variables) => Value)[] = []
  return {
    /** The slot that this value will have. */
    take: (value: (variables: Variables) => Value): Slot => makers.push(value) - 1 + first,
    valuesOf: (variables: Variables): readonly Value[] => makers.map(make => make(variables)),
  }
}

export type Slots = ReturnType<typeof createSlots>

// Above every budget: the statement's own limit and the count of objects decide.
const wholeList = 1_000_000

/** Gives an argument's value for some variables; undefined where the request gives none. */
type ReadArgument = (variables: Variables) => unknown

/**
 * CoerceArgumentValues (section 6.4.1) for one argument of a scalar type, done once for each document as far as
 * possible: graphql-js does it in each request, which took a tenth of a small query.
 */
export const argumentOf = (field: AnyField, node: FieldNode, name: string): ReadArgument => {
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

/** The slots of a list's page, from its arguments; null where the document gives none and the list is whole. */
export const pageOf = (
  slots: Slots,
  field: AnyField,
  node: FieldNode,
  defaultLimit: number | null,
): Page => {
  const isGiven = (argument: string) =>
    node.arguments?.some(({ name }) => name.value === argument) ?? false
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

/** The id in an argument; 0, which no row has, where it is no id. */
export const idArgument = (value: unknown): number => parseId(String(value)) ?? 0

/** The stored value that a filter's argument stands for; throws BAD_USER_INPUT where it has not the form of the field. */
export const filterValue = (
  model: Model,
  entity: Entity,
  node: FieldNode,
  name: string,
  given: unknown,
): Value => {
  const { scalar } = fieldOf(entity, name)
  // A number beyond 32 bits comes as a Float, which a document may write as 1e10.
  const text = String(scalar === 'int' ? Number(given) : given)
  const compared = comparedWith(scalar, text, model.settings.currency.digits)
  if ('value' in compared) return compared.value
  const argument = node.arguments?.find(argument => argument.name.value === name)
  throw new GraphqlErrors('BAD_USER_INPUT', [
    new GraphQLError(`Argument "${name}" ${compared.fault}.`, { nodes: argument?.value }),
  ])
}
