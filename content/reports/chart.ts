/** A report as a chart: stacked bars in one SVG, without scripts or styles. */
import { html } from 'duet/actions'
import { type Currency, formatMinor } from 'duet/routes'
import { type Figures, measures } from './figures.ts'
import { type By, labelOf, type ReportType, startOf } from './request.ts'

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

/** A coordinate with two decimals at the most. */
const number = (value: number): string => String(Math.round(value * 100) / 100)

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

/** A scale from zero to the value or a little above, in about five steps of 1, 2 or 5; no step is below `least`. */
const scaleOf = (highest: number, least: number) => {
  const rough = Math.max(highest / 5, least)
  // A rounding error in the logarithm must not make ten steps of five.
  const power = 10 ** Math.floor(Math.log10(rough) + 1e-9)
  const step = power * ([1, 2, 5].find(factor => factor * power >= rough * (1 - 1e-9)) ?? 10)
  const count = Math.max(Math.ceil(highest / step - 1e-9), 1)
  return { top: count * step, step, ticks: Array.from({ length: count + 1 }, (_, n) => n * step) }
}

/** The most marks that fit below a chart without touching. */
const mostTicks = 12

/** A way to mark periods; `index` counts the periods of the chart. */
type Marks = {
  readonly at: (period: number, index: number) => boolean
  readonly label: 'day' | 'month' | 'year'
}

const everyMonths = (by: By): readonly Marks[] =>
  [1, 2, 3, 6, 12, 24, 60, 120, 240, 600].map(step => ({
    at: period => {
      if (by === 'month') return period % step === 0
      const date = new Date(startOf(period, 'day'))
      const month = date.getUTCFullYear() * 12 + date.getUTCMonth()
      return date.getUTCDate() === 1 && month % step === 0
    },
    label: step >= 12 ? 'year' : 'month',
  }))

/** The ways to mark periods, the closest first. */
const marks: Readonly<Record<By, readonly Marks[]>> = {
  day: [
    { at: () => true, label: 'day' },
    { at: (_, index) => index % 2 === 0, label: 'day' },
    // Mondays: the fourth day after 1970 began was one.
    { at: period => (period - 4) % 7 === 0, label: 'day' },
    { at: period => (period - 4) % 14 === 0, label: 'day' },
    ...everyMonths('day'),
  ],
  month: everyMonths('month'),
}

const dates = {
  day: { day: 'numeric', month: 'short' },
  month: { month: 'short', year: 'numeric' },
  year: { year: 'numeric' },
} as const

/** The marks below a chart of these periods: as many as fit, on days and months that people count by. */
const ticksOf = (periods: readonly number[], by: By) => {
  for (const { at, label } of marks[by]) {
    const found = periods.flatMap((period, index) => (at(period, index) ? [{ period, index }] : []))
    if (found.length > mostTicks) continue
    const format = new Intl.DateTimeFormat('en', { ...dates[label], timeZone: 'UTC' })
    return found.map(({ period, index }) => ({ index, label: format.format(startOf(period, by)) }))
  }
  return []
}

