/** Conditional requests: ETags made and compared (RFC 9110, sections 8.8.3 and 13). */
import { hash } from 'node:crypto'
import { ApiError } from '#errors.ts'
import type { Reply } from '#http/reply.ts'
import { type Http, header } from '#http/request.ts'
import { tableForm } from '#model/names.ts'

const digestLength = 16

/** The strong ETag of a representation by the SHA-1 of its bytes in base64url. */
export const tagOfDigest = (digest: string): string => `"${digest.slice(0, digestLength)}"`

/** The strong ETag of a representation that has no revision of its own: a list, a GraphQL answer. */
export const bodyTag = (text: string): string => tagOfDigest(hash('sha1', text, 'base64url'))

/** The `Cache-Control` of a representation with an ETag: for how many seconds shared caches may keep one that anonymous may read. */
export const cacheControl = (
  { publicMaxAge }: { readonly publicMaxAge: number },
  isPublic: boolean,
): string => {
  if (!isPublic) return 'private, no-cache'
  return publicMaxAge > 0 ? `public, max-age=${publicMaxAge}` : 'public, no-cache'
}

/** The thing that an ETag is of: row 7 of a table at revision 3. */
export type Mark = { readonly table: string; readonly id: number; readonly revision: number }

/** The strong ETag of one thing: its revision, by which `If-Match` is decided, and the digest of how it is shown. */
export const revisionTag = ({ table, id, revision }: Mark, text: string): string =>
  `"${table}-${id}-${revision}-${hash('sha1', text, 'base64url').slice(0, digestLength)}"`

/** Entity tags of a header in order, weak ones marked; undefined where the header is not of the form. Empty elements count for nothing (RFC 9110, section 5.6.1). */
const tagsOf = (header: string): readonly { weak: boolean; tag: string }[] | undefined => {
  const form = /[\s,]*(W\/)?("[\x21\x23-\x7e\x80-\xff]*")(?:\s*,[\s,]*|\s*$)/y
  const tags: { weak: boolean; tag: string }[] = []
  while (form.lastIndex < header.length) {
    const start = form.lastIndex
    const found = form.exec(header)
    if (!found || form.lastIndex === start) return undefined
    tags.push({ weak: found[1] !== undefined, tag: found[2] ?? '' })
  }
  return tags
}

/** Whether `If-None-Match` names this ETag: then the answer is 304. Weak comparison; a `*` names every one. */
export const isNotModified = (header: string | undefined, tag: string): boolean => {
  if (header === undefined) return false
  if (header === tag) return true
  if (header.trim() === '*') return true
  return tagsOf(header)?.some(({ tag: sent }) => sent === tag) ?? false
}

/** The reply, or 304 with the same validators where the caller has what this ETag is of. */
export const unlessKnown = (c: Http, reply: Reply, tag: string): Reply => {
  const sent = header(c, 'if-none-match')
  if (sent === undefined || !isNotModified(sent, tag)) return reply
  const { 'Content-Type': _, ...validators } = reply.headers
  return { ...reply, status: 304, headers: validators, body: null }
}

const ours = new RegExp(`^"(${tableForm})-(\\d+)-(\\d+)-[\\w-]{16,}"$`)

/** The form of each tag that a service makes. The longest head has fewer tags of this form than a statement of SQLite takes values. */
const formOfOurs = /^"[\w-]{16,}"$/

/** Whether a tag is that of a row with a revision, as `revisionTag` makes it. */
export const isOfRow = (tag: string): boolean => ours.test(tag)

/** The tags of a header that a service may have made, each once; `any` for `*`, and undefined without a header. */
const likelyTags = (
  header: string | undefined,
  isCompared: (sent: { readonly weak: boolean }) => boolean,
): readonly string[] | 'any' | undefined => {
  if (header === undefined) return undefined
  if (header.trim() === '*') return 'any'
  const sent = tagsOf(header) ?? []
  const likely = sent.filter(one => isCompared(one) && formOfOurs.test(one.tag))
  return [...new Set(likely.map(({ tag }) => tag))]
}

/** The tags that an `If-Match` header allows: strong comparison, so weak tags match nothing. A header that is no list of tags matches nothing either. */
export const allowedTags = (header: string | undefined) => likelyTags(header, ({ weak }) => !weak)

/** The tags that an `If-None-Match` header excludes: weak comparison, so weak tags match too. A header that is no list of tags excludes nothing. */
export const excludedTags = (header: string | undefined) => likelyTags(header, () => true)

type Thing = Omit<Mark, 'revision'>

/** The revisions of one thing that these tags name: some, any, or undefined without tags. */
const revisionsIn = (tags: readonly string[] | 'any' | undefined, of: Thing) => {
  if (tags === undefined || tags === 'any') return tags
  const revisions = tags.flatMap(tag => {
    const [, table, id, revision] = ours.exec(tag) ?? []
    const isOf = table === of.table && Number(id) === of.id
    // No revision is that large, and no store takes such a number.
    return isOf && Number.isSafeInteger(Number(revision)) ? [Number(revision)] : []
  })
  return [...new Set(revisions)]
}

/**
 * Why an `If-Match` header that allows nothing matches no state that a thing ever had, with the remedy; undefined where a tag in it
 * may be of an earlier state.
 */
export const mismatchOf = (
  header: string,
  what: string,
  mayBeOf: (tag: string) => boolean,
): string | undefined => {
  const tags = tagsOf(header) ?? []
  if (tags.length === 0)
    return `If-Match is no quoted ETag; send the ETag of the ${what} as it was answered, with its quotes`
  if (tags.every(({ weak }) => weak))
    return `If-Match has a weak ETag, which matches nothing; send the ETag of the ${what} without W/`
  if (tags.some(({ weak, tag }) => !weak && mayBeOf(tag))) return undefined
  return `If-Match has the ETag of another resource; read the ${what}, and send the ETag that it has`
}

/** Throws `PRECONDITION_FAILED` if a request has such a header and there is no ETag to compare it with: a precondition is never passed over (RFC 9110, section 13.2.1). */
export const refusePreconditions = (
  c: Http,
  names: readonly ('If-Match' | 'If-None-Match')[],
  what: string,
  remedy = 'leave the header out',
): void => {
  for (const name of names)
    if (header(c, name.toLowerCase()) !== undefined)
      throw new ApiError(
        'PRECONDITION_FAILED',
        `${name} needs an ETag to be compared with, and ${what} has none: ${remedy}`,
      )
}

/** What a request demands of a thing that has no revision: that it is there, or not; no tag can be compared. */
export const presenceOf = (
  ifMatch: string | undefined,
  ifNoneMatch: string | undefined,
  what: string,
) => ({
  revisions: ifMatch === undefined || allowedTags(ifMatch) === 'any' ? undefined : [],
  mismatch: `If-Match needs a revision to be compared with, and no ${what} has one: leave the header out, or send *`,
  excluded: excludedTags(ifNoneMatch) === 'any' ? ('any' as const) : undefined,
})

/** What a request demands of a thing: the revisions that `If-Match` allows, why they are none that there ever was, and those that `If-None-Match` excludes. */
export const preconditionOf = (
  ifMatch: string | undefined,
  ifNoneMatch: string | undefined,
  what: string,
  of: Thing,
) => {
  const revisions = revisionsIn(allowedTags(ifMatch), of)
  const isNone = ifMatch !== undefined && revisions?.length === 0
  return {
    revisions,
    mismatch: isNone ? mismatchOf(ifMatch, what, () => false) : undefined,
    excluded: revisionsIn(excludedTags(ifNoneMatch), of),
  }
}
