/** GET of a page of a list, as a Selection and its values. */
import { after } from '#base/after.ts'
import { lru } from '#base/lru.ts'
import { prepareFor } from '#core.ts'
import { askedBy } from '#http/asked.ts'
import { type Http, header, parametersOf } from '#http/request.ts'
import { formType } from '#http/safe.ts'
import { type Whole, wholeOf } from '#http/whole.ts'
import { notFound } from '#model/model.ts'
import type { Role } from '#model/policy.ts'
import { type Resource, resourceOf } from '#model/resource.ts'
import { type Answer, type Prepared, readCached } from '#read/read.ts'
import type { Root, Sort, Value } from '#read/selection.ts'
import { type AppliedFilter, filtersOf } from '#rest/filters.ts'
import { itemsOf, memberNames } from '#rest/members.ts'
import { type Mount, pathId } from '#rest/mount.ts'
import {
  afterOf,
  cursorEnvelope,
  fieldsOf,
  limitOf,
  linksFit,
  listParameters,
  numberedEnvelope,
  numberedPage,
} from '#rest/paging.ts'
import { parseQuery, type Query } from '#rest/query.ts'
import { inVersion, isPublic, isPublicAbove, representAs } from '#rest/represent.ts'
import type { Route } from '#rest/routes.ts'
import { sortOf } from '#rest/sorting.ts'
import { styleOf } from '#versions/differences.ts'
import type { RestHandler } from '#versions/negotiation.ts'

const newestFirst: readonly Sort[] = [{ field: 'id', descending: true }]

/** The part of a list request that decides the plan: members, sort order and filters, without the page. */
type ListShape = {
  readonly fields: readonly string[] | null
  readonly sort: readonly Sort[]
  readonly filters: readonly AppliedFilter[]
}

/** Slots of a list: viewer, limit, offset or the id to go on after, the parent's id, then the filters' values. */
const listRoot = (
  route: Route,
  { entity }: Resource,
  items: Root['items'],
  shape: ListShape,
): Root => {
  const byCursor = entity.rest.listing.paging === 'cursor'
  const { below } = route
  return {
    entity: route.entity,
    items,
    where: [
      ...(byCursor ? [{ field: 'id', is: 'less than', slot: 2 } as const] : []),
      ...(below ? [{ field: below.field, is: 'equals', slot: 3 } as const] : []),
      ...shape.filters.map(({ value: _, ...filter }, index) => ({ ...filter, slot: index + 5 })),
    ],
    exists: below ? [{ entity: below.entity, slot: 3 }] : [],
    sort: shape.sort,
    many: true,
    page: { limit: 1, offset: byCursor ? 4 : 2 },
    fetchOneMore: byCursor,
    total: !byCursor,
  }
}

const shapeKey = ({ fields, sort, filters }: ListShape): string =>
  [
    // No member is not every member: where the parameters are at fault, none is chosen.
    fields === null ? '*' : fields.join(),
    sort.map(({ field, descending }) => `${descending ? '-' : ''}${field}`),
    filters.map(({ field, is }) => `${field} ${is}`),
  ].join('|')

/** The list's own name, to which its cursors are bound: its path and filters, without the version. */
const listName = (path: string, filters: readonly AppliedFilter[]): string =>
  [path, ...filters.map(({ field, value }) => `${field}=${value}`)].join('&')

/** The plans of a list by the shape that is asked for and the role; made when first needed. */
const plansOf = ({ core, prefix }: Mount, route: Route, resource: Resource) => {
  const plans = lru<Prepared>(500)
  return (shape: ListShape, key: string, role: Role): Prepared => {
    const known = plans.get(`${role}|${key}`)
    if (known) return known
    const items = itemsOf(core.model, resource, prefix, shape.fields)
    const roots = [listRoot(route, resource, items, shape)]
    return plans.set(`${role}|${key}`, prepareFor(core, { encoding: 'rest', roots }, role))
  }
}

