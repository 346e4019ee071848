/** Parameters of operations: of the path, of lists, and headers of requests. */
import {
  type GroupMeasure,
  type GroupValue,
  groupParameters,
  measures,
  mostKeys as mostGroupKeys,
  mostGroups,
} from '#model/aggregate.ts'
import type { Filter } from '#model/entity.ts'
import { fieldOf, type Model } from '#model/model.ts'
import type { JsonSchema } from '#model/operation-docs.ts'
import type { Resource } from '#model/resource.ts'
import { lifetimeOf, type Version, type VersionStyle, type Versions } from '#model/version.ts'
import { bareSchema, comparedName, describedBy, marksOf, type Schemas } from '#openapi/schemas.ts'
import { deepParameter, whereParameter, whereParameters } from '#openapi/where.ts'
import { mostKeys, mostPerPage } from '#read/selection.ts'
import { groupsOf, havingOf } from '#rest/aggregate.ts'
import { queryParameters } from '#rest/query.ts'
import type { Route } from '#rest/routes.ts'
import { sortableMembers } from '#rest/sort.ts'

const query = (name: string, description: string, schema: JsonSchema, more: JsonSchema = {}) => ({
  name,
  in: 'query',
  description,
  schema,
  ...more,
})

const inHeader = (name: string, description: string, schema: JsonSchema): JsonSchema => ({
  name,
  in: 'header',
  description,
  schema,
})

const text = { type: 'string' } as const

const namedInPath = 'The version of the API; the path names it already.'

