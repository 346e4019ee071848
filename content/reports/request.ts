/** The request for a report, checked: every fault at once. */
import { a, aText, type Check, turned, where } from '#base/check.ts'
import { dayNumber, isDay } from '#base/dates.ts'
import type { JsonObject } from '#base/object.ts'
import { type By, periodOf, tooMany } from '#content/reports/periods.ts'
import { isMoment } from '#model/values.ts'
import { invalid } from '#write/input.ts'
import { checkMembers, whereAbsent } from '#write/members.ts'

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
  description: 'A date, or an ISO 8601 time in UTC; from is in the report, to is not.',
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
  'must be a date or an ISO 8601 time in UTC, such as 2026-01-31 or 2026-01-31T09:30:00Z'

const moment = turned(
  where(aText(noMoment), text => isDay(text) || isMoment(text), noMoment),
  Date.parse,
)

const oneOf = <const Word extends string>(words: readonly Word[]): Check<Word> =>
  a(
    (given): given is Word => words.some(word => word === given),
    `must be one of ${words.join(', ')}`,
  )

const optional = { value: undefined }

const members = {
  type: whereAbsent(oneOf(reportTypes), { fault: 'is required' }),
  by: whereAbsent(oneOf(['day', 'month']), optional),
  from: whereAbsent(moment, optional),
  to: whereAbsent(moment, optional),
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
