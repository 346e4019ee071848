/** What a report is asked to be, checked: every fault at once. */
import { z } from 'zod'
import { type By, dayAt, periodOf, tooMany } from '#content/reports/periods.ts'
import type { FieldFault } from '#errors.ts'
import { invalid } from '#write/input.ts'

export const reportTypes = ['sales', 'content', 'users'] as const
export type ReportType = (typeof reportTypes)[number]

/** The moments are milliseconds since 1970: `from` and what is later, up to `to` and without it. */
export type Asked = {
  readonly type: ReportType
  readonly from: number | undefined
  readonly to: number | undefined
  readonly by: By
}

const periods = ['day', 'month'] as const
const moment = z.union([z.iso.date(), z.iso.datetime()])

const isOneOf = <const T extends string>(value: unknown, words: readonly T[]): value is T =>
  (words as readonly unknown[]).includes(value)

type Body = Readonly<Record<string, unknown>>

const known = ['type', 'from', 'to', 'by']

const wordFaults = (body: Body): readonly FieldFault[] => [
  ...Object.keys(body).flatMap(field =>
    known.includes(field) ? [] : [{ field, message: 'is not a member here' }],
  ),
  ...(isOneOf(body.type, reportTypes)
    ? []
    : [
        {
          field: 'type',
          message:
            body.type === undefined ? 'is required' : `must be one of ${reportTypes.join(', ')}`,
        },
      ]),
  ...(body.by === undefined || isOneOf(body.by, periods)
    ? []
    : [{ field: 'by', message: `must be one of ${periods.join(', ')}` }]),
]

const momentOf = (body: Body, field: string, faults: FieldFault[]): number | undefined => {
  const value = body[field]
  if (value === undefined) return undefined
  const checked = moment.safeParse(value)
  if (checked.success) return Date.parse(checked.data)
  faults.push({
    field,
    message:
      'must be a date or an ISO 8601 time in UTC, such as 2026-01-31 or 2026-01-31T09:30:00Z',
  })
  return undefined
}

/** What the body asks for; throws `VALIDATION_ERROR` with all that is wrong with it. */
export const parseRequest = (body: Body): Asked => {
  const faults = [...wordFaults(body)]
  const from = momentOf(body, 'from', faults)
  const to = momentOf(body, 'to', faults)
  const by = isOneOf(body.by, periods) ? body.by : 'month'
  if (from !== undefined && to !== undefined) {
    if (to <= from)
      faults.push({ field: 'to', message: 'must be later than from; it is not itself included' })
    const many = tooMany(periodOf(dayAt(from), by), periodOf(dayAt(to - 1), by), by)
    if (many) faults.push(many)
  }
  if (faults.length > 0) throw invalid(faults)
  return { type: body.type as ReportType, from, to, by }
}
