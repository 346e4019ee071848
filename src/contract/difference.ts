/** Differences between two contracts, as data; and those of announcements: six months must pass between one and the removal. */

import { isDay, soonestEnd } from '#base/dates.ts'
import { isObject, type JsonObject } from '#base/object.ts'
import { type ContractRule, classes, type DifferenceClass, rules } from '#contract/rules.ts'

/** Which way a value goes: callers send it, callers read it, or either where no operation says so. */
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
  /** What a line about it names: the member, and the value where there is a new one. */
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
}

export const hits = {
  sent: 'callers who send it',
  read: 'callers who read it',
  either: 'callers who send or read it',
} as const satisfies Record<DiffDirection, string>

/** The worse of two classes. */
const worse = (one: DifferenceClass, other: DifferenceClass): DifferenceClass =>
  classes.indexOf(one) < classes.indexOf(other) ? one : other

const classOf = (rule: ContractRule, way: DiffDirection): DifferenceClass => {
  const { sent, read } = rules[rule]
  return way === 'either' ? worse(sent, read) : rules[rule][way]
}

/** One difference at a place, by a rule. */
export const found = (
  at: DiffContext,
  rule: ContractRule,
  message: string,
  names: readonly string[] = [at.member],
): Differences => [
  { class: classOf(rule, at.way), rule, path: at.path, message, hits: hits[at.way], names },
]

/** The differences with the worst first, and always in the same order. */
export const sorted = (differences: Differences): Differences =>
  [...Map.groupBy(differences, keyOf)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([, same]) => same)

const keyOf = (difference: ContractDifference): string =>
  [
    classes.indexOf(difference.class),
    difference.rule,
    difference.message,
    difference.path,
    difference.hits,
  ].join('\n')

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

const firstSunset = (sunset: string, at: DiffContext): Differences => {
  if (!isDay(sunset))
    return found(
      at,
      'sunset-unreadable',
      `the sunset of ${at.member} must be YYYY-MM-DD, not ${sunset}`,
    )
  const soonest = soonestEnd(at.today)
  return sunset < soonest
    ? found(
        at,
        'sunset-too-soon',
        `the sunset of ${at.member} is ${sunset}: announced on ${at.today}, it must be ${soonest} or later`,
      )
    : found(at, 'sunset-set', `${at.member} may be gone from ${sunset} on`)
}

const sunsetChanges = (
  before: string | undefined,
  after: string | undefined,
  at: DiffContext,
): Differences => {
  if (before === after) return []
  if (after === undefined)
    return found(at, 'sunset-withdrawn', `the sunset of ${at.member}, ${before}, is taken back`)
  if (before === undefined || !isDay(before) || !isDay(after)) return firstSunset(after, at)
  const rule = after < before ? 'sunset-earlier' : 'sunset-later'
  return found(at, rule, `the sunset of ${at.member} is ${after} instead of ${before}`)
}

/** What has changed in an announcement. */
export const noticeChanges = (before: Notice, after: Notice, at: DiffContext): Differences => [
  ...(!before.deprecated && after.deprecated
    ? found(at, 'deprecated', `${at.member} is deprecated`)
    : []),
  ...(before.deprecated && !after.deprecated
    ? found(at, 'deprecation-withdrawn', `${at.member} is no longer deprecated`)
    : []),
  ...sunsetChanges(before.sunset, after.sunset, at),
]

/** A removal: by its own rule, or by one of the announcement where there was any. */
export const removal = (
  notice: Notice,
  at: DiffContext,
  rule: ContractRule,
  message: string,
): Differences => {
  const { deprecated, sunset } = notice
  if (!deprecated && sunset === undefined) return found(at, rule, message)
  if (sunset === undefined || !isDay(sunset))
    return found(at, 'removed-without-sunset', `${message}, and no sunset was announced`)
  return at.today >= sunset
    ? found(at, 'removed-after-sunset', `${message}, as announced for ${sunset}`)
    : found(at, 'removed-before-sunset', `${message}, before its sunset on ${sunset}`)
}

/** The announcements within something new: their sunsets count from today too. */
export const newNotices = (added: unknown, at: DiffContext): Differences => {
  if (Array.isArray(added)) return added.flatMap(part => newNotices(part, at))
  if (!isObject(added)) return []
  const { sunset } = noticeOf(added)
  const ofValues = isObject(added['x-sunsets']) ? Object.values(added['x-sunsets']) : []
  return [
    ...[sunset, ...ofValues].flatMap(day => (typeof day === 'string' ? firstSunset(day, at) : [])),
    ...Object.values(added).flatMap(part => newNotices(part, at)),
  ]
}
