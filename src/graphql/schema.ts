/** The GraphQL schema, derived from the model: for validation, introspection and its text; nothing is resolved by it. */
import {
  GraphQLBoolean,
  GraphQLEnumType,
  GraphQLError,
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
  GraphQLScalarType,
  GraphQLSchema,
  GraphQLString,
  printSchema,
  valueFromASTUntyped,
} from 'graphql'
import { mapped } from '#base/object.ts'
import { restPath, versionPath } from '#base/paths.ts'
import { aggregateOf } from '#graphql/aggregate.ts'
import { connectionField } from '#graphql/connection-type.ts'
import { orderArguments } from '#graphql/order.ts'
import { partInputs } from '#graphql/parts.ts'
import { callerVocabulary, whereArguments } from '#graphql/where.ts'
import type { Entity, Mutation, Relation } from '#model/entity.ts'
import { enumName, type Field } from '#model/field.ts'
import { entityOf, fieldOf, type Model, typeName } from '#model/model.ts'
import { withArticle } from '#model/names.ts'
import { bulkKinds } from '#model/parts.ts'
import { givenOnlyBy, inWords, isByRow, isForAll, mayBeDoneBy } from '#model/policy.ts'
import { fileFormOf } from '#model/stored-file.ts'
import { type Lifetime, reasonOf } from '#model/version.ts'
import { guardedBy, type RuledAction } from '#write/steps/action.ts'

/** The operation that a root field of the schema is, and its entity. */
export type RootField =
  | {
      readonly kind: 'one' | 'list' | 'connection' | 'aggregate' | Mutation | `${Mutation}Many`
      readonly entity: string
    }
  /** The entity is the one that the action answers with; empty if it answers with none. */
  | { readonly kind: 'action'; readonly entity: string; readonly action: RuledAction }

export type DerivedSchema = {
  readonly schema: GraphQLSchema
  readonly roots: ReadonlyMap<string, RootField>
  /** The members that conditions may compare, and how values are written. */
  readonly vocabulary: ReturnType<typeof callerVocabulary>
}

