/** Counts the operations that name what the schema deprecates: fields, arguments, input fields and values of enums. */
import {
  type ASTVisitor,
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

/** A part of the schema that may be deprecated: a field, an argument, an input field, a value of an enum. */
type DeprecablePart = {
  readonly name: string
  readonly deprecationReason?: string | null | undefined
}

const isDeprecated = (part: DeprecablePart | null | undefined): part is DeprecablePart =>
  part?.deprecationReason != null

/** Counts the operations of a schema that use what it deprecates; does nothing if it deprecates nothing. */
export const countingOperations = (
  schema: GraphQLSchema,
  usage: Usage,
): ((operation: GraphqlOperation, variables: Variables, viewer: Viewer) => void) => {
  const isNeeded = Object.values(schema.getTypeMap()).some(type => {
    if (isIntrospectionType(type)) return false
    if (isEnumType(type)) return type.getValues().some(isDeprecated)
    if (!isObjectType(type) && !isInputObjectType(type)) return false
    return Object.values(type.getFields()).some(
      field => isDeprecated(field) || ('args' in field && field.args.some(isDeprecated)),
    )
  })
  if (!isNeeded) return () => {}
  return (operation, variables, viewer) => {
    // Found once for each operation; its variables differ from request to request.
    const inText = operation.derived('deprecated parts', () => deprecatedIn(schema, operation))
    const inVariables = Object.values(variables.sources).flatMap(({ signature, value }) =>
      inValue(signature.type, value),
    )
    for (const member of new Set([...inText, ...inVariables]))
      usage.count({ api: 'graphql', member }, viewer)
  }
}

/** The deprecated parts that an operation names in its own text: `Type.field`, `Type.field(argument)`, `Input.field`, `Enum.VALUE`. */
const deprecatedIn = (
  schema: GraphQLSchema,
  { node, fragments }: GraphqlOperation,
): readonly string[] => {
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
  const document = { kind: Kind.DOCUMENT, definitions: [node, ...fragments.values()] } as const
  visit(document, visitWithTypeInfo(info, visitor))
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
