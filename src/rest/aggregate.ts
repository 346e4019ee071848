/** GET of what rows of a list have in common: their number, sums, means, least and most, by groups, as a Selection and its values. */
import { after } from '#base/after.ts'
import { lru } from '#base/cache.ts'
import { isReadBack, notReadBack } from '#base/number.ts'
import { isObject, mapped } from '#base/object.ts'
import { hintFor } from '#base/text.ts'
import { prepareFor } from '#core.ts'
import { parseJson } from '#http/body.ts'
import { type EncodedBody, encodeBody } from '#http/encode-body.ts'
import { header, parametersOf, readOptionsOf } from '#http/request.ts'
import {
  type GroupMeasure,
  type GroupValue,
  groupParameters,
  groupValues,
  measures,
  mostGroups,
  typeOf,
} from '#model/aggregate.ts'
import { fieldOf } from '#model/model.ts'
import type { Role, Viewer } from '#model/policy.ts'
import { type Resource, resourceOf } from '#model/resource.ts'
import { type Scalar, withPlus } from '#model/values.ts'
import { decoded } from '#model/version.ts'
import { resolveGroups, tooManyGroups } from '#read/grouping.ts'
import { type Prepared, type Renderer, readCached } from '#read/read.ts'
import type { Aggregate, GroupItem, ParameterValue, Root } from '#read/selection.ts'
import {
  type AppliedFilter,
  filtersReader,
  isSearched,
  parseQuery,
  type QueryParameters,
  queryParameters,
  searchOf,
  whereOf,
} from '#rest/query.ts'
import { inVersion, isPublic, type Mount, represent } from '#rest/represent.ts'
import type { Route } from '#rest/routes.ts'
import { isSortable } from '#rest/sort.ts'
import {
  conditionReader,
  jsonFault,
  type ListCondition,
  queryTypes,
  valueOfUrl,
} from '#rest/where.ts'
import type { RestHandler } from '#versions/negotiation.ts'
import { invalid } from '#write/input.ts'

/** The members that groups may be asked about, each with its field. */
const askedMembers = ({ entity, members }: Resource) =>
  members.flatMap(member =>
    member.kind === 'field' && isSortable(entity, member.field)
      ? [[member.name, member.field] as const]
      : [],
  )

/** The values of groups of a resource, by their names. */
export const groupsOf = (resource: Resource): ReadonlyMap<string, GroupValue> =>
  groupValues(resource.entity, askedMembers(resource))

/** How a version writes a value of a group; what is calculated of a field, or a part of it, has no form. */
export const formIn = ({ formOf }: Resource, value: GroupValue) =>
  value.kind === 'min' || value.kind === 'max' || (value.kind === 'key' && !value.part)
    ? formOf(value.field)
    : undefined

const numbers: readonly Scalar[] = ['int', 'money', 'decimal']

/** The values that `having` may compare, each with its parameter, such as `having[sum][servings]`, and the operators that follow. */
export const havingOf = (resource: Resource) =>
  [...groupsOf(resource)].flatMap(([name, value]) => {
    if (value.kind === 'key') return []
    const { scalar } = typeOf(resource.entity, value)
    const isRanged = numbers.includes(scalar) || scalar === 'date' || scalar === 'time'
    const operators = ['eq', 'ne', ...(isRanged ? ['lt', 'lte', 'gt', 'gte'] : [])]
    const parameter = `having[${name.replace('.', '][')}]`
    return [{ name, value, scalar, parameter, operators }]
  })

/** The names that a parameter lists with commas between, each once. */
const listed = (query: QueryParameters, name: string): readonly string[] => {
  const text = query.get(name)
  return text === undefined ? [] : [...new Set(text.split(',').map(one => one.trim()))]
}

/** What a request asks of groups, as a part of the root, and the fields that it names. */
type GroupsShape = {
  readonly aggregate: Aggregate
  readonly filters: readonly AppliedFilter[]
  readonly isSearched: boolean
  readonly asked?: ListCondition | undefined
}

/** The slot of the first filter's value. */
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
  filters: [],
  isSearched: false,
}

