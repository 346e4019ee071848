/** Bars as SVG: each by itself, or all of a series as one outline where there are many. */

/** The place of a period in the chart, and the part of its height that is one series'. */
export type Bar = {
  readonly x: number
  readonly width: number
  readonly top: number
  readonly bottom: number
}

/** The part of its place that a bar fills, and its most, in units of the chart. */
const filled = { share: 0.76, most: 72 }

const number = (value: number): string => String(Math.round(value * 100) / 100)

/** Bars with spaces between them; each says its value to whoever points at it. */
export const barsOf = (bars: readonly (Bar & { readonly title: string })[]): string =>
  bars
    .filter(({ top, bottom }) => bottom - top > 0)
    .map(({ x, width, top, bottom, title }) => {
      const own = Math.min(width * filled.share, filled.most)
      const start = number(x + (width - own) / 2)
      return `<rect x="${start}" y="${number(top)}" width="${number(own)}" height="${number(bottom - top)}"><title>${title}</title></rect>`
    })
    .join('')

/** One outline around all of them: side by side, each would show a hair of the ground between it and the next. */
export const outlineOf = (bars: readonly Bar[]): string => {
  const [first] = bars
  if (!first) return ''
  const there = bars.map(({ x, width, top }) => `V${number(top)}H${number(x + width)}`)
  const back = bars.toReversed().map(({ x, bottom }) => `V${number(bottom)}H${number(x)}`)
  return `<path d="M${number(first.x)} ${number(first.bottom)}${there.join('')}${back.join('')}Z"/>`
}