/** The schema of a model and of its actions that are mutations, with the operations that its root fields are. It is long as the types of a schema name one another. */
export const deriveSchema = (model: Model, actions: readonly RuledAction[] = []): DerivedSchema => {
  const mutating = actions.filter(({ graphql }) => graphql)
  // Whose mutations take the expected revision shows it.
  const isGuarded = ({ fields, graphql }: Entity) =>
    fields.revision !== undefined && graphql.mutations.some(kind => kind !== 'create')
  const guarded = new Set([
    ...mutating.map(action => guardedBy(action, model)),
    ...Object.keys(model.entities).filter(name => isGuarded(entityOf(model, name))),
  ])
  const leafOf = leafTypes(model, mutating)
  const vocabulary = callerVocabulary(model)
  const orderBy = orderArguments(model, deprecation)
  const where = whereArguments(model, vocabulary, leafOf, deprecation)
  const listArguments = (name: string) => ({ ...where(name), ...orderBy(name) })
  const connection = connectionField()
  const types = objectTypes(model, leafOf, guarded, listArguments, connection)
  const partsOf = partInputs(model, (name, kind, besides) => ({
    ...inputFields(model, leafOf, name, kind, besides),
    ...partsOf(name, kind),
  }))
  const inputs = new Map<string, GraphQLInputObjectType>()
  const inputOf = (name: string, kind: 'create' | 'update') =>
    inputs.getOrInsertComputed(`${typeName(kind)}${typeName(name)}Input`, inputName => {
      const fields = { ...inputFields(model, leafOf, name, kind), ...partsOf(name, kind) }
      return new GraphQLInputObjectType({ name: inputName, fields })
    })
  const roots = new Map<string, RootField>()
  const queries: FieldConfigs = {}
  const mutations: FieldConfigs = {}
  for (const [name, entity] of Object.entries(model.entities)) {
    const type = types.get(name)
    if (!type) continue
    const { plural, graphql, pageSize, policy } = entity
    const add = (
      fields: FieldConfigs,
      kind: Exclude<RootField['kind'], 'action'>,
      key: string,
      config: FieldConfigs[string],
    ) => {
      roots.set(key, { kind, entity: name })
      fields[key] = { ...config, ...reasoned(graphql.deprecated[key]) }
    }
    if (graphql.roots) {
      const rights = mayBeDoneBy(policy.enter ?? policy.read, model)
      const many = graphql.paged
        ? `The ${plural} by id, ${pageSize} at a time.`
        : `The ${plural}, newest first.`
      add(queries, 'one', name, {
        type,
        args: { id },
        description: described(`One of the ${plural}, or null.`, rights),
      })
      add(queries, 'list', plural, {
        type: list(type),
        args: { ...filtersOf(entity, leafOf), ...page, ...listArguments(name) },
        description: described(many, rights),
      })
      add(queries, 'connection', `${plural}Connection`, {
        ...connection(type, listArguments(name)),
        description: described(`The ${plural} by cursors.`, rights),
      })
      const aggregate = aggregateOf(name, entity, leafOf)
      add(queries, 'aggregate', `${plural}Aggregate`, {
        type: list(aggregate.type),
        args: { ...filtersOf(entity, leafOf), ...where(name), ...aggregate.args },
        description: described(
          `How many ${plural} there are, and sums of them, by groups.`,
          rights,
        ),
      })
    }
    for (const kind of graphql.mutations) {
      const about = {
        create: `Makes ${withArticle(name)}.`,
        update: 'Changes the fields that are given.',
        delete: `Whether there was such ${withArticle(name)}; it is gone.`,
      }[kind]
      add(mutations, kind, `${kind}${typeName(name)}`, {
        type: new GraphQLNonNull(kind === 'delete' ? GraphQLBoolean : type),
        args: {
          ...(kind !== 'create' && { id }),
          ...(kind !== 'delete' && { input: { type: new GraphQLNonNull(inputOf(name, kind)) } }),
          ...(kind !== 'create' && guarded.has(name) && { expectedRevision }),
        },
        description: described(about, mayBeDoneBy(policy[kind], model)),
      })
    }
  }
  for (const [name, entity] of Object.entries(model.entities)) {
    const { plural, policy, graphql } = entity
    if (!graphql.type) continue
    const changes = inputFields(model, leafOf, name, 'update')
    for (const kind of bulkKinds(entity)) {
      if (kind === 'update' && Object.keys(changes).length === 0) continue
      const key = `${kind}${typeName(plural)}`
      roots.set(key, { kind: `${kind}Many`, entity: name })
      const inputs = () => new GraphQLList(new GraphQLNonNull(inputOf(name, 'create')))
      const input = () =>
        new GraphQLInputObjectType({ name: `${typeName(key)}Input`, fields: changes })
      mutations[key] = {
        type: new GraphQLNonNull(bulkWrite),
        args: {
          ...(kind === 'create' && { inputs: { type: new GraphQLNonNull(inputs()) } }),
          ...(kind !== 'create' && where(name)),
          ...(kind === 'update' && { input: { type: new GraphQLNonNull(input()) } }),
          ...(kind !== 'create' && ofMany),
          ...(kind !== 'create' && entity.fields.revision && { expectedRevisions }),
          dryRun,
        },
        description: described(
          `${{ create: 'Makes', update: 'Changes', delete: 'Deletes' }[kind]} ${plural}, all ${kind === 'create' ? '' : 'that fit '}or none.`,
          mayBeDoneBy(policy[kind], model),
        ),
      }
    }
  }
  for (const action of mutating) {
    const { about, answers, rule, described: docs, input = {}, name } = action
    const { operationId } = docs
    const type = answers === null ? GraphQLBoolean : types.get(answers)
    if (!type)
      throw new Error(
        `the action ${name} is a mutation and answers with ${answers}, which GraphQL does not show: leave graphql out of it`,
      )
    if (Object.hasOwn(mutations, operationId))
      throw new Error(`two mutations are called ${operationId}: rename one of them`)
    const fields = mapped(input, field => inputField(model, leafOf, field, true))
    const inputName = `${typeName(operationId)}Input`
    const given = new GraphQLInputObjectType({ name: inputName, fields })
    const isNeeded = Object.values(input).some(({ initial }) => initial === undefined)
    roots.set(operationId, { kind: 'action', entity: answers ?? '', action })
    mutations[operationId] = {
      type: new GraphQLNonNull(type),
      args: {
        ...(about !== null && { id }),
        ...(action.input && { input: { type: isNeeded ? new GraphQLNonNull(given) : given } }),
        ...(guardedBy(action, model) !== null && { expectedRevision }),
      },
      description: described(`${docs.summary}.`, docs.description, mayBeDoneBy(rule, model)),
    }
  }
  const query = new GraphQLObjectType({ name: 'Query', fields: queries })
  const mutation = new GraphQLObjectType({ name: 'Mutation', fields: mutations })
  const hasMutations = Object.keys(mutations).length > 0
  try {
    const parts = { description: model.about, query, ...(hasMutations && { mutation }) }
    return { schema: new GraphQLSchema(parts), roots, vocabulary }
  } catch (error) {
    // Names of types that depend on others, such as IntCondition, are known only here.
    const [, taken] = /types named "(\w+)"/.exec(String(error)) ?? []
    if (taken === undefined) throw error
    const owners = Object.entries(model.entities).flatMap(([name, { fields }]) => [
      [typeName(name), `the entity ${name}`] as const,
      ...Object.entries(fields).map(
        ([key, field]) => [enumName(name, key, field), `the enum of ${name}.${key}`] as const,
      ),
    ])
    const owner = owners.find(([name]) => name === taken)?.[1] ?? 'an action'
    throw new Error(
      `${owner} has the name of another type of the GraphQL schema, ${taken}: give it another one`,
    )
  }
}

