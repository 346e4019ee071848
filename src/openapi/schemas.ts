/** JSON Schemas (draft 2020-12) of the objects and inputs that a version has of an entity. */
import { mapped } from '#base/object.ts'
import { type GroupValue, measures } from '#model/aggregate.ts'
import { type Link, type Links, pathFields } from '#model/entity.ts'
import type { Field } from '#model/field.ts'
import { fieldOf, type Model, mayLeadToHidden, typeName } from '#model/model.ts'
import type { JsonSchema } from '#model/operation-docs.ts'
import { bulkKinds, partRelations } from '#model/parts.ts'
import { givenOnlyBy, inWords, isByRow } from '#model/policy.ts'
import { type Resource, resourceOf } from '#model/resource.ts'
import { fileFacts } from '#model/stored-file.ts'
import type { Scalar } from '#model/values.ts'
import { type Form, type Lifetime, reasonOf, wordsIn } from '#model/version.ts'
import { formIn, groupsOf } from '#rest/aggregate.ts'
import type { Route } from '#rest/routes.ts'

/** The schemas of a document by name. */
export type Schemas = Readonly<Record<string, JsonSchema>>

export const refTo = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` })

/** An object with these members; all are needed unless `needed` names them. */
export const objectOf = (
  properties: Schemas,
  needed: readonly string[] = Object.keys(properties),
): JsonSchema => ({
  type: 'object',
  ...(needed.length > 0 && { required: needed }),
  properties,
})

/** A file of a row, as answers have it. */
export const fileSchema: JsonSchema = objectOf({ ...fileFacts, url: { type: 'string' } })

const largest = Number.MAX_SAFE_INTEGER

const bounds = ({ range }: Field, least: string, most: string) =>
  range && {
    ...(range.min > 0 || least === 'minimum' ? { [least]: range.min } : {}),
    [most]: range.max,
  }

const amountSchema = (field: Field) => ({ type: 'number', ...bounds(field, 'minimum', 'maximum') })

type Bare = JsonSchema & {
  readonly type: string | readonly string[]
  readonly enum?: readonly string[]
}

const byScalar: Readonly<Record<Scalar, (field: Field) => Bare>> = {
  id: () => ({ type: 'integer', format: 'int64', minimum: 1, maximum: largest }),
  text: field => ({
    type: 'string',
    ...(field.format && { format: field.format }),
    ...(field.pattern && { pattern: field.pattern.source }),
    ...bounds(field, 'minLength', 'maxLength'),
  }),
  int: field => ({
    type: 'integer',
    // Generated clients take 32 bits where nothing says more.
    ...((field.range?.max ?? 0) >= 2 ** 31 && { format: 'int64' }),
    ...bounds(field, 'minimum', 'maximum'),
  }),
  money: amountSchema,
  decimal: amountSchema,
  date: () => ({ type: 'string', format: 'date' }),
  time: () => ({ type: 'string', format: 'date-time' }),
  flag: () => ({ type: 'boolean' }),
  json: () => ({ type: ['object', 'array'] }),
  list: field => ({
    type: 'array',
    ...(field.items && { items: bareSchema(field.items, undefined) }),
    ...bounds(field, 'minItems', 'maxItems'),
  }),
  file: () => ({ type: 'string', pattern: '^up_[A-Za-z0-9_-]{22}$' }),
  bytes: () => ({ type: 'string' }),
}

/** The schema of a field's values in a form, null and texts left aside. */
export const bareSchema = (field: Field, form: Form | undefined): Bare => {
  const words = wordsIn(form, field.values)
  if (words) return { type: 'string', enum: words }
  if (form === 'as seconds') return { type: 'integer' }
  if (form === 'as text') return { type: 'string', pattern: '^-?\\d+(\\.\\d+)?$' }
  return byScalar[field.scalar](field)
}

/** The same schema of values that may also be null. */
const nullable = ({ type, ...rest }: Bare): JsonSchema => ({
  type: [type, 'null'].flat(),
  ...rest,
  ...(rest.enum && { enum: [...rest.enum, null] }),
})

/** What a document says of a part that is going: that it is deprecated, why, and from when it is not there. */
export const marksOf = ({ deprecated, sunset, last }: Lifetime): JsonSchema => ({
  ...((deprecated !== undefined || last !== undefined) && { deprecated: true }),
  ...(sunset !== undefined && { 'x-sunset': sunset }),
})

/** A description, followed by why the part is deprecated. */
export const describedBy = (text: string, { deprecated }: Lifetime): string => {
  const reason = reasonOf(deprecated)
  return [text, ...(reason === undefined ? [] : [`Deprecated: ${reason}`])].join(' ').trim()
}

/** The schema that a library tells of its own, of what it takes or gives; undefined if it tells none. */
const toldSchema = ({ schema }: Field, direction: 'input' | 'output'): JsonSchema | undefined => {
  try {
    const told = schema?.['~standard'].jsonSchema?.[direction]({ target: 'draft-2020-12' })
    if (!told) return undefined
    const { $schema: _, ...own } = told as JsonSchema
    // A reference would lead into another document.
    return JSON.stringify(own).includes('"$ref"') ? undefined : own
  } catch {
    // One that JSON Schema cannot tell.
    return undefined
  }
}

/** The schema of a field's values in a form, as callers read or give them. */
const valueSchema = (
  field: Field,
  form: Form | undefined,
  direction: 'input' | 'output',
): JsonSchema => {
  const told = toldSchema(field, direction)
  const mayBeNull = field.nullable || (direction === 'output' && isByRow(field.readableBy))
  const shown = field.file && direction === 'output' ? refTo('StoredFile') : told
  const bare = bareSchema(field, form)
  const orNull = shown ? { anyOf: [shown, { type: 'null' }] } : nullable(bare)
  const description = describedBy(field.description, field)
  return {
    ...(mayBeNull ? orNull : (shown ?? bare)),
    ...(description !== '' && { description }),
    ...marksOf(field),
  }
}

const linksSchema = (model: Model, links: Links, { entity }: Resource): JsonSchema => {
  const cases = Object.values(links.cases)
  const isWhole =
    links.by === null ||
    fieldOf(entity, links.by).values?.every(value => Object.hasOwn(links.cases, value))
  const all: Readonly<Record<string, Link>> = Object.assign({}, ...cases)
  const isAlways = ([name, link]: readonly [string, Link]) =>
    isWhole &&
    cases.every(named => name in named) &&
    pathFields(link).every(
      key => !fieldOf(entity, key).nullable && !mayLeadToHidden(model, entity, key),
    )
  const needed = Object.entries(all).filter(isAlways)
  return objectOf(
    mapped(all, ({ method }) =>
      method === undefined
        ? refTo('Link')
        : objectOf({ href: { type: 'string' }, method: { type: 'string', enum: [method] } }),
    ),
    needed.map(([name]) => name),
  )
}

/** The schema of an entity's object, with all members. */
export const objectSchema = (model: Model, resource: Resource): JsonSchema => {
  const { entity, members } = resource
  const memberSchema = (member: (typeof members)[number]): JsonSchema => {
    if (member.kind === 'field') {
      const field = fieldOf(entity, member.field)
      if (!isByRow(field.readableBy)) return valueSchema(field, member.form, 'output')
      const readers = `May be read by: ${inWords(field.readableBy, model.viewers.roles)}; null for others.`
      const description = `${field.description} ${readers}`.trim()
      return valueSchema({ ...field, description }, member.form, 'output')
    }
    if (member.kind === 'links') return linksSchema(model, member.links, resource)
    const target = entity.relations[member.name]?.to ?? ''
    return { type: 'array', items: refTo(typeName(target)) }
  }
  const properties = Object.fromEntries(
    members.map(member => [member.name, memberSchema(member)] as const),
  )
  return { description: entity.description, ...objectOf(properties) }
}

/** The schema of an object of which a caller has chosen members: those that are there are as in the whole one. */
export const partialSchema = (whole: JsonSchema): JsonSchema => {
  const { properties } = whole as { readonly properties: Schemas }
  // Their descriptions stand in the whole one.
  const bare = mapped(properties, ({ description: _, ...schema }) => schema)
  const description = 'The members that `fields` names.'
  return { description, ...objectOf(bare, []), minProperties: 1 }
}

const groupValueSchema = (resource: Resource, value: GroupValue): Bare => {
  const { kind } = value
  if (kind === 'count') return { type: 'integer', minimum: 0 }
  // A number that has more digits than 2^53 is a text.
  if (kind === 'sum' || kind === 'avg') return { type: ['number', 'string'] }
  const part = kind === 'key' ? value.part?.is : undefined
  if (part === 'day') return { type: 'string', format: 'date' }
  if (part === 'month') {
    // The clocks of some zones are in the year before 0 or after 9999 at the ends of time, when the service sets none.
    const isSet = fieldOf(resource.entity, value.field).settableBy.kind !== 'nobody'
    const year = isSet ? '(\\d{4}|[+-]\\d{6})' : '\\d{4}'
    return { type: 'string', pattern: `^${year}-\\d{2}$` }
  }
  if (part === 'year') return { type: 'integer' }
  return bareSchema(fieldOf(resource.entity, value.field), formIn(resource, value))
}

/** The name of the schema of comparisons with values of groups. */
export const comparedName = (scalar: Scalar): keyof typeof comparedSchemas =>
  scalar === 'text'
    ? 'ComparedText'
    : scalar === 'date' || scalar === 'time'
      ? 'ComparedTime'
      : 'ComparedNumber'

const compared = (schema: JsonSchema, operators = ['eq', 'ne', 'lt', 'lte', 'gt', 'gte']) => ({
  description: 'Only groups that fit: all comparisons hold.',
  ...objectOf(Object.fromEntries(operators.map(operator => [operator, schema])), []),
  additionalProperties: false,
})

/** The schemas of those comparisons, all of which hold. */
export const comparedSchemas = {
  ComparedNumber: compared({ type: 'number' }),
  ComparedText: compared({ type: 'string' }, ['eq', 'ne']),
  ComparedTime: compared({ type: 'string' }),
}

/** The schema of the groups of an entity's rows; only what the request names is there beside the count. */
export const groupsSchema = (resource: Resource): JsonSchema => {
  const values = [...groupsOf(resource)]
  const membersOf = (kind: GroupValue['kind']): Schemas =>
    Object.fromEntries(
      values.flatMap(([name, value]) => {
        if (value.kind !== kind) return []
        const schema = nullable(groupValueSchema(resource, value))
        return [[name.slice(name.indexOf('.') + 1), schema]]
      }),
    )
  const made = measures.flatMap(measure => {
    const members = membersOf(measure)
    return Object.keys(members).length > 0 ? [[measure, objectOf(members, [])] as const] : []
  })
  const group = {
    ...membersOf('key'),
    count: { type: 'integer', minimum: 0 },
    ...Object.fromEntries(made),
  }
  return objectOf({ data: { type: 'array', items: objectOf(group, ['count']) } })
}

/** The fields that a caller may give in the input of a route that writes; one that its path gives is not among them. */
export const inputFields = (
  { entity, fieldNamed, nameOf }: Resource,
  { kind, below }: Pick<Route, 'kind' | 'below'>,
) =>
  Object.entries(entity.fields).filter(([key, field]) => {
    const isHidden = !field.rest && field.graphql === 'hidden'
    const isClosed = field.settableBy.kind === 'nobody' || field.foldedFrom !== undefined
    if (isHidden || isClosed || key === below?.field) return false
    return fieldNamed(nameOf(key)) === key && (kind === 'create' || !field.immutable)
  })

/** The schema of the input of an action; what has no initial value is needed. */
export const membersSchema = (fields: Readonly<Record<string, Field>>): JsonSchema => {
  const needed = Object.keys(fields).filter(key => fields[key]?.initial === undefined)
  return objectOf(
    mapped(fields, field => valueSchema(field, undefined, 'input')),
    needed,
  )
}

/** Whether an update of a route takes JSON values, of its row or of parts of it. */
export const hasJson = (
  model: Model,
  resource: Resource,
  route: Pick<Route, 'kind' | 'below'>,
  above: readonly string[] = [],
): boolean =>
  inputFields(resource, route).some(([, { scalar }]) => scalar === 'json') ||
  (resource.version === model.versions.newest &&
    !above.includes(resource.name) &&
    partRelations(model, resource.name, 'update').some(
      ({ entity, by, of }) =>
        of === undefined &&
        hasJson(
          model,
          resourceOf(model, entity, resource.version),
          { kind: 'update', below: { entity: resource.name, field: by } },
          [...above, resource.name],
        ),
    ))

/** The schema of an input; a create and a replacement need the fields that have no initial value. */
export const inputSchema = (
  model: Model,
  resource: Resource,
  route: Pick<Route, 'kind' | 'below'>,
  above: readonly string[] = [],
  isMerged = false,
): JsonSchema => {
  const fields = inputFields(resource, route)
  const needed = fields.filter(
    ([, { initial }]) => route.kind !== 'update' && initial === undefined,
  )
  const properties = fields.map(([key, field]) => {
    // A patch of a JSON value may have any part of it, and null removes a part.
    const whole = isMerged && field.schema ? { ...field, schema: undefined } : field
    const schema = valueSchema(whole, resource.formOf(key), 'input')
    const only = givenOnlyBy(field.settableBy, model)
    const description = `${schema.description ?? ''} ${only}`.trim()
    return [resource.nameOf(key), only ? { ...schema, description } : schema] as const
  })
  return objectOf(
    Object.fromEntries([
      ...properties,
      ...partProperties(model, resource, route.kind, above, isMerged),
    ]),
    needed.map(([key]) => resource.nameOf(key)),
  )
}

/** The schema of the input of a write of many rows, one for each thing that it may do; `where` is that of a condition on them. */
export const bulkSchema = (model: Model, resource: Resource, where: JsonSchema): JsonSchema => {
  const create = inputSchema(model, resource, { kind: 'create', below: undefined })
  // Without parts, which are of one row.
  const update = inputSchema(model, resource, { kind: 'update', below: undefined }, [resource.name])
  const does = {
    create: { type: 'array', maxItems: 1000, items: create },
    update,
    delete: { const: true },
  }
  const rows = {
    where,
    all: {
      type: 'boolean',
      description: 'All rows are meant, if `where` compares nothing or holds for every row.',
    },
    ...(resource.entity.fields.revision && {
      revisions: {
        type: 'object',
        description: 'The revisions that rows must have, by their ids; 412 if one has another one.',
        additionalProperties: { type: 'integer', format: 'int64', minimum: 1 },
      },
    }),
  }
  const dryRun = { type: 'boolean', description: 'Nothing is changed; the answer is the same.' }
  return {
    oneOf: bulkKinds(resource.entity).map(kind =>
      objectOf({ [kind]: does[kind], ...(kind !== 'create' && rows), dryRun }, [kind]),
    ),
  }
}

/** The members of an input that are relations, whose rows are written with it; one that leads back to an entity above is not told again. */
const partProperties = (
  model: Model,
  { name, version }: Resource,
  kind: Route['kind'],
  above: readonly string[],
  isMerged: boolean,
): readonly (readonly [string, JsonSchema])[] => {
  const isTaken = (kind === 'create' || kind === 'update') && version === model.versions.newest
  if (!isTaken || above.includes(name)) return []
  const id = { type: 'integer', format: 'int64', minimum: 1 }
  return partRelations(model, name, kind).map(({ key, entity, by, words, relation }) => {
    const itemOf = (word: (typeof words)[number]): JsonSchema => {
      if (word !== 'create' && word !== 'update') return id
      const route = { kind: word, below: { entity: name, field: by } } as const
      const item = inputSchema(
        model,
        resourceOf(model, entity, version),
        route,
        [...above, name],
        isMerged && word === 'update',
      )
      const { properties, required = [] } = item as { properties: Schemas; required?: string[] }
      return word === 'create' ? item : objectOf({ id, ...properties }, ['id', ...required])
    }
    const lists = words.map(word => [word, { type: 'array', items: itemOf(word) }] as const)
    const { description } = relation
    return [
      key,
      { ...(description && { description }), ...objectOf(Object.fromEntries(lists), []) },
    ]
  })
}
