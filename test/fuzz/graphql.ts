/** GraphQL requests that a schema describes, good ones and damaged ones, and whether an answer is one that it allows. */
import {
  type DocumentNode,
  type GraphQLInputType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  parse,
  type SelectionSetNode,
} from 'graphql'
import { documentOf, vocabularyOf } from '../operations.ts'
import { emailOf, names, odd as oddValue } from '../support/drawn-values.ts'
import { type Asked, callerBy } from './rest.ts'
import { bodyText, type Fuzz, type Json } from './values.ts'

/** A value for an input of the schema, of at most so many objects in each other. */
const inputBy = (draw: Fuzz, type: GraphQLInputType, name: string, levels = 4): unknown => {
  const { of, upTo, chance, odd } = draw
  if (odd(4)) return oddValue(draw)
  if (isNonNullType(type)) return inputBy(draw, type.ofType, name, levels)
  if (chance(8)) return null
  if (isListType(type)) return levels > 0 ? [inputBy(draw, type.ofType, name, levels)] : []
  if (isInputObjectType(type)) return levels > 0 ? inputObjectBy(draw, type, levels - 1) : {}
  if (isEnumType(type)) return of(...type.getValues().map(value => value.name))
  switch (type.name) {
    case 'ID':
      return of<unknown>(upTo(8, 1), String(upTo(8, 1)))
    case 'Int':
    case 'Float':
      return odd(30) ? of(-1, 151, 2 ** 31 - 1, 2 ** 31, 1.5) : of(0, 1, 2, 28, 150)
    case 'Boolean':
      return chance(50)
    default:
      if (!/email/i.test(name)) return of(...names)
      return odd(40) ? emailOf(draw) : `new${upTo(999_999)}@example.org`
  }
}

const inputObjectBy = (
  draw: Fuzz,
  type: GraphQLInputType & { getFields: () => Json },
  levels: number,
): object => {
  const fields = Object.values<Json>(type.getFields()).filter(field =>
    isNonNullType(field.type) ? !draw.odd(5) : draw.chance(45),
  )
  const entries = fields.map(({ name, type }) => [name, inputBy(draw, type, name, levels)])
  if (draw.odd(5)) entries.push([draw.of('unknown', '__proto__', 'id'), oddValue(draw)])
  return Object.fromEntries(entries)
}

/** What to select of a type: its own values, or a level more. */
const selected = (draw: Fuzz, type: GraphQLOutputType, levels: number): string => {
  const named = getNamedType(type)
  if (!isObjectType(named)) return ''
  const fields = Object.values(named.getFields()).flatMap(field => {
    if (!isObjectType(getNamedType(field.type))) return draw.chance(60) ? [field.name] : []
    return levels > 0 && draw.chance(25)
      ? [`${field.name} ${selected(draw, field.type, levels - 1)}`]
      : []
  })
  return `{ __typename ${fields.join(' ')} }`
}

/** A mutation of one to three fields, their arguments as variables. */
const mutationOf = (draw: Fuzz, schema: GraphQLSchema) => {
  const mutations = Object.values(schema.getMutationType()?.getFields() ?? {})
  const declared: string[] = []
  const variables: Record<string, unknown> = {}
  const fields = Array.from({ length: draw.of(1, 1, 1, 2, 3) }, (_, n) => {
    const field = draw.of(...mutations)
    // Most of what is deleted would be missed by the requests that follow.
    const { name, args, type } = field.name.startsWith('delete') ? draw.of(...mutations) : field
    const given = args
      .filter(argument => (isNonNullType(argument.type) ? !draw.odd(3) : draw.chance(50)))
      .map(argument => {
        const variable = `v${n}${argument.name}`
        declared.push(`$${variable}: ${argument.type}`)
        variables[variable] = inputBy(draw, argument.type, argument.name)
        return `${argument.name}: $${variable}`
      })
    const list = given.length > 0 ? `(${given.join(', ')})` : ''
    return `f${n}: ${name}${list} ${selected(draw, type, 1)}`
  })
  const head = declared.length > 0 ? `(${declared.join(', ')})` : ''
  return { query: `mutation ${head} { ${fields.join(' ')} }`, variables }
}

const scraps = [
  ...[
    '{',
    '}',
    '(',
    ')',
    '"',
    '"""',
    '#',
    '...',
    '@skip',
    '@skip(if: true)',
    '$b0',
    ':',
    '!',
    '[',
    'on',
  ],
  ...[
    'fragment A on User { ...A }',
    'subscription',
    '\0',
    '\ud800',
    '\ufeff',
    '😀',
    '9e999',
    '__schema',
  ],
]

/** A document with a part of it taken out, doubled, or replaced. */
const damaged = ({ of, upTo }: Fuzz, text: string): string => {
  const from = upTo(text.length)
  const to = from + upTo(6)
  const between = of('', text.slice(from, to).repeat(2), of(...scraps))
  return text.slice(0, from) + between + text.slice(to)
}

