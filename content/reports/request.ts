/** The request for a report, checked: every fault at once. */
import { z } from 'zod'
import { type By, dayAt, periodOf, tooMany } from '#content/reports/periods.ts'
import type { FieldFault } from '#errors.ts'
import { invalid } from '#write/input.ts'

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

const moment = z
  .union(
    [z.iso.date(), z.iso.datetime()],
    'must be a date or an ISO 8601 time in UTC, such as 2026-01-31 or 2026-01-31T09:30:00Z',
  )
  .transform(text => Date.parse(text))
  .optional()

const members = {
  type: z.enum(reportTypes, {
    error: ({ input }) =>
      input === undefined ? 'is required' : `must be one of ${reportTypes.join(', ')}`,
  }),
  by: z.enum(['day', 'month'], 'must be one of day, month').optional(),
  from: moment,
  to: moment,
}

/** The request in a body; throws `VALIDATION_ERROR` with all its faults. */
export const parseRequest = (body: Readonly<Record<string, unknown>>): ReportRequest => {
  const faults: FieldFault[] = Object.keys(body)
    .filter(field => !Object.hasOwn(members, field))
    .map(field => ({ field, message: 'is not a member here' }))
  const memberOf = <Name extends keyof typeof members>(field: Name) => {
    const { data, error } = members[field].safeParse(body[field])
    if (error) faults.push({ field, message: error.issues[0]?.message ?? 'is not valid' })
    return data as z.output<(typeof members)[Name]> | undefined
  }
  const type = memberOf('type')
  const by = memberOf('by') ?? 'month'
  const from = memberOf('from')
  const to = memberOf('to')
  if (from !== undefined && to !== undefined) {
    if (to <= from)
      faults.push({ field: 'to', message: 'must be later than from; it is not itself included' })
    const many = tooMany(periodOf(dayAt(from), by), periodOf(dayAt(to - 1), by), by)
    if (many) faults.push(many)
  }
  if (type === undefined || faults.length > 0) throw invalid(faults)
  return { type, from, to, by }
}
