/** What a setting is, and the rules for the values of settings. */
import { isIP } from 'node:net'
import { type Check, turned, where } from '#base/check.ts'
import { isDay } from '#base/dates.ts'
import { duration } from '#base/duration.ts'
import { isPostgres } from '#base/hosts.ts'

/** The rule of a setting: what its text stands for. */
type Rule<Value = unknown> = Check<Value, string>

/** Any text. */
export const text: Rule<string> = given => ({ value: given })

/** A text that `isSo` holds for. */
export const textWhere = (isSo: (given: string) => boolean, fault: string): Rule<string> =>
  where(text, isSo, fault)

/** One of a few words. */
export const oneOf = <const Word extends string>(
  words: readonly Word[],
  fault: string,
): Rule<Word> => where(text, given => words.some(word => word === given), fault) as Rule<Word>

const number = (min: number, max: number, fault: string): Rule<number> => {
  const digits = textWhere(given => /^\d{1,12}$/.test(given), fault)
  return where(turned(digits, Number), value => value >= min && value <= max, fault)
}
export const port = number(0, 65_535, 'must be a port number, 0 to 65535')
export const whole = (min: number, max: number) =>
  number(min, max, `must be a whole number from ${min} to ${max}`)
/** A time such as 30s, in milliseconds; `most` is written so too. */
export const time = (most: string): Rule<number> =>
  where(
    turned(text, given => duration(given) ?? -1),
    value => value >= 0 && value <= (duration(most) ?? 0),
    `must be a time such as 250ms, 30s or 5m, at most ${most}`,
  )
export const onOff = turned(oneOf(['on', 'off'], 'must be on or off'), value => value === 'on')
export const listOf = (isOne: (one: string) => boolean, fault: string): Rule<readonly string[]> =>
  where(
    turned(text, given => given.split(',').map(one => one.trim())),
    all => all.every(isOne),
    fault,
  )
export const isWebAddress = (given: string) => /^https?:\/\//i.test(given) && URL.canParse(given)
export const day = textWhere(isDay, 'must be a day that the calendar has, such as 2027-01-31')
export const isOrigin = (text: string) => URL.parse(text)?.origin === text

/** Whether each % begins an escape of a character. */
const isEscaped = (part = ''): boolean => {
  try {
    return decodeURIComponent(part) !== undefined
  } catch {
    return false
  }
}

export const isMailServer = (text: string) => {
  const { protocol, username, password, hostname, pathname, search, hash } = URL.parse(text) ?? {}
  return (
    /^smtps?:$/.test(protocol ?? '') &&
    !!hostname &&
    /^\/?$/.test(pathname ?? '') &&
    !search &&
    !hash &&
    isEscaped(username) &&
    isEscaped(password)
  )
}
export const isBase = (text: string) => {
  const { protocol, username, search, hash } = URL.parse(text) ?? {}
  return (
    /^https?:$/.test(protocol ?? '') && !/[\s"<>?#]/.test(text) && !username && !search && !hash
  )
}
export const isNetwork = (text: string): boolean => {
  const [address = '', bits, ...rest] = text.split('/')
  const most = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1
  if (most < 0 || rest.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most)
}

/** A list of PostgreSQL URLs, or the word by which they are found. */
export const replicas: Rule<'auto' | readonly string[]> = given =>
  given === 'auto'
    ? { value: given }
    : listOf(isPostgres, 'must be auto, or postgres:// URLs with commas between them')(given)

export const sender =
  /^(?:[^<>"\p{Cc}]*<[^\s<>@,"\p{Cc}]+@[^\s<>@,"\p{Cc}]+>|[^\s<>@,"\p{Cc}]+@[^\s<>@,"\p{Cc}]+)$/u

/** One setting: the rule for its value, its default, and its purpose. */
type Setting = { readonly rule: Rule; readonly usual: string; readonly about: string }

export type SettingTable = Readonly<Record<string, Setting>>

type Value<S extends Setting> =
  | (S['rule'] extends Rule<infer Value> ? Value : never)
  | (S['usual'] extends '' ? undefined : never)

/** The values of a table of settings; undefined where one is not set and has no default. */
export type ValuesOf<Table extends SettingTable> = { readonly [K in keyof Table]: Value<Table[K]> }

/** Faults of settings, a sentence each; the operator sees them as they are. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/** A row of a table of settings. */
export const setting = <Value, const Usual extends string>(
  rule: Rule<Value>,
  usual: Usual,
  about: string,
) => ({ rule, usual, about })
