/** The reply to a GET: the representation with its validators, or 304 with the same. */
import { bodyTag, type Mark, revisionTag, unlessKnown } from '#http/conditional.ts'
import type { HttpContext } from '#http/edge.ts'
import type { Reply } from '#http/reply.ts'
import type { Http } from '#http/request.ts'
import type { Entity } from '#model/entity.ts'
import { entityOf, fieldOf, type Model } from '#model/model.ts'
import { anonymous, judge, type Rule } from '#model/policy.ts'
import type { Version } from '#model/version.ts'
import type { Answer } from '#read/read.ts'
import type { Route } from '#rest/routes.ts'
import type { RequestedVersion } from '#versions/negotiation.ts'

type Facts = {
  readonly named: RequestedVersion
  readonly isPublic: boolean
  readonly link?: string
  /** The type of the bodies with which a QUERY may ask for it. */
  readonly queriedBy?: string
  /** The Content-Type where it is not JSON. */
  readonly type?: string
}

/** The tag of a representation in a version: that of another one differs, also where the text does not. */
export const inVersion = (tag: string, version: Version): string =>
  version === 1 ? tag : `${tag.slice(0, -1)}-v${version}"`

/** The strong ETag of a representation. */
export const tagOf = (text: string, mark: Mark | undefined, version: Version): string =>
  inVersion(mark ? revisionTag(mark, text) : bodyTag(text), version)

/** The reply to a GET: 200 or 304 with the same validators. */
export const represent = (c: Http, edge: HttpContext, text: string, facts: Facts): Reply =>
  representAs(c, edge, text, tagOf(text, undefined, facts.named.version), facts)

/** The same with an ETag of its own. */
export const representAs = (
  c: Http,
  edge: HttpContext,
  body: Reply['body'],
  tag: string,
  { named, isPublic, link, queriedBy, type }: Facts,
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
  if (queriedBy !== undefined) headers['Accept-Query'] = queriedBy
  return unlessKnown(c, { status: 200, headers, body }, tag)
}

/** Whether a rule lets anonymous through, whatever the row. */
const isOpen = (model: Model, rule: Rule | undefined): boolean =>
  rule !== undefined && judge(rule, anonymous, model) === 'yes'

/** Whether anonymous may read an entity's rows where these fields choose or sort them, so that shared caches may store them. */
export const isPublic = (
  model: Model,
  entity: Entity,
  { below }: Pick<Route, 'below'>,
  by: readonly string[] = [],
): boolean =>
  isOpen(model, entity.policy.enter ?? entity.policy.read) &&
  [...by, ...(below ? [below.field] : [])].every(field =>
    isOpen(model, fieldOf(entity, field).readableBy),
  )

/** Whether anonymous may know of the row below which a path lies, where there is one. */
export const isPublicAbove = (model: Model, { below }: Pick<Route, 'below'>): boolean =>
  !below || isOpen(model, entityOf(model, below.entity).policy.read)

/** The mark of an answer that has a revision. */
export const markOf = (
  entity: Entity,
  answer: Pick<Answer, 'revision' | 'last'>,
): Mark | undefined =>
  answer.revision === undefined || answer.last === undefined
    ? undefined
    : { table: entity.table, id: answer.last, revision: answer.revision }
