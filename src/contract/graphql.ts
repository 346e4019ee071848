/** Compares two GraphQL schemas with graphql-js, which finds the changes, and by the dates in the reasons of deprecations. */
import {
  buildSchema,
  findSchemaChanges,
  type GraphQLArgument,
  type GraphQLEnumValue,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isRequiredArgument,
  isRequiredInputField,
  isSchema,
  isSpecifiedScalarType,
  print,
  resolveSchemaCoordinate,
  type SchemaChange,
} from 'graphql'
import {
  type DiffContext,
  type DiffDirection,
  type Differences,
  found,
  hits,
  type Notice,
  noticeChanges,
  removal,
  sorted,
} from '#contract/difference.ts'
import type { DifferenceClass } from '#contract/rules.ts'

/** The class of each change that graphql-js tells apart; undefined is free. */
export const graphqlRules = {
  TYPE_REMOVED: 'breaking',
  TYPE_CHANGED_KIND: 'breaking',
  TYPE_REMOVED_FROM_UNION: 'breaking',
  VALUE_REMOVED_FROM_ENUM: 'breaking',
  REQUIRED_INPUT_FIELD_ADDED: 'breaking',
  IMPLEMENTED_INTERFACE_REMOVED: 'breaking',
  FIELD_REMOVED: 'breaking',
  FIELD_CHANGED_KIND: 'breaking',
  REQUIRED_ARG_ADDED: 'breaking',
  ARG_REMOVED: 'breaking',
  ARG_CHANGED_KIND: 'breaking',
  DIRECTIVE_REMOVED: 'breaking',
  DIRECTIVE_ARG_REMOVED: 'breaking',
  REQUIRED_DIRECTIVE_ARG_ADDED: 'breaking',
  DIRECTIVE_REPEATABLE_REMOVED: 'breaking',
  DIRECTIVE_LOCATION_REMOVED: 'breaking',
  VALUE_ADDED_TO_ENUM: 'risky',
  TYPE_ADDED_TO_UNION: 'risky',
  IMPLEMENTED_INTERFACE_ADDED: 'risky',
  ARG_DEFAULT_VALUE_CHANGE: 'risky',
  INPUT_FIELD_DEFAULT_VALUE_CHANGE: 'risky',
  ARG_DEFAULT_VALUE_ADDED: 'risky',
  INPUT_FIELD_DEFAULT_VALUE_ADDED: 'risky',
  OPTIONAL_INPUT_FIELD_ADDED: 'compatible',
  OPTIONAL_ARG_ADDED: 'compatible',
  TYPE_ADDED: 'compatible',
  DIRECTIVE_ADDED: 'compatible',
  FIELD_ADDED: 'compatible',
  DIRECTIVE_REPEATABLE_ADDED: 'compatible',
  DIRECTIVE_LOCATION_ADDED: 'compatible',
  OPTIONAL_DIRECTIVE_ARG_ADDED: 'compatible',
  FIELD_CHANGED_KIND_SAFE: 'compatible',
  ARG_CHANGED_KIND_SAFE: 'compatible',
  DESCRIPTION_CHANGED: undefined,
} as const satisfies Record<SchemaChange['type'], DifferenceClass | undefined>

/** The name of the rule about a kind of change. */
export const ruleOf = (type: string): string => type.toLowerCase().replaceAll('_', '-')

/** Something of a schema that has a coordinate: what it announces, and the directives that stand at it. */
type SchemaElement = {
  readonly coordinate: string
  readonly notice: Notice
  readonly marks: string
  /** The type that it leads to or takes. */
  readonly leadsTo: string | undefined
}

type SchemaPart =
  | GraphQLSchema
  | GraphQLNamedType
  | GraphQLArgument
  | GraphQLEnumValue
  | GraphQLField
  | GraphQLInputField

/** The sunset is the last day that the reason names. */
const noticeOfReason = (reason: string | null | undefined): Notice => ({
  deprecated: typeof reason === 'string',
  sunset: reason?.match(/\d{4}-\d{2}-\d{2}/g)?.at(-1),
})

const marksOf = (part: SchemaPart): string =>
  [part.astNode, ...('extensionASTNodes' in part ? part.extensionASTNodes : [])]
    .flatMap(node => node?.directives ?? [])
    .filter(({ name }) => name.value !== 'deprecated')
    .map(print)
    .sort()
    .join(' ')

