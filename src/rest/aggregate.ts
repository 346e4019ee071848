/** GET of what rows of a list have in common: their number, sums, means, least and most, by groups, as a Selection and its values. */
import { after } from '#base/after.ts'
import { lru } from '#base/cache.ts'
import { isReadBack, notReadBack } from '#base/number.ts'
import { hintFor } from '#base/text.ts'
import { parseJson } from '#http/body.ts'
import { type EncodedBody, encodeBody } from '#http/encode-body.ts'
import { header, parametersOf, readOptionsOf } from '#http/request.ts'
import {
  type GroupMeasure,
  type GroupValue,
  groupOperators,
  groupParameters,
  groupValues,
  measures,
  mostGroups,
  typeOf,
} from '#model/aggregate.ts'
import { ValueFault } from '#model/condition.ts'
import type { Viewer } from '#model/policy.ts'
import { type Resource, resourceOf } from '#model/resource.ts'
import type { Scalar } from '#model/values.ts'
import { resolveGroups, tooManyGroups } from '#read/grouping.ts'
import { type Renderer, readCached } from '#read/read.ts'
import type { Aggregate, GroupItem, ParameterValue, Root } from '#read/selection.ts'
import {
  isSearched,
  parseQuery,
  type QueryParameters,
  queryParameters,
  searchOf,
} from '#rest/query.ts'
import { inVersion, isPublic, type Mount, preparedReads, represent } from '#rest/represent.ts'
import type { Route } from '#rest/routes.ts'
import { isSortable } from '#rest/sort.ts'
import {
  everyRow,
  jsonFault,
  type ListFilter,
  listFilterReader,
  queryTypes,
  valueOfUrl,
} from '#rest/where.ts'
import type { RestHandler } from '#versions/negotiation.ts'
import { invalid } from '#write/input.ts'

/** The members by which rows may be grouped or of which groups have sums and others, each with its field. */
const groupableMembers = ({ entity, members }: Resource) =>
  members.flatMap(member =>
    member.kind === 'field' && isSortable(entity, member.field)
      ? [[member.name, member.field] as const]
      : [],
  )

/** The values of groups of a resource, by their names. */
export const groupsOf = (resource: Resource): ReadonlyMap<string, GroupValue> =>
  groupValues(resource.entity, groupableMembers(resource))

/** How a version writes a value of a group; what is calculated of a field, or a part of it, has no form. */
export const formIn = ({ formOf }: Resource, value: GroupValue) =>
  value.kind === 'min' || value.kind === 'max' || (value.kind === 'key' && !value.part)
    ? formOf(value.field)
    : undefined

const numbers: readonly Scalar[] = ['int', 'money', 'decimal']

/** The values that `having` may compare, each with its parameter, such as `having[sum][servings]`. */
export const havingOf = (resource: Resource) =>
  [...groupsOf(resource)].flatMap(([name, value]) => {
    if (value.kind === 'key') return []
    const { scalar } = typeOf(resource.entity, value)
    return [{ name, scalar, parameter: `having[${name.replace('.', '][')}]` }]
  })

const numberForm = /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i

/** The names that a parameter lists with commas between, each once. */
const listed = (query: QueryParameters, name: string): readonly string[] => {
  const text = query.get(name)
  return text === undefined ? [] : [...new Set(text.split(',').map(one => one.trim()))]
}

/** The part of a request for groups that decides the plan. */
type GroupsShape = {
  readonly aggregate: Aggregate
  readonly filter: ListFilter
  readonly isSearched: boolean
}

const firstFilter = 2

/** The number of all rows. */
const bare: GroupsShape = {
  aggregate: {
    keys: [],
    timeZone: 'UTC',
    items: [{ kind: 'value', key: 'count', value: { kind: 'count' } }],
    compared: [],
    order: [],
  },
  filter: everyRow,
  isSearched: false,
}

