/** Decimal numbers as texts, and whether double precision has them as they are written. */
import { clipped } from '#base/text.ts'

const numberForm = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

/** Doubles have each number of so many digits as it is written, unless it is too large or too small for them. */
export const exactDigits = 15

/** A number without its sign as digits and a power of ten, in one spelling for each value. */
const spelling = (text: string): string | undefined => {
  const [, whole, fraction = '', exponent = '0'] = numberForm.exec(text) ?? []
  if (whole === undefined) return undefined
  const digits = whole + fraction
  let [start, end] = [0, digits.length]
  while (digits[start] === '0') start++
  while (end > start && digits[end - 1] === '0') end--
  const power = Number(exponent) - fraction.length + digits.length - end
  return start === end ? '0' : `${digits.slice(start, end)}e${power}`
}

/** Whether a text is a number that is read back as it is written, whatever its spelling (RFC 7493, section 2.2): `1.50` is, `9007199254740993` and `1e400` are not. */
export const isReadBack = (text: string): boolean => {
  if (text.length <= exactDigits && /^-?\d[\d.]*$/.test(text)) return true
  const written = spelling(text)
  return written !== undefined && written === spelling(String(Number(text)))
}

/** What is wrong with a number that is not read back as it is written: the rest of a sentence about it. */
export const notReadBack = (text: string): string =>
  `is ${clipped(text, 40)}, which would be read as ${Number(text)}: send fewer digits, or a text if the field is one`
