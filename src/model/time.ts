/** Moments as callers write them. */
import { isDay } from '#base/dates.ts'

const form = /^\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?Z$/

/** Whether a text is a moment in UTC with seconds, such as `2026-01-31T09:30:00.000Z` (RFC 3339, `date-time`). */
export const isMoment = (text: string): boolean => form.test(text) && isDay(text.slice(0, 10))
