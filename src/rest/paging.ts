/** Pages of a list: the parameters that select one, the cursors, and the envelope with the links to the other pages. */
import type { VersionStyle } from '#model/version.ts'
import { openCursor, sealCursor } from '#read/cursor.ts'
import type { Answer } from '#read/read.ts'
import { mostPerPage, type ParameterValue, pageSize } from '#read/selection.ts'
import type { QueryParameters } from '#rest/query.ts'

/** How many items a page has: `limit`, brought into 1 to 100. */
export const limitOf = (query: QueryParameters, usual: number): number =>
  pageSize(query.whole('limit') ?? usual)

export type NumberedPage = {
  readonly limit: number
  readonly offset: number
  readonly page: number
  readonly byOffset: boolean
}

/** The numbered page of a request; `offset` wins over `page` if the list has it. */
export const numberedPage = (
  query: QueryParameters,
  limit: number,
  hasOffset: boolean,
): NumberedPage => {
  const last = Math.floor(Number.MAX_SAFE_INTEGER / limit)
  const number = query.whole('page') ?? 1
  const page = Math.min(Math.max(number, 1), last)
  const offset = hasOffset ? query.whole('offset') : undefined
  if (offset === undefined) return { limit, offset: (page - 1) * limit, page, byOffset: false }
  const start = Math.min(Math.max(offset, 0), Number.MAX_SAFE_INTEGER - mostPerPage)
  return { limit, offset: start, page: Math.floor(start / limit) + 1, byOffset: true }
}

/** The id after which a cursor list goes on; above every id for the first page. */
export const afterOf = (query: QueryParameters, seal: string): number => {
  const cursor = query.get('cursor')
  if (cursor === undefined) return Number.MAX_SAFE_INTEGER
  const [id] = openCursor(seal, cursor) ?? []
  if (id === undefined)
    query.fault(
      'cursor',
      'must be a nextCursor of this list with the same filters, unchanged; leave it out for the first page',
    )
  return Number(id ?? 0)
}

/** A page of a list in an order of the caller: the values of the row from which it goes on, and whether backwards. */
export type OrderedPage = {
  readonly seal: string
  readonly from: readonly ParameterValue[] | undefined
  readonly backwards: boolean
}

/** The page that `cursor` names in a list with this many keys, sealed for the caller or for everybody; without a cursor it is the first. */
export const orderedPage = (
  query: QueryParameters,
  keys: number,
  seal: string,
  sealForAll: string | undefined,
): OrderedPage => {
  const cursor = query.get('cursor')
  if (!cursor) return { seal, from: undefined, backwards: false }
  const values = openCursor(seal, cursor) ?? openCursor(sealForAll ?? seal, cursor)
  if (!values)
    query.fault(
      'cursor',
      'must be a cursor of this list with the same filters and order, given to this caller, unchanged; leave it empty for the first page',
    )
  return { seal, from: values?.slice(0, keys), backwards: (values?.length ?? 0) > keys }
}

/** The address of a list's pages: its path and the parameters that stay from page to page. */
export type ListAddress = { readonly path: string; readonly others: string }

const link = ({ path, others }: ListAddress, own: string, rel: string): string => {
  const parameters = others !== '' && own !== '' ? `${others}&${own}` : others + own
  return `<${path}${parameters && `?${parameters}`}>; rel="${rel}"`
}

/** The most characters of all links together: clients refuse heads above 16 KiB. */
const longestLinks = 8192

/** The relations in the order in which they are left out. */
const leastNeeded = ['last', 'first', 'prev', 'next']

/** The value of `Link`; if it would be too long, the links that are needed the least are left out. */
const linkHeader = (links: readonly string[], [rel, ...others] = leastNeeded): string => {
  const text = links.join(', ')
  if (text.length <= longestLinks || rel === undefined) return text
  return linkHeader(
    links.filter(link => !link.endsWith(`; rel="${rel}"`)),
    others,
  )
}

/** The envelope of a numbered page, with its links (RFC 8288). */
export const numberedEnvelope = (
  answer: Answer,
  requestedPage: NumberedPage,
  address: ListAddress,
  { lists, isStrict }: VersionStyle,
) => {
  const { limit, page, offset, byOffset } = requestedPage
  const total = answer.total ?? 0
  const totalPages = Math.ceil(total / limit)
  const hasNext = page * limit < total
  const hasPrev = page > 1
  // Who goes by cursors goes on from the last row, whatever numbers pages have.
  const nextCursor = hasNext && answer.ends ? `"${answer.ends.last}"` : 'null'
  const pagination =
    lists === 'uniform'
      ? `{"limit":${limit},"hasNext":${hasNext},"nextCursor":${nextCursor},"page":${page},"total":${total},"totalPages":${totalPages},"hasPrev":${hasPrev}}`
      : `{"page":${page},"limit":${limit},"total":${total},"totalPages":${totalPages},"hasNext":${hasNext},"hasPrev":${hasPrev}${isStrict ? `,"nextCursor":${nextCursor}` : ''}}`
  const body = `{"data":${answer.text},"pagination":${pagination}}`
  const to = (start: number, rel: string) =>
    link(address, byOffset ? `offset=${start}` : `page=${Math.floor(start / limit) + 1}`, rel)
  const links = [to(0, 'first')]
  if (offset > 0)
    links.push(to(Math.max(Math.min(offset, Math.max(totalPages, 1) * limit) - limit, 0), 'prev'))
  if (offset + limit < total) links.push(to(offset + limit, 'next'))
  if (total > 0) links.push(to((totalPages - 1) * limit, 'last'))
  return { body, link: linkHeader(links) }
}

/**
 * The envelope of a page by cursors, and its links: with the page before it where the caller chose the order, with the total where
 * pages have numbers.
 */
export const cursorEnvelope = (
  { text, total, more, ends, last }: Answer,
  page: OrderedPage | { readonly seal: string },
  limit: number,
  address: ListAddress,
  { lists }: VersionStyle,
) => {
  let nextCursor: string | null
  let prevCursor: string | null | undefined
  if ('backwards' in page) {
    const { seal, from, backwards } = page
    nextCursor = ends && (backwards || more) ? ends.last : null
    const hasPrev = ends && (backwards ? more : from)
    // The cursor of the page before a row has one value more than that of the page after it.
    prevCursor = hasPrev ? sealCursor(seal, [...(openCursor(seal, ends.first) ?? []), 0]) : null
  } else nextCursor = more && last !== undefined ? sealCursor(page.seal, [last]) : null
  const hasNext = nextCursor !== null
  // Neither is a member where there is no page before.
  const hasPrev = prevCursor === undefined ? undefined : prevCursor !== null
  const numbers =
    total === undefined ? {} : { page: 0, total, totalPages: Math.ceil(total / limit) }
  const cursors = { nextCursor, prevCursor }
  const pagination =
    lists === 'uniform'
      ? { pagination: { limit, hasNext, ...numbers, hasPrev, ...cursors } }
      : total === undefined
        ? cursors
        : { pagination: { ...numbers, limit, hasNext, hasPrev, ...cursors } }
  const links = [link(address, total === undefined ? '' : 'cursor=', 'first')]
  if (prevCursor) links.push(link(address, `cursor=${prevCursor}`, 'prev'))
  if (nextCursor) links.push(link(address, `cursor=${nextCursor}`, 'next'))
  return { body: `{"data":${text},${JSON.stringify(pagination).slice(1)}`, link: linkHeader(links) }
}
