/** Times as people write them: 250ms, 90s, 15m, 1h. */

const units = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const

/** The milliseconds of a time such as 250ms, 90s, 15m or 1h; undefined for any other text. */
export const duration = (text: string): number | undefined => {
  const [, number, unit] = /^(\d{1,6})(ms|[smh])$/.exec(text) ?? []
  return unit === undefined ? undefined : Number(number) * units[unit as keyof typeof units]
}