/** Reads the conditions on groups that requests have, each with how its values are written: a parameter for each comparison, or JSON. */
const havingReader = (resource: Resource) => {
  const { entity } = resource
  const comparisons = havingOf(resource).flatMap(({ name, scalar, parameter }) =>
    groupOperators(scalar).map(operator => {
      const called = `${parameter}[${operator}]`
      return { name, operator, called }
    }),
  )
  const ofText = (value: GroupValue, given: unknown): unknown => {
    const text = String(given)
    if (numbers.includes(typeOf(entity, value).scalar)) {
      const number = text.replace(/^\+/, '')
      if (!numberForm.test(text)) return text
      return isReadBack(number) ? Number(number) : new ValueFault(notReadBack(number))
    }
    if (!('field' in value)) return text
    const form = formIn(resource, value)
    return valueOfUrl(entity, value.field, typeof form === 'object' ? form : undefined, text)
  }
  const ofJson = (value: GroupValue, given: unknown): unknown =>
    'field' in value ? valueOfUrl(entity, value.field, formIn(resource, value), given) : given
  const read = (query: QueryParameters) => {
    const json = query.get('having')
    if (json === undefined) {
      const having: Record<string, Record<string, string>> = {}
      for (const { name, operator, called } of comparisons) {
        const text = query.get(called)
        if (text !== undefined) having[name] = { ...having[name], [operator]: text }
      }
      const isEmpty = Object.keys(having).length === 0
      return { having: isEmpty ? undefined : having, stored: ofText }
    }
    if (comparisons.some(({ called }) => query.has(called)))
      query.fault('having', 'is JSON and parameters too: write it in one of these ways')
    try {
      return { having: parseJson(json, 'having'), stored: ofJson }
    } catch (error) {
      const example = 'must be a condition as JSON, such as {"count":{"gte":2}}'
      jsonFault(query, 'having', error, example)
      return { having: undefined, stored: ofJson }
    }
  }
  return { parameters: comparisons.map(({ called }) => called), read }
}

/** Reads the query strings of groups: their keys, measures, order and filters, and how many groups are wanted. Results are cached. */
const requestReader = ({ core, style }: Mount, route: Route, resource: Resource) => {
  const { entity, name: entityName } = resource
  const { model } = core
  const parameters = [...queryParameters(resource, route.kind, style), 'version']
  const members = groupableMembers(resource)
  // A filter that has the name of one of these parameters is the list's alone.
  const own = Object.entries(resource.filters).filter(([name]) => !groupParameters.includes(name))
  const filtered = { ...resource, filters: Object.fromEntries(own) }
  const values = groupsOf(resource)
  const { parameters: others, read: havingIn } = havingReader(resource)
  const filterOf = listFilterReader(model, filtered, style, firstFilter, parameters, others)

  /** What is made of fields by a measure: its member of the groups. */
  const measured = (query: QueryParameters, measure: GroupMeasure): readonly GroupItem[] => {
    const known = members.flatMap(([name]) => (values.has(`${measure}.${name}`) ? [name] : []))
    const items = listed(query, measure).flatMap((key): readonly GroupItem[] => {
      const value = values.get(`${measure}.${key}`)
      if (value) return [{ kind: 'value', key, value, form: formIn(resource, value) }]
      query.fault(measure, () => {
        const hint = hintFor(key, known, `name some of ${known.join(', ')}`)
        return `names ${key || 'nothing'}; ${hint}`
      })
      return []
    })
    return items.length > 0 ? [{ kind: 'object', key: measure, items }] : []
  }

  const read = (path: string, text: string) => {
    const query = parseQuery(text)
    const filter = filterOf(query)
    const groupBy = listed(query, 'group')
    const orderBy = listed(query, 'sort').map(term => ({
      name: term.replace(/^-/, ''),
      descending: term.startsWith('-'),
    }))
    const { having, stored } = havingIn(query)
    const timeZone = query.get('tz')
    const called = { groupBy: 'group', having: 'having', orderBy: 'sort', timeZone: 'tz' }
    const groupQuery = { groupBy, orderBy, having, timeZone }
    const resolved = resolveGroups(model, entityName, members, groupQuery, called, stored)
    if ('faults' in resolved)
      for (const { path, message } of resolved.faults) {
        if (query.has('having') && path.startsWith('having')) {
          query.fault(path, message)
          continue
        }
        // The path of a comparison is that of its parameter.
        const [first = '', ...others] = path.split('.')
        query.fault(first + others.map(part => `[${part}]`).join(''), message)
      }
    const keys = groupBy.flatMap((key): readonly GroupItem[] => {
      const value = values.get(key)
      return value ? [{ kind: 'value', key, value, form: formIn(resource, value) }] : []
    })
    const items = [
      ...keys,
      ...bare.aggregate.items,
      ...measures.flatMap(measure => measured(query, measure)),
    ]
    const search = isSearched(resource, style) ? searchOf(query) : ''
    const limit = query.whole('limit')
    const shape: GroupsShape = {
      aggregate: 'faults' in resolved ? bare.aggregate : { ...resolved, items },
      filter,
      isSearched: search !== '',
    }
    const { keys: grouped, order, compared } = shape.aggregate
    const used = [...grouped, ...order.map(({ value }) => value), ...compared]
    const made = measures.flatMap(measure =>
      listed(query, measure).map(key => values.get(`${measure}.${key}`)),
    )
    const named = [...used, ...made].flatMap(value =>
      value && 'field' in value ? value.field : [],
    )
    return {
      url: `${path}?${text}`,
      query,
      shape,
      /** Requests of one shape have the same key, and so the same plans. */
      key: JSON.stringify([shape.aggregate, filter.shape, shape.isSearched]),
      // A row that a condition reads on its way may be closed to some callers, so the answer is not everybody's.
      open: filter.fields !== null && isPublic(model, entity, route, [...named, ...filter.fields]),
      limit: Math.min(Math.max(limit ?? mostGroups, 1), mostGroups),
      isLimited: limit !== undefined,
      search,
    }
  }
  const known = lru<ReturnType<typeof read>>(500)
  return (path: string, text: string) => {
    const key = `${path}?${text}`
    const before = known.get(key)
    if (before) return before
    const request = read(path, text)
    return request.query.isSound() && key.length < 500 ? known.set(key, request) : request
  }
}

