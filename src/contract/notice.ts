/** Deprecations and their dates: six months must pass between the announcement and the removal. */
import { isDay, soonestEnd } from '#base/dates.ts'
import { isObject, type JsonObject } from '#base/object.ts'
import { type At, type Difference, found } from '#contract/difference.ts'
import type { ContractRule } from '#contract/rules.ts'

export type Notice = { readonly deprecated: boolean; readonly sunset: string | undefined }

/** What an object of an OpenAPI document announces. */
export const noticeOf = (part: unknown): Notice => {
  const { deprecated, 'x-sunset': sunset }: JsonObject = isObject(part) ? part : {}
  return {
    deprecated: deprecated === true,
    sunset: typeof sunset === 'string' ? sunset : undefined,
  }
}

const firstSunset = (sunset: string, at: At): readonly Difference[] => {
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
  at: At,
): readonly Difference[] => {
  if (before === after) return []
  if (after === undefined)
    return found(at, 'sunset-withdrawn', `the sunset of ${at.member}, ${before}, is taken back`)
  if (before === undefined || !isDay(before) || !isDay(after)) return firstSunset(after, at)
  const rule = after < before ? 'sunset-earlier' : 'sunset-later'
  return found(at, rule, `the sunset of ${at.member} is ${after} instead of ${before}`)
}

/** What has changed in an announcement. */
export const noticeChanges = (before: Notice, after: Notice, at: At): readonly Difference[] => [
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
  at: At,
  rule: ContractRule,
  message: string,
): readonly Difference[] => {
  const { deprecated, sunset } = notice
  if (!deprecated && sunset === undefined) return found(at, rule, message)
  if (sunset === undefined || !isDay(sunset))
    return found(at, 'removed-without-sunset', `${message}, and no sunset was announced`)
  return at.today >= sunset
    ? found(at, 'removed-after-sunset', `${message}, as announced for ${sunset}`)
    : found(at, 'removed-before-sunset', `${message}, before its sunset on ${sunset}`)
}

/** The announcements within something new: their sunsets count from today too. */
export const newNotices = (added: unknown, at: At): readonly Difference[] => {
  if (Array.isArray(added)) return added.flatMap(part => newNotices(part, at))
  if (!isObject(added)) return []
  const { sunset } = noticeOf(added)
  const ofValues = isObject(added['x-sunsets']) ? Object.values(added['x-sunsets']) : []
  return [
    ...[sunset, ...ofValues].flatMap(day => (typeof day === 'string' ? firstSunset(day, at) : [])),
    ...Object.values(added).flatMap(part => newNotices(part, at)),
  ]
}
