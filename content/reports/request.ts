/** The request for a report, checked: every fault at once; and the periods that it asks for. */

import { type Check, checkMembers, comparedMoment, invalid, type JsonObject } from 'duet/actions'

/** Days or months in UTC, as whole numbers: a range of them is counted and walked like any other. */
export type By = 'day' | 'month'

const dayLength = 86_400_000

/** The day that a moment is on, counted from 1970 in UTC. */
export const dayNumber = (moment: number): number => Math.floor(moment / dayLength)

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

/** What reports are about. */
export const reportTypes = ['sales', 'content', 'users'] as const
export type ReportType = (typeof reportTypes)[number]

/** The moments are milliseconds since 1970, `from` inclusive and `to` exclusive. */
export type ReportRequest = {
  readonly type: ReportType
  readonly from: number | undefined
  readonly to: number | undefined
  readonly by: By
}

const time = {
  type: 'string',
  description: 'A date, or an ISO 8601 time with its offset; from is in the report, to is not.',
} as const

/** The body of a request, as documents describe it. */
export const requestBody = {
  schema: {
    type: 'object',
    required: ['type'],
    properties: {
      type: { type: 'string', enum: reportTypes },
      by: { type: 'string', enum: ['day', 'month'], description: 'Month unless given.' },
      from: time,
      to: time,
    },
  },
  example: { type: 'sales', by: 'month', from: '2026-01-01', to: '2026-03-01' },
} as const

const noMoment =
  'must be a date or an ISO 8601 time with Z or its offset, such as 2026-01-31 or 2026-01-31T09:30:00Z'

const moment: Check<number | undefined> = given => {
  if (given === undefined) return { value: undefined }
  const at = typeof given === 'string' ? comparedMoment(given) : undefined
  // No row is made between two milliseconds: the next one is the first after it, and the first that is not before it.
  return at === undefined ? { fault: noMoment } : { value: Math.ceil(at) }
}

/** One of the words; without any, the usual one, or a fault if there is none. */
const oneOf =
  <const Word extends string>(words: readonly Word[], usual?: Word): Check<Word> =>
  (given = usual) => {
    const value = words.find(word => word === given)
    if (value !== undefined) return { value }
    return { fault: given === undefined ? 'is required' : `must be one of ${words.join(', ')}` }
  }

const members = {
  type: oneOf(reportTypes),
  by: oneOf(['day', 'month'], 'month'),
  from: moment,
  to: moment,
}

/** The request in a body; throws `VALIDATION_ERROR` with all its faults. */
export const parseRequest = (body: JsonObject): ReportRequest => {
  const { values, faults } = checkMembers(body, members)
  const { type, by = 'month', from, to } = values
  if (from !== undefined && to !== undefined) {
    if (to <= from)
      faults.push({ field: 'to', message: 'must be later than from; it is not itself included' })
    const many = tooMany(periodOf(dayNumber(from), by), periodOf(dayNumber(to - 1), by), by)
    if (many) faults.push(many)
  }
  if (type === undefined || faults.length > 0) throw invalid(faults)
  return { type, from, to, by }
}
