/** What callers may ask of the content that is served, in both APIs side by side: the examples of the guide, made from the model. */
import { versionPath } from '#base/paths.ts'
import { type Entity, mayAskField, mayAskRelation } from '#model/entity.ts'
import type { Field } from '#model/field.ts'
import { entityOf, fieldOf, type Model, typeName } from '#model/model.ts'
import { bulkKinds, partRelations } from '#model/parts.ts'
import { anonymous, isForAll, judge } from '#model/policy.ts'
import { resourceOf } from '#model/resource.ts'
import { inputFields } from '#openapi/schemas.ts'
import { queryParameters } from '#rest/query.ts'

type Example = {
  readonly title: string
  readonly text: string
  readonly rest?:
    | { readonly method: string; readonly path: string; readonly body?: unknown }
    | undefined
  readonly graphql?: string | undefined
  /** Whether it takes a token. */
  readonly isWrite?: boolean
}

/** Whether callers without a token may read some rows. */
const isOpen = (model: Model, { policy }: Entity): boolean =>
  [policy.enter ?? policy.read, policy.read].every(
    rule => rule !== undefined && judge(rule, anonymous, model) !== 'no',
  )

/** A value that a field takes. */
const exampleValue = ({ scalar, values, range, scale }: Field): string | number | boolean => {
  if (values?.[0] !== undefined) return values[0]
  if (scalar === 'flag') return true
  if (scalar === 'time') return '2026-01-01T00:00:00.000Z'
  if (scalar === 'date') return '2026-01-01'
  if (scalar === 'text') return 'Example'
  return Math.max((range?.min ?? 1) / 10 ** scale, 1)
}

/** What is asked of an entity: its list, the members that examples name, and the rows that it leads to. */
const askedOf = (model: Model, name: string) => {
  const entity = entityOf(model, name)
  const resource = resourceOf(model, name, model.versions.newest)
  const isShown = (key: string, field: Field) =>
    field.graphql === 'shown' && isForAll(field.readableBy) && mayAskField(entity, key)
  const fields = resource.members.flatMap(member => {
    if (member.kind !== 'field') return []
    const field = fieldOf(entity, member.field)
    return isShown(member.field, field) ? [{ key: member.field, member: member.name, field }] : []
  })
  const ownFilters = Object.keys(resource.filters)
  const free = fields.filter(({ member }) => !ownFilters.includes(member))
  const numbers = ['int', 'money', 'decimal']
  const relations = Object.entries(entity.relations).filter(
    ([key, { to, by, kind, graphql, through = to }]) => {
      const target = entityOf(model, to)
      const isRead = kind === 'many' || isForAll(fieldOf(entity, by).readableBy)
      const areOpen = [target, entityOf(model, through)].every(one => isOpen(model, one))
      return (
        graphql &&
        target.graphql.type &&
        areOpen &&
        isRead &&
        mayAskRelation(model.entities, entity, key)
      )
    },
  )
  const [one] = relations.flatMap(([key, { kind, to }]) => {
    const label = askedLabel(model, to)
    return kind === 'one' && label !== undefined ? [{ key, label }] : []
  })
  return {
    entity,
    resource,
    label: askedLabel(model, name) ?? 'id',
    choice: fields.find(({ field }) => field.values),
    number:
      free.find(({ field }) => numbers.includes(field.scalar)) ??
      free.find(({ field }) => field.scalar === 'time'),
    summed: fields.find(({ field }) => numbers.includes(field.scalar)),
    time: fields.find(({ field }) => field.scalar === 'time'),
    one,
    many: relations.find(([, { kind }]) => kind === 'many')?.[0],
    hasSearch: Object.keys(entity.search).length > 0,
  }
}

/** A text that tells the rows of an entity apart, by the same name in both APIs. */
const askedLabel = (model: Model, name: string): string | undefined => {
  const entity = entityOf(model, name)
  const { members } = resourceOf(model, name, model.versions.newest)
  return members.flatMap(member => {
    if (member.kind !== 'field' || member.name !== member.field) return []
    const { scalar, values, graphql, readableBy } = fieldOf(entity, member.field)
    const isText = scalar === 'text' && !values && graphql === 'shown' && isForAll(readableBy)
    return isText && mayAskField(entity, member.field) ? [member.name] : []
  })[0]
}

