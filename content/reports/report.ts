/** `POST /api/reports/generate`: figures by day or month, as JSON, CSV or a chart. */
import { chart } from '#content/reports/chart.ts'
import { figuresOf, type Report } from '#content/reports/figures.ts'
import { reportForm } from '#content/reports/form.ts'
import { asCsv, asJson } from '#content/reports/forms.ts'
import { parseRequest, requestBody } from '#content/reports/request.ts'
import { admin } from '#content/roles.ts'
import { preferred } from '#http/accept.ts'
import { askedBy } from '#http/asked.ts'
import { header, jsonBody } from '#http/request.ts'
import type { Currency } from '#model/money.ts'
import type { ExtraRoute } from '#rest/rest.ts'
import { jsonTypes, type RequestedVersion } from '#versions/negotiation.ts'
import { parseKey } from '#write/idempotency.ts'
import { permit } from '#write/steps.ts'

/** JSON is first: callers who prefer no form get it. */
const forms = [...jsonTypes, 'text/csv', 'image/svg+xml']

/** The body in a form, with the headers of that form. */
const shown = (
  report: Report,
  currency: Currency,
  form: string | undefined,
  { contentType }: RequestedVersion,
): { readonly body: string; readonly headers: Readonly<Record<string, string>> } => {
  if (form === 'text/csv')
    return {
      body: asCsv(report, currency),
      headers: {
        'Content-Type': 'text/csv; charset=utf-8; header=present',
        'Content-Disposition': `attachment; filename="${report.type}-by-${report.by}.csv"`,
      },
    }
  if (form === 'image/svg+xml')
    return {
      body: chart(report, currency),
      headers: {
        'Content-Type': 'image/svg+xml; charset=utf-8',
        'Content-Security-Policy': "default-src 'none'; sandbox",
      },
    }
  return { body: asJson(report, currency), headers: { 'Content-Type': contentType } }
}

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
      'application/json': reportForm,
      'text/csv': { schema: { type: 'string' } },
      'image/svg+xml': { schema: { type: 'string' } },
    },
    errors: ['VALIDATION_ERROR'],
  },
  serve:
    ({ core, edge }) =>
    async (c, viewer, named) => {
      const { model, dialect } = core
      permit({ model, dialect, viewer }, admin, 'generate reports')
      const body = await jsonBody(c, edge.bodyLimit, ['application/json'])
      // A report has no effect to repeat, so the key is checked and not stored.
      parseKey(header(c, 'idempotency-key'))
      const report = await figuresOf(core, parseRequest(body), askedBy(edge, c, viewer))
      const form = preferred(header(c, 'accept') ?? '', forms)
      const { body: text, headers } = shown(report, model.settings.currency, form, named)
      return {
        status: 200,
        headers: {
          ...headers,
          'Cache-Control': 'no-store',
          Vary: 'Accept, API-Version, Authorization',
          'API-Version': String(named.version),
        },
        body: text,
      }
    },
}
