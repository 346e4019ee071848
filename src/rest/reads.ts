/** GET: one thing, or a page of a list, as a Selection and its values. */

import { after } from '#base/after.ts'
import { lru } from '#base/lru.ts'
import { type Core, prepareFor } from '#core.ts'
import { ApiError } from '#errors.ts'
import { bodyTag, isNotModified, type Mark, revisionTag } from '#http/conditional.ts'
import type { Edge } from '#http/exchange.ts'
import type { Reply } from '#http/reply.ts'
import { type Http, header, positionOf, queryString } from '#http/request.ts'
import type { Entity } from '#model/entity.ts'
import { parseId } from '#model/id.ts'
import { entityOf, notFound } from '#model/model.ts'
import { judge } from '#model/policy.ts'
import { anonymous, type Viewer } from '#model/viewer.ts'
import { type Answer, type Prepared, read } from '#read/read.ts'
import { oneRow, type Root, type Sort, type Value } from '#read/selection.ts'
import { type Asked, filtersOf } from '#rest/filters.ts'
import { itemsOf, memberNames } from '#rest/members.ts'
import {
  afterOf,
  cursorEnvelope,
  fieldsOf,
  limitOf,
  numberedEnvelope,
  numberedPage,
} from '#rest/paging.ts'
import { parseQuery, type Query } from '#rest/query.ts'
import type { Route } from '#rest/routes.ts'
import { sortOf } from '#rest/sorting.ts'
import type { Named } from '#rest/version.ts'

/** What the REST handlers are made with: the core, the edge, and the prefix below which their links stand. */
export type Mount = { readonly core: Core; readonly edge: Edge; readonly prefix: string }

export type Serve = (c: Http, viewer: Viewer, named: Named) => Reply | Promise<Reply>

const newestFirst: readonly Sort[] = [{ field: 'id', descending: true }]

/** The id that a path names; `NOT_FOUND` where it names nothing. */
export const pathId = (c: Http, parameter: string, entity: string): number => {
  const text = c.req.param(parameter) ?? ''
  const id = parseId(text)
  if (id === undefined) throw notFound(entity, text.slice(0, 40))
  return id
}

type Facts = {
  readonly named: Named
  readonly isPublic: boolean
  readonly mark?: Mark | undefined
  readonly link?: string
  /** The Content-Type where it is not JSON. */
  readonly type?: string
}

/** The reply to a GET: 200 or 304 with the same validators. */
export const represent = (c: Http, edge: Edge, text: string, facts: Facts): Reply => {
  const { mark } = facts
  return representAs(c, edge, text, mark ? revisionTag(mark, text) : bodyTag(text), facts)
}

/** The same with an ETag of its own. */
export const representAs = (
  c: Http,
  edge: Edge,
  body: Reply['body'],
  tag: string,
  { named, isPublic, link, type }: Facts,
): Reply => {
  const fresh = edge.publicMaxAge > 0 ? `public, max-age=${edge.publicMaxAge}` : 'public, no-cache'
  const headers: Record<string, string> = {
    'Content-Type': type ?? named.contentType,
    ETag: tag,
    'Cache-Control': isPublic ? fresh : 'private, no-cache',
    Vary: isPublic ? 'Accept, API-Version' : 'Accept, API-Version, Authorization',
    'API-Version': String(named.version),
  }
  if (link !== undefined) headers.Link = link
  if (isNotModified(header(c, 'if-none-match'), tag)) {
    delete headers['Content-Type']
    return { status: 304, headers, body: null }
  }
  return { status: 200, headers, body }
}

const isPublic = (core: Core, entity: Entity): boolean => {
  const rule = entity.policy.enter ?? entity.policy.read
  return rule !== undefined && judge(rule, anonymous, core.model.settings) === 'yes'
}

