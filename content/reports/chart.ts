/** A report as a chart: stacked bars in one SVG, without scripts or styles. */
import { html } from 'hono/html'
import { barsOf, number, outlineOf } from '#content/reports/bars.ts'
import { type Measure, measures, type Report, type Sums } from '#content/reports/figures.ts'
import { labelOf } from '#content/reports/periods.ts'
import type { ReportType } from '#content/reports/request.ts'
import { type Scale, scaleOf, ticksOf } from '#content/reports/ticks.ts'
import { type Currency, formatMinor } from '#model/money.ts'

const width = 960
const height = 480
const margin = { left: 24, top: 116, right: 40, bottom: 52 }
const base = height - margin.bottom
const ink = { title: '#17202c', text: '#566275', grid: '#e3e8ee', axis: '#8a95a5' }
/** Colours that differ for any kind of colour vision, and in grey. */
const colours = ['#2563eb', '#f59e0b', '#0f766e']
const font = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
/** The greatest width of a letter at font size 13, roughly. */
const letter = 7.4

/** The most bars with spaces between them and a tooltip each; more are drawn as one outline. */
const mostApart = 150

/** The columns that are drawn: the amounts of sales, with refunds on top; null: every column. */
const drawn: Readonly<Record<ReportType, readonly string[] | null>> = {
  sales: ['amount', 'refundedAmount'],
  content: null,
  users: null,
}
const titles = { sales: 'Sales', content: 'Posts, comments and likes', users: 'Sign-ups' } as const

const text = (
  x: number,
  y: number,
  content: string,
  attributes: Readonly<Record<string, string | number>> = {},
): string => {
  const all = Object.entries({ 'font-size': 13, fill: ink.text, ...attributes })
  return `<text x="${number(x)}" y="${number(y)}" ${all.map(([key, value]) => `${key}="${value}"`).join(' ')}>${html`${content}`}</text>`
}

const line = (x1: number, y1: number, x2: number, y2: number, stroke: string): string =>
  `<path d="M${number(x1)} ${number(y1)}L${number(x2)} ${number(y2)}" stroke="${stroke}"/>`

/** The format of a kind of value: its unit, its least step, its decimals, and a value in full. */
const writerOf = (kind: Measure['kind'], currency: Currency) => {
  const isMoney = kind === 'money'
  const digits = isMoney ? currency.digits : 0
  const style = isMoney ? ({ style: 'currency', currency: currency.code } as const) : {}
  const decimals = { minimumFractionDigits: digits, maximumFractionDigits: digits }
  const format = new Intl.NumberFormat('en', { ...style, ...decimals })
  return {
    unit: isMoney ? currency.code : 'Number',
    least: 10 ** -digits,
    digits,
    style,
    whole: (value = 0n) => format.format(formatMinor(value, digits) as Intl.StringNumericLiteral),
  }
}

type Writer = ReturnType<typeof writerOf>
type Series = Measure & { readonly colour: string }

/** The columns that are drawn; refunds only where there are some, so that the legend has no empty entry. */
const seriesOf = ({ type, totals }: Report): readonly Series[] =>
  measures[type]
    .filter(({ key }) => drawn[type]?.includes(key) ?? true)
    .filter(({ key }) => key !== 'refundedAmount' || !!totals[key])
    .map((measure, position) => ({ ...measure, colour: colours[position] ?? ink.text }))

/** The facts that the parts of a chart share. */
type Drawing = {
  readonly report: Report
  readonly series: readonly Series[]
  readonly writer: Writer
  /** The stacked heights of each period from zero up: one bound more than there are series. */
  readonly bounds: readonly (readonly number[])[]
  readonly highest: number
  readonly scale: Scale
  readonly labels: readonly string[]
  readonly left: number
  readonly band: number
}

/** The format of the vertical axis: short where its numbers are long. */
const shortOf = (writer: Writer, { top, step }: Scale): Intl.NumberFormat => {
  const digits = step < 1 ? writer.digits : 0
  const options =
    top >= 10_000
      ? ({ notation: 'compact', minimumFractionDigits: 0, maximumFractionDigits: 2 } as const)
      : { minimumFractionDigits: digits, maximumFractionDigits: digits }
  return new Intl.NumberFormat('en', { ...writer.style, ...options })
}

const boundsOf = (sums: Sums, series: readonly Series[], digits: number) => {
  let sum = 0n
  const ups = series.map(({ key }) => {
    sum += sums[key] ?? 0n
    return Number(sum) / 10 ** digits
  })
  return [0, ...ups]
}

const drawingOf = (report: Report, currency: Currency): Drawing => {
  const series = seriesOf(report)
  const writer = writerOf(series[0]?.kind ?? 'count', currency)
  const bounds = report.periods.map(({ sums }) => boundsOf(sums, series, writer.digits))
  const highest = bounds.reduce((most, bound) => Math.max(most, bound.at(-1) ?? 0), 0)
  const scale = scaleOf(highest, writer.least)
  const short = shortOf(writer, scale)
  const labels = scale.ticks.map(value => short.format(value))
  const left = margin.left + 16 + Math.max(...labels.map(({ length }) => length)) * letter
  const band = (width - left - margin.right) / Math.max(bounds.length, 1)
  return { report, series, writer, bounds, highest, scale, labels, left, band }
}

