/** GET of a page of a list, as a Selection and its values; and QUERY of it, whose parameters are in a body. */
import { after } from '#base/after.ts'
import { lru } from '#base/cache.ts'
import { parametersIn } from '#base/text.ts'
import { ApiError } from '#errors.ts'
import { bodyType, queryBody } from '#http/body.ts'
import { type EncodedBody, encodeBody } from '#http/encode-body.ts'
import type { HttpContext } from '#http/exchange.ts'
import { formType, header, parametersOf, queryString, readOptionsOf } from '#http/request.ts'
import { notFound } from '#model/model.ts'
import type { Viewer } from '#model/policy.ts'
import { type Resource, resourceOf } from '#model/resource.ts'
import type { VersionStyle } from '#model/version.ts'
import { boundForm } from '#read/caller-condition.ts'
import { orderBound, sealOf } from '#read/cursor.ts'
import { type Answer, type Renderer, readCached } from '#read/read.ts'
import { comparing, keysOf, type ParameterValue, type Root, type Sort } from '#read/selection.ts'
import { itemsOf } from '#rest/one.ts'
import {
  afterOf,
  cursorEnvelope,
  limitOf,
  numberedEnvelope,
  numberedPage,
  orderedPage,
} from '#rest/paging.ts'
import {
  fieldsOf,
  isSearched,
  memberNames,
  parseQuery,
  queryParameters,
  searchOf,
} from '#rest/query.ts'
import {
  inVersion,
  isPublic,
  isPublicAbove,
  type Mount,
  pathId,
  preparedReads,
  represent,
} from '#rest/represent.ts'
import type { Route } from '#rest/routes.ts'
import { byId, sortOf } from '#rest/sort.ts'
import {
  everyRow,
  type ListFilter,
  listFilterReader,
  parametersOfBody,
  queryTypes,
} from '#rest/where.ts'
import type { RestHandler } from '#versions/negotiation.ts'
import { invalid } from '#write/input.ts'

const firstFilter = 5

const newestFirst: readonly Sort[] = [{ field: 'id', descending: true }]

/** The part of a list request that decides the plan: members, sort order and filters, without the page. */
type ListShape = {
  readonly fields: readonly string[] | null
  readonly sort: readonly Sort[]
  readonly filter: ListFilter
  readonly isSearched?: boolean
  /** Whether its pages go by cursors of its order, on from a row, and backwards. */
  readonly ordered?: { readonly goesOn: boolean; readonly backwards: boolean } | undefined
  /** Whether its pages have numbers, and a cursor that goes on after them. */
  readonly isNumbered?: boolean
}