/** Reads the query strings of groups: what they ask for, their filters, and how many groups are wanted. Results are cached. It is long as its parts read one query string and collect its faults together. */
const requestReader = ({ core, style }: Mount, route: Route, resource: Resource) => {
  const { entity, name: entityName } = resource
  const { model } = core
  const parameters = [...queryParameters(resource, route.kind, style), 'version']
  const members = askedMembers(resource)
  // A filter that has the name of one of these parameters is the list's alone.
  const own = Object.entries(resource.filters).filter(([name]) => !groupParameters.includes(name))
  const filtered = { ...resource, filters: Object.fromEntries(own) }
  const values = groupsOf(resource)
  const comparisons = havingOf(resource).flatMap(({ parameter, operators, ...one }) =>
    operators.map(operator => ({ ...one, operator, called: `${parameter}[${operator}]` })),
  )

  const conditionOf = conditionReader(
    model,
    resource,
    parameters,
    comparisons.map(({ called }) => called),
  )

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

  /** The values of a condition on groups as conditions have them; what is no condition is left as it is, and is a fault. */
  const inValues = (
    given: unknown,
    path: string,
    above: string,
    query: QueryParameters,
  ): unknown => {
    if (!isObject(given)) return given
    return Object.fromEntries(
      Object.entries(given).map(([key, of]) => {
        const at = `${path}.${key}`
        if (key === 'not') return [key, inValues(of, at, '', query)]
        if (key === 'and' || key === 'or')
          return [
            key,
            Array.isArray(of)
              ? of.map((one, place) => inValues(one, `${at}.${place}`, '', query))
              : of,
          ]
        if (above === '' && measures.some(measure => measure === key))
          return [key, inValues(of, at, `${key}.`, query)]
        const value = values.get(above + key)
        const known = comparisons.filter(({ name }) => name === above + key)
        const valueFor = (one: unknown) =>
          value && 'field' in value
            ? valueOfUrl(entity, value.field, formIn(resource, value), one)
            : one
        if (!value || known.length === 0 || !isObject(of)) return [key, valueFor(of)]
        const operators = known.map(({ operator }) => operator)
        for (const operator of Object.keys(of))
          if (!operators.includes(operator))
            query.fault(
              `${at}.${operator}`,
              `is not an operator here: take one of ${operators.join(', ')}`,
            )
        return [key, mapped(of, valueFor)]
      }),
    )
  }

  /** The condition on groups: all its comparisons together, or its JSON. */
  const havingIn = (query: QueryParameters): unknown => {
    const json = query.get('having')
    if (json !== undefined) {
      if (comparisons.some(({ called }) => query.has(called)))
        query.fault('having', 'is JSON and parameters too: write it in one of these ways')
      try {
        return inValues(parseJson(json, 'having'), 'having', '', query)
      } catch (error) {
        const example = 'must be a condition as JSON, such as {"count":{"gte":2}}'
        jsonFault(query, 'having', error, example)
        return undefined
      }
    }
    const all = comparisons.flatMap(({ name, value, scalar, operator, called }) => {
      const text = query.get(called)
      if (text === undefined) return []
      const form = formIn(resource, value)
      const isNumber = numbers.includes(scalar) && /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text)
      let given: unknown = isNumber ? Number(text) : text
      if (scalar === 'time') given = withPlus(text)
      const written = text.replace(/^\+/, '')
      if (typeof given === 'number' && !isReadBack(written))
        query.fault(called, notReadBack(written))
      if (typeof form === 'object' && 'field' in value) {
        const own = decoded(form, text, fieldOf(entity, value.field).values)
        if ('fault' in own) query.fault(called, own.fault)
        else given = own.value
      }
      return [[name, operator, given] as const]
    })
    if (all.length === 0) return undefined
    const byName = Map.groupBy(all, ([name]) => name)
    return Object.fromEntries(
      [...byName].map(([name, same]) => [
        name,
        Object.fromEntries(same.map(([, operator, given]) => [operator, given])),
      ]),
    )
  }

  const filtersIn = filtersReader(filtered, model.settings.currency.digits, true)
  const read = (path: string, text: string) => {
    const query = parseQuery(text)
    const filters = filtersIn(query)
    const rows = conditionOf(query, firstFilter + filters.length)
    const groupBy = listed(query, 'group')
    const orderBy = listed(query, 'sort').map(term => ({
      name: term.replace(/^-/, ''),
      descending: term.startsWith('-'),
    }))
    const having = havingIn(query)
    const timeZone = query.get('tz')
    const called = { groupBy: 'group', having: 'having', orderBy: 'sort', timeZone: 'tz' }
    const asked = { groupBy, orderBy, having, timeZone }
    const resolved = resolveGroups(model, entityName, members, asked, called)
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
      filters,
      isSearched: search !== '',
      asked: rows,
    }
    const { keys: grouped, order, compared } = shape.aggregate
    const used = [...grouped, ...order.map(({ value }) => value), ...compared]
    const made = measures.flatMap(measure =>
      listed(query, measure).map(key => values.get(`${measure}.${key}`)),
    )
    const named = [...used, ...made].flatMap(value =>
      value && 'field' in value ? value.field : [],
    )
    const by = [...named, ...filters.map(({ field }) => field), ...(rows?.fields ?? [])]
    return {
      url: `${path}?${text}`,
      query,
      shape,
      /** Requests of one shape have the same key, and so the same plans. */
      key: JSON.stringify([
        shape.aggregate,
        filters.map(({ field, is }) => `${field} ${is}`),
        shape.isSearched,
        rows?.shape,
      ]),
      // A row that a condition reads on its way may be closed to some callers, so the answer is not everybody's.
      open: rows?.fields !== null && isPublic(model, entity, route, by),
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

  /** The plans by the role and the shape that is asked for; made when first needed. Their slots: viewer, limit, the filters' values, those of a condition, the words of a search. */
  const plans = lru<Prepared>(200)
  const planFor = (role: Role, shape: GroupsShape, key: string) => {
    const { aggregate, filters, isSearched, asked } = shape
    const known = plans.get(`${role}|${key}`)
    if (known) return known
    const root: Root = {
      entity: route.entity,
      aggregate,
      items: [],
      where: whereOf(filters, firstFilter),
      asked: asked?.predicate,
      exists: [],
      search: isSearched ? firstFilter + filters.length + (asked?.values.length ?? 0) : undefined,
      sort: [],
      many: true,
      page: { limit: 1, offset: null },
      fetchOneMore: true,
      total: false,
    }
    return plans.set(`${role}|${key}`, prepareFor(core, { encoding: 'rest', roots: [root] }, role))
  }

  return (c, viewer: Viewer, named) => {
    // The right comes before the parameters, whatever they ask for.
    planFor(viewer.role, bare, '')
    const { url, query, shape, key, open, limit, isLimited, search } = requestOf(
      c.req.path,
      parametersOf(c),
    )
    query.done()
    const values: ParameterValue[] = [viewer.subject ?? viewer.id, limit]
    for (const { value } of shape.filters) values.push(value)
    if (shape.asked) values.push(...shape.asked.values)
    if (search !== '') values.push(search)
    const prepared = planFor(viewer.role, shape, key)
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