const rangeOf = ({ periods, by }: Report): string => {
  const [first, last] = [periods[0], periods.at(-1)]
  if (!first || !last) return ''
  const start = labelOf(first.number, by)
  return first === last ? start : `${start} to ${labelOf(last.number, by)}`
}

const totalOf = ({ report, writer }: Drawing, { key }: Series): string =>
  writer.whole(report.totals[key])

/** The description of the chart, for people who do not see it. */
const described = (drawing: Drawing): string => {
  const { report, series, bounds, highest } = drawing
  if (highest === 0) return 'There is nothing in this time.'
  const totals = series.map(one => `${one.label} ${totalOf(drawing, one)}`).join(', ')
  const peak = report.periods[bounds.findIndex(bound => bound.at(-1) === highest)]
  return `Stacked bars from ${rangeOf(report)}, one for each ${report.by}. In all: ${totals}. The highest is ${labelOf(peak?.number ?? 0, report.by)}.`
}

/** One line of text, so that its entries stand as far apart in any font. */
const legend = (drawing: Drawing): string => {
  const entries = drawing.series.map((one, index) => {
    const mark = `<tspan${index === 0 ? '' : ' dx="28"'} fill="${one.colour}" font-size="17">■</tspan>`
    const words = String(html`${one.label}: ${totalOf(drawing, one)}`)
    return `${mark}<tspan dx="7">${words}</tspan>`
  })
  return `<text x="${margin.left}" y="69" font-size="13" fill="${ink.text}">${entries.join('')}</text>`
}

const heightOf = (value: number, { top }: Scale): number =>
  base - (value / top) * (base - margin.top)

const verticalAxis = ({ scale, labels, left }: Drawing): string =>
  scale.ticks
    .map((value, index) => {
      const y = heightOf(value, scale)
      const rule = line(left, y, width - margin.right, y, value === 0 ? ink.axis : ink.grid)
      return `${rule}${text(left - 10, y + 4.5, labels[index] ?? '', { 'text-anchor': 'end' })}`
    })
    .join('')

const horizontalAxis = ({ report, left, band }: Drawing): string =>
  ticksOf(
    report.periods.map(({ number }) => number),
    report.by,
  )
    .map(({ index, label }) => {
      const x = left + (index + 0.5) * band
      return `${line(x, base, x, base + 6, ink.axis)}${text(x, base + 24, label, { 'text-anchor': 'middle' })}`
    })
    .join('')

const nothing = ({ left }: Drawing): string =>
  text((left + width - margin.right) / 2, (margin.top + base) / 2, 'Nothing in this time', {
    'font-size': 16,
    'text-anchor': 'middle',
  })

/** The bounds in at most so many columns, each with its highest period: a peak narrower than a pixel would not show. */
const peaksOf = (bounds: Drawing['bounds'], columns: number): Drawing['bounds'] => {
  if (bounds.length <= columns) return bounds
  const peaks: (readonly number[])[] = []
  for (const [n, bound] of bounds.entries()) {
    const column = Math.floor((n * columns) / bounds.length)
    if ((bound.at(-1) ?? 0) >= (peaks[column]?.at(-1) ?? 0)) peaks[column] = bound
  }
  return peaks
}

/** The bars of one series, from the bound at `index` to the next: each with its value, or one outline where there are many. */
const seriesBars = (drawing: Drawing, { key, label }: Series, index: number) => {
  const { report, writer, bounds, scale, left } = drawing
  const room = width - margin.right - left
  const isOutlined = bounds.length > mostApart
  const columns = isOutlined ? peaksOf(bounds, Math.floor(room)) : bounds
  const bars = columns.map((bound, n) => ({
    x: left + (n * room) / columns.length,
    width: room / columns.length,
    top: heightOf(bound[index + 1] ?? 0, scale),
    bottom: heightOf(bound[index] ?? 0, scale),
  }))
  if (isOutlined) return outlineOf(bars)
  const titles = report.periods.map(({ number, sums }) =>
    String(html`${labelOf(number, report.by)}: ${label} ${writer.whole(sums[key])}`),
  )
  return barsOf(bars, titles)
}

const bars = (drawing: Drawing): string =>
  drawing.series
    .map((one, index) => `<g fill="${one.colour}">${seriesBars(drawing, one, index)}</g>`)
    .join('\n')

/** The whole SVG document. */
export const chart = (report: Report, currency: Currency): string => {
  const drawing = drawingOf(report, currency)
  const title = `${titles[report.type]} by ${report.by}`
  const range = rangeOf(report)
  const isEmpty = drawing.highest === 0
  return `<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title desc" font-family="${font}">
<title id="title">${html`${title}`}</title>
<desc id="desc">${html`${described(drawing)}`}</desc>
<rect width="${width}" height="${height}" fill="#fff"/>
${text(margin.left, 38, title, { 'font-size': 20, 'font-weight': 600, fill: ink.title })}
${text(width - margin.right, 38, range && `${range}, UTC`, { 'text-anchor': 'end' })}
${legend(drawing)}
${isEmpty ? '' : text(margin.left, margin.top - 16, drawing.writer.unit, { 'font-size': 12 })}
${isEmpty ? nothing(drawing) : verticalAxis(drawing)}
${isEmpty ? line(margin.left, base, width - margin.right, base, ink.axis) : bars(drawing)}
${isEmpty ? '' : horizontalAxis(drawing)}
</svg>
`
}
