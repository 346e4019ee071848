/** A request that is meant to hold the event loop, and the pieces that such requests are made of. */

export type Shape = {
  readonly name: string
  /** Such as `POST /api/users`. */
  readonly line: string
  readonly headers?: Readonly<Record<string, string>>
  /** The body; in each round another one, where documents and answers are cached. */
  readonly body?: (round: number) => string | Uint8Array
  readonly status: number
}

export const mebibyte = 1_048_576
export const json = { 'Content-Type': 'application/json' }

export const times = (count: number, make: (n: number) => string, between = ','): string =>
  Array.from({ length: count }, (_, n) => make(n)).join(between)

/** As many repetitions as there is room for between two texts. */
export const filled = (before: string, unit: string, after: string, bytes = mebibyte): string => {
  const room = bytes - before.length - after.length
  return `${before}${unit.repeat(Math.floor(room / Buffer.byteLength(unit)))}${after}`
}
