/** Which of the offered forms a request header prefers. */

type Range = { readonly value: string; readonly weight: number }

/**
 * The offered value that the header gives the highest weight, the earlier one on a tie; undefined
 * where it refuses them all. It reads `Accept` and `Accept-Encoding` alike.
 */
export const preferred = <const Offered extends string>(
  header: string,
  offered: readonly Offered[],
): Offered | undefined => {
  const ranges = header.split(',').map(parseRange)
  let best: Offered | undefined
  let highest = 0
  for (const value of offered) {
    const weight = weightOf(value, ranges)
    if (weight > highest) {
      best = value
      highest = weight
    }
  }
  return best
}

const parseRange = (text: string): Range => {
  const [value = '', ...parameters] = text.split(';').map(part => part.trim().toLowerCase())
  const q = parameters.find(parameter => parameter.startsWith('q='))
  const weight = q === undefined ? 1 : Number(q.slice(2))
  return { value, weight: weight >= 0 && weight <= 1 ? weight : 0 }
}

// RFC 9110 §12.5.1: the most specific range that fits decides, so `*/*, text/html;q=0` refuses HTML.
const weightOf = (value: string, ranges: readonly Range[]): number => {
  const family = value.includes('/') ? `${value.split('/')[0]}/*` : '*'
  const everything = value.includes('/') ? '*/*' : '*'
  for (const wanted of [value, family, everything]) {
    const range = ranges.find(({ value }) => value === wanted)
    if (range !== undefined) return range.weight
  }
  return 0
}
