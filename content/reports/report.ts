/** `POST /api/reports/generate`: figures by day or month, as JSON, CSV or a chart. */

import {
  type Currency,
  type ExtraRoute,
  formatMinor,
  header,
  jsonBody,
  jsonTypesOf,
  parseKey,
  preferred,
  readOptionsOf,
} from 'duet/routes'
import { admin } from '../roles.ts'
import { versions } from '../versions.ts'
import { chart } from './chart.ts'
import { type Figures, figuresOf, type Measure, measures, type Sums } from './figures.ts'
import { labelOf, parseRequest, reportTypes, requestBody } from './request.ts'

const cell = ({ key, kind }: Measure, sums: Sums, { digits }: Currency): string =>
  formatMinor(sums[key] ?? 0n, kind === 'money' ? digits : 0)

/** The JSON text, built by hand since a float cannot hold every amount. Sales have their currency beside the totals. */
const asJson = (figures: Figures, currency: Currency): string => {
  const { type, by, generatedAt, from, to, periods, totals } = figures
  const columns = measures[type]
  const time = (moment: number | null) => (moment === null ? null : new Date(moment).toISOString())
  const members = (sums: Sums): string =>
    columns.map(measure => `"${measure.key}":${cell(measure, sums, currency)}`).join()
  const rows = periods.map(
    ({ number, sums }) => `{"period":"${labelOf(number, by)}",${members(sums)}}`,
  )
  const own = columns.some(({ kind }) => kind === 'money') ? `,"currency":"${currency.code}"` : ''
  const head = { type, generatedAt: time(generatedAt), from: time(from), to: time(to), by }
  return `${JSON.stringify(head).slice(0, -1)},"rows":[${rows}],"totals":{${members(totals)}${own}}}`
}

/** RFC 4180: a header row, CRLF after each row. No cell needs quotes: all are numbers and periods. */
const asCsv = ({ type, by, periods }: Figures, currency: Currency): string => {
  const columns = measures[type]
  const header = ['period', ...columns.map(({ key }) => key)]
  const rows = periods.map(({ number, sums }) => [
    labelOf(number, by),
    ...columns.map(measure => cell(measure, sums, currency)),
  ])
  return [header, ...rows].map(cells => `${cells.join()}\r\n`).join('')
}

const text = { type: 'string' }
const time = { type: ['string', 'null'], format: 'date-time' }

/** The figures of all types, as documents describe them; a report has those of its own. */
const described = Object.fromEntries(
  Object.values(measures)
    .flat()
    .map(({ key, kind, label }) => [
      key,
      { type: kind === 'money' ? 'number' : 'integer', description: `${label}.` },
    ]),
)
const period = { ...text, description: 'Such as 2026-01-31 or 2026-01.' }
const currency = { ...text, description: 'ISO 4217 code, beside amounts.' }

/** A report in JSON, as documents describe it, with an example. */
const jsonForm = {
  schema: {
    type: 'object',
    required: ['type', 'generatedAt', 'from', 'to', 'by', 'rows', 'totals'],
    properties: {
      type: { ...text, enum: reportTypes },
      generatedAt: { ...text, format: 'date-time' },
      from: time,
      to: time,
      by: { ...text, enum: ['day', 'month'] },
      rows: {
        type: 'array',
        items: { type: 'object', required: ['period'], properties: { period, ...described } },
      },
      totals: { type: 'object', properties: { ...described, currency } },
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
}

/** JSON is first: callers who prefer no form get it. */
const forms = [...jsonTypesOf(versions), 'text/csv', 'image/svg+xml']

/** `POST /reports/generate`, for admins. */
export const reportGenerate: ExtraRoute = {
  method: 'POST',
  path: '/reports/generate',
  described: {
    rule: admin,
    operationId: 'generateReport',
    summary: 'Generate a report',
    description:
      'Figures by day or month, as JSON, CSV or a chart. It has no effect, so a key stores nothing.',
    body: { 'application/json': requestBody },
    forms: {
      'application/json': jsonForm,
      'text/csv': { schema: text },
      'image/svg+xml': { schema: text },
    },
    errors: ['VALIDATION_ERROR'],
  },
  serve:
    ({ core, edge }) =>
    async (c, viewer, named) => {
      const { currency } = core.model.settings
      const body = await jsonBody(c, edge.bodyLimit, ['application/json'])
      // A report has no effect to repeat, so the key is checked and not stored.
      parseKey(header(c, 'idempotency-key'))
      const figures = await figuresOf(core, parseRequest(body), readOptionsOf(edge, c, viewer))
      const reply = (body: string, headers: Readonly<Record<string, string>>) => ({
        status: 200,
        headers: {
          ...headers,
          'Cache-Control': 'no-store',
          Vary: 'Accept, API-Version, Authorization',
          'API-Version': String(named.version),
        },
        body,
      })
      const form = preferred(header(c, 'accept') ?? '', forms)
      if (form === 'text/csv')
        return reply(asCsv(figures, currency), {
          'Content-Type': 'text/csv; charset=utf-8; header=present',
          'Content-Disposition': `attachment; filename="${figures.type}-by-${figures.by}.csv"`,
        })
      if (form === 'image/svg+xml')
        return reply(chart(figures, currency), {
          'Content-Type': 'image/svg+xml; charset=utf-8',
          'Content-Security-Policy': "default-src 'none'; sandbox",
        })
      return reply(asJson(figures, currency), { 'Content-Type': named.contentType })
    },
}
