/** How a stored value is written as JSON text, by its scalar and voice. */

import type { Encoding } from '#read/selection.ts'
import type { Scalar } from '#sql/dialect.ts'
import type { SqlValue } from '#sql/sql.ts'

export type Encoder = (value: SqlValue) => string

// A letter that JSON.stringify would change: control characters, quote, backslash, surrogates (which may be lone).
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON escapes just these.
const special = /["\\\u0000-\u001f\ud800-\udfff]/

/** A text as a JSON string. Most need no escape, and a test for that is cheaper than JSON.stringify. */
export const quote = (text: string): string =>
  special.test(text) ? JSON.stringify(text) : `"${text}"`

/** Minor units as a decimal number without needless zeros: 1999 of a currency with two decimals is `19.99`. */
export const decimal = (minor: number, digits: number): string => {
  if (digits === 0) return String(minor)
  const padded = String(Math.abs(minor)).padStart(digits + 1, '0')
  const fraction = padded.slice(-digits).replace(/0+$/, '')
  return `${minor < 0 ? '-' : ''}${padded.slice(0, -digits)}${fraction && `.${fraction}`}`
}

/** A stored moment as ISO 8601 in UTC with milliseconds. */
export const isoTime = (milliseconds: number): string => new Date(milliseconds).toISOString()

const number: Encoder = value => String(value)
const string: Encoder = value => `"${value}"`

/** The encoders of a voice for a currency with so many decimals. */
export const encoders = (
  encoding: Encoding,
  digits: number,
): Readonly<Record<Scalar, Encoder>> => ({
  id: encoding === 'graphql' ? string : number,
  text: value => quote(value as string),
  int: number,
  money: value => decimal(Number(value), digits),
  time: value => `"${isoTime(Number(value))}"`,
  flag: value => (Number(value) === 1 ? 'true' : 'false'),
  bytes: () => 'null',
})

/** The same for a column that may be null. */
export const orNull =
  (encode: Encoder): Encoder =>
  value =>
    value === null ? 'null' : encode(value)
