/** The media type of the answer to a GraphQL request (GraphQL over HTTP, section 5), and who gets a page instead. */
import { type Range, rangesOf } from '#http/accept.ts'

export const json = 'application/json; charset=utf-8'
const graphqlJson = 'application/graphql-response+json; charset=utf-8'

/** The wildcards and the older type stand for `application/json`: clients that say no more expect it. */
const typeOfRange: ReadonlyMap<string, string> = new Map([
  ['application/graphql-response+json', graphqlJson],
  ['application/json', json],
  ['application/*', json],
  ['*/*', json],
])

const named = [...typeOfRange.keys()].filter(type => !type.includes('*'))

const isUtf8 = ({ parameters: { charset } }: Range): boolean =>
  charset === undefined || /^utf-?8$/.test(charset)

/** The media type of the answer by weight, an exact name before a wildcard; undefined where none fits. */
export const negotiate = (accept: string | undefined): string | undefined => {
  if (accept === undefined || accept === '') return json
  const fitting = rangesOf(accept).filter(
    range => range.weight > 0 && isUtf8(range) && typeOfRange.has(range.value),
  )
  const best = fitting.filter(({ weight }) => weight === fitting[0]?.weight)
  const { value = '' } = best.find(({ value }) => named.includes(value)) ?? best[0] ?? {}
  return typeOfRange.get(value)
}

/** Whether a page is wanted: a browser prefers HTML; a client that lists JSON first does not want it. */
export const wantsPage = (accept: string | undefined): boolean => {
  const ranges = rangesOf(accept ?? '')
  const weightOf = (...types: readonly string[]) =>
    Math.max(0, ...ranges.filter(({ value }) => types.includes(value)).map(({ weight }) => weight))
  const page = weightOf('text/html')
  return page > 0 && page >= weightOf(...named)
}
