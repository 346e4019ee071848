/** A report as JSON and as CSV. */
import { type Measure, measures, type Report, type Sums } from '#content/reports/figures.ts'
import { labelOf } from '#content/reports/periods.ts'
import { type Currency, formatMinor } from '#model/money.ts'

const written = ({ key, kind }: Measure, sums: Sums, { digits }: Currency): string =>
  formatMinor(sums[key] ?? 0n, kind === 'money' ? digits : 0)

const time = (moment: number | null): string | null =>
  moment === null ? null : new Date(moment).toISOString()

/** The JSON text, built by hand since a float cannot hold every amount. Sales have their currency beside the totals. */
export const asJson = (report: Report, currency: Currency): string => {
  const { type, by, generatedAt, from, to, periods, totals } = report
  const columns = measures[type]
  const members = (sums: Sums): string =>
    columns.map(measure => `"${measure.key}":${written(measure, sums, currency)}`).join()
  const rows = periods.map(
    ({ number, sums }) => `{"period":"${labelOf(number, by)}",${members(sums)}}`,
  )
  const own = columns.some(({ kind }) => kind === 'money') ? `,"currency":"${currency.code}"` : ''
  const head = { type, generatedAt: time(generatedAt), from: time(from), to: time(to), by }
  return `${JSON.stringify(head).slice(0, -1)},"rows":[${rows}],"totals":{${members(totals)}${own}}}`
}

/** RFC 4180: a header row, CRLF after each row. No cell needs quotes: all are numbers and periods. */
export const asCsv = ({ type, by, periods }: Report, currency: Currency): string => {
  const columns = measures[type]
  const rows = periods.map(({ number, sums }) => [
    labelOf(number, by),
    ...columns.map(measure => written(measure, sums, currency)),
  ])
  const header = ['period', ...columns.map(({ key }) => key)]
  return [header, ...rows].map(cells => `${cells.join()}\r\n`).join('')
}
