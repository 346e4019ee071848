/** Conditions of the GraphQL API: the inputs of `where`, and the condition that an argument stands for. */
import {
  coerceInputLiteral,
  type FieldNode,
  GraphQLBoolean,
  type GraphQLEnumType,
  type GraphQLField,
  type GraphQLInputFieldConfigMap,
  GraphQLInputObjectType,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLScalarType,
  GraphQLString,
  type ValueNode,
} from 'graphql'
import { mapped } from '#base/object.ts'
import {
  argumentFault,
  argumentFaults,
  givenFor,
  small,
  type Variables,
} from '#graphql/arguments.ts'
import { type CallerVocabulary, operandOf, operatorsOf } from '#model/condition.ts'
import { type Entity, mayNameField, mayNameRelation } from '#model/entity.ts'
import type { Field } from '#model/field.ts'
import { entityOf, fieldOf, type Model, typeName } from '#model/model.ts'
import { parseId } from '#model/values.ts'
import type { Lifetime } from '#model/version.ts'

/** The vocabulary of this API for conditions. */
export const callerVocabulary = ({ entities }: Model): Omit<CallerVocabulary, 'isSearched'> => {
  const members = mapped(entities, entity => {
    const fields = Object.keys(entity.fields).filter(
      key => entity.fields[key]?.graphql === 'shown' && mayNameField(entity, key),
    )
    const relations = Object.entries(entity.relations).flatMap(([key, { to, graphql }]) =>
      graphql && entities[to]?.graphql.type && mayNameRelation(entities, entity, key) ? [key] : [],
    )
    return new Map([...fields, ...relations].map(key => [key, key]))
  })
  return {
    membersOf: name => members[name] ?? new Map(),
    valueOf: (name, key, given) => {
      const isId = fieldOf(entityOf({ entities } as Model, name), key).scalar === 'id'
      return isId ? (parseId(String(given)) ?? given) : given
    },
    isShort: false,
    path: 'where',
  }
}

/** Gives the argument `where` of the lists of an entity; `marked` says whether a member is deprecated. */
export const whereArguments = (
  { entities }: Model,
  { membersOf }: Pick<CallerVocabulary, 'membersOf'>,
  leafOf: (field: Field) => unknown,
  marked: (member: Lifetime) => object,
) => {
  const compared = new Map<string, GraphQLInputObjectType>()
  /** The comparisons of a field, one input for all that have its type and operators. */
  const comparisons = (entity: Entity, key: string): GraphQLInputObjectType => {
    const field = fieldOf(entity, key)
    const { items } = field
    const operators = operatorsOf(entity, key)
    const type = leafOf(items ?? field) as GraphQLScalarType | GraphQLEnumType
    let called = operators.includes('has') ? 'List' : items ? 'OtherList' : field.file ? 'File' : ''
    if (operators.includes('contains')) called = 'Search'
    // Times may be strings, which are not compared so.
    else if (type === GraphQLString && operators.includes('lt')) called = 'Range'
    const list = new GraphQLList(new GraphQLNonNull(type))
    const taken = {
      ...{ value: type, 'value or null': type, values: list, text: GraphQLString },
      flag: GraphQLBoolean,
    }
    const name = `${type.name}${called}Condition`
    const fields = Object.fromEntries(
      operators.map(each => [each, { type: taken[operandOf(each)] }]),
    )
    return compared.getOrInsertComputed(name, () => new GraphQLInputObjectType({ name, fields }))
  }
  const types = new Map<string, GraphQLInputObjectType>()
  const matches = new Map<string, GraphQLInputObjectType>()
  for (const [name, entity] of Object.entries(entities)) {
    if (!entity.graphql.type) continue
    const fields = () => {
      const all: GraphQLInputFieldConfigMap = {}
      for (const key of membersOf(name).keys()) {
        const relation = entity.relations[key]
        const type = relation
          ? (relation.kind === 'one' ? types : matches).get(relation.to)
          : comparisons(entity, key)
        const member = relation ?? fieldOf(entity, key)
        if (type) all[key] = { type, ...marked(member) }
      }
      const several = new GraphQLList(new GraphQLNonNull(own))
      return { ...all, and: { type: several }, or: { type: several }, not: { type: own } }
    }
    const description = `A condition on ${entity.plural}: all of its members hold.`
    const called = { name: `${typeName(name)}Where`, description }
    const own = new GraphQLInputObjectType({ ...called, fields, extensions: small })
    const match = new GraphQLInputObjectType({
      name: `${typeName(name)}Match`,
      description: `What holds of some of the ${entity.plural}, or of none.`,
      isOneOf: true,
      fields: { some: { type: own }, none: { type: own } },
    })
    types.set(name, own)
    matches.set(name, match)
  }
  return (entity: string) => {
    const type = types.get(entity)
    if (!type || membersOf(entity).size === 0) return undefined
    return {
      where: { type, description: 'Only those that fit.', extensions: { conditionOn: entity } },
    }
  }
}

/** The variables of a value, by the paths at which they stand. */
export const variablesIn = (
  value: ValueNode,
  path = 'where',
): readonly { readonly path: string; readonly name: string }[] => {
  switch (value.kind) {
    case 'Variable':
      return [{ path, name: value.name.value }]
    case 'ObjectValue':
      return value.fields.flatMap(({ name, value }) => variablesIn(value, `${path}.${name.value}`))
    case 'ListValue':
      return value.values.flatMap((value, at) => variablesIn(value, `${path}.${at}`))
    default:
      return []
  }
}

/** The condition in the arguments of a list, for some variables; null or undefined if there is none. */
export const conditionOf = (
  { args }: GraphQLField<unknown, unknown>,
  node: FieldNode,
): ((variables: Variables) => unknown) => {
  const argument = args.find(({ name }) => name === 'where')
  const given = givenFor(node, 'where')
  if (!argument || !given) return () => undefined
  if (given.kind === 'Variable') return ({ coerced }) => coerced[given.name.value]
  const names = variablesIn(given)
  return variables => {
    // Without them it would be a condition on other rows.
    const unset = names.filter(({ name }) => variables.coerced[name] === undefined)
    if (unset.length > 0)
      throw argumentFaults(
        node,
        unset.map(({ path }) => ({ path, message: 'has a variable without a value' })),
      )
    const condition = coerceInputLiteral(given, argument.type, variables)
    if (condition !== undefined) return condition
    throw argumentFault(node, 'where', 'has a variable of no fitting value')
  }
}
