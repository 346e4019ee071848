/** The parts of a GraphQL schema, by their coordinates. */
import {
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
} from 'graphql'
import type { Notice } from '#contract/notice.ts'

/** Something of a schema that has a coordinate: what it announces, and the directives that stand at it. */
export type Element = {
  readonly coordinate: string
  readonly notice: Notice
  readonly marks: string
  /** The type that it leads to or takes. */
  readonly leadsTo: string | undefined
}

type Part =
  | GraphQLSchema
  | GraphQLNamedType
  | GraphQLArgument
  | GraphQLEnumValue
  | GraphQLField
  | GraphQLInputField

/** The sunset is the last day that the reason names. */
export const noticeOfReason = (reason: string | null | undefined): Notice => ({
  deprecated: typeof reason === 'string',
  sunset: reason?.match(/\d{4}-\d{2}-\d{2}/g)?.at(-1),
})

const marksOf = (part: Part): string =>
  [part.astNode, ...('extensionASTNodes' in part ? part.extensionASTNodes : [])]
    .flatMap(node => node?.directives ?? [])
    .filter(({ name }) => name.value !== 'deprecated')
    .map(print)
    .sort()
    .join(' ')

const elementOf = (part: Part): Element => ({
  coordinate: isSchema(part) ? 'schema' : String(part),
  notice: noticeOfReason('deprecationReason' in part ? part.deprecationReason : undefined),
  marks: marksOf(part),
  leadsTo: 'type' in part ? getNamedType(part.type).name : undefined,
})

const partsOf = (type: GraphQLNamedType): readonly Part[] => {
  if (isEnumType(type)) return type.getValues()
  if (isInputObjectType(type)) return Object.values(type.getFields())
  if (!isObjectType(type) && !isInterfaceType(type)) return []
  return Object.values(type.getFields()).flatMap(field => [field, ...field.args])
}

/** All parts of a schema. */
export const elementsOf = (schema: GraphQLSchema): readonly Element[] =>
  [
    schema,
    ...Object.values(schema.getTypeMap())
      .filter(type => !isIntrospectionType(type) && !isSpecifiedScalarType(type))
      .flatMap(type => [type, ...partsOf(type)]),
    ...schema.getDirectives().flatMap(({ args }) => args),
  ].map(elementOf)

/** Whether callers must give it. */
export const isNeeded = (coordinate: string, schema: GraphQLSchema): boolean => {
  const found = resolveSchemaCoordinate(schema, coordinate)
  if (found?.kind === 'InputField') return isRequiredInputField(found.inputField)
  if (found?.kind === 'FieldArgument') return isRequiredArgument(found.fieldArgument)
  return found?.kind === 'DirectiveArgument' && isRequiredArgument(found.directiveArgument)
}

/** The interfaces of a type that the other schema has too: fields of their types may give it. */
export const interfacesLeft = (
  name: string,
  schema: GraphQLSchema,
  other: GraphQLSchema,
): readonly string[] => {
  const type = schema.getType(name)
  if (!isObjectType(type)) return []
  return type.getInterfaces().flatMap(({ name }) => (other.getType(name) ? [name] : []))
}
