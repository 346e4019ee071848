/** Calendar days, written YYYY-MM-DD. */

/** Whether a text is a day that the calendar has. */
export const isDay = (text: string): boolean =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) &&
  !Number.isNaN(Date.parse(text)) &&
  new Date(text).toISOString().startsWith(text)

/** The same day that many months later, or the last day of that month where it has no such day. */
export const addMonths = (day: string, months: number): string => {
  const [year = 0, month = 1, number = 1] = day.split('-').map(Number)
  const moved = new Date(Date.UTC(year, month + months, 0))
  moved.setUTCDate(Math.min(number, moved.getUTCDate()))
  return moved.toISOString().slice(0, 10)
}