/** The schema as text in GraphQL's own language (SDL), for tools that make typed clients of it, with a line break at its end. */
export const schemaText = ({ schema }: DerivedSchema): string => `${printSchema(schema)}\n`

type FieldConfigs = GraphQLFieldConfigMap<unknown, unknown>

const list = <Type extends GraphQLObjectType | GraphQLScalarType>(type: Type) =>
  new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(type)))

const id = { type: new GraphQLNonNull(GraphQLID) }
const whole = { type: new GraphQLNonNull(GraphQLInt) }
const text = { type: new GraphQLNonNull(GraphQLString) }
const pixels = { type: GraphQLInt, description: 'In pixels, of a picture.' }

const bulkWrite = new GraphQLObjectType({
  name: 'BulkWrite',
  description: 'What a write of many rows has done.',
  fields: { count: whole, ids: { type: list(GraphQLID) } },
})

const storedFile = new GraphQLObjectType({
  name: 'StoredFile',
  description: 'A file of a row.',
  fields: { name: text, type: text, bytes: whole, width: pixels, height: pixels, url: text },
})

const ofMany = {
  all: {
    type: GraphQLBoolean,
    description: 'All rows are meant, if `where` compares nothing or holds for every row.',
  },
}

const dryRun = {
  type: GraphQLBoolean,
  description: 'Nothing is changed; the answer is the same.',
}

const revisionOfRow = new GraphQLInputObjectType({
  name: 'ExpectedRevision',
  description: 'The revision that a row must have.',
  fields: { id, revision: whole },
})

const expectedRevisions = {
  type: new GraphQLList(new GraphQLNonNull(revisionOfRow)),
  description:
    'The revisions that these rows must have; PRECONDITION_FAILED if one has another one.',
}

const expectedRevision = {
  type: GraphQLInt,
  description: 'The revision that it must have; PRECONDITION_FAILED if it has another one.',
}

const page = {
  limit: { type: GraphQLInt, description: 'How many at the most, 1 to 100.' },
  offset: { type: GraphQLInt, description: 'How many to leave out first.' },
}

const described = (...sentences: readonly (string | undefined)[]): string | null =>
  sentences.filter(Boolean).join(' ') || null

const reasoned = (deprecationReason: string | undefined) =>
  deprecationReason === undefined ? {} : { deprecationReason }

/** The reason not to use it any more, if there is one, with the day from which it is gone. */
const deprecation = ({ deprecated, sunset }: Lifetime) => {
  const reason = reasonOf(deprecated)
  return reasoned(reason && sunset !== undefined ? `${reason} Gone from ${sunset}.` : reason)
}