/** Reads the query strings of a list: the shape, the page, and the address of the other pages. Results are cached, since reading them each time took a fifth of a page. */
const requestReader = ({ core, prefix, style }: Mount, route: Route, resource: Resource) => {
  const { entity } = resource
  const { isStrict } = style
  const parameters = [...queryParameters(resource, route.kind, style), 'version']
  const { paging } = entity.rest.listing
  const byCursor = paging === 'cursor'
  const names = memberNames(resource)
  const isAbovePublic = isPublicAbove(core.model, route)
  const filterOf = listFilterReader(core.model, resource, style, firstFilter, parameters)
  const read = (path: string, text: string, viewer: Viewer) => {
    const query = parseQuery(text)
    const fields = entity.rest.selectable ? fieldsOf(query, names) : null
    const search = isSearched(resource, style) ? searchOf(query) : ''
    const order = byCursor && !isStrict ? newestFirst : sortOf(core.model, resource, query, style)
    // Without words all rows fit alike, and the id decides.
    const sort = search === '' ? order.map(key => (key.isRelevance ? byId : key)) : order
    const filter = filterOf(query)
    const { where, condition, values } = filter
    const limit = limitOf(query, entity.pageSize)
    const isOrdered = isStrict && query.has(byCursor ? 'sort' : 'cursor')
    if (isOrdered && !byCursor)
      for (const name of ['page', 'offset'])
        if (query.has(name)) query.fault(name, 'goes by numbers: leave it or cursor out')
    const page =
      byCursor || isOrdered ? null : numberedPage(query, limit, paging === 'page or offset')
    // What its cursors are bound to: its path without the version, its words, and its filters and conditions in any order.
    const all = [...where, ...(condition ? [condition] : [])]
    const list = JSON.stringify([
      path.slice(prefix.length),
      search,
      boundForm({ kind: 'and', of: all }, slot => values[slot - firstFilter]),
    ])
    const sorted = sort.filter(key => !key.isRelevance).map(({ field }) => field)
    // A row that an order or a condition reads on its way may be closed to some callers, so the answer is not everybody's.
    const isForAll =
      isAbovePublic &&
      filter.fields !== null &&
      sort.every(({ path = [] }) => path.length === 0) &&
      isPublic(core.model, entity, route, [...filter.fields, ...sorted])
    const sealBy = (...caller: readonly unknown[]) =>
      sealOf(core.cursorKey, 'rest', list, orderBound(sort), ...caller)
    // A cursor of an order is for the caller alone; a numbered page that caches give to everybody has one for everybody.
    const sealFor = ({ role, subject, id }: Viewer) => sealBy(role, subject ?? id)
    const sealForAll = isForAll ? sealBy() : undefined
    const ordered = isOrdered
      ? orderedPage(query, keysOf(sort).length, sealFor(viewer), sealForAll)
      : undefined
    const seal = page || ordered ? '' : sealOf(core.cursorKey, 'rest', list)
    const from = page ? page.offset : ordered ? 0 : afterOf(query, seal)
    const goesOn = ordered?.from !== undefined
    const key = [
      // No member is not every member: if the parameters are at fault, none is chosen.
      fields === null ? '*' : fields.join(),
      sort.map(
        ({ path = [], field, descending, nullsLast }) =>
          `${nullsLast ? '+' : ''}${descending ? '-' : ''}${[...path, field].join('.')}`,
      ),
      filter.shape,
      search === '' ? '' : 'search',
      ...(ordered ? [goesOn, ordered.backwards] : []),
    ].join('|')
    return {
      url: `${path}?${text}`,
      query,
      shape: {
        fields,
        sort,
        filter,
        isSearched: search !== '',
        ordered: ordered && { goesOn, backwards: ordered.backwards },
        isNumbered: page !== null && isStrict,
      },
      /** Requests of one shape have the same key, and so the same plans. */
      key,
      open: isForAll && !ordered,
      limit,
      page,
      seal,
      from,
      ordered,
      sealOfNext: (viewer: Viewer) => sealForAll ?? sealFor(viewer),
      search,
      address: { path, others: query.others() },
    }
  }
  const known = lru<ReturnType<typeof read>>(500)
  return (path: string, text: string, viewer: Viewer) => {
    const key = `${path}?${text}`
    const before = known.get(key)
    if (before) return before
    const request = read(path, text, viewer)
    // Faulty and very long ones are not cached, nor what is a caller's own.
    const isKept = request.query.isSound() && key.length < 500 && !request.ordered
    return isKept ? known.set(key, request) : request
  }
}

/** The body of a page with its ETag and `Link`, or the row that must exist and does not, which is remembered as pages are. */
type ListPage =
  | { readonly missing: NonNullable<Answer['missing']> }
  | (EncodedBody & { readonly missing?: undefined; readonly link: string; readonly tag: string })

