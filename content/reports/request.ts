/** The request for a report, checked: every fault at once. */
import { a, aText, type Check, turned, where } from '#base/check.ts'
import { dayNumber } from '#base/dates.ts'
import { type By, periodOf, tooMany } from '#content/reports/periods.ts'
import type { FieldFault } from '#errors.ts'
import { isDay, isMoment } from '#model/time.ts'
import { invalid } from '#write/input.ts'

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

const members = { type: oneOf(reportTypes), by: oneOf(['day', 'month']), from: moment, to: moment }

/** The request in a body; throws `VALIDATION_ERROR` with all its faults. */
export const parseRequest = (body: Readonly<Record<string, unknown>>): ReportRequest => {
  const faults: FieldFault[] = Object.keys(body)
    .filter(field => !Object.hasOwn(members, field))
    .map(field => ({ field, message: 'is not a member here' }))
  const memberOf = <Value>(field: keyof typeof members, check: Check<Value>): Value | undefined => {
    if (body[field] === undefined) return undefined
    const checked = check(body[field])
    if ('value' in checked) return checked.value
    faults.push({ field, message: checked.fault })
    return undefined
  }
  const type = memberOf('type', members.type)
  if (body.type === undefined) faults.push({ field: 'type', message: 'is required' })
  const by = memberOf('by', members.by) ?? 'month'
  const from = memberOf('from', members.from)
  const to = memberOf('to', members.to)
  if (from !== undefined && to !== undefined) {
    if (to <= from)
      faults.push({ field: 'to', message: 'must be later than from; it is not itself included' })
    const many = tooMany(periodOf(dayNumber(from), by), periodOf(dayNumber(to - 1), by), by)
    if (many) faults.push(many)
  }
  if (type === undefined || faults.length > 0) throw invalid(faults)
  return { type, from, to, by }
}