/** Makes operations of a schema, valid and damaged, by POST and by GET. */
export const graphqlRequests = (schema: GraphQLSchema, admin: string) => {
  const vocabulary = vocabularyOf(schema)
  return (draw: Fuzz): Asked => {
    const { of, chance, odd } = draw
    const shape = { ids: 6, levels: of(1, 2, 3), width: 3, whole: chance(10) }
    const made = chance(55) ? documentOf(draw, shape, vocabulary) : mutationOf(draw, schema)
    const query = odd(50) ? damaged(draw, made.query) : made.query
    const body: Record<string, unknown> = { ...made, query }
    if (odd(6)) body[of('query', 'variables', 'operationName', 'extensions')] = oddValue(draw)
    const accept = of('application/json', 'application/graphql-response+json', '*/*')
    const caller = callerBy(draw, admin)
    const headers = { Accept: accept, 'Content-Type': 'application/json', ...caller.headers }
    const key = chance(10) && { 'Idempotency-Key': `key-${draw.upTo(60)}` }
    const parameters = new URLSearchParams({
      query: query.toWellFormed(),
      variables: JSON.stringify(made.variables),
    })
    const line = `GET /graphql?${parameters}`
    const isRead = !made.query.startsWith('mutation') || odd(30)
    if (chance(10) && isRead && line.length < 4000) return { line, asking: { ...caller, headers } }
    const raw = bodyText(draw, body)
    return { line: 'POST /graphql', asking: { ...caller, headers: { ...headers, ...key }, raw } }
  }
}

/** How a leaf of each type is written in an answer. */
const leaves: Readonly<Record<string, (value: unknown) => boolean>> = {
  ID: value => typeof value === 'string',
  String: value => typeof value === 'string',
  Boolean: value => typeof value === 'boolean',
  Int: value => Number.isInteger(value) && Math.abs(Number(value)) <= 2 ** 31,
  Float: value => typeof value === 'number',
}

type Place = { readonly document: DocumentNode }

/** A selection set; where it or what it is below stands under a directive, its fields may be absent. */
type Chosen = { readonly set: SelectionSetNode; readonly isSure: boolean }

/** The fields of some selection sets by their keys. */
const fieldsBelow = ({ document }: Place, chosen: readonly Chosen[]) => {
  const found = new Map<string, { name: string; chosen: Chosen[]; isSure: boolean }>()
  const visit = ({ set, isSure }: Chosen): void => {
    for (const node of set.selections) {
      const stays = isSure && (node.directives ?? []).length === 0
      if (node.kind === 'InlineFragment') visit({ set: node.selectionSet, isSure: stays })
      else if (node.kind === 'FragmentSpread') {
        const fragment = document.definitions.find(
          one => one.kind === 'FragmentDefinition' && one.name.value === node.name.value,
        )
        if (fragment?.kind === 'FragmentDefinition')
          visit({ set: fragment.selectionSet, isSure: stays })
      } else {
        const key = node.alias?.value ?? node.name.value
        const fresh = { name: node.name.value, chosen: [], isSure: false }
        const entry = found.getOrInsert(key, fresh)
        if (node.selectionSet) entry.chosen.push({ set: node.selectionSet, isSure: stays })
        entry.isSure ||= stays
      }
    }
  }
  chosen.forEach(visit)
  return found
}

/** How a type and the selection below it answer for a value: a sentence where they do not. */
const valueFault = (
  place: Place,
  type: GraphQLOutputType,
  value: Json,
  chosen: readonly Chosen[],
): string | undefined => {
  if (isNonNullType(type))
    return value === null ? `null for ${type}` : valueFault(place, type.ofType, value, chosen)
  if (value === null) return undefined
  if (isListType(type)) {
    if (!Array.isArray(value)) return `no list for ${type}`
    return value.map(item => valueFault(place, type.ofType, item, chosen)).find(Boolean)
  }
  if (isObjectType(type)) return objectFault(place, type, value, chosen)
  if (isEnumType(type)) return type.getValue(value) ? undefined : `${value} is no ${type}`
  const isRight = leaves[String(type)]
  return isRight?.(value) === false ? `${JSON.stringify(value)} is no ${type}` : undefined
}

const objectFault = (
  place: Place,
  type: GraphQLObjectType,
  value: Json,
  chosen: readonly Chosen[],
): string | undefined => {
  const fields = fieldsBelow(place, chosen)
  const strange = Object.keys(value).find(key => !fields.has(key))
  if (strange !== undefined) return `${strange} was not asked for`
  for (const [key, { name, chosen, isSure }] of fields) {
    const field = type.getFields()[name]
    if (!Object.hasOwn(value, key) && isSure) return `${key} is missing`
    // Those of introspection are of no type here.
    if (!Object.hasOwn(value, key) || field === undefined) continue
    const fault = valueFault(place, field.type, value[key], chosen)
    if (fault !== undefined) return `${key}: ${fault}`
  }
  return undefined
}

/** The fault of the data that answers an operation without errors, if the schema does not allow it. */
export const dataFault = (
  schema: GraphQLSchema,
  query: string,
  operationName: unknown,
  data: Json,
) => {
  const document = parse(query)
  const operation = document.definitions.find(
    one =>
      one.kind === 'OperationDefinition' && (!operationName || one.name?.value === operationName),
  )
  if (operation?.kind !== 'OperationDefinition') return 'no such operation'
  const root = operation.operation === 'mutation' ? schema.getMutationType() : schema.getQueryType()
  return objectFault({ document }, root as GraphQLObjectType, data, [
    { set: operation.selectionSet, isSure: true },
  ])
}