/** The parameters that operations refer to by name. */
export const sharedParameters = (version: Version): Schemas => ({
  version: query('version', namedInPath, { type: 'integer', enum: [version] }),
  apiVersion: inHeader('API-Version', namedInPath, { type: 'integer', enum: [version] }),
  requestId: inHeader('X-Request-Id', 'An id for the logs, given back in the answer.', {
    type: 'string',
    pattern: '^[\\w.:/+=@-]{1,128}$',
  }),
  position: inHeader(
    'Duet-Position',
    'The Duet-Position of an answer to a write: the read then sees that write, whichever server answers.',
    text,
  ),
  ifNoneMatch: inHeader(
    'If-None-Match',
    'ETags of representations that the caller has: if one of them is current, or for *, the answer to a read is 304, and a write is not done: 412.',
    text,
  ),
  ifMatch: inHeader(
    'If-Match',
    'The ETag that the caller has read: if the thing has changed since, the answer is 412.',
    text,
  ),
  idempotencyKey: inHeader(
    'Idempotency-Key',
    'A text of the caller’s own for this request: sent again with the same key within 24 hours it has no second effect and gets the same answer.',
    { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
  ),
  cursor: query('cursor', 'The nextCursor of the page before; without it, the first page.', text),
  page: query('page', 'The number of the page, from 1.', { type: 'integer', minimum: 1 }),
  offset: query('offset', 'How many to leave out; it wins over page.', {
    type: 'integer',
    minimum: 0,
  }),
  order: query('order', 'The direction of sort; asc unless given.', {
    type: 'string',
    enum: ['asc', 'desc'],
  }),
})

/** A reference to one of the shared parameters. */
export const parameter = (name: string): JsonSchema => ({
  $ref: `#/components/parameters/${name}`,
})

/** An id in a path, with one that is there as its example. */
export const pathParameter = (
  name: string,
  entity: string | null,
  example: number | undefined,
): JsonSchema => ({
  name,
  in: 'path',
  required: true,
  ...(entity !== null && { description: `The id of the ${entity}.` }),
  schema: { type: 'integer', format: 'int64', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
  ...(example !== undefined && { example }),
})

const filterAbout = {
  equals: 'Only those whose value is this.',
  'at least': 'Only those with at least this.',
  'at most': 'Only those with at most this.',
  'above zero': 'With true, only those above zero.',
  contains: 'Only those that contain this text, whatever its case.',
} satisfies Record<Filter['kind'], string>

const filterParameter = (resource: Resource, name: string, filter: Filter): JsonSchema => {
  const { kind } = filter
  const field = fieldOf(resource.entity, filter.field)
  const { type, format } = bareSchema(field, undefined)
  const ranged = { type, ...(format !== undefined && { format }) }
  const schemas = {
    equals: bareSchema(field, resource.formOf(filter.field)),
    'at least': ranged,
    'at most': ranged,
    'above zero': { type: 'boolean' },
    contains: text,
  } satisfies Record<Filter['kind'], JsonSchema>
  const marks = marksOf({ ...lifetimeOf(field), ...filter })
  return query(name, describedBy(filterAbout[kind], filter), schemas[kind], marks)
}

/** Words, each with the day on which it ends, if it does. */
type SunsetWords = Readonly<Record<string, string | undefined>>

/** The days on which some of the words end, as the comparison of contracts reads them. */
const sunsetsIn = (words: SunsetWords): JsonSchema => {
  const ending = Object.entries(words).filter(([, sunset]) => sunset !== undefined)
  return ending.length > 0 ? { 'x-sunsets': Object.fromEntries(ending) } : {}
}

/** A parameter that is a list of these words, joined by commas; clients know each of them. */
const wordsParameter = (name: string, about: string, words: SunsetWords): JsonSchema => {
  const items = { type: 'string', enum: Object.keys(words), ...sunsetsIn(words) }
  return query(name, about, { type: 'array', items }, { style: 'form', explode: false })
}

/** The parameter that chooses the order; a term to sort by ends with its field at the latest. */
const sortParameter = (
  model: Model,
  resource: Resource,
  { isStrict }: VersionStyle,
): JsonSchema => {
  const { entity, sorts } = resource
  const { style, lifetimes = {} } = entity.rest.listing.sort ?? {}
  const words: SunsetWords = Object.fromEntries(
    sorts.map(({ name, field, descending }) => [
      name,
      lifetimes[descending ? `-${field}` : field]?.sunset ?? fieldOf(entity, field).sunset,
    ]),
  )
  const names = Object.keys(words)
  if (isStrict) {
    const members = sortableMembers(model, resource).flatMap(member => {
      const sunset = entity.fields[resource.fieldNamed(member) ?? '']?.sunset
      return [member, `-${member}`].map(name => [name, sunset] as const)
    })
    const declared =
      names.length > 0 ? `, but first where a declared sort descends (${names.join(', ')})` : ''
    const about = `What to sort by, at most ${mostKeys}, the first one first; - descends. Null comes last${declared}. Ties are in the order of their ids.`
    return wordsParameter('sort', about, { ...Object.fromEntries(members), ...words })
  }
  if (style === 'signed list') {
    const about = `What to sort by: one or several of ${names.join(', ')}, joined by commas; - descends. Ties are in the order of their ids.`
    return query('sort', `${about} An unknown value stands for id.`, text)
  }
  const about = 'What to sort by, id unless given. Ties are in the order of their ids.'
  return query('sort', about, { type: 'string', enum: names, ...sunsetsIn(words) })
}

const fieldsParameter = ({ entity, members }: Resource, { isStrict }: VersionStyle): JsonSchema => {
  const words: SunsetWords = Object.fromEntries(
    members.map(member => [
      member.name,
      member.kind === 'field'
        ? fieldOf(entity, member.field).sunset
        : entity.rest.embedded[member.name]?.sunset,
    ]),
  )
  const about = 'The members to answer with, joined by commas; the objects then have no others.'
  if (isStrict) return wordsParameter('fields', about, words)
  const one = `(${Object.keys(words).join('|')})`
  const schema = { type: 'string', pattern: `^${one}(,${one})*$`, ...sunsetsIn(words) }
  return query('fields', about, schema)
}

const groupsParameters = (resource: Resource): readonly JsonSchema[] => {
  const { entity } = resource
  const values = [...groupsOf(resource)]
  const sunsetOf = (value: GroupValue) =>
    'field' in value ? fieldOf(entity, value.field).sunset : undefined
  const about = {
    sum: 'The members to sum, exactly.',
    avg: 'The members to have the means of, with four decimals more than they have.',
    min: 'The members to have the least values of.',
    max: 'The members to have the greatest values of.',
  } satisfies Record<GroupMeasure, string>
  const wordsOf = (kind: GroupValue['kind']): SunsetWords =>
    Object.fromEntries(
      values.flatMap(([name, value]) =>
        value.kind === kind ? [[name.slice(name.indexOf('.') + 1), sunsetOf(value)]] : [],
      ),
    )
  const listOf = (name: string, described: string, words: SunsetWords) =>
    Object.keys(words).length > 0 ? [wordsParameter(name, described, words)] : []
  const sorted = values.flatMap(([name, value]) =>
    [name, `-${name}`].map(term => [term, sunsetOf(value)] as const),
  )
  const shared = `What the rows of a group share, at most ${mostGroupKeys}; without it all rows are one group.`
  const having = havingOf(resource).map(({ scalar, parameter }) =>
    deepParameter(parameter, comparedName(scalar)),
  )
  return [
    ...listOf('group', shared, wordsOf('key')),
    ...measures.flatMap(measure => listOf(measure, about[measure], wordsOf(measure))),
    query(
      'tz',
      'The time zone of days, months and years, of the IANA database; UTC unless given.',
      text,
    ),
    query('having', 'Only groups that fit this condition, as JSON: `{"count":{"gte":2}}`.', text),
    ...having,
    wordsParameter(
      'sort',
      'What to sort groups by, the first one first; - descends. Null comes last. Ties are in the order of what groups share.',
      Object.fromEntries(sorted),
    ),
    query('limit', `How many groups at the most; without it more than ${mostGroups} are refused.`, {
      type: 'integer',
      minimum: 1,
      maximum: mostGroups,
    }),
  ]
}

/** The query parameters of a route. */
export const parametersOf = (
  model: Model,
  resource: Resource,
  style: VersionStyle,
  kind: Route['kind'],
): readonly JsonSchema[] => {
  const { pageSize, rest } = resource.entity
  const { paging } = rest.listing
  const sizes = { type: 'integer', minimum: 1, maximum: mostPerPage, default: pageSize }
  const sized = 'How many to a page; a number below or above the bounds is taken for the nearest.'
  const ordered =
    'Empty for the first of pages that go by cursors and not by numbers; else the nextCursor or prevCursor of another one.'
  const searched = Object.keys(resource.entity.search).join(', ')
  const words = `Only those with all these words in ${searched}, whatever their case and accents; the last word may be the beginning of one.`
  const names = queryParameters(resource, kind, style)
  if (kind === 'aggregate') {
    const own = groupsParameters(resource)
    const others = names.flatMap((name): readonly JsonSchema[] => {
      const filter = resource.filters[name]
      if (filter && !groupParameters.includes(name))
        return [filterParameter(resource, name, filter)]
      if (name === 'where') return [whereParameter(resource)]
      return name === 'search' ? [query(name, words, text)] : []
    })
    return [...own, ...others]
  }
  return names.flatMap((name): JsonSchema | readonly JsonSchema[] => {
    const filter = resource.filters[name]
    if (filter) return filterParameter(resource, name, filter)
    if (name === 'limit') return query(name, sized, sizes)
    if (name === 'sort') return sortParameter(model, resource, style)
    if (name === 'search') return query(name, words, text)
    if (name === 'signed')
      return query(name, 'With 1 the addresses of files hold for five minutes without a token.', {
        type: 'string',
        const: '1',
      })
    if (name === 'where') return whereParameters(model, resource, names)
    if (name === 'cursor' && paging !== 'cursor') return query(name, ordered, text)
    return name === 'fields' ? fieldsParameter(resource, style) : parameter(name)
  })
}

/** Whether the end of a version can be announced: the settings can do so of the oldest, if there is a newer one. */
export const isOld = (version: Version, { oldest, newest }: Versions): boolean =>
  version === oldest && version !== newest
