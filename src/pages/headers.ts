/** The two questions a page asks of request headers: which form is wanted, and has the caller got it already. */

export { preferred } from '#http/accept.ts'

/** Whether `If-None-Match` names this entity tag, by the weak comparison of RFC 9110 §13.1.2. */
export const isKnown = (ifNoneMatch: string | null, etag: string): boolean =>
  (ifNoneMatch ?? '')
    .split(',')
    .map(tag => tag.trim())
    .some(tag => tag === '*' || tag.replace(/^W\//, '') === etag)