/** Any JSON; a literal's objects become plain ones, as those of variables are. */
const jsonScalar = new GraphQLScalarType({
  name: 'JSON',
  description: 'JSON: an object or a list.',
  coerceInputValue: value => value,
  coerceInputLiteral: node => JSON.parse(JSON.stringify(valueFromASTUntyped(node))),
})

/** A text of a form of its own, which the rule of its field validates. */
const textScalar = (name: string, description: string) => {
  const coerce = (value: unknown): string => {
    if (typeof value === 'string') return value
    throw new GraphQLError(`${name} must be a string.`)
  }
  return new GraphQLScalarType({
    name,
    description,
    coerceInputValue: coerce,
    coerceInputLiteral: node => coerce(node.kind === 'StringValue' ? node.value : undefined),
  })
}

/** What days and times are, unless the content keeps them strings. */
const textScalars: Readonly<Partial<Record<Field['scalar'], GraphQLScalarType>>> = {
  date: textScalar('Date', 'A day of the calendar, such as 2026-01-31.'),
  time: textScalar(
    'DateTime',
    'ISO 8601 in UTC, such as 2026-01-31T09:30:00.000Z; other offsets are taken too.',
  ),
}

const scalars = {
  id: GraphQLID,
  text: GraphQLString,
  int: GraphQLInt,
  money: GraphQLFloat,
  decimal: GraphQLFloat,
  date: GraphQLString,
  time: GraphQLString,
  flag: GraphQLBoolean,
  json: jsonScalar,
  file: GraphQLString,
  bytes: GraphQLString,
} satisfies Record<Exclude<Field['scalar'], 'list'>, GraphQLScalarType>

/** GraphQL's Int has 32 bits; a field whose numbers are larger is a Float. */
const mostOfInt = 2 ** 31 - 1

/** A type of values, or a list of them. */
type Leaf = GraphQLScalarType | GraphQLEnumType | GraphQLList<GraphQLNonNull<Leaf>>
type LeafOf = (field: Field) => Leaf

/** The types of the fields that hold values; an enum is one type for all that have it. */
const leafTypes = (
  { entities, graphqlStrings = false }: Model,
  mutating: readonly RuledAction[],
): LeafOf => {
  const enums = new Map<Field, GraphQLEnumType>()
  const inputs = mutating.map(
    ({ input = {}, described }) => [described.operationId, input] as const,
  )
  const owners = [
    ...Object.entries(entities).map(([name, { fields }]) => [name, fields] as const),
    ...inputs,
  ]
  const all = owners.flatMap(([owner, fields]) =>
    Object.entries(fields).map(([key, field]) => [enumName(owner, key, field), field] as const),
  )
  for (const [name, field] of all) {
    if (name === undefined || enums.has(field) || (graphqlStrings && !field.enum)) continue
    const { deprecated = {} } = field.enum ?? {}
    // A word may be one that every object has, such as constructor.
    const values = (field.values ?? []).map(word => {
      const reason = Object.hasOwn(deprecated, word) ? deprecated[word] : undefined
      return [word, { value: word, ...reasoned(reason) }]
    })
    enums.set(field, new GraphQLEnumType({ name, values: Object.fromEntries(values) }))
  }
  const leafOf: LeafOf = field => {
    const { scalar, range, items } = field
    if (items) return new GraphQLList(new GraphQLNonNull(leafOf(items)))
    const isLarge = range && (range.max > mostOfInt || range.min < -mostOfInt - 1)
    const plain = scalars[scalar as keyof typeof scalars]
    const own = (graphqlStrings ? undefined : textScalars[scalar]) ?? plain
    return enums.get(field) ?? (scalar === 'int' && isLarge ? GraphQLFloat : own)
  }
  return leafOf
}

