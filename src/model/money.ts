/** Money and decimals as whole numbers of their smallest units, and the decimal numbers people write for them. */

import { type JsonObject, mapped } from '#base/object.ts'

/** The store's currency: its ISO 4217 code and how many decimals it has. */
export type Currency = { readonly code: string; readonly digits: number }

/** How many decimals the values of a field have; `digits` are the currency's. */
export const digitsOf = (
  { scalar, scale = 0 }: { readonly scalar: string; readonly scale?: number },
  digits: number,
): number => (scalar === 'money' ? digits : scale)

/** A row that is written once for all currencies, with its amounts rounded to the decimals of one. */
export const roundedTo = (
  digits: number,
  fields: Readonly<Record<string, { readonly scalar: string }>>,
  row: JsonObject,
): JsonObject =>
  mapped(row, (value, key) =>
    fields[key]?.scalar === 'money' && typeof value === 'number'
      ? Number(value.toFixed(digits))
      : value,
  )

const decimalForm = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d{1,3}))?$/i

/**
 * A decimal number's text in minor units, exactly: `{ minor, rest }`, where `rest` is true for more decimals than the
 * currency has (`minor` is then truncated towards zero). Undefined if the text is no number.
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

/**
 * The currencies of ISO 4217 that do not have two decimals, by how many they have. Those of `Intl` follow custom, which a
 * newer Node may have otherwise, and each stored amount would be another one.
 */
const otherDecimals = {
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF',
  3: 'BHD IQD JOD KWD LYD OMR TND',
}

const decimals = new Map(
  Object.entries(otherDecimals).flatMap(([count, codes]) =>
    codes.split(' ').map(code => [code, Number(count)] as const),
  ),
)

/** The currency of an ISO 4217 code, with its own number of decimals; undefined for an unknown code. */
export const currencyOf = (code: string): Currency | undefined =>
  Intl.supportedValuesOf('currency').includes(code)
    ? { code, digits: decimals.get(code) ?? 2 }
    : undefined
