/** Days and months in UTC as whole numbers, so that a range of them is counted and walked like any other. */

export type By = 'day' | 'month'

const dayLength = 86_400_000

/** The most periods of a report. */
const mostPeriods = 5000

/** The period that a day belongs to: the day itself, or its month counted from the year 0. */
export const periodOf = (day: number, by: By): number => {
  if (by === 'day') return day
  const date = new Date(day * dayLength)
  return date.getUTCFullYear() * 12 + date.getUTCMonth()
}

/** The moment at which a period begins. */
export const startOf = (period: number, by: By): number => {
  if (by === 'day') return period * dayLength
  const date = new Date(0)
  // Date.UTC would take the years 0 to 99 for 1900 to 1999.
  date.setUTCFullYear(Math.floor(period / 12), period % 12, 1)
  return date.getTime()
}

/** `2026-01-31` or `2026-01`. */
export const labelOf = (period: number, by: By): string =>
  new Date(startOf(period, by)).toISOString().slice(0, by === 'day' ? 10 : 7)

/** The fault of a report that would have too many periods; undefined for any other. */
export const tooMany = (first: number, last: number, by: By) => {
  const count = last - first + 1
  if (count <= mostPeriods) return undefined
  const remedy = by === 'day' ? 'ask by month, or for a shorter time' : 'ask for a shorter time'
  return {
    field: 'by',
    message: `makes ${count} periods, at most ${mostPeriods} are given: ${remedy}`,
  }
}
