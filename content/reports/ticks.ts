/** The marks on the two axes of a chart, with their labels. */
import { once } from '#base/once.ts'
import { type By, startOf } from '#content/reports/periods.ts'

/** The most marks that fit below a chart without touching. */
const mostTicks = 12

export type Scale = {
  readonly top: number
  readonly step: number
  readonly ticks: readonly number[]
}

/** A scale from zero to the value or a little above, in about five steps of 1, 2 or 5; no step is below `least`. */
export const scaleOf = (highest: number, least: number): Scale => {
  const rough = Math.max(highest / 5, least)
  // A rounding error in the logarithm must not make ten steps of five.
  const power = 10 ** Math.floor(Math.log10(rough) + 1e-9)
  const step = power * ([1, 2, 5].find(factor => factor * power >= rough * (1 - 1e-9)) ?? 10)
  const count = Math.max(Math.ceil(highest / step - 1e-9), 1)
  const ticks = Array.from({ length: count + 1 }, (_, index) => index * step)
  return { top: count * step, step, ticks }
}

export type Tick = { readonly index: number; readonly label: string }

type Candidate = {
  /** Whether a period has a mark; `index` counts the periods of the chart. */
  readonly at: (period: number, index: number) => boolean
  readonly label: 'day' | 'month' | 'year'
}

const months = [1, 2, 3, 6, 12, 24, 60, 120, 240, 600]

const everyMonths = (by: By): readonly Candidate[] =>
  months.map(step => ({
    at: period => {
      if (by === 'month') return period % step === 0
      const date = new Date(startOf(period, 'day'))
      return (
        date.getUTCDate() === 1 && (date.getUTCFullYear() * 12 + date.getUTCMonth()) % step === 0
      )
    },
    label: step >= 12 ? 'year' : 'month',
  }))

const everyDays: readonly Candidate[] = [
  { at: () => true, label: 'day' },
  { at: (_, index) => index % 2 === 0, label: 'day' },
  // Mondays: the fourth day after 1970 began was one.
  { at: period => (period - 4) % 7 === 0, label: 'day' },
  { at: period => (period - 4) % 14 === 0, label: 'day' },
]

const candidates = {
  day: [...everyDays, ...everyMonths('day')],
  month: everyMonths('month'),
} satisfies Record<By, readonly Candidate[]>

// Made for the first chart: each takes some milliseconds of every start.
const formatter = (options: Intl.DateTimeFormatOptions) =>
  once(() => new Intl.DateTimeFormat('en', { ...options, timeZone: 'UTC' }))

const formats = {
  day: formatter({ day: 'numeric', month: 'short' }),
  month: formatter({ month: 'short', year: 'numeric' }),
  year: formatter({ year: 'numeric' }),
}

/** The marks below a chart of these periods: as many as fit, on days and months that people count by. */
export const ticksOf = (periods: readonly number[], by: By): readonly Tick[] => {
  for (const { at, label } of candidates[by]) {
    const found = periods.flatMap((period, index) => (at(period, index) ? [{ period, index }] : []))
    if (found.length > mostTicks) continue
    return found.map(({ period, index }) => ({
      index,
      label: formats[label]().format(startOf(period, by)),
    }))
  }
  return []
}
