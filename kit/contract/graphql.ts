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
  type ContractDifference,
  compareNotices,
  type DiffContext,
  type DiffDirection,
  type Differences,
  hits,
  type Notice,
  sorted,
  tell,
  tellRemoval,
} from '#kit/contract/difference.ts'
import type { DifferenceClass } from '#kit/contract/rules.ts'

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

/** All parts of a schema, by their coordinates. */
const elementsOf = (schema: GraphQLSchema): ReadonlyMap<string, SchemaElement> => {
  const types = Object.values(schema.getTypeMap()).filter(
    type => !isIntrospectionType(type) && !isSpecifiedScalarType(type),
  )
  const membersOf = (type: GraphQLNamedType): readonly SchemaPart[] => {
    if (isEnumType(type)) return type.getValues()
    if (isInputObjectType(type)) return Object.values(type.getFields())
    if (!isObjectType(type) && !isInterfaceType(type)) return []
    return Object.values(type.getFields()).flatMap(field => [field, ...field.args])
  }
  const elementOf = (part: SchemaPart): readonly [string, SchemaElement] => {
    const coordinate = isSchema(part) ? 'schema' : String(part)
    const nodes = [part.astNode, ...('extensionASTNodes' in part ? part.extensionASTNodes : [])]
    const marks = nodes
      .flatMap(node => node?.directives ?? [])
      .filter(({ name }) => name.value !== 'deprecated')
      .map(print)
      .sort()
      .join(' ')
    const notice = noticeOfReason('deprecationReason' in part ? part.deprecationReason : undefined)
    const leadsTo = 'type' in part ? getNamedType(part.type).name : undefined
    return [coordinate, { coordinate, notice, marks, leadsTo }]
  }
  const parts = types.flatMap(type => [type, ...membersOf(type)])
  const ofDirectives = schema.getDirectives().flatMap(({ args }) => args)
  return new Map([...parts, ...ofDirectives, schema].map(elementOf))
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

const ways: Readonly<Record<string, DiffDirection>> = {
  FieldArgument: 'sent',
  DirectiveArgument: 'sent',
  InputField: 'sent',
  Field: 'read',
}

const removals = ['FIELD_REMOVED', 'ARG_REMOVED', 'VALUE_REMOVED_FROM_ENUM']

const tellChange = (
  type: SchemaChange['type'],
  message: string,
  { path, way, member, found }: DiffContext,
): void => {
  const level = graphqlRules[type]
  if (level !== undefined)
    found.push({
      class: level,
      rule: ruleOf(type),
      path,
      message,
      hits: hits[way],
      names: [member],
    })
}

/** The differences between two schemas for callers of the first, on a day (YYYY-MM-DD); throws GraphQLError for a text that is no SDL. */
export const diffGraphql = (beforeSdl: string, afterSdl: string, today: string): Differences => {
  const [before, after] = [buildSchema(beforeSdl), buildSchema(afterSdl)]
  const olds = elementsOf(before)
  const found: ContractDifference[] = []
  const placeOf = (coordinate: string, schemas: readonly GraphQLSchema[]): DiffContext => {
    const [element] = schemas.flatMap(schema => resolveSchemaCoordinate(schema, coordinate) ?? [])
    const way = (element && ways[element.kind]) ?? 'either'
    const member = /\w+(?=\W*$)/.exec(coordinate)?.[0] ?? coordinate
    return { way, path: coordinate, member, today, found }
  }

  const changes = findSchemaChanges(before, after).map(({ type, description }) => {
    // The description begins with what it is about, or ends with it if a type is the context.
    const coordinate =
      /(?:union type|implemented by) (\w+)/.exec(description)?.[1] ??
      /\w+\.\w+(?:\(\w+:\))?|@\w+(?:\(\w+:\))?/.exec(description)?.[0] ??
      /\w+/.exec(description)?.[0] ??
      ''
    const element = removals.includes(type) ? olds.get(coordinate) : undefined
    return { type, message: description.replace(/\.$/, ''), coordinate, removed: element }
  })
  // The types that go because everything announced to go was all that led to them.
  const gone = new Set(
    changes.flatMap(({ removed: { notice, leadsTo } = {} }) =>
      notice && today >= (notice.sunset ?? '9') ? (leadsTo ?? []) : [],
    ),
  )
  // The iteration of a set includes elements added meanwhile.
  for (const type of gone)
    for (const { coordinate, leadsTo } of olds.values())
      if (leadsTo !== undefined && coordinate.startsWith(`${type}.`)) gone.add(leadsTo)
  /** Whether callers must give it. */
  const isNeeded = (coordinate: string): boolean => {
    const part = resolveSchemaCoordinate(after, coordinate)
    if (part?.kind === 'InputField') return isRequiredInputField(part.inputField)
    if (part?.kind === 'FieldArgument') return isRequiredArgument(part.fieldArgument)
    return part?.kind === 'DirectiveArgument' && isRequiredArgument(part.directiveArgument)
  }
  for (const { type, message, coordinate, removed } of changes) {
    const at = placeOf(coordinate, [before, after])
    const isGone = gone.has(coordinate) && interfacesLeft(coordinate, before, after).length === 0
    if (removed?.notice.deprecated) tellRemoval(removed.notice, at, 'member-removed', message)
    // A standard scalar goes with its last use, which is a change of its own.
    else if (message.startsWith('Standard scalar')) continue
    else if (type === 'TYPE_REMOVED' && isGone)
      tell(at, 'removed-after-sunset', `${message}, with all that led to it`)
    // Without its default value an argument that is not null cannot be left out.
    else if (/DEFAULT_VALUE_CHANGE$/.test(type) && isNeeded(coordinate))
      tell(at, 'member-required', `${message}, so ${coordinate} must be given`)
    else {
      tellChange(type, message, at)
      // The fields of its interfaces may give a type that is new.
      for (const name of type === 'TYPE_ADDED' ? interfacesLeft(coordinate, after, before) : []) {
        const given = `${coordinate} is a new type of the interface ${name}`
        tellChange('IMPLEMENTED_INTERFACE_ADDED', given, at)
      }
    }
  }

  // What graphql-js does not compare: announcements, and the directives that stand at an element.
  for (const { coordinate, notice, marks } of elementsOf(after).values()) {
    const at = placeOf(coordinate, [after])
    const old = olds.get(coordinate)
    compareNotices(old?.notice ?? noticeOfReason(undefined), notice, at)
    const message = `${coordinate} has ${marks || 'no directive'} instead of ${old?.marks || 'none'}`
    if (old && old.marks !== marks) tell(at, 'unknown', message)
  }

  const [were, are] = [before, after].map(schema => [
    schema.getQueryType(),
    schema.getMutationType(),
    schema.getSubscriptionType(),
  ])
  // A schema has always queries; mutations and subscriptions may come.
  if (were?.some((root, index) => (index === 0 || root) && root?.name !== are?.[index]?.name)) {
    const message = `the roots are ${are?.join(', ')} instead of ${were.join(', ')}`
    tell(placeOf('schema', []), 'unknown', message)
  }
  return sorted(found)
}
