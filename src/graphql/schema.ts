/** The GraphQL schema, derived from the model: for validation, introspection and the SDL; nothing is resolved by it. */
import {
  GraphQLBoolean,
  GraphQLEnumType,
  type GraphQLFieldConfigArgumentMap,
  type GraphQLFieldConfigMap,
  GraphQLFloat,
  GraphQLID,
  type GraphQLInputFieldConfigMap,
  GraphQLInputObjectType,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLScalarType,
  GraphQLSchema,
  GraphQLString,
} from 'graphql'
import type { Entity, Relation } from '#model/entity.ts'
import type { Field } from '#model/field.ts'
import { fieldOf, type Model, typeName } from '#model/model.ts'
import { withArticle } from '#model/names.ts'
import { givenOnlyBy, inWords, mayBeDoneBy } from '#model/policy.ts'
import { type Lifetime, reasonOf } from '#model/version.ts'

/** The operation that a root field of the schema is, and its entity. */
export type RootField = {
  readonly kind: 'one' | 'list' | 'create' | 'update' | 'delete'
  readonly entity: string
}

export type Schema = {
  readonly schema: GraphQLSchema
  readonly roots: ReadonlyMap<string, RootField>
}

const scalars = {
  id: GraphQLID,
  text: GraphQLString,
  int: GraphQLInt,
  money: GraphQLFloat,
  time: GraphQLString,
  flag: GraphQLBoolean,
  bytes: GraphQLString,
} satisfies Record<Field['scalar'], GraphQLScalarType>

/** GraphQL's Int has 32 bits; a field whose numbers are larger is a Float. */
const mostOfInt = 2 ** 31 - 1

const scalarOf = ({ scalar, range }: Field): GraphQLScalarType =>
  scalar === 'int' && range && (range.max > mostOfInt || range.min < -mostOfInt - 1)
    ? GraphQLFloat
    : scalars[scalar]

const enumOf = ({ name, deprecated = {} }: Field['enum'] & {}, values: readonly string[]) =>
  new GraphQLEnumType({
    name,
    values: Object.fromEntries(
      // A word may be one that every object has, such as constructor.
      values.map(word => [
        word,
        { value: word, ...(Object.hasOwn(deprecated, word) && reasoned(deprecated[word])) },
      ]),
    ),
  })

const reasoned = (deprecationReason: string | undefined) =>
  deprecationReason === undefined ? {} : { deprecationReason }

/** The types of the fields that hold values; an enum is one type wherever it stands. */
const leafTypes = ({ entities }: Model) => {
  const enums = new Map<Field, GraphQLEnumType>()
  for (const { fields } of Object.values(entities))
    for (const field of Object.values(fields))
      if (field.enum) enums.set(field, enumOf(field.enum, field.values ?? []))
  return (field: Field): GraphQLScalarType | GraphQLEnumType => enums.get(field) ?? scalarOf(field)
}

type Making = { readonly model: Model; readonly leafOf: ReturnType<typeof leafTypes> }

type Mutation = Entity['graphql']['mutations'][number]

/** The reason not to use it any more, where there is one, with the day from which it is gone. */
const deprecation = ({ deprecated, sunset }: Lifetime) => {
  const reason = reasonOf(deprecated)
  if (reason === undefined) return {}
  return { deprecationReason: sunset === undefined ? reason : `${reason} Gone from ${sunset}.` }
}

const whole = { type: GraphQLInt }
const page = {
  limit: { ...whole, description: 'How many at the most, 1 to 100.' },
  offset: { ...whole, description: 'How many to leave out first.' },
}

const list = (type: GraphQLObjectType) =>
  new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(type)))

const described = (...sentences: readonly (string | undefined)[]): string | null =>
  sentences.filter(Boolean).join(' ') || null

const outputOf = ({ model, leafOf }: Making, field: Field) => {
  const type = leafOf(field)
  const { readableBy } = field
  const isOpen = readableBy.kind === 'anyone'
  const rights = `May be read by: ${inWords(readableBy, model.viewers.roles)}.`
  return {
    type: field.nullable ? type : new GraphQLNonNull(type),
    description: described(field.description, isOpen ? undefined : rights),
    ...deprecation(field),
  }
}

/** Whether the row that a relation leads to may be absent, or be one that not everybody may read. */
const mayBeNull = ({ entities }: Model, { fields }: Entity, { to, by }: Relation): boolean =>
  fields[by]?.nullable === true || entities[to]?.policy.read?.kind === 'self'

const objectTypes = (making: Making): ReadonlyMap<string, GraphQLObjectType> => {
  const { model } = making
  const types = new Map<string, GraphQLObjectType>()
  const relationField = (entity: Entity, relation: Relation) => {
    const one = types.get(relation.to) as GraphQLObjectType
    const about = { description: relation.description, ...deprecation(relation) }
    if (relation.kind === 'many') return { type: list(one), args: page, ...about }
    const type = mayBeNull(model, entity, relation) ? one : new GraphQLNonNull(one)
    return { type, ...about }
  }
  for (const [name, entity] of Object.entries(model.entities)) {
    if (!entity.graphql.type) continue
    const fields = () => {
      const config: GraphQLFieldConfigMap<unknown, unknown> = {}
      for (const [key, field] of Object.entries(entity.fields))
        if (field.graphql === 'shown') config[key] = outputOf(making, field)
      for (const [key, relation] of Object.entries(entity.relations))
        if (relation.graphql && model.entities[relation.to]?.graphql.type)
          config[key] = relationField(entity, relation)
      return config
    }
    const { description } = entity
    types.set(name, new GraphQLObjectType({ name: typeName(name), description, fields }))
  }
  return types
}