/** Reads the query strings of a list: the shape, the page, and where its other pages are. What it read is cached: to read it each time took a fifth of a page. */
const queryReader = ({ core, prefix, version }: Mount, route: Route, resource: Resource) => {
  const { entity } = resource
  const { isStrict } = styleOf(version)
  const parameters = [...listParameters(resource), 'version']
  const { paging, limit: usual } = entity.rest.listing
  const { digits } = core.model.settings.currency
  const byCursor = paging === 'cursor'
  const names = memberNames(resource)
  const isAbovePublic = isPublicAbove(core.model, route)
  const shapeOf = (query: Query): ListShape => ({
    fields: entity.rest.selectable ? fieldsOf(query, names) : null,
    sort: byCursor ? newestFirst : sortOf(resource, query, isStrict),
    filters: filtersOf(resource, query, digits, isStrict),
  })
  const read = (path: string, text: string) => {
    const query = parseQuery(text)
    if (isStrict) query.only(parameters)
    const shape = shapeOf(query)
    const limit = limitOf(query, usual)
    const page = byCursor ? null : numberedPage(query, limit, paging === 'page or offset')
    const list = listName(path.slice(prefix.length), shape.filters)
    const from = page ? page.offset : afterOf(query, core.cursorKey, list)
    const address = { path, others: query.others() }
    const url = `${path}?${text}`
    const by = [...shape.filters, ...shape.sort].map(({ field }) => field)
    const open = isAbovePublic && isPublic(core.model, entity, route, by)
    return { url, query, shape, key: shapeKey(shape), open, limit, page, list, from, address }
  }
  const known = lru<ReturnType<typeof read>>(500)
  return (path: string, text: string) => {
    const key = `${path}?${text}`
    const before = known.get(key)
    if (before) return before
    const request = read(path, text)
    // Faulty and very long ones are not cached.
    return request.query.isSound() && key.length < 500 ? known.set(key, request) : request
  }
}

type Request = ReturnType<ReturnType<typeof queryReader>>

/** A page, or the row that must exist and does not, which is remembered as pages are. */
type Page =
  | { readonly missing: NonNullable<Answer['missing']> }
  | (Whole & { readonly missing?: undefined; readonly link: string; readonly tag: string })

/** Whether a page surely goes out as a body: a HEAD has none, nor has a 304. */
const isSent = (c: Http): boolean =>
  c.req.method !== 'HEAD' && header(c, 'if-none-match') === undefined

/** The body of a page with its ETag and `Link`, or the row that must exist and does not; throws `OVERLOADED` where it is sent and does not fit beside the answers that wait. */
const pageOf = (
  { core: { cursorKey }, edge: { memory }, version }: Mount,
  request: Request,
  isSent: boolean,
  answer?: Answer,
): Page | Promise<Page> => {
  const { page, address, list, limit } = request
  if (!answer) throw new Error('a list has an answer')
  if (answer.missing) return { missing: answer.missing }
  const style = styleOf(version)
  const { body, link } = page
    ? numberedEnvelope(answer, page, address, style)
    : cursorEnvelope(answer, { key: cursorKey, list, limit }, address, style)
  return after(
    wholeOf([body], true, isSent ? memory.answers : undefined),
    ({ body, tag = '' }) => ({ body, link, tag: inVersion(tag, version) }),
  )
}

/** Serves a page of a list. */
export const serveList = (mount: Mount, route: Route): RestHandler => {
  const { core, edge, version } = mount
  const resource = resourceOf(core.model, route.entity, version)
  const planFor = plansOf(mount, route, resource)
  const requestOf = queryReader(mount, route, resource)
  const bare: ListShape = { fields: [], sort: [], filters: [] }
  return (c, viewer, named) => {
    // The right comes before the parameters, whatever they ask for; chosen members have rules of their own.
    planFor(bare, '', viewer.role)
    const parent = route.below ? pathId(c, 'parentId', route.below.entity) : null
    const request = requestOf(c.req.path, parametersOf(c))
    const { url, query, shape, key, open, limit, from } = request
    // A missing parent is reported before faults of the parameters.
    if (!route.below) query.done()
    const values: Value[] = [viewer.id, limit, from, parent, 0]
    for (const { value } of shape.filters) values.push(value)
    const prepared = planFor(shape, key, viewer.role)
    const made = {
      by: url,
      make: ([answer]: readonly Answer[]) => pageOf(mount, request, isSent(c), answer),
    }
    const found = readCached(core.reader, prepared, values, made, askedBy(edge, c, viewer))
    return after(found, page => {
      if (page.missing) throw notFound(page.missing.entity, page.missing.id)
      query.done()
      const { body, link, tag } = page
      // What a QUERY asks for may be too long for a URL, and so for the links to its other pages.
      const fits = link !== '' && linksFit(link, edge.urlLimit)
      const facts = { named, isPublic: open, queriedBy: formType, ...(fits && { link }) }
      return representAs(c, edge, body, tag, facts)
    })
  }
}