/** Serves a page of a list. */
export const serveList = (mount: Mount, route: Route): RestHandler => {
  const { core, edge, prefix, version, style } = mount
  const resource = resourceOf(core.model, route.entity, version)
  const requestOf = requestReader(mount, route, resource)
  const bare: ListShape = { fields: [], sort: [], filter: everyRow }
  const byCursor = resource.entity.rest.listing.paging === 'cursor'
  const { below } = route
  const queriedBy = queryTypes(style).join(', ')

  const readFor = preparedReads(core, 500, (shape: ListShape): Root => {
    // Its slots: viewer, limit, offset or the id to go on after, the parent's id, then the filter's values, the words of a search, and
    // the values of a cursor.
    const { filter, ordered, isNumbered } = shape
    const afterFilter = firstFilter + filter.values.length
    const search = shape.isSearched ? afterFilter : undefined
    const seal = search === undefined ? afterFilter : search + 1
    const place = ordered?.goesOn ? keysOf(shape.sort).map((_, at) => seal + 1 + at) : undefined
    return {
      entity: route.entity,
      items: itemsOf(core.model, resource, prefix, shape.fields),
      where: [
        ...(byCursor && !ordered ? [comparing('id', 'lt', 2)] : []),
        ...(below && !below.through ? [comparing(below.field, 'eq', 3)] : []),
        ...filter.where,
      ],
      ...(below?.through && { linked: { ...below.through, by: below.field, slot: 3 } }),
      exists: below ? [{ entity: below.entity, slot: 3 }] : [],
      search,
      condition: filter.condition,
      sort: shape.sort,
      many: true,
      ...(ordered && {
        keyset: {
          seal,
          backwards: ordered.backwards,
          [ordered.backwards ? 'before' : 'after']: place,
        },
      }),
      ...(isNumbered && { keyset: { seal, backwards: false } }),
      page: { limit: 1, offset: ordered ? null : byCursor ? 4 : 2 },
      fetchOneMore: byCursor || ordered !== undefined,
      total: !byCursor,
    }
  })

  return (c, viewer, named) => {
    // Whether the caller may read at all is judged before the parameters; chosen members have rules of their own.
    readFor(viewer.role, '', bare)
    const parent = route.below ? pathId(c, 'parentId', route.below.entity) : null
    const request = requestOf(c.req.path, parametersOf(c), viewer)
    const { query, shape, open, limit, page, ordered, search, address } = request
    // A missing parent is reported before faults of the parameters.
    if (!route.below) query.done()
    const values: ParameterValue[] = [viewer.subject ?? viewer.id, limit, request.from, parent, 0]
    values.push(...shape.filter.values)
    if (search !== '') values.push(search)
    if (ordered) values.push(ordered.seal, ...(ordered.from ?? []))
    else if (shape.isNumbered) values.push(request.sealOfNext(viewer))
    const prepared = readFor(viewer.role, request.key, shape)
    // A HEAD has no body, nor has a 304; one that surely goes out must fit beside the answers that wait.
    const isSent = c.req.method !== 'HEAD' && header(c, 'if-none-match') === undefined
    const made: Renderer<ListPage> = {
      by: request.url,
      make: ([answer]) => {
        if (!answer) throw new Error('a list has an answer')
        if (answer.missing) return { missing: answer.missing }
        const { body, link } = page
          ? numberedEnvelope(answer, page, address, style)
          : cursorEnvelope(answer, ordered ?? request, limit, address, style)
        const whole = encodeBody([body], true, isSent ? edge.memory.answers : undefined)
        return after(whole, ({ body, tag = '' }) => ({ body, link, tag: inVersion(tag, mount) }))
      },
    }
    const found = readCached(core.reader, prepared, values, made, readOptionsOf(edge, c, viewer))
    return after(found, page => {
      if (page.missing) throw notFound(page.missing.entity, page.missing.id)
      if (route.below) query.done()
      const { body, link, tag } = page
      // The parameters of a QUERY may be too long for a URL: links that no request could follow are left out.
      const fits =
        link !== '' &&
        (link.length <= edge.urlLimit ||
          [...link.matchAll(/<([^<>]*)>/g)].every(
            ([, address = '']) => address.length <= edge.urlLimit,
          ))
      const facts = { named, isPublic: open, tag, queriedBy, ...(fits && { link }) }
      return represent(c, edge, body, facts)
    })
  }
}

/** The most bytes of parameters in a body: as many as the longest URL that an operator may allow. */
const longestQuery = 16_384

/**
 * The handler of a list for QUERY (RFC 10008), made of that for GET, whose plans and cached answers it shares: its parameters are
 * in a body, in addition to the parameters of the URL; the members of a JSON body are the parameters of their names.
 */
export const queriedBy =
  (
    { bodyLimit }: HttpContext,
    handle: RestHandler,
    style: VersionStyle,
    members: readonly string[],
  ): RestHandler =>
  async (c, viewer, named) => {
    try {
      const inUrl = queryString(c)
      const text = await queryBody(c, Math.min(bodyLimit, longestQuery), queryTypes(style))
      const inBody = bodyType(c) === formType ? text : parametersOfBody(text, members)
      // The body is read when the version is known.
      if (parametersIn(inBody).has('version'))
        throw invalid([{ field: 'version', message: 'must be named in the URL or in a header' }])
      c.set('parameters', inUrl !== '' && inBody !== '' ? `${inUrl}&${inBody}` : inUrl + inBody)
    } catch (error) {
      // 403 and 404 come before the faults of a body, and faults of the URL's parameters come after them.
      try {
        await handle(c, viewer, named)
      } catch (refused) {
        const isFault = refused instanceof ApiError && refused.code === 'VALIDATION_ERROR'
        if (!isFault) throw refused
      }
      throw error
    }
    return handle(c, viewer, named)
  }
