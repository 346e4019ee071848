/** Counts the operations that name parts which the schema deprecates: fields, arguments, input fields and values of enums. */
import {
  type ASTVisitor,
  type DocumentNode,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isIntrospectionType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql'
import { isObject } from '#base/object.ts'
import type { Variables } from '#graphql/arguments.ts'
import type { GraphqlOperation } from '#graphql/document.ts'
import type { Viewer } from '#model/policy.ts'
import type { Usage } from '#versions/deprecated-use.ts'

type DeprecablePart = {
  readonly name: string
  readonly deprecationReason?: string | null | undefined
}

const isDeprecated = (part: DeprecablePart | null | undefined): part is DeprecablePart =>
  part?.deprecationReason != null

const deprecatesIn = (schema: GraphQLSchema): boolean =>
  Object.values(schema.getTypeMap()).some(type => {
    if (isIntrospectionType(type)) return false
    if (isEnumType(type)) return type.getValues().some(isDeprecated)
    if (!isObjectType(type) && !isInputObjectType(type)) return false
    return Object.values(type.getFields()).some(
      field => isDeprecated(field) || ('args' in field && field.args.some(isDeprecated)),
    )
  })

const documentOf = ({ node, fragments }: GraphqlOperation): DocumentNode => ({
  kind: Kind.DOCUMENT,
  definitions: [node, ...fragments.values()],
})

/** The deprecated parts that an operation names in its own text: `Type.field`, `Type.field(argument)`, `Input.field`, `Enum.VALUE`. */
const deprecatedIn = (schema: GraphQLSchema, operation: GraphqlOperation): readonly string[] => {
  const info = new TypeInfo(schema)
  const found = new Set<string>()
  const add = (part: DeprecablePart | null | undefined, place: (name: string) => string) => {
    if (isDeprecated(part)) found.add(place(part.name))
  }
  const parent = () => info.getParentType()?.name ?? ''
  const visitor: ASTVisitor = {
    Field: () => add(info.getFieldDef(), name => `${parent()}.${name}`),
    Argument: () =>
      add(info.getArgument(), name => `${parent()}.${info.getFieldDef()?.name}(${name})`),
    ObjectField: ({ name }) => {
      const type = getNamedType(info.getParentInputType())
      if (isInputObjectType(type))
        add(type.getFields()[name.value], field => `${type.name}.${field}`)
    },
    EnumValue: () =>
      add(info.getEnumValue(), name => `${getNamedType(info.getInputType())?.name}.${name}`),
  }
  visit(documentOf(operation), visitWithTypeInfo(info, visitor))
  return [...found]
}

/** The deprecated input fields and values of enums in a variable's value, as the caller sent it. */
const inValue = (type: GraphQLInputType, value: unknown): readonly string[] => {
  if (isNonNullType(type)) return inValue(type.ofType, value)
  if (isListType(type)) return [value].flat().flatMap(one => inValue(type.ofType, one))
  if (isEnumType(type))
    return type
      .getValues()
      .filter(one => isDeprecated(one) && (one.name === value || one.value === value))
      .map(({ name }) => `${type.name}.${name}`)
  if (!isInputObjectType(type) || !isObject(value)) return []
  return Object.values(type.getFields()).flatMap(field =>
    Object.hasOwn(value, field.name)
      ? [
          ...(isDeprecated(field) ? [`${type.name}.${field.name}`] : []),
          ...inValue(field.type, value[field.name]),
        ]
      : [],
  )
}

/** The parts that count for a request: in its text, where they are found once for each operation, and in its variables. */
const namedBy = (
  schema: GraphQLSchema,
  operation: GraphqlOperation,
  { sources }: Variables,
): ReadonlySet<string> => {
  const inText = operation.derived('deprecated parts', () => deprecatedIn(schema, operation))
  const inVariables = Object.values(sources).flatMap(({ signature, value }) =>
    inValue(signature.type, value),
  )
  return new Set([...inText, ...inVariables])
}

/** Counts the operations of a schema that use its deprecated parts; does nothing if it has none. */
export const countingOperations = (
  schema: GraphQLSchema,
  usage: Usage,
): ((operation: GraphqlOperation, variables: Variables, viewer: Viewer) => void) => {
  if (!deprecatesIn(schema)) return () => {}
  return (operation, variables, viewer) => {
    for (const member of namedBy(schema, operation, variables))
      usage.count({ api: 'graphql', member }, viewer)
  }
}