/** The slots of one thing: the viewer, its id, and its parent's where the path names one. */
const oneRoot = ({ entity, below }: Route, items: Root['items']): Root => {
  const root = oneRow(entity, items)
  if (!below) return root
  return { ...root, where: [...root.where, { field: below.field, is: 'equals', slot: 2 }] }
}

/** The plan that reads one thing whole, as writes answer with it. */
export const wholeOne = (mount: Mount, route: Route, role: Viewer['role']): Prepared => {
  const entity = entityOf(mount.core.model, route.entity)
  const { below: _, ...own } = route
  const root = oneRoot(own as Route, itemsOf(mount.core.model, entity, mount.prefix, null))
  return prepareFor(mount.core, { encoding: 'rest', roots: [root] }, role)
}

/** The mark of an answer that has a revision. */
export const markOf = (
  entity: Entity,
  answer: Pick<Answer, 'revision' | 'last'>,
): Mark | undefined =>
  answer.revision === undefined || answer.last === undefined
    ? undefined
    : { table: entity.table, id: answer.last, revision: answer.revision }

/** Serves one thing by its id. */
export const serveOne = (mount: Mount, route: Route): Serve => {
  const { core, edge, prefix } = mount
  const entity = entityOf(core.model, route.entity)
  const names = memberNames(entity)
  const open = isPublic(core, entity)
  const plans = lru<Prepared>(200)
  const preparedFor = (fields: readonly string[] | null, viewer: Viewer): Prepared => {
    const key = fields === null ? viewer.role : `${viewer.role} ${fields.join()}`
    const root = () => oneRoot(route, itemsOf(core.model, entity, prefix, fields))
    return (
      plans.get(key) ??
      plans.set(key, prepareFor(core, { encoding: 'rest', roots: [root()] }, viewer.role))
    )
  }
  const chosen = (text: string): readonly string[] | null => {
    if (text === '' || !entity.rest.selectable) return null
    const query = parseQuery(text)
    const fields = fieldsOf(query, names)
    query.done()
    return fields
  }
  return (c, viewer, named) => {
    // The right comes before the thing's existence, and both before the parameters; chosen members have rules of their own.
    const query = queryString(c)
    const entered = preparedFor(query === '' ? null : [], viewer)
    const id = pathId(c, 'id', route.entity)
    const values: Value[] = [viewer.id, id]
    if (route.below) values.push(pathId(c, 'parentId', route.below.entity))
    const there = (answer: Answer | undefined): Answer => {
      if (!answer || answer.text === 'null') throw notFound(route.entity, id)
      return answer
    }
    let fields: readonly string[] | null
    try {
      fields = chosen(query)
    } catch (fault) {
      return after(read(core.reader, entered, values, positionOf(c)), ([answer]) => {
        there(answer)
        throw fault
      })
    }
    return after(
      read(core.reader, preparedFor(fields, viewer), values, positionOf(c)),
      ([found]) => {
        const answer = there(found)
        return represent(c, edge, answer.text, {
          named,
          isPublic: open,
          mark: markOf(entity, answer),
        })
      },
    )
  }
}

type Listed = {
  readonly fields: readonly string[] | null
  readonly sort: readonly Sort[]
  readonly filters: readonly Asked[]
}

/** Slots of a list: viewer, limit, offset or the id to go on after, the parent's id, then the filters' values. */
const listRoot = (route: Route, entity: Entity, items: Root['items'], listed: Listed): Root => {
  const byCursor = entity.rest.listing.paging === 'cursor'
  const { below } = route
  return {
    entity: route.entity,
    items,
    where: [
      ...(byCursor ? [{ field: 'id', is: 'less than', slot: 2 } as const] : []),
      ...(below ? [{ field: below.field, is: 'equals', slot: 3 } as const] : []),
      ...listed.filters.map(({ field, is }, index) => ({ field, is, slot: index + 5 })),
    ],
    exists: below ? [{ entity: below.entity, slot: 3 }] : [],
    sort: listed.sort,
    many: true,
    page: { limit: 1, offset: byCursor ? 4 : 2 },
    fetchOneMore: byCursor,
    total: !byCursor,
  }
}

