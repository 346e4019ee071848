/**
 * Cursors of any order: the values that a row has for the keys of the order, its id among them, which nobody can read, make or use
 * elsewhere: `rest/list.ts` and `graphql/connection.ts` say what binds them.
 */
import { createCipheriv, createDecipheriv, createHmac, timingSafeEqual } from 'node:crypto'
import type { Sort } from '#read/selection.ts'
import type { SqlValue } from '#sql/sql.ts'

/** What cursors are bound to of an order: whatever decides which row comes next. */
export const orderBound = (sort: readonly Sort[]): readonly unknown[] =>
  sort.map(({ path = [], field, descending, nullsLast = false, isRelevance = false }) => [
    [...path, field].join('.'),
    descending,
    // An id is never null.
    nullsLast && (path.length > 0 || field !== 'id'),
    isRelevance,
  ])

/** The key of a list's cursors, derived from the store's key and from what binds them: list, order, conditions and caller. */
export const sealOf = (key: Uint8Array, ...boundTo: readonly unknown[]): string =>
  createHmac('sha512', key).update(JSON.stringify(boundTo)).digest('base64url')

const tagBytes = 16
const keyBytes = 32
const cipher = 'aes-256-ctr'

/** The two halves of such a key: for the tag and for the cipher. */
const halves = (seal: string) => {
  const bytes = Buffer.from(seal, 'base64url')
  return [bytes.subarray(0, keyBytes), bytes.subarray(keyBytes)] as const
}

const tagOf = (key: Uint8Array, text: Uint8Array): Buffer =>
  createHmac('sha256', key).update(text).digest().subarray(0, tagBytes)

/**
 * The cursor of these values. Equal values have equal cursors, or no page would have the same ETag twice: the tag of the text is
 * where its cipher begins (a synthetic initialization vector, as in RFC 5297).
 */
export const sealCursor = (seal: string, values: readonly SqlValue[]): string => {
  const [forTag, forText] = halves(seal)
  const text = Buffer.from(JSON.stringify(values))
  const tag = tagOf(forTag, text)
  return Buffer.concat([tag, createCipheriv(cipher, forText, tag).update(text)]).toString(
    'base64url',
  )
}

/** The values in a cursor that was made with this key; undefined for any other text. */
export const openCursor = (seal: string, cursor: string): readonly SqlValue[] | undefined => {
  const bytes = Buffer.from(cursor, 'base64url')
  if (bytes.toString('base64url') !== cursor || bytes.length <= tagBytes) return undefined
  const [forTag, forText] = halves(seal)
  const tag = bytes.subarray(0, tagBytes)
  const text = createDecipheriv(cipher, forText, tag).update(bytes.subarray(tagBytes))
  return timingSafeEqual(tag, tagOf(forTag, text)) ? JSON.parse(String(text)) : undefined
}