const elementOf = (part: SchemaPart): SchemaElement => ({
  coordinate: isSchema(part) ? 'schema' : String(part),
  notice: noticeOfReason('deprecationReason' in part ? part.deprecationReason : undefined),
  marks: marksOf(part),
  leadsTo: 'type' in part ? getNamedType(part.type).name : undefined,
})

const partsOf = (type: GraphQLNamedType): readonly SchemaPart[] => {
  if (isEnumType(type)) return type.getValues()
  if (isInputObjectType(type)) return Object.values(type.getFields())
  if (!isObjectType(type) && !isInterfaceType(type)) return []
  return Object.values(type.getFields()).flatMap(field => [field, ...field.args])
}

/** All parts of a schema. */
const elementsOf = (schema: GraphQLSchema): readonly SchemaElement[] =>
  [
    schema,
    ...Object.values(schema.getTypeMap())
      .filter(type => !isIntrospectionType(type) && !isSpecifiedScalarType(type))
      .flatMap(type => [type, ...partsOf(type)]),
    ...schema.getDirectives().flatMap(({ args }) => args),
  ].map(elementOf)

/** Whether callers must give it. */
const isNeeded = (coordinate: string, schema: GraphQLSchema): boolean => {
  const found = resolveSchemaCoordinate(schema, coordinate)
  if (found?.kind === 'InputField') return isRequiredInputField(found.inputField)
  if (found?.kind === 'FieldArgument') return isRequiredArgument(found.fieldArgument)
  return found?.kind === 'DirectiveArgument' && isRequiredArgument(found.directiveArgument)
}

/** The interfaces of a type that the other schema has too: fields of their types may give it. */
const interfacesLeft = (
  name: string,
  schema: GraphQLSchema,
  other: GraphQLSchema,
): readonly string[] => {
  const type = schema.getType(name)
  if (!isObjectType(type)) return []
  return type.getInterfaces().flatMap(({ name }) => (other.getType(name) ? [name] : []))
}

/** What a change is about, as a coordinate: the description begins with it, or ends where a type is the context. */
const coordinateOf = ({ description }: SchemaChange): string =>
  /(?:union type|implemented by) (\w+)/.exec(description)?.[1] ??
  /\w+\.\w+(?:\(\w+:\))?|@\w+(?:\(\w+:\))?/.exec(description)?.[0] ??
  /\w+/.exec(description)?.[0] ??
  ''

const ways: Readonly<Record<string, DiffDirection>> = {
  FieldArgument: 'sent',
  DirectiveArgument: 'sent',
  InputField: 'sent',
  Field: 'read',
}

const wayOf = (coordinate: string, schemas: readonly GraphQLSchema[]): DiffDirection => {
  const [element] = schemas.flatMap(schema => resolveSchemaCoordinate(schema, coordinate) ?? [])
  return (element && ways[element.kind]) ?? 'either'
}

const isRemoval = ({ type }: SchemaChange): boolean =>
  ['FIELD_REMOVED', 'ARG_REMOVED', 'VALUE_REMOVED_FROM_ENUM'].includes(type)

/** The types that go because everything announced to go was all that led to them. */
const goneWith = (
  removed: readonly SchemaElement[],
  all: readonly SchemaElement[],
): ReadonlySet<string> => {
  const gone = new Set(removed.flatMap(({ leadsTo }) => leadsTo ?? []))
  // A set goes on with what is added to it meanwhile.
  for (const type of gone)
    for (const { coordinate, leadsTo } of all)
      if (leadsTo !== undefined && coordinate.startsWith(`${type}.`)) gone.add(leadsTo)
  return gone
}

const isAnnounced = ({ notice: { sunset = '9' } }: SchemaElement, today: string) => today >= sunset

