/** A report as JSON and as CSV. */
import { type Measure, measures, type Report } from '#content/reports/figures.ts'
import { labelOf } from '#content/reports/periods.ts'
import type { Currency } from '#model/model.ts'
import { formatMinor } from '#model/money.ts'

const written = ({ kind }: Measure, value: bigint, { digits }: Currency): string =>
  kind === 'money' ? formatMinor(value, digits) : String(value)

const time = (moment: number | null): string | null =>
  moment === null ? null : new Date(moment).toISOString()

/** The JSON text, built by hand since a float cannot hold every amount. Sales have their currency beside the totals. */
export const asJson = (report: Report, currency: Currency): string => {
  const { type, by, generatedAt, from, to, periods, totals } = report
  const columns = measures[type] as readonly Measure[]
  const members = (values: readonly bigint[]): string =>
    columns
      .map(
        (measure, index) => `"${measure.key}":${written(measure, values[index] ?? 0n, currency)}`,
      )
      .join()
  const rows = periods.map(
    ({ number, values }) => `{"period":"${labelOf(number, by)}",${members(values)}}`,
  )
  const own = columns.some(({ kind }) => kind === 'money') ? `,"currency":"${currency.code}"` : ''
  const head = { type, generatedAt: time(generatedAt), from: time(from), to: time(to), by }
  return `${JSON.stringify(head).slice(0, -1)},"rows":[${rows}],"totals":{${members(totals)}${own}}}`
}

/** RFC 4180: a header row, CRLF after each row. No cell needs quotes: all are numbers and periods. */
export const asCsv = ({ type, by, periods }: Report, currency: Currency): string => {
  const columns = measures[type] as readonly Measure[]
  const rows = periods.map(({ number, values }) => [
    labelOf(number, by),
    ...columns.map((measure, index) => written(measure, values[index] ?? 0n, currency)),
  ])
  const header = ['period', ...columns.map(({ key }) => key)]
  return [header, ...rows].map(cells => `${cells.join()}\r\n`).join('')
}