const shapeKey = ({ fields, sort, filters }: Listed): string =>
  [
    fields?.join(),
    sort.map(({ field, descending }) => `${descending ? '-' : ''}${field}`),
    filters.map(({ field, is }) => `${field} ${is}`),
  ].join('|')

/** The list's own name, to which its cursors are bound: its path and filters, without the version. */
const listName = (path: string, filters: readonly Asked[]): string =>
  [path, ...filters.map(({ field, value }) => `${field}=${value}`)].join('&')

/** Serves a page of a list. */
export const serveList = (mount: Mount, route: Route): Serve => {
  const { core, edge, prefix } = mount
  const entity = entityOf(core.model, route.entity)
  const { digits } = core.model.settings.currency
  const { paging, limit: usual } = entity.rest.listing
  const byCursor = paging === 'cursor'
  const names = memberNames(entity)
  const open = isPublic(core, entity)
  const plans = lru<Prepared>(500)
  const preparedFor = (listed: Listed, shape: string, { role }: Viewer): Prepared => {
    const key = `${role}|${shape}`
    const known = plans.get(key)
    if (known) return known
    const items = itemsOf(core.model, entity, prefix, listed.fields)
    const roots = [listRoot(route, entity, items, listed)]
    return plans.set(key, prepareFor(core, { encoding: 'rest', roots }, role))
  }
  const bare: Listed = { fields: [], sort: [], filters: [] }
  const listedBy = (query: Query): Listed => ({
    fields: entity.rest.selectable ? fieldsOf(query, names) : null,
    sort: byCursor ? newestFirst : sortOf(entity, query),
    filters: filtersOf(entity, query, digits),
  })
  const ask = (path: string, text: string) => {
    const query = parseQuery(text)
    const listed = listedBy(query)
    const limit = limitOf(query, usual)
    const page = byCursor ? null : numberedPage(query, limit, paging === 'page or offset')
    const list = listName(path.slice(prefix.length), listed.filters)
    const from = page ? page.offset : afterOf(query, core.cursorKey, list)
    const address = { path, others: query.others() }
    return { query, listed, shape: shapeKey(listed), limit, page, list, from, address }
  }
  const asks = lru<ReturnType<typeof ask>>(500)
  const askedBy = (path: string, text: string) => {
    const key = `${path}?${text}`
    const known = asks.get(key)
    if (known) return known
    const asked = ask(path, text)
    // Reading a query string anew took a fifth of a page of products; odd ones are not worth a place.
    return asked.query.isSound() && key.length < 500 ? asks.set(key, asked) : asked
  }
  return (c, viewer, named) => {
    // The right comes before the parameters, whatever they ask for; chosen members have rules of their own.
    preparedFor(bare, '', viewer)
    const parent = route.below ? pathId(c, 'parentId', route.below.entity) : null
    const asked = askedBy(c.req.path, queryString(c))
    const { query, listed, shape, limit, page, list, from, address } = asked
    // That a parent is not there comes before what is wrong with the parameters.
    if (!route.below) query.done()
    const values: Value[] = [viewer.id, limit, from, parent, 0]
    for (const { value } of listed.filters) values.push(value)
    const found = read(core.reader, preparedFor(listed, shape, viewer), values, positionOf(c))
    return after(found, ([answer]) => {
      if (!answer) throw new Error('a list has an answer')
      if (answer.missing) throw notFound(answer.missing.entity, answer.missing.id)
      query.done()
      const { body, link } = page
        ? numberedEnvelope(answer, page, address)
        : cursorEnvelope(answer, core.cursorKey, list, address)
      return represent(c, edge, body, { named, isPublic: open, link })
    })
  }
}

/** The error for a path that leads nowhere. */
export const noSuchPath = (path: string): ApiError =>
  new ApiError('NOT_FOUND', `Path ${path} not found`)