const changesFound = (before: GraphQLSchema, after: GraphQLSchema, today: string): Differences => {
  const elements = elementsOf(before)
  const changes = findSchemaChanges(before, after).map(change => {
    const coordinate = coordinateOf(change)
    const element = elements.find(element => element.coordinate === coordinate)
    return { change, coordinate, element }
  })
  const removed = changes.flatMap(({ change, element }) =>
    element && isRemoval(change) && isAnnounced(element, today) ? [element] : [],
  )
  const gone = goneWith(removed, elements)
  return changes.flatMap(({ change, coordinate, element }) => {
    const at: DiffContext = {
      ...placeOf(coordinate, today),
      way: wayOf(coordinate, [before, after]),
    }
    const message = change.description.replace(/\.$/, '')
    if (element && isRemoval(change) && element.notice.deprecated)
      return removal(element.notice, at, 'member-removed', message)
    // A standard scalar goes with its last use, which is a change of its own.
    if (message.startsWith('Standard scalar')) return []
    const isGone = gone.has(coordinate) && interfacesLeft(coordinate, before, after).length === 0
    if (change.type === 'TYPE_REMOVED' && isGone)
      return found(at, 'removed-after-sunset', `${message}, with all that led to it`)
    // Without its default value an argument that is not null cannot be left out.
    if (/DEFAULT_VALUE_CHANGE$/.test(change.type) && isNeeded(coordinate, after))
      return found(at, 'member-required', `${message}, so ${coordinate} must be given`)
    return [...changed(change, message, at), ...givenAnew(change, before, after, at)]
  })
}

/** The interfaces whose fields may give a type that is new. */
const givenAnew = (
  { type }: SchemaChange,
  before: GraphQLSchema,
  after: GraphQLSchema,
  at: DiffContext,
): Differences => {
  if (type !== 'TYPE_ADDED') return []
  const change = 'IMPLEMENTED_INTERFACE_ADDED'
  return interfacesLeft(at.path, after, before).flatMap(name =>
    changed({ type: change }, `${at.path} is a new type of the interface ${name}`, at),
  )
}

const placeOf = (coordinate: string, today: string): DiffContext => ({
  way: 'either',
  path: coordinate,
  member: /\w+(?=\W*$)/.exec(coordinate)?.[0] ?? coordinate,
  today,
})

const changed = (
  { type }: Pick<SchemaChange, 'type'>,
  message: string,
  at: DiffContext,
): Differences => {
  const level = graphqlRules[type]
  if (level === undefined) return []
  const { path, way, member } = at
  return [{ class: level, rule: ruleOf(type), path, message, hits: hits[way], names: [member] }]
}

/** What graphql-js does not compare: announcements, and the directives that stand at an element. */
const marksChanged = (before: GraphQLSchema, after: GraphQLSchema, today: string): Differences => {
  const olds = new Map(elementsOf(before).map(element => [element.coordinate, element]))
  return elementsOf(after).flatMap(({ coordinate, notice, marks }) => {
    const at: DiffContext = { ...placeOf(coordinate, today), way: wayOf(coordinate, [after]) }
    const old = olds.get(coordinate)
    const changes = noticeChanges(old?.notice ?? noticeOfReason(undefined), notice, at)
    if (!old || old.marks === marks) return changes
    const message = `${coordinate} has ${marks || 'no directive'} instead of ${old.marks || 'none'}`
    return [...changes, ...found(at, 'unknown', message)]
  })
}

const rootsOf = (schema: GraphQLSchema) => [
  schema.getQueryType(),
  schema.getMutationType(),
  schema.getSubscriptionType(),
]

const rootsChanged = (before: GraphQLSchema, after: GraphQLSchema, today: string): Differences => {
  const [were, are] = [rootsOf(before), rootsOf(after)]
  // A schema has always queries; mutations and subscriptions may come.
  const isKept = were.every(
    (root, index) => (index > 0 && !root) || root?.name === are[index]?.name,
  )
  const message = `the roots are ${are.join(', ')} instead of ${were.join(', ')}`
  return isKept ? [] : found(placeOf('schema', today), 'unknown', message)
}

/** The differences between two schemas for callers of the first, on a day (YYYY-MM-DD); throws GraphQLError for what is no SDL. */
export const diffGraphql = (beforeSdl: string, afterSdl: string, today: string): Differences => {
  const [before, after] = [buildSchema(beforeSdl), buildSchema(afterSdl)]
  return sorted([
    ...changesFound(before, after, today),
    ...marksChanged(before, after, today),
    ...rootsChanged(before, after, today),
  ])
}
