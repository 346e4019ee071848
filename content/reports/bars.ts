/** Bars as SVG: single ones, or one outline for a series of many. */

/** The column of a period in the chart, and the part of its height that belongs to one series. */
export type Bar = {
  readonly x: number
  readonly width: number
  readonly top: number
  readonly bottom: number
}

/** The share of its column that a bar fills, and its largest width, in units of the chart. */
const share = 0.76
const widest = 72

/** A coordinate with two decimals at the most. */
export const number = (value: number): string => String(Math.round(value * 100) / 100)

/** Bars with spaces between them, each with its title as a tooltip; the titles are escaped. */
export const barsOf = (bars: readonly Bar[], titles: readonly string[]): string =>
  bars
    .map(({ x, width, top, bottom }, index) => {
      if (bottom <= top) return ''
      const own = Math.min(width * share, widest)
      const start = number(x + (width - own) / 2)
      return `<rect x="${start}" y="${number(top)}" width="${number(own)}" height="${number(bottom - top)}"><title>${titles[index]}</title></rect>`
    })
    .join('')

/** One outline around all of them: drawn side by side, thin lines of the background would show between them. */
export const outlineOf = (bars: readonly Bar[]): string => {
  const [first] = bars
  if (!first) return ''
  const there = bars.map(({ x, width, top }) => `V${number(top)}H${number(x + width)}`)
  const back = bars.toReversed().map(({ x, bottom }) => `V${number(bottom)}H${number(x)}`)
  return `<path d="M${number(first.x)} ${number(first.bottom)}${there.join('')}${back.join('')}Z"/>`
}
