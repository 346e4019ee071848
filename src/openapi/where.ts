/** What documents say of the conditions of callers: a parameter for each member with its operators, and the schema of `where`. */
import { operandOf, operatorsOf } from '#model/condition.ts'
import { fieldOf, type Model, typeName } from '#model/model.ts'
import type { JsonSchema } from '#model/operation-docs.ts'
import { type Resource, resourceOf } from '#model/resource.ts'
import { bareSchema, objectOf, refTo, type Schemas } from '#openapi/schemas.ts'
import { filterableMembers } from '#rest/where.ts'

/** The name of the schema of the conditions on an entity's rows. */
export const whereNameOf = (entity: string): string => `${typeName(entity)}Where`

/** How a member is compared: the name of its schema among those of its kind, the type of its values, and its operators. */
const comparisonOf = ({ entity, formOf }: Resource, key: string) => {
  const field = fieldOf(entity, key)
  const { type, format } = bareSchema(field.items ?? field, formOf(key))
  const isMoment = ['time', 'date'].includes(field.scalar) && format !== undefined
  const isId = field.scalar === 'id'
  const value = { type: String(type), ...((isMoment || isId) && { format }) }
  const operators = operatorsOf(entity, key)
  const kind = ['has', 'contains', 'lt'].findIndex(one => operators.includes(one))
  const word = ['List', 'Search', 'Range'][kind] ?? (field.items ? 'OtherList' : 'Choice')
  if (field.file) return { name: 'File', value, operators }
  const name = `${typeName(String(isMoment ? format : type)).replace('-t', 'T')}${word}`
  return { name, value, operators }
}

type Comparison = ReturnType<typeof comparisonOf>

/** The operators of a kind of member: in a parameter lists are texts, and nothing is null. */
const operatorsSchema = ({ value, operators }: Comparison, isParameter: boolean): JsonSchema => {
  const orNull = isParameter ? value : { ...value, type: [value.type, 'null'] }
  const many = isParameter ? { type: 'string' } : { type: 'array', maxItems: 100, items: value }
  const taken = {
    ...{ value, 'value or null': orNull, values: many, text: value },
    flag: { type: 'boolean' },
  }
  return objectOf(Object.fromEntries(operators.map(one => [one, taken[operandOf(one)]])), [])
}

const comparedIn = (model: Model, resource: Resource) =>
  [...filterableMembers(model, resource)].flatMap(([member, key]) =>
    resource.entity.relations[key] ? [] : [[member, comparisonOf(resource, key)] as const],
  )

/** A parameter with operators, such as `stock[gte]`, whose schema has that name: Swagger UI would fill in all of them without an example. */
export const deepParameter = (name: string, schema: string): JsonSchema => ({
  name,
  in: 'query',
  style: 'deepObject',
  explode: true,
  schema: refTo(schema),
  example: {},
})

/** The parameter `where` of a resource. */
export const whereParameter = ({ name }: Resource): JsonSchema => ({
  name: 'where',
  in: 'query',
  description: 'Only those that fit this JSON. Members are parameters too: `id[in]=1,2`.',
  schema: {
    type: 'string',
    contentMediaType: 'application/json',
    contentSchema: refTo(whereNameOf(name)),
  },
})

/** The parameters of a list that are conditions: `where`, and one for each member that has no parameter of its own. */
export const whereParameters = (
  model: Model,
  resource: Resource,
  others: readonly string[],
): readonly JsonSchema[] => [
  whereParameter(resource),
  ...comparedIn(model, resource).flatMap(([name, { name: kind }]) =>
    others.includes(name) ? [] : [deepParameter(name, `${kind}Parameter`)],
  ),
]

/** The schemas of conditions on the rows of these entities, and of those that their relations lead to. */
export const whereSchemas = (model: Model, lists: readonly string[], version: number): Schemas => {
  const schemas: Record<string, JsonSchema> = {}
  const shared: Record<string, JsonSchema> = {}
  const add = (name: string): JsonSchema => {
    const own = whereNameOf(name)
    const self = refTo(own)
    if (schemas[own]) return self
    const all = { type: 'array', items: self }
    const properties: Record<string, JsonSchema> = { and: all, or: all, not: self }
    schemas[own] = objectOf(properties, [])
    const resource = resourceOf(model, name, version)
    for (const [member, comparison] of comparedIn(model, resource)) {
      const { name: kind, value, operators } = comparison
      properties[member] = refTo(kind)
      const alone = { ...value, type: [value.type, 'null'] }
      const compared = operatorsSchema(comparison, false)
      shared[kind] = operators.includes('eq') ? { anyOf: [alone, compared] } : compared
      shared[`${kind}Parameter`] = operatorsSchema(comparison, true)
    }
    for (const [member, key] of filterableMembers(model, resource)) {
      const relation = resource.entity.relations[key]
      if (!relation) continue
      const to = add(relation.to)
      properties[member] = relation.kind === 'one' ? to : objectOf({ some: to, none: to }, [])
    }
    return self
  }
  for (const name of lists) add(name)
  return { ...schemas, ...shared }
}
