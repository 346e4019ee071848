/** Money as whole minor units of a currency, and the decimal numbers people write for it. */
import type { Currency } from '#model/model.ts'

const decimalForm = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d{1,3}))?$/i

/**
 * A decimal number's text in minor units, exactly: `{ minor, rest }`, where `rest` is true for more decimals than the
 * currency has (`minor` is then truncated towards zero). Undefined where the text is no number.
 */
export const parseMinor = (
  text: string,
  digits: number,
): { minor: bigint; rest: boolean } | undefined => {
  const found = decimalForm.exec(text)
  if (!found) return undefined
  const [, sign, whole = '', fraction = '', exponent = '0'] = found
  const shift = digits + Number(exponent) - fraction.length
  const all = BigInt(whole + fraction)
  const scale = 10n ** BigInt(Math.abs(shift))
  const minor = shift >= 0 ? all * scale : all / scale
  return { minor: sign === '-' ? -minor : minor, rest: shift < 0 && all % scale !== 0n }
}

/** Minor units as a decimal number without needless zeros, exactly, however large: 1999 with two decimals is `19.99`. */
export const formatMinor = (minor: number | bigint, digits: number): string => {
  if (digits === 0) return String(minor)
  const sign = minor < 0 ? '-' : ''
  const padded = String(minor)
    .slice(sign.length)
    .padStart(digits + 1, '0')
  const fraction = padded.slice(-digits).replace(/0+$/, '')
  return `${sign}${padded.slice(0, -digits)}${fraction && `.${fraction}`}`
}

/** The currency of an ISO 4217 code, with its own number of decimals; undefined for an unknown code. */
export const currencyOf = (code: string): Currency | undefined => {
  if (!Intl.supportedValuesOf('currency').includes(code)) return undefined
  const options = new Intl.NumberFormat('en', {
    style: 'currency',
    currency: code,
  }).resolvedOptions()
  return { code, digits: options.maximumFractionDigits ?? 2 }
}