const isInput = (field: Field, kind: 'create' | 'update'): boolean =>
  field.graphql !== 'hidden' &&
  field.foldedFrom === undefined &&
  field.settableBy.kind !== 'nobody' &&
  !(kind === 'update' && field.immutable)

const inputType = (
  { model, leafOf }: Making,
  { name, entity }: Shown,
  kind: 'create' | 'update',
): GraphQLInputObjectType => {
  const fields: GraphQLInputFieldConfigMap = {}
  for (const [key, field] of Object.entries(entity.fields)) {
    if (!isInput(field, kind)) continue
    const type = leafOf(field)
    const isNeeded = kind === 'create' && field.initial === undefined
    fields[key] = {
      type: isNeeded ? new GraphQLNonNull(type) : type,
      description: described(field.description, givenOnlyBy(field.settableBy, model)),
      // What must be given cannot be deprecated (section 3.13.3).
      ...(!isNeeded && deprecation(field)),
    }
  }
  return new GraphQLInputObjectType({ name: `${typeName(kind)}${typeName(name)}Input`, fields })
}

const id = { type: new GraphQLNonNull(GraphQLID) }

type Config = GraphQLFieldConfigMap<unknown, unknown>[string]

type Named = { readonly name: string; readonly root: RootField; readonly config: Config }

/** An entity that the API shows, with its object type. */
type Shown = { readonly name: string; readonly entity: Entity; readonly type: GraphQLObjectType }

const filtersOf = ({ leafOf }: Making, entity: Entity): GraphQLFieldConfigArgumentMap => {
  const { filters, deprecated } = entity.graphql
  return Object.fromEntries(
    filters.map(key => {
      const field = fieldOf(entity, key)
      const { description } = field
      const reason = key in deprecated ? reasoned(deprecated[key]) : deprecation(field)
      return [key, { type: leafOf(field), description, ...reason }]
    }),
  )
}

const rootField = (
  { name: entity, entity: { graphql } }: Shown,
  kind: RootField['kind'],
  name: string,
  config: Config,
): Named => ({
  name,
  root: { kind, entity },
  config: { ...config, ...reasoned(graphql.deprecated[name]) },
})

const queriesOf = (making: Making, shown: Shown): readonly Named[] => {
  const { name, entity, type } = shown
  const { plural, graphql, rest, policy } = entity
  if (!graphql.roots) return []
  const rights = mayBeDoneBy(policy.enter ?? policy.read, making.model)
  const many = graphql.paged
    ? `The ${plural} by id, ${rest.listing.limit} at a time.`
    : `The ${plural}, newest first.`
  return [
    rootField(shown, 'one', name, {
      type,
      args: { id },
      description: described(`One of the ${plural}, or null.`, rights),
    }),
    rootField(shown, 'list', plural, {
      type: list(type),
      args: { ...filtersOf(making, entity), ...page },
      description: described(many, rights),
    }),
  ]
}

const mutationConfig = (making: Making, shown: Shown, kind: Mutation): Config => {
  const { name, entity, type } = shown
  const rights = mayBeDoneBy(entity.policy[kind], making.model)
  if (kind === 'delete')
    return {
      type: new GraphQLNonNull(GraphQLBoolean),
      args: { id },
      description: described(`Whether there was such ${withArticle(name)}; it is gone.`, rights),
    }
  const input = { type: new GraphQLNonNull(inputType(making, shown, kind)) }
  const about =
    kind === 'create' ? `Makes ${withArticle(name)}.` : 'Changes the fields that are given.'
  return {
    type: new GraphQLNonNull(type),
    args: kind === 'create' ? { input } : { id, input },
    description: described(about, rights),
  }
}

const mutationsOf = (making: Making, shown: Shown): readonly Named[] =>
  shown.entity.graphql.mutations.map(kind =>
    rootField(shown, kind, `${kind}${typeName(shown.name)}`, mutationConfig(making, shown, kind)),
  )

const rootType = (name: string, fields: readonly Named[]) =>
  new GraphQLObjectType({
    name,
    fields: Object.fromEntries(fields.map(({ name, config }) => [name, config])),
  })

/** The schema of a model, with the operations that its root fields are. */
export const deriveSchema = (model: Model): Schema => {
  const making = { model, leafOf: leafTypes(model) }
  const types = objectTypes(making)
  const shown = Object.entries(model.entities).flatMap(([name, entity]) => {
    const type = types.get(name)
    return type ? [{ name, entity, type }] : []
  })
  const queries = shown.flatMap(one => queriesOf(making, one))
  const mutations = shown.flatMap(one => mutationsOf(making, one))
  return {
    schema: new GraphQLSchema({
      query: rootType('Query', queries),
      ...(mutations.length > 0 && { mutation: rootType('Mutation', mutations) }),
    }),
    roots: new Map([...queries, ...mutations].map(({ name, root }) => [name, root])),
  }
}
