/** The types and arguments of groups of rows in the GraphQL API. */
import {
  GraphQLEnumType,
  type GraphQLFieldConfigMap,
  GraphQLFloat,
  GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLScalarType,
  GraphQLString,
} from 'graphql'
import { small } from '#graphql/arguments.ts'
import { direction } from '#graphql/order.ts'
import { type GroupValue, groupValues, mostGroups } from '#model/aggregate.ts'
import { type Entity, mayNameField } from '#model/entity.ts'
import { type Field, isOrdering } from '#model/field.ts'
import { fieldOf, typeName } from '#model/model.ts'

/** The fields by which rows may be grouped or of which groups have sums and means, under their own names. */
export const groupableFields = (entity: Entity) =>
  Object.entries(entity.fields).flatMap(([key, field]) =>
    field.graphql === 'shown' && mayNameField(entity, key) && isOrdering(field)
      ? [[key, key] as const]
      : [],
  )

const exactNumber = new GraphQLScalarType({
  name: 'ExactNumber',
  description: 'A number, or a text of it where its digits are more than 2^53 has.',
})

type Leaf = GraphQLScalarType | GraphQLEnumType | GraphQLList<GraphQLNonNull<Leaf>>

/** The type of the groups of an entity, and the arguments of the field that gives them; null if they have no value. */
export const aggregateOf = (name: string, entity: Entity, leafOf: (field: Field) => Leaf) => {
  const values = groupValues(entity, groupableFields(entity))
  const called = `${typeName(name)}Aggregate`
  const all = [...values]
  const keys = all.filter(([, { kind }]) => kind === 'key')
  const typeFor = (value: GroupValue): Leaf => {
    if (value.kind === 'count') return GraphQLInt
    const leaf = leafOf(fieldOf(entity, value.field))
    if (value.kind !== 'key' || value.part === undefined) return leaf
    if (value.part.is === 'year') return GraphQLInt
    // A day of a time is one of the calendar, whose type is that of dates.
    return value.part.is === 'day'
      ? leafOf({ ...fieldOf(entity, value.field), scalar: 'date' })
      : GraphQLString
  }
  const within = (kind: GroupValue['kind']) =>
    all.flatMap(([, value]) => (value.kind === kind && 'field' in value ? [value] : []))
  /** What is made of fields: sums and means are of the same ones, and so are least and most. */
  const parts = [
    ['Numbers', within('sum'), ['sum', 'avg']],
    ['Range', within('min'), ['min', 'max']],
  ] as const
  const fields: GraphQLFieldConfigMap<unknown, unknown> = Object.fromEntries(
    keys.map(([key, value]) => [key, { type: typeFor(value) }]),
  )
  fields.count = { type: new GraphQLNonNull(GraphQLInt), description: 'How many rows it has.' }
  const having: Record<string, { type: GraphQLInputType }> = {
    count: { type: comparisons(GraphQLInt) },
  }
  const order: Record<string, { type: GraphQLInputType }> = Object.fromEntries(
    [...keys.map(([key]) => key), 'count'].map(key => [key, { type: direction }]),
  )
  for (const [suffix, of, kinds] of parts) {
    if (of.length === 0) continue
    const each = <Config>(make: (value: (typeof of)[number]) => Config) =>
      Object.fromEntries(of.map(value => [value.field, make(value)]))
    const isExact = suffix === 'Numbers'
    const type = new GraphQLObjectType({
      name: `${called}${suffix}`,
      fields: each(value => ({ type: isExact ? exactNumber : typeFor(value) })),
    })
    const compared = new GraphQLInputObjectType({
      name: `${called}${suffix}Having`,
      fields: each(value => ({ type: comparisons(isExact ? GraphQLFloat : typeFor(value)) })),
    })
    const ordered = new GraphQLInputObjectType({
      name: `${called}${suffix}Order`,
      isOneOf: true,
      fields: each(() => ({ type: direction })),
    })
    for (const kind of kinds) {
      fields[kind] = { type: new GraphQLNonNull(type) }
      having[kind] = { type: compared }
      order[kind] = { type: ordered }
    }
  }
  const conditions: GraphQLInputObjectType = new GraphQLInputObjectType({
    name: `${called}Having`,
    extensions: small,
    fields: () => {
      const several = new GraphQLList(new GraphQLNonNull(conditions))
      return { ...having, and: { type: several }, or: { type: several }, not: { type: conditions } }
    },
  })
  const listOf = (type: GraphQLEnumType | GraphQLInputObjectType) =>
    new GraphQLList(new GraphQLNonNull(type))
  const group = new GraphQLEnumType({
    name: `${called}Key`,
    values: Object.fromEntries(keys.map(([key]) => [key, { value: key }])),
  })
  const orders = new GraphQLInputObjectType({
    name: `${called}Order`,
    extensions: small,
    isOneOf: true,
    fields: order,
  })
  return {
    type: new GraphQLObjectType({
      name: called,
      description: `What ${entity.plural} have in common: those of a group, or all.`,
      fields,
    }),
    args: {
      ...(keys.length > 0 && {
        groupBy: {
          type: listOf(group),
          description: 'What the rows of a group share; one group without.',
        },
      }),
      having: { type: conditions, description: 'Only groups that fit.' },
      timeZone: {
        type: GraphQLString,
        description: 'That of days, months and years; UTC if left out.',
      },
      orderBy: { type: listOf(orders), description: 'By what groups shares, if left out.' },
      limit: { type: GraphQLInt, description: `How many groups at the most, 1 to ${mostGroups}.` },
    },
  }
}

const known = new WeakMap<object, GraphQLInputObjectType>()

/** The comparisons of a value, one input for all that have its type. */
const comparisons = (type: Leaf): GraphQLInputObjectType =>
  known.getOrInsertComputed(type, () => {
    const isRanged = type === GraphQLInt || type === GraphQLFloat || /^Date/.test(String(type))
    const names = ['eq', 'ne', ...(isRanged ? ['lt', 'lte', 'gt', 'gte'] : [])]
    return new GraphQLInputObjectType({
      name: `${String(type)}Compared`,
      fields: Object.fromEntries(names.map(name => [name, { type }])),
    })
  })
