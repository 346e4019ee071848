/** Which of the offered forms a request header prefers. */
import { parseAccept } from 'hono/utils/accept'

export type Range = {
  readonly value: string
  /** 0 to 1; 0 refuses. */
  readonly weight: number
  readonly parameters: Readonly<Record<string, string>>
}

/** The ranges of an `Accept` or `Accept-Encoding` header, in lower case and by weight; those of one weight in their order. */
export const rangesOf = (header: string): readonly Range[] =>
  parseAccept(header.toLowerCase())
    .map(({ type: value, params: parameters }) => {
      const weight = Number(parameters.q ?? '1')
      return { value, weight: weight > 0 ? Math.min(weight, 1) : 0, parameters }
    })
    .sort((a, b) => b.weight - a.weight)

/**
 * The offered value that the header gives the highest weight, the earlier one on a tie; undefined
 * where it refuses them all. It reads `Accept` and `Accept-Encoding` alike.
 */
export const preferred = <const Offered extends string>(
  header: string,
  offered: readonly Offered[],
): Offered | undefined => {
  const ranges = rangesOf(header)
  // RFC 9110 §12.5.1: the most specific range that fits decides, so `*/*, text/html;q=0` refuses HTML.
  const weights = offered.map(value => {
    const [type, subtype] = value.split('/')
    const wanted = subtype === undefined ? [value, '*'] : [value, `${type}/*`, '*/*']
    const fitting = wanted.map(name => ranges.find(({ value }) => value === name))
    return fitting.find(range => range !== undefined)?.weight ?? 0
  })
  const highest = Math.max(...weights)
  return highest > 0 ? offered[weights.indexOf(highest)] : undefined
}
