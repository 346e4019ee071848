/** Values as callers write them, by their kinds: the rules of texts, ids and moments, and texts that fields are compared with. */
import { isDay } from '#base/dates.ts'
import { digitsOf, parseMinor } from '#model/money.ts'

/** The kinds of values that content is made of. */
export type Scalar =
  | 'id'
  | 'text'
  | 'int'
  | 'money'
  | 'decimal'
  | 'date'
  | 'time'
  | 'flag'
  | 'json'
  | 'list'
  | 'file'
  | 'bytes'

/** Whether values can be compared and ordered, and so filtered, sorted, counted by and unique. */
export const isComparable = (scalar: Scalar): boolean =>
  !['bytes', 'json', 'list', 'file'].includes(scalar)

/** Whether conditions look into lists of such values. */
export const isSoughtInLists = (scalar: Scalar | undefined): boolean =>
  scalar === 'text' || scalar === 'int' || scalar === 'date'

/** Whether GraphQL takes a word as a value of an enum. */
export const isEnumValue = (word: string): boolean =>
  /^(?!__)[A-Za-z_][A-Za-z0-9_]*$/.test(word) && !['true', 'false', 'null'].includes(word)

/** How long a text is: Unicode code points, whatever their number of bytes or UTF-16 units. */
export const codePoints = (text: string): number => {
  let surrogatePairs = 0
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit >= 0xd800 && unit <= 0xdbff) surrogatePairs++
  }
  return text.length - surrogatePairs
}

/** Whether every store keeps the text unchanged: PostgreSQL refuses NUL, drivers replace lone surrogates. */
export const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0')

/** What is wrong with one that is not kept. */
export const notStorable = 'must not contain NUL or lone surrogates'

