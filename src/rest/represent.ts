/** What the handlers of the REST API share: their context, the id in a path, and the reply to a GET with its validators, or 304 with the same. */
import { lru } from '#base/cache.ts'
import { type Core, prepareFor } from '#core.ts'
import { bodyTag, cacheControl, revisionTag, unlessKnown } from '#http/conditional.ts'
import type { HttpContext } from '#http/exchange.ts'
import type { Reply, WriteFacts } from '#http/reply.ts'
import type { Http } from '#http/request.ts'
import { type Entity, pathFields } from '#model/entity.ts'
import { entityOf, fieldOf, type Model, mayLeadToHidden, notFound } from '#model/model.ts'
import { anonymous, isByRow, judge, type Role, type Rule } from '#model/policy.ts'
import { parseId } from '#model/values.ts'
import type { RequestedVersion, Version, VersionStyle } from '#model/version.ts'
import type { Answer, Prepared } from '#read/read.ts'
import type { Root } from '#read/selection.ts'
import type { Route } from '#rest/routes.ts'

/** The core, the edge, the prefix below which links stand, and the version that is served. */
export type Mount = {
  readonly core: Core
  readonly edge: HttpContext
  readonly prefix: string
  readonly version: Version
  readonly style: VersionStyle
}

/** Gives the prepared reads of a route by role and key, and keeps so many of them: each is made when it is first needed. */
export const preparedReads = <Of>(core: Core, most: number, rootOf: (of: Of) => Root) => {
  const known = lru<Prepared>(most)
  return (role: Role, key: string, of: Of): Prepared =>
    known.get(`${role}|${key}`) ??
    known.set(`${role}|${key}`, prepareFor(core, { encoding: 'rest', roots: [rootOf(of)] }, role))
}

/** The id in a path; throws `NOT_FOUND` for a text that is no id. */
export const pathId = (c: Http, parameter: string, entity: string): number => {
  // A path that has a word of the API in place of an id has no parameter.
  const text = c.req.param(parameter) ?? c.req.path.slice(c.req.path.lastIndexOf('/') + 1)
  const id = parseId(text)
  if (id === undefined) throw notFound(entity, text.slice(0, 40))
  return id
}

type Styled = Pick<RequestedVersion, 'version' | 'style'>

/** The tag of a representation in a version; the tags of versions differ even if their texts do not. */
export const inVersion = (tag: string, { version, style }: Styled): string =>
  style.isMarked ? `${tag.slice(0, -1)}-v${version}"` : tag

/** The strong ETag of a representation that has no revision. */
export const textTag = (text: string, version: Styled): string => inVersion(bodyTag(text), version)

/** The strong ETag of an entity's object, by its revision if it has one. */
export const objectTag = (
  { table }: Entity,
  { text, revision, last: id }: Pick<Answer, 'text' | 'revision' | 'last'>,
  version: Styled,
): string =>
  revision === undefined || id === undefined
    ? textTag(text, version)
    : inVersion(revisionTag({ table, id, revision }, text), version)

/** The reply to a write, with a body that no cache keeps; or 204 with none. */
export const writtenReply = (
  { contentType, version }: RequestedVersion,
  done: WriteFacts & { readonly status: number },
  body: string | null,
  more: Readonly<Record<string, string>> = {},
): Reply => ({
  status: done.status,
  headers: {
    ...(done.status !== 204 && { 'Content-Type': contentType, 'Cache-Control': 'no-store' }),
    'API-Version': String(version),
    ...more,
  },
  body,
  written: done,
})

/** What a reply to a GET is beside its body. */
export type ReplyFacts = {
  readonly named: RequestedVersion
  readonly isPublic: boolean
  readonly link?: string
  /** The type of the bodies that a QUERY of it may have. */
  readonly queriedBy?: string
  /** The Content-Type, if it is not JSON. */
  readonly type?: string
  /** The ETag, if it is not that of a text. */
  readonly tag?: string
}

/** The reply to a GET: 200 or 304 with the same validators. */
export const represent = (
  c: Http,
  edge: HttpContext,
  body: Reply['body'],
  { named, isPublic, link, queriedBy, type, tag = textTag(String(body), named) }: ReplyFacts,
): Reply => {
  const headers: Record<string, string> = {
    'Content-Type': type ?? named.contentType,
    ETag: tag,
    'Cache-Control': cacheControl(edge, isPublic),
    Vary: isPublic ? 'Accept, API-Version' : 'Accept, API-Version, Authorization',
    'API-Version': String(named.version),
  }
  if (link !== undefined) headers.Link = link
  if (queriedBy !== undefined) headers['Accept-Query'] = queriedBy
  return unlessKnown(c, { status: 200, headers, body }, tag)
}

/** Whether a rule lets anonymous through, whatever the row. */
export const isOpen = (model: Model, rule: Rule | undefined): boolean =>
  rule !== undefined && judge(rule, anonymous, model) === 'yes'

/** Whether what an entity's objects show depends on a rule that looks at rows: of a field, of rows within, or of those that links lead to. */
const showsByRow = (model: Model, entity: Entity): boolean => {
  const { policy, fields, relations, rest, links } = entity
  return (
    isByRow(policy.read) ||
    Object.values(fields).some(field => field.rest && isByRow(field.readableBy)) ||
    Object.keys(rest.embedded).some(key =>
      showsByRow(model, entityOf(model, relations[key]?.to ?? '')),
    ) ||
    Object.values(links?.cases ?? {})
      .flatMap(named => Object.values(named).flatMap(pathFields))
      .some(key => mayLeadToHidden(model, entity, key))
  )
}

/** Whether anonymous may read an entity's rows when these fields choose or sort them, so that shared caches may store them. */
export const isPublic = (
  model: Model,
  entity: Entity,
  { below }: Pick<Route, 'below'>,
  by: readonly string[] = [],
): boolean =>
  isOpen(model, entity.policy.enter ?? entity.policy.read) &&
  !showsByRow(model, entity) &&
  (!below?.through || isOpen(model, entityOf(model, below.through.entity).policy.read)) &&
  [...by, ...(below && !below.through ? [below.field] : [])].every(field =>
    isOpen(model, fieldOf(entity, field).readableBy),
  )

/** Whether anonymous may know of the row below which a path lies, if it lies below one. */
export const isPublicAbove = (model: Model, { below }: Pick<Route, 'below'>): boolean =>
  !below || isOpen(model, entityOf(model, below.entity).policy.read)
