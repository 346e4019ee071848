/** Moments as callers write them. */

const form = /^\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?Z$/

/** Whether a text is a day that the calendar has, such as `2026-01-31` (RFC 3339, `full-date`). */
export const isDay = (text: string): boolean => {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false
  const day = new Date(`${text}T00:00:00Z`)
  // A day too many, such as 30 February, is read as one of the next month.
  return !Number.isNaN(day.valueOf()) && day.toISOString().startsWith(text)
}

/** Whether a text is a moment in UTC with seconds, such as `2026-01-31T09:30:00.000Z` (RFC 3339, `date-time`). */
export const isMoment = (text: string): boolean => form.test(text) && isDay(text.slice(0, 10))