// The names before and after the @ are those that mail servers have in practice, not all of RFC 5322.
const emailForm = /^(?:[\w'+-]+\.)*[\w'+-]*[\w+-]@(?:[a-z\d][a-z\d-]*\.)+[a-z]{2,}$/i

/** The most characters of an email address (RFC 5321, section 4.5.3.1.3). */
export const longestEmail = 254

/** Whether a text has the form of an email address. */
export const isEmail = (text: string): boolean => emailForm.test(text)

// biome-ignore lint/suspicious/noControlCharactersInRegex: the range of ASCII begins with control characters.
const ascii = /^[\u0000-\u007f]*$/

// To put so many marks of one letter in order as a hostile text may have takes seconds; no language has more (Unicode, annex 15).
const manyMarks = /(\p{M}{30})\p{M}+/gu
/** A text in a normal form, with at most 30 marks on a letter. */
export const decomposed = (text: string, form: 'NFC' | 'NFD' | 'NFKD'): string =>
  text.replace(manyMarks, '$1').normalize(form)

/** How texts are folded by this release; a store remembers by which rules its copies were made. */
export const foldedBy = '2'

/**
 * The text without case for all of Unicode, with its accents: `É` and `é` fold alike, however they are composed, and `e` does not. Two
 * texts fold alike if they are a canonical caseless match (Unicode, section 3.13, D145). Each code point is folded by itself (section
 * 5.18.4), so that no letter depends on its neighbours.
 */
export const fold = (text: string): string => {
  if (ascii.test(text)) return text.toLowerCase()
  let folded = ''
  // Lower case first: `ẞ` has no other upper case, and only its lower case `ß` becomes `ss`.
  for (const point of decomposed(text, 'NFD'))
    folded += point.toLowerCase().toUpperCase().toLowerCase()
  return folded.normalize('NFC')
}

/** Accents of Latin, Greek and Cyrillic letters. */
export const marks = /[\u0300-\u036f]/g
/** An index of trigrams finds texts of at least this many letters. */
export const indexedFrom = 3

const betweenWords = /[^\p{L}\p{N}\p{M}]+/gu

/**
 * The words of a text as an address has them, at most that long: letters without case and accents, and digits, joined by `-`; empty
 * if it has none.
 */
export const slugOf = (text: string, max: number): string => {
  const plain = fold(decomposed(text, 'NFKD').replace(marks, ''))
    .normalize('NFKD')
    .replace(marks, '')
  const words = plain.normalize('NFC').replace(betweenWords, '-')
  return [...words.replace(/^-/, '')].slice(0, max).join('').replace(/-$/, '')
}

/** Ids as callers write them: positive integers below 2^53, in one spelling. */
const idForm = /^[1-9]\d{0,15}$/

/** The fault of a text that is no id. */
export const notAnId = 'must be an id, a whole number from 1 on'

/** The id that a text is; undefined for any other text (`abc`, `0`, `-1`, `1.5`, `007`, 2^53). */
export const parseId = (text: string): number | undefined => {
  if (!idForm.test(text)) return undefined
  const id = Number(text)
  return Number.isSafeInteger(id) ? id : undefined
}

const momentForm =
  /^(\d{4}-\d\d-\d\d)T((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)(?:\.(\d+))?(?:Z|([+-](?:[01]\d|2[0-3]):[0-5]\d))$/i

/** The fault of a text that is no moment. */
export const notATime =
  'must be an ISO 8601 time with Z or its offset, such as 2026-01-31T09:30:00.000Z'

/** The ends of the years 0 to 9999 in UTC, which have four digits. */
const [firstMoment, lastMoment] = [-62_167_219_200_000, 253_402_300_799_999]

/**
 * The moment that a text is, with any offset, in milliseconds since 1970 (RFC 3339, `date-time`), and whether it is later than that by
 * less than one; undefined for any other text, and for one that is before the year 0 or after 9999 in UTC.
 */
export const parseMoment = (
  text: string,
): { readonly at: number; readonly rest: boolean } | undefined => {
  const [, day = '', time, fraction = '', offset = 'Z'] = momentForm.exec(text) ?? []
  if (!isDay(day)) return undefined
  const at = Date.parse(
    `${day}T${time}.${fraction.slice(0, 3).padEnd(3, '0')}${offset.toUpperCase()}`,
  )
  return at >= firstMoment && at <= lastMoment
    ? { at, rest: /[1-9]/.test(fraction.slice(3)) }
    : undefined
}

/** Whether a text is a moment with seconds, in UTC or with its offset, such as `2026-01-31T09:30:00.000Z` (RFC 3339, `date-time`). */
export const isMoment = (text: string): boolean => parseMoment(text) !== undefined

/**
 * The moment that a text is compared with, of which a day is its beginning in UTC: milliseconds since 1970, and half of one more where it
 * lies between two of them; undefined if it is neither.
 */
export const comparedMoment = (text: string): number | undefined => {
  if (isDay(text)) return Date.parse(text)
  const moment = parseMoment(text)
  return moment && moment.at + (moment.rest ? 0.5 : 0)
}

/** A time that stood in a URL, where a plus that is not escaped is a space. */
export const withPlus = (text: string): string => text.replace(/ (?=\d\d:\d\d$)/, '+')

/** A stored value, or the fault of the text. */
export type ComparedValue = { readonly value: string | number | null } | { readonly fault: string }

const wholeForm = /^-?\d{1,16}$/

/** A number in units of its last decimal, and half of one more where it lies between two of them; one that no row can have is infinite. */
export const amountWith = (
  text: string,
  digits: number,
): { readonly value: number } | { readonly fault: string } => {
  const parsed = parseMinor(text, digits)
  if (!parsed) return { fault: 'must be a number' }
  const minor = Number(parsed.minor)
  const sign = text.startsWith('-') ? -1 : 1
  if (!Number.isSafeInteger(minor)) return { value: sign * Number.POSITIVE_INFINITY }
  return { value: minor + (parsed.rest ? sign / 2 : 0) }
}

const parsers = {
  // Stores compare a text with a number in different ways, so a text that is no id stands for 0, which no row has.
  id: text => ({ value: parseId(text) ?? 0 }),
  // No row has a text that cannot be stored, and PostgreSQL refuses to compare it.
  text: text => ({ value: isStorable(text) ? text : null }),
  int: text =>
    wholeForm.test(text) ? { value: Number(text) } : { fault: 'must be a whole number' },
  money: amountWith,
  decimal: amountWith,
  date: text => (isDay(text) ? { value: text } : { fault: 'must be a day, such as 2026-01-31' }),
  time: text => {
    const value = comparedMoment(withPlus(text))
    return value === undefined ? { fault: notATime } : { value }
  },
  flag: text =>
    text === 'true' || text === 'false'
      ? { value: text === 'true' ? 1 : 0 }
      : { fault: 'must be true or false' },
  json: () => ({ fault: 'cannot be compared' }),
  list: () => ({ fault: 'cannot be compared' }),
  file: () => ({ fault: 'cannot be compared' }),
  bytes: () => ({ fault: 'cannot be compared' }),
} satisfies Record<Scalar, (text: string, digits: number) => ComparedValue>

/** The stored value that a text stands for in a comparison with such a field, or a half between two; `digits` are the currency's decimals. */
export const comparedWith = (
  field: { readonly scalar: Scalar; readonly scale?: number },
  text: string,
  digits: number,
): ComparedValue => parsers[field.scalar](text, digitsOf(field, digits))