/** The whole SVG document. */
export const chart = ({ type, by, periods, totals }: Figures, currency: Currency): string => {
  // Refunds are drawn only if there are some, so that the legend has no empty entry.
  const series = measures[type]
    .filter(({ key }) => drawn[type]?.includes(key) ?? true)
    .filter(({ key }) => key !== 'refundedAmount' || !!totals[key])
    .map((measure, position) => ({ ...measure, colour: colours[position] ?? ink.text }))

  const isMoney = series[0]?.kind === 'money'
  const digits = isMoney ? currency.digits : 0
  const formatOf = (options: Intl.NumberFormatOptions) =>
    new Intl.NumberFormat('en', {
      ...(isMoney && { style: 'currency', currency: currency.code }),
      ...options,
    })
  const full = formatOf({ minimumFractionDigits: digits, maximumFractionDigits: digits })
  const written = (value = 0n) =>
    full.format(formatMinor(value, digits) as Intl.StringNumericLiteral)

  // Each period has one height more than there are series, since the first is zero.
  const heights = periods.map(({ sums }) => {
    let sum = 0n
    const tops = series.map(({ key }) => {
      sum += sums[key] ?? 0n
      return Number(sum) / 10 ** digits
    })
    return [0, ...tops]
  })
  const highest = heights.reduce((most, stack) => Math.max(most, stack.at(-1) ?? 0), 0)
  const isEmpty = highest === 0

  const { top, step, ticks } = scaleOf(highest, 10 ** -digits)
  const decimals = step < 1 ? digits : 0
  // Long numbers of the axis are written short.
  const short = formatOf(
    top >= 10_000
      ? { notation: 'compact', minimumFractionDigits: 0, maximumFractionDigits: 2 }
      : { minimumFractionDigits: decimals, maximumFractionDigits: decimals },
  )
  const labels = ticks.map(value => short.format(value))
  const left = margin.left + 16 + Math.max(...labels.map(({ length }) => length)) * letter
  const right = width - margin.right
  const yOf = (value: number) => base - (value / top) * (base - margin.top)

  const vertical = ticks.map((value, index) => {
    const y = yOf(value)
    const rule = line(left, y, right, y, value === 0 ? ink.axis : ink.grid)
    return `${rule}${text(left - 10, y + 4.5, labels[index] ?? '', { 'text-anchor': 'end' })}`
  })
  const band = (right - left) / Math.max(periods.length, 1)
  const numbers = periods.map(({ number }) => number)
  const horizontal = ticksOf(numbers, by).map(({ index, label }) => {
    const x = left + (index + 0.5) * band
    return `${line(x, base, x, base + 6, ink.axis)}${text(x, base + 24, label, { 'text-anchor': 'middle' })}`
  })

  // Each bar has its value. Many are drawn as one outline, as thin lines of the background would show between them;
  // of those narrower than a pixel the highest, so that no peak is lost.
  const isOutlined = heights.length > mostApart
  const count = isOutlined ? Math.min(heights.length, Math.floor(right - left)) : heights.length
  const columns: (readonly number[])[] = []
  for (const [n, stack] of heights.entries()) {
    const column = Math.floor((n * count) / heights.length)
    if ((stack.at(-1) ?? 0) >= (columns[column]?.at(-1) ?? 0)) columns[column] = stack
  }
  const each = (right - left) / count
  const xOf = (n: number) => left + (n * (right - left)) / count
  const own = Math.min(each * 0.76, 72)
  const bars = series.map(({ key, label, colour }, index) => {
    const upper = (stack: readonly number[]) => yOf(stack[index + 1] ?? 0)
    const lower = (stack: readonly number[]) => yOf(stack[index] ?? 0)
    const there = columns.map((stack, n) => `V${number(upper(stack))}H${number(xOf(n) + each)}`)
    const back = columns.map((stack, n) => `V${number(lower(stack))}H${number(xOf(n))}`)
    const outline = `<path d="M${number(left)} ${number(lower(columns[0] ?? []))}${there.join('')}${back.reverse().join('')}Z"/>`
    const apart = periods.map(({ number: period, sums }, n) => {
      const [top, bottom] = [upper(columns[n] ?? []), lower(columns[n] ?? [])]
      if (bottom <= top) return ''
      const tooltip = html`${labelOf(period, by)}: ${label} ${written(sums[key])}`
      return `<rect x="${number(xOf(n) + (each - own) / 2)}" y="${number(top)}" width="${number(own)}" height="${number(bottom - top)}"><title>${tooltip}</title></rect>`
    })
    return `<g fill="${colour}">${isOutlined ? outline : apart.join('')}</g>`
  })

  const title = `${titles[type]} by ${by}`
  const [first, last] = [periods[0], periods.at(-1)]
  const start = first ? labelOf(first.number, by) : ''
  const range = first === last || !last ? start : `${start} to ${labelOf(last.number, by)}`
  // People who do not see the chart have this sentence.
  const peak = periods[heights.findIndex(stack => stack.at(-1) === highest)]
  const sums = series.map(({ key, label }) => `${label} ${written(totals[key])}`).join(', ')
  const description = isEmpty
    ? 'There is nothing in this time.'
    : `Stacked bars from ${range}, one for each ${by}. In all: ${sums}. The highest is ${labelOf(peak?.number ?? 0, by)}.`
  // One line of text, so that its entries stand as far apart in any font.
  const legend = series.map(({ key, label, colour }, index) => {
    const mark = `<tspan${index === 0 ? '' : ' dx="28"'} fill="${colour}" font-size="17">■</tspan>`
    return `${mark}<tspan dx="7">${html`${label}: ${written(totals[key])}`}</tspan>`
  })
  const nothing = text((left + right) / 2, (margin.top + base) / 2, 'Nothing in this time', {
    'font-size': 16,
    'text-anchor': 'middle',
  })

  return `<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title desc" font-family="${font}">
<title id="title">${html`${title}`}</title>
<desc id="desc">${html`${description}`}</desc>
<rect width="${width}" height="${height}" fill="#fff"/>
${text(margin.left, 38, title, { 'font-size': 20, 'font-weight': 600, fill: ink.title })}
${text(right, 38, range && `${range}, UTC`, { 'text-anchor': 'end' })}
<text x="${margin.left}" y="69" font-size="13" fill="${ink.text}">${legend.join('')}</text>
${isEmpty ? '' : text(margin.left, margin.top - 16, isMoney ? currency.code : 'Number', { 'font-size': 12 })}
${isEmpty ? nothing : vertical.join('')}
${isEmpty ? line(margin.left, base, right, base, ink.axis) : bars.join('\n')}
${isEmpty ? '' : horizontal.join('')}
</svg>
`
}
