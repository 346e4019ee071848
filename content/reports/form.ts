/** A report in JSON, as documents describe it. */
import { measures } from '#content/reports/figures.ts'
import { reportTypes } from '#content/reports/request.ts'

const time = { type: ['string', 'null'], format: 'date-time' } as const

/** The figures of all reports: one report has those of its type. */
const figures = Object.fromEntries(
  Object.values(measures)
    .flat()
    .map(({ key, kind, label }) => [
      key,
      { type: kind === 'money' ? 'number' : 'integer', description: `${label}.` },
    ]),
)

const currency = { type: 'string', description: 'ISO 4217 code, beside amounts.' } as const

/** The body of a report, with an example of one. */
export const reportForm = {
  schema: {
    type: 'object',
    required: ['type', 'generatedAt', 'from', 'to', 'by', 'rows', 'totals'],
    properties: {
      type: { type: 'string', enum: reportTypes },
      generatedAt: { type: 'string', format: 'date-time' },
      from: time,
      to: time,
      by: { type: 'string', enum: ['day', 'month'] },
      rows: {
        type: 'array',
        items: {
          type: 'object',
          required: ['period'],
          properties: {
            period: { type: 'string', description: 'Such as 2026-01-31 or 2026-01.' },
            ...figures,
          },
        },
      },
      totals: { type: 'object', properties: { ...figures, currency } },
    },
  },
  example: {
    type: 'users',
    generatedAt: '2026-02-01T09:00:00.000Z',
    from: '2026-01-01T00:00:00.000Z',
    to: '2026-02-01T00:00:00.000Z',
    by: 'month',
    rows: [{ period: '2026-01', signUps: 4 }],
    totals: { signUps: 4 },
  },
} as const