const objectTypes = (
  model: Model,
  leafOf: LeafOf,
  guarded: ReadonlySet<string | null>,
  listArguments: (entity: string) => GraphQLFieldConfigArgumentMap,
  connection: ReturnType<typeof connectionField>,
): ReadonlyMap<string, GraphQLObjectType> => {
  const { entities } = model
  const types = new Map<string, GraphQLObjectType>()
  const { all, newest } = model.versions
  const prefix = all.length > 1 ? versionPath(newest) : restPath
  const valueField = (entity: Entity, key: string, field: Field) => {
    const file = fileFormOf(entity, key, prefix)
    const type = file ? storedFile : leafOf(field)
    const { readableBy } = field
    const rights = `May be read by ${inWords(readableBy, model.viewers.roles)}.`
    return {
      // One that is readable by row is null in the other rows.
      type: field.nullable || isByRow(readableBy) ? type : new GraphQLNonNull(type),
      description: described(field.description, isForAll(readableBy) ? undefined : rights),
      ...(file && { extensions: { file } }),
      ...deprecation(field),
    }
  }
  const relationField = ({ fields }: Entity, relation: Relation) => {
    const { to, by, kind, description } = relation
    const one = types.get(to) as GraphQLObjectType
    const about = { description: described(description), ...deprecation(relation) }
    if (kind === 'many')
      return { type: list(one), args: { ...page, ...listArguments(to) }, ...about }
    // The row may be absent, or be one that not everybody may read.
    const mayBeNull =
      fields[by]?.nullable === true ||
      isByRow(fields[by]?.readableBy) ||
      isByRow(entities[to]?.policy.read)
    return { type: mayBeNull ? one : new GraphQLNonNull(one), ...about }
  }
  for (const [name, entity] of Object.entries(entities)) {
    if (!entity.graphql.type) continue
    const fields = () => {
      const configs: FieldConfigs = {}
      for (const [key, field] of Object.entries(entity.fields))
        if (field.graphql === 'shown') configs[key] = valueField(entity, key, field)
      if (guarded.has(name)) configs.revision = whole
      for (const [key, relation] of Object.entries(entity.relations))
        if (relation.graphql && entities[relation.to]?.graphql.type) {
          configs[key] = relationField(entity, relation)
          if (relation.kind === 'many')
            configs[`${key}Connection`] = {
              ...connection(
                types.get(relation.to) as GraphQLObjectType,
                listArguments(relation.to),
              ),
              extensions: { connects: { entity: name, relation: key } },
              description: `The ${key} by cursors.`,
              ...deprecation(relation),
            }
        }
      return configs
    }
    const { description } = entity
    types.set(name, new GraphQLObjectType({ name: typeName(name), description, fields }))
  }
  return types
}

const filtersOf = (entity: Entity, leafOf: LeafOf): GraphQLFieldConfigArgumentMap => {
  const { filters, deprecated } = entity.graphql
  return Object.fromEntries(
    filters.map(key => {
      const field = fieldOf(entity, key)
      const description = described(field.description)
      const reason = key in deprecated ? reasoned(deprecated[key]) : deprecation(field)
      return [key, { type: leafOf(field), description, ...reason }]
    }),
  )
}

const inputField = (
  model: Model,
  leafOf: LeafOf,
  field: Field,
  isWhole: boolean,
): GraphQLInputFieldConfigMap[string] => {
  const type = leafOf(field)
  const isNeeded = isWhole && field.initial === undefined
  return {
    type: isNeeded ? new GraphQLNonNull(type) : type,
    description: described(field.description, givenOnlyBy(field.settableBy, model)),
    // What must be given cannot be deprecated (section 3.13.3).
    ...(!isNeeded && deprecation(field)),
  }
}

const inputFields = (
  model: Model,
  leafOf: LeafOf,
  name: string,
  kind: 'create' | 'update',
  besides?: string,
): GraphQLInputFieldConfigMap => {
  const fields: GraphQLInputFieldConfigMap = {}
  for (const [key, field] of Object.entries(model.entities[name]?.fields ?? {})) {
    const { graphql, foldedFrom, settableBy, immutable } = field
    if (graphql === 'hidden' || foldedFrom !== undefined || settableBy.kind === 'nobody') continue
    if ((kind === 'update' && immutable) || key === besides) continue
    fields[key] = inputField(model, leafOf, field, kind === 'create')
  }
  return fields
}