/** The body of groups with its ETag, or that they are more than are answered. */
type GroupsPage =
  | { readonly isWhole: false }
  | (EncodedBody & { readonly isWhole: true; readonly tag: string })

/** Serves the groups of the rows of a list. */
export const serveAggregate = (mount: Mount, route: Route): RestHandler => {
  const { core, edge, version, style } = mount
  const resource = resourceOf(core.model, route.entity, version)
  const queriedBy = queryTypes(style).join(', ')
  const requestOf = requestReader(mount, route, resource)

  // The slots of a read: viewer, limit, the values of the filter, the words of a search.
  const readFor = preparedReads(
    core,
    200,
    ({ aggregate, filter, isSearched }: GroupsShape): Root => ({
      entity: route.entity,
      aggregate,
      items: [],
      where: filter.where,
      condition: filter.condition,
      exists: [],
      search: isSearched ? firstFilter + filter.values.length : undefined,
      sort: [],
      many: true,
      page: { limit: 1, offset: null },
      fetchOneMore: true,
      total: false,
    }),
  )

  return (c, viewer: Viewer, named) => {
    // Whether the caller may read at all is judged before the parameters.
    readFor(viewer.role, '', bare)
    const { url, query, shape, key, open, limit, isLimited, search } = requestOf(
      c.req.path,
      parametersOf(c),
    )
    query.done()
    const values: ParameterValue[] = [viewer.subject ?? viewer.id, limit]
    values.push(...shape.filter.values)
    if (search !== '') values.push(search)
    const prepared = readFor(viewer.role, key, shape)
    const isSent = c.req.method !== 'HEAD' && header(c, 'if-none-match') === undefined
    const made: Renderer<GroupsPage> = {
      by: url,
      make: ([answer]) => {
        if (!answer) throw new Error('a list has an answer')
        if (answer.more && !isLimited) return { isWhole: false }
        const body = `{"data":${answer.text}}`
        const whole = encodeBody([body], true, isSent ? edge.memory.answers : undefined)
        return after(whole, ({ body, tag = '' }) => ({
          isWhole: true,
          body,
          tag: inVersion(tag, mount),
        }))
      },
    }
    const found = readCached(core.reader, prepared, values, made, readOptionsOf(edge, c, viewer))
    return after(found, page => {
      if (!page.isWhole) throw invalid([{ field: 'group', message: tooManyGroups }])
      const { body, tag } = page
      return represent(c, edge, body, { named, isPublic: open, tag, queriedBy })
    })
  }
}
