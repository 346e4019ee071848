/** Counts the operations that name what the schema deprecates: fields, arguments, input fields and values of enums. */
import {
  type ASTNode,
  type ASTVisitor,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isIntrospectionType,
  isObjectType,
  Kind,
  TypeInfo,
  valueToLiteral,
  visit,
  visitWithTypeInfo,
} from 'graphql'
import type { Variables } from '#graphql/arguments.ts'
import type { GraphqlOperation } from '#graphql/document.ts'
import type { CountUse } from '#versions/deprecated-use.ts'

/** A part of the schema that may be deprecated: a field, an argument, an input field, a value of an enum. */
type DeprecablePart = {
  readonly name: string
  readonly deprecationReason?: string | null | undefined
}

const isDeprecated = (part: DeprecablePart | null | undefined): part is DeprecablePart =>
  part?.deprecationReason != null

/** Counts the operations of a schema that use what it deprecates; undefined if it deprecates nothing. */
export const countingOperations = (
  schema: GraphQLSchema,
  count: CountUse,
): ((operation: GraphqlOperation, variables: Variables) => void) | undefined => {
  const isNeeded = Object.values(schema.getTypeMap()).some(type => {
    if (isIntrospectionType(type)) return false
    if (isEnumType(type)) return type.getValues().some(isDeprecated)
    if (!isObjectType(type) && !isInputObjectType(type)) return false
    return Object.values(type.getFields()).some(
      field => isDeprecated(field) || ('args' in field && field.args.some(isDeprecated)),
    )
  })
  if (!isNeeded) return undefined
  return ({ node, fragments, derived }, variables) => {
    // Found once for each operation; its variables differ from request to request.
    const inText = derived('deprecated parts', null, () => {
      const definitions = [node, ...fragments.values()]
      return deprecatedIn(schema, { kind: Kind.DOCUMENT, definitions })
    })
    const inVariables = Object.values(variables.sources).flatMap(
      ({ signature: { type }, value }) => {
        const literal = valueToLiteral(value, type)
        return literal ? deprecatedIn(schema, literal, type) : []
      },
    )
    for (const member of new Set([...inText, ...inVariables])) count({ api: 'graphql', member })
  }
}

/** The deprecated parts that a document names, or a value of a type: `Type.field`, `Type.field(argument)`, `Input.field`, `Enum.VALUE`. */
const deprecatedIn = (
  schema: GraphQLSchema,
  named: ASTNode,
  type?: GraphQLInputType,
): readonly string[] => {
  const info = new TypeInfo(schema, type)
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
  visit(named, visitWithTypeInfo(info, visitor))
  return [...found]
}
