/** Parts in GraphQL: the inputs of the rows that are written with the row they belong to, and their ids as numbers. */
import {
  GraphQLID,
  type GraphQLInputFieldConfigMap,
  GraphQLInputObjectType,
  GraphQLList,
  GraphQLNonNull,
} from 'graphql'
import { isObject, type JsonObject } from '#base/object.ts'
import { idArgument } from '#graphql/arguments.ts'
import { entityOf, type Model, notFound, typeName } from '#model/model.ts'
import { type PartRelation, partRelations } from '#model/parts.ts'

type Mode = 'create' | 'update'

/** The fields of an input for an entity, without that of a reference which its place gives. */
export type InputFieldsOf = (
  entity: string,
  mode: Mode,
  given: string | undefined,
) => GraphQLInputFieldConfigMap

const ids = { type: new GraphQLList(new GraphQLNonNull(GraphQLID)) }

/** Gives the members of an input that are relations; each has an input type of its own, made once since one may lead back to another. */
export const partInputs = (model: Model, fieldsOf: InputFieldsOf) => {
  const types = new Map<string, GraphQLInputObjectType>()
  const typeOf = (name: string, fields: () => GraphQLInputFieldConfigMap) =>
    types.getOrInsertComputed(name, () => new GraphQLInputObjectType({ name, fields }))
  const itemType = (base: string, mode: Mode, { entity, by }: PartRelation) =>
    typeOf(`${base}${typeName(mode)}Item`, () => ({
      ...(mode === 'update' && { id: { type: new GraphQLNonNull(GraphQLID) } }),
      ...fieldsOf(entity, mode, by),
    }))
  return (name: string, mode: Mode): GraphQLInputFieldConfigMap =>
    Object.fromEntries(
      partRelations(model, name, mode)
        .filter(({ relation: { graphql, to } }) => graphql && entityOf(model, to).graphql.type)
        .map(one => {
          const base = `${typeName(name)}${typeName(one.key)}`
          const members = () =>
            Object.fromEntries(
              one.words.map(word => {
                const item =
                  word === 'create' || word === 'update'
                    ? { type: new GraphQLList(new GraphQLNonNull(itemType(base, word, one))) }
                    : ids
                return [word, item]
              }),
            )
          const { description } = one.relation
          return [one.key, { type: typeOf(`${base}${typeName(mode)}Input`, members), description }]
        }),
    )
}

/** An input as REST has it: ids as numbers, and parts that are null left out. Throws `NOT_FOUND` for a text that is no id. */
export const withIds = (
  model: Model,
  { fields }: Pick<ReturnType<typeof entityOf<Model['entities'][string]>>, 'fields'>,
  input: JsonObject,
  entity?: string,
): JsonObject => {
  const idOf = (of: string) => (value: unknown) => {
    const id = idArgument(value)
    if (id === 0) throw notFound(of, value)
    return id
  }
  const parts = entity === undefined ? [] : partRelations(model, entity, 'update')
  const entries = Object.entries(input).flatMap(([key, value]): [string, unknown][] => {
    const { references } = fields[key] ?? {}
    if (references && value !== null) return [[key, idOf(references.entity)(value)]]
    const part = parts.find(one => one.key === key)
    if (!part) return [[key, value]]
    if (!isObject(value)) return []
    const { entity: child, of, relation } = part
    const words = Object.entries(value).flatMap(([word, list]): [string, unknown][] => {
      if (!Array.isArray(list)) return []
      const idsOf = idOf(of === undefined ? child : relation.to)
      const items = list.map(item =>
        isObject(item)
          ? {
              ...withIds(model, entityOf(model, child), item, child),
              ...(word === 'update' && { id: idsOf(item.id) }),
            }
          : idsOf(item),
      )
      return [[word, items]]
    })
    return [[key, Object.fromEntries(words)]]
  })
  return Object.fromEntries(entries)
}