/** The input of a new row, by the names of both APIs, and as GraphQL writes it. */
const inputOf = (
  model: Model,
  name: string,
  besides?: string,
): { readonly body: Readonly<Record<string, unknown>>; readonly literal: string } => {
  const resource = resourceOf(model, name, model.versions.newest)
  const { nameOf } = resource
  const all = inputFields(resource, { kind: 'create', below: undefined }).filter(
    ([key, { initial }]) => initial === undefined && key !== besides,
  )
  const literalOf = (field: Field) => {
    const value = exampleValue(field)
    const isEnum = field.values && !(model.graphqlStrings && !field.enum)
    return isEnum ? String(value) : JSON.stringify(value)
  }
  const relations = besides === undefined ? partRelations(model, name, 'create') : []
  const parts = relations.find(({ of }) => of === undefined)
  const part = parts && inputOf(model, parts.entity, parts.by)
  const members = all.map(([key, field]) => `${key}: ${literalOf(field)}`)
  if (parts && part) members.push(`${parts.key}: { create: [${part.literal}] }`)
  return {
    body: {
      ...Object.fromEntries(all.map(([key, field]) => [nameOf(key), exampleValue(field)])),
      ...(parts && part && { [parts.key]: { create: [part.body] } }),
    },
    literal: `{ ${members.join(', ')} }`,
  }
}

/**
 * What to ask, each with the request of either API that has it: a path below the API, or a document. Those that write are about one
 * entity with parts and one with bulk writes, the others about the list that has most to ask for.
 */
