/** Money as whole minor units of a currency, and the decimal numbers people write for it. */
import type { Currency } from '#model/model.ts'

const decimalForm = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d{1,3}))?$/i

/**
 * A decimal number's text in minor units, exactly: `{ minor, rest }`, where `rest` tells that there were more decimals
 * than the currency has (`minor` is then cut off towards zero). Undefined where the text is no number.
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

/** The currency of an ISO 4217 code, with its own number of decimals; undefined for an unknown code. */
export const currencyOf = (code: string): Currency | undefined => {
  if (!Intl.supportedValuesOf('currency').includes(code)) return undefined
  const options = new Intl.NumberFormat('en', {
    style: 'currency',
    currency: code,
  }).resolvedOptions()
  return { code, digits: options.maximumFractionDigits ?? 2 }
}
