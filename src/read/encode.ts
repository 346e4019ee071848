/** Writes stored values as JSON text, by scalar and API. */

import { formatMinor } from '#model/money.ts'
import type { Scalar } from '#model/values.ts'
import type { Form } from '#model/version.ts'
import type { Encoding } from '#read/selection.ts'
import type { SqlValue } from '#sql/sql.ts'

/** Writes a value; a whole number comes as a number, or as decimal text out of an aggregate. */
export type Encoder = (value: SqlValue) => string

// A letter that JSON.stringify would change: control characters, quote, backslash, surrogates (which may be lone).
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON escapes just these.
const special = /["\\\u0000-\u001f\ud800-\udfff]/

/** A text as a JSON string. Most need no escape, and a test for that is cheaper than JSON.stringify. */
export const quote = (text: string): string =>
  special.test(text) ? JSON.stringify(text) : `"${text}"`

const day = 86_400_000

/** The dates of days since 1970: the rows of a page share few of them. */
const dates = new Map<number, string>()

const twoDigits = Array.from({ length: 100 }, (_, number) => String(number).padStart(2, '0'))

/**
 * A stored moment as ISO 8601 in UTC with milliseconds.
 * Date.prototype.toISOString took 0.7 µs, a tenth of a page of a list; this takes 0.1.
 */
export const isoTime = (milliseconds: number): string => {
  const number = Math.floor(milliseconds / day)
  let date = dates.get(number)
  if (date === undefined) {
    date = new Date(number * day).toISOString().slice(0, -'00:00:00.000Z'.length)
    if (dates.size >= 10_000) dates.clear()
    dates.set(number, date)
  }
  const rest = milliseconds - number * day
  const seconds = Math.floor(rest / 1000)
  const clock = `${twoDigits[Math.floor(seconds / 3600)]}:${twoDigits[Math.floor(seconds / 60) % 60]}:${twoDigits[seconds % 60]}`
  const fraction = rest % 1000
  return `${date}${clock}.${Math.floor(fraction / 100)}${twoDigits[fraction % 100]}Z`
}

const number: Encoder = value => String(value)
const string: Encoder = value => `"${value}"`

/** The encoders of an API for a currency with this many decimals. */
export const encoders = (
  encoding: Encoding,
  digits: number,
): Readonly<Record<Scalar, Encoder>> => ({
  id: encoding === 'graphql' ? string : number,
  text: quote as Encoder,
  int: number,
  money: value => formatMinor(Number(value), digits),
  time: value => `"${isoTime(Number(value))}"`,
  flag: value => (Number(value) === 1 ? 'true' : 'false'),
  bytes: () => 'null',
})

/** The encoder of a value that is written in another form. */
export const inForm = (encode: Encoder, form: Form): Encoder => {
  if (form === 'as text') return value => `"${encode(value)}"`
  if (form === 'as seconds') return value => String(Math.floor(Number(value) / 1000))
  const words = new Map(Object.entries(form.words).map(([word, other]) => [word, quote(other)]))
  return value => words.get(String(value)) ?? encode(value)
}

/** The encoder of a column that may be null. */
export const orNull =
  (encode: Encoder): Encoder =>
  value =>
    value === null ? 'null' : encode(value)
