/** Calendar days, written YYYY-MM-DD, and spans of time as people write them. */

/** Whether a text is a day that the calendar has, such as `2026-01-31` (RFC 3339, `full-date`). */
export const isDay = (text: string): boolean =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) &&
  !Number.isNaN(Date.parse(text)) &&
  // A day too many, such as 30 February, is read as one of the next month.
  new Date(text).toISOString().startsWith(text)

/** The same day a number of months later, or the last day of that month if it has no such day. */
export const addMonths = (day: string, months: number): string => {
  const [year = 0, month = 1, number = 1] = day.split('-').map(Number)
  const moved = new Date(Date.UTC(year, month + months, 0))
  moved.setUTCDate(Math.min(number, moved.getUTCDate()))
  return moved.toISOString().slice(0, 10)
}

/** How many months before its end something that callers use is announced to end. */
export const noticeMonths = 6

/** The first day on which something may end that is announced from a day on. */
export const soonestEnd = (announced: string): string => addMonths(announced, noticeMonths)

const day = 24 * 3_600_000

/** The number of the day, counted from 1970 in UTC, that a moment in milliseconds is on. */
export const dayNumber = (moment: number): number => Math.floor(moment / day)

/** The day of that number. */
export const dayNumbered = (number: number): string =>
  new Date(number * day).toISOString().slice(0, 10)

/** How many days lie between two; below zero if the second is before the first. */
export const daysBetween = (from: string, to: string): number =>
  (Date.parse(to) - Date.parse(from)) / day

const units = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const

/** The milliseconds of a time such as 250ms, 90s, 15m or 1h; undefined for any other text. */
export const duration = (text: string): number | undefined => {
  const [, number, unit] = /^(\d{1,6})(ms|[smh])$/.exec(text) ?? []
  return unit === undefined ? undefined : Number(number) * units[unit as keyof typeof units]
}