export const askingExamples = (model: Model): readonly Example[] => {
  const { versions, entities } = model
  const prefix = versionPath(versions.newest)
  const style = versions.styleOf(versions.newest)
  const lists = Object.entries(entities)
    .filter(
      ([, one]) => one.rest.list && one.graphql.type && one.graphql.roots && isOpen(model, one),
    )
    .map(([name]) => askedOf(model, name))
  const richness = ({ choice, number, one, many, hasSearch }: (typeof lists)[number]) =>
    [choice, number, one, many, hasSearch].filter(Boolean).length
  const [most] = lists.toSorted((a, b) => richness(b) - richness(a))
  const write = (
    name: string | undefined,
    path: string,
    of: (input: ReturnType<typeof inputOf>) => { body: unknown; graphql: string | undefined },
  ) => {
    if (name === undefined) return undefined
    const { body, graphql } = of(inputOf(model, name))
    return {
      isWrite: true,
      graphql,
      rest: { method: 'POST', path: `${prefix}/${entityOf(model, name).plural}${path}`, body },
    }
  }
  const whole = Object.keys(entities).find(
    name =>
      entityOf(model, name).graphql.mutations.includes('create') &&
      partRelations(model, name, 'create').some(({ of }) => of === undefined),
  )
  const many = Object.keys(entities).find(name =>
    bulkKinds(entityOf(model, name)).includes('create'),
  )
  const writes = [
    {
      title: 'Rows with their parts',
      text: 'Rows that belong to a row are members of its input: `create`, `update` and `delete` of them, and `set`, `add` and `remove` of links. All is done in one transaction, or nothing.',
      ...write(whole, '', ({ body, literal }) => ({
        body,
        graphql: `mutation { create${typeName(whole ?? '')}(input: ${literal}) { id } }`,
      })),
    },
    {
      title: 'Many rows at once',
      text: 'All or none, 1,000 at the most; faults say which row has them. `update` or `delete` with `where` writes all rows that fit, and `dryRun` only tries it.',
      ...write(many, '/bulk', ({ body, literal }) => ({
        body: { create: [body] },
        graphql: `mutation { create${typeName(entities[many ?? '']?.plural ?? '')}(inputs: [${literal}]) { count ids } }`,
      })),
    },
  ]
  if (!most) return writes.filter(({ graphql }) => graphql !== undefined)
  const { entity, resource, label, choice, number, summed, time, one, many: below } = most
  const { plural } = entity
  const parameters = queryParameters(resource, 'list', style)
  const rest = (query: readonly string[], path = '') => ({
    method: 'GET',
    path: `${prefix}/${plural}${path}?${query.join('&')}`,
  })
  const conditions = [
    ...(choice ? [{ ...choice, operator: 'eq', value: exampleValue(choice.field) }] : []),
    ...(number ? [{ ...number, operator: 'gte', value: exampleValue(number.field) }] : []),
  ]
  const isEnum = (field: Field) => field.values && !(model.graphqlStrings && !field.enum)
  const where = conditions.map(
    ({ key, field, operator, value }) =>
      `${key}: { ${operator}: ${isEnum(field) ? value : JSON.stringify(value)} }`,
  )
  // A list without conditions has its own filters.
  const filters = conditions.flatMap(({ member, operator, value }) => {
    if (resource.filters[member]?.kind === 'equals') return [`${member}=${value}`]
    if (!parameters.includes('where')) return []
    return [operator === 'eq' ? `${member}=${value}` : `${member}[${operator}]=${value}`]
  })
  const order = number ?? { key: label, member: label }
  const keys = [`{ ${order.key}: DESC }`, ...(one ? [`{ ${one.key}: { ${one.label}: ASC } }`] : [])]
  const sort = `sort=-${[order.member, ...(one ? [`${one.key}.${one.label}`] : [])].join()}`
  const group = choice?.key ?? (time && `${time.key}Month`)
  const shared = choice?.member ?? (time && `${time.member}Month`)
  const searched = lists.find(({ hasSearch }) => hasSearch)
  const isNumbered = entity.rest.listing.paging !== 'cursor'
  const reads = [
    {
      title: 'Conditions',
      text: 'Fields take `eq`, `ne`, `in`, `notIn` and `isNull`; numbers, days and times also `lt`, `lte`, `gt` and `gte`; folded texts `contains` and `startsWith`. Relations to many rows take `some` or `none`. All must hold; `and`, `or` and `not` combine them, in REST as JSON in `where`.',
      rest: filters.length > 0 ? rest([...filters, 'limit=2']) : undefined,
      graphql:
        where.length > 0
          ? `{ ${plural}(where: { ${where.join(', ')} }, limit: 2) { id ${label} } }`
          : undefined,
    },
    {
      title: 'Orders',
      text: 'Up to four keys, also of rows that a row leads to. Null comes last, and equal rows are by id.',
      rest: rest([sort, 'limit=2']),
      graphql: `{ ${plural}(orderBy: [${keys.join(', ')}], limit: 2) { id ${label} } }`,
    },
    {
      title: 'Pages by cursors',
      text: 'Pass `nextCursor` on as `cursor`, and `endCursor` as `after`, with all else as it was. What others write meanwhile repeats and skips nothing.',
      rest: rest([sort, 'limit=2', ...(isNumbered ? ['cursor='] : [])]),
      graphql: `{ ${plural}Connection(first: 2, orderBy: [${keys.join(', ')}]) { edges { node { id ${label} } } pageInfo { hasNextPage endCursor } totalCount } }`,
    },
    {
      title: 'Lists below rows',
      text: 'In GraphQL each list below a row has conditions, an order and a connection too. In REST it has an address of its own, where the reference has it.',
      rest: undefined,
      graphql:
        below &&
        `{ ${plural}(limit: 2) { id ${below}Connection(first: 2) { edges { node { id } } pageInfo { endCursor } } } }`,
    },
    {
      title: 'Search',
      text: 'Rows that have all words, whatever their case and accents; the last word may be the beginning of one.',
      rest: searched && {
        method: 'GET',
        path: `${prefix}/${searched.entity.plural}?search=a&sort=-relevance&limit=2`,
      },
      graphql:
        searched &&
        `{ ${searched.entity.plural}(search: "a", orderBy: [{ relevance: DESC }], limit: 2) { id ${searched.label} } }`,
    },
    {
      title: 'Sums and groups',
      text: 'How many rows there are, with `sum`, `avg`, `min` and `max` of their fields, by what they share: a value, or the day, month or year of a time in a time zone.',
      rest: rest(
        [
          ...(shared ? [`group=${shared}`] : []),
          ...(summed ? [`avg=${summed.member}`] : []),
          'limit=10',
        ],
        '/aggregate',
      ),
      graphql: `{ ${plural}Aggregate(${group ? `groupBy: [${group}], ` : ''}limit: 10) { ${group ? `${group} ` : ''}count${summed ? ` avg { ${summed.key} }` : ''} } }`,
    },
  ]
  return [...reads, ...writes].filter(({ rest, graphql }) => rest ?? graphql)
}
