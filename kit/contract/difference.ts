/** Differences between two contracts, as data; and those of announcements: six months must pass between one and the removal. */

import { isDay, soonestEnd } from '#base/dates.ts'
import { isObject, type JsonObject } from '#base/object.ts'
import { type ContractRule, classes, type DifferenceClass, rules } from '#kit/contract/rules.ts'

/** Which way a value goes: callers send it, callers read it, or either if no operation says so. */
export type DiffDirection = 'sent' | 'read' | 'either'

/** A difference, with the rule that it falls under. */
export type ContractDifference = {
  readonly class: DifferenceClass
  readonly rule: string
  /** Such as `GET /things → 200 → data[].price`. */
  readonly path: string
  readonly message: string
  /** Who notices it. */
  readonly hits: string
  /** What a line about it names: the member, and the value if there is a new one. */
  readonly names: readonly string[]
}

/** What a comparison finds. */
export type Differences = readonly ContractDifference[]

/** Where the comparison stands. */
export type DiffContext = {
  readonly way: DiffDirection
  readonly path: string
  /** The innermost name on the path. */
  readonly member: string
  /** The day that the comparison is made on. */
  readonly today: string
  /** What the whole comparison has found so far. */
  readonly found: ContractDifference[]
}

export const hits = {
  sent: 'callers who send it',
  read: 'callers who read it',
  either: 'callers who send or read it',
} as const satisfies Record<DiffDirection, string>

/** Adds a difference at a place, by a rule; if no operation says which way the value goes, the worse of its classes counts. */
export const tell = (
  { way, path, member, found }: DiffContext,
  rule: ContractRule,
  message: string,
  names: readonly string[] = [member],
): void => {
  const { sent, read } = rules[rule]
  const worse = classes.indexOf(sent) < classes.indexOf(read) ? sent : read
  const level = way === 'either' ? worse : rules[rule][way]
  found.push({ class: level, rule, path, message, hits: hits[way], names })
}

const keyOf = ({ class: level, rule, message, path, hits }: ContractDifference): string =>
  [classes.indexOf(level), rule, message, path, hits].join('\n')

/** The differences with the worst first, and always in the same order. */
export const sorted = (differences: Differences): Differences =>
  [...Map.groupBy(differences, keyOf)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([, same]) => same)

/** What an element announces: that it goes, and from which day. */
export type Notice = { readonly deprecated: boolean; readonly sunset: string | undefined }

/** What an object of an OpenAPI document announces. */
export const noticeOf = (part: unknown): Notice => {
  const { deprecated, 'x-sunset': sunset }: JsonObject = isObject(part) ? part : {}
  return {
    deprecated: deprecated === true,
    sunset: typeof sunset === 'string' ? sunset : undefined,
  }
}

const firstSunset = (sunset: string, at: DiffContext): void => {
  const { member, today } = at
  const soonest = soonestEnd(today)
  if (!isDay(sunset))
    tell(at, 'sunset-unreadable', `the sunset of ${member} must be YYYY-MM-DD, not ${sunset}`)
  else if (sunset < soonest) {
    const remedy = `announced on ${today}, it must be ${soonest} or later`
    tell(at, 'sunset-too-soon', `the sunset of ${member} is ${sunset}: ${remedy}`)
  } else tell(at, 'sunset-set', `${member} may be gone from ${sunset} on`)
}

/** Compares two announcements. */
export const compareNotices = (before: Notice, after: Notice, at: DiffContext): void => {
  const { member } = at
  const [was, is] = [before.sunset, after.sunset]
  if (!before.deprecated && after.deprecated) tell(at, 'deprecated', `${member} is deprecated`)
  if (before.deprecated && !after.deprecated)
    tell(at, 'deprecation-withdrawn', `${member} is no longer deprecated`)
  if (was === is) return
  if (is === undefined)
    tell(at, 'sunset-withdrawn', `the sunset of ${member}, ${was}, is taken back`)
  else if (was === undefined || !isDay(was) || !isDay(is)) firstSunset(is, at)
  else {
    const rule = is < was ? 'sunset-earlier' : 'sunset-later'
    tell(at, rule, `the sunset of ${member} is ${is} instead of ${was}`)
  }
}

/** Adds a removal: by its own rule, or by one of the announcement if there was any. */
export const tellRemoval = (
  { deprecated, sunset }: Notice,
  at: DiffContext,
  rule: ContractRule,
  message: string,
): void => {
  if (!deprecated && sunset === undefined) tell(at, rule, message)
  else if (sunset === undefined || !isDay(sunset))
    tell(at, 'removed-without-sunset', `${message}, and no sunset was announced`)
  else if (at.today >= sunset)
    tell(at, 'removed-after-sunset', `${message}, as announced for ${sunset}`)
  else tell(at, 'removed-before-sunset', `${message}, before its sunset on ${sunset}`)
}

/** Adds the announcements within something new: their sunsets count from today too. */
export const tellNewNotices = (added: unknown, at: DiffContext): void => {
  if (Array.isArray(added)) for (const part of added) tellNewNotices(part, at)
  if (!isObject(added)) return
  const ofValues = isObject(added['x-sunsets']) ? Object.values(added['x-sunsets']) : []
  for (const day of [noticeOf(added).sunset, ...ofValues])
    if (typeof day === 'string') firstSunset(day, at)
  for (const part of Object.values(added)) tellNewNotices(part, at)
}
