/** Compares fixed lists of values, as `enum` or as a pattern that lists words, with the days on which some of them end. */
import { isDeepStrictEqual } from 'node:util'
import { isObject, type JsonObject } from '#base/object.ts'
import { type Difference, found } from '#contract/difference.ts'
import { noticeChanges, removal } from '#contract/notice.ts'
import { format } from '#contract/values.ts'
import { type Compare, namesOf, own, type Place, unknown } from '#contract/walk.ts'

/** A list of values; `several` of them may stand in a text, with commas between. */
type List = { readonly values: readonly unknown[]; readonly several: boolean }

/** A pattern that is nothing but words to choose from, such as `^(id|name)(,(id|name))*$`. */
const listInPattern = (pattern: unknown): List | undefined => {
  const [, words, several] = /^\^\(([\w|-]+)\)(\(,\(\1\)\)\*)?\$$/.exec(String(pattern)) ?? []
  return words === undefined
    ? undefined
    : { values: words.split('|'), several: several !== undefined }
}

const has = (values: readonly unknown[], wanted: unknown): boolean =>
  values.some(value => isDeepStrictEqual(value, wanted))

const written = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value)

/** The days on which values end, by value: the member `x-sunsets` of a schema. */
type Sunsets = Readonly<Record<string, string>>

const sunsetsOf = ({ 'x-sunsets': sunsets = {} }: JsonObject): Sunsets | undefined =>
  isObject(sunsets) && Object.values(sunsets).every(day => typeof day === 'string')
    ? (sunsets as Sunsets)
    : undefined

/** The values that are not in the other list. */
const missing = (values: readonly unknown[], other: readonly unknown[]): readonly string[] =>
  values.filter(value => !has(other, value)).map(written)

const listChanges = (
  before: readonly unknown[],
  after: readonly unknown[],
  sunsets: Sunsets,
  at: Place,
): readonly Difference[] => {
  const lost = missing(before, after)
  const gained = missing(after, before)
  const isAnnounced = (value: string) => Object.hasOwn(sunsets, value)
  const announced = lost.filter(isAnnounced)
  const others = lost.filter(value => !isAnnounced(value))
  return [
    ...announced.flatMap(value =>
      removal(noticeOfValue(sunsets, value), at, 'value-removed', `${at.member} is never ${value}`),
    ),
    ...(others.length > 0
      ? found(at, 'value-removed', `${at.member} is never ${others.join(', ')}`)
      : []),
    ...(gained.length > 0
      ? found(at, 'value-added', `${at.member} may be ${gained.join(', ')}`, [at.member, ...gained])
      : []),
  ]
}

const noticeOfValue = (sunsets: Sunsets, value: string) => {
  const sunset = own(sunsets, value) as string | undefined
  return { deprecated: sunset !== undefined, sunset }
}

const compareEnums =
  (sunsets: Sunsets): Compare =>
  (before, after, at) => {
    if (before === undefined && after === undefined) return []
    if (before === undefined && Array.isArray(after))
      return found(at, 'values-closed', `${at.member} is one of ${after.map(written).join(', ')}`)
    if (after === undefined && Array.isArray(before))
      return found(
        at,
        'values-opened',
        `${at.member} is any value, not one of ${before.map(written).join(', ')}`,
      )
    return Array.isArray(before) && Array.isArray(after)
      ? listChanges(before, after, sunsets, at)
      : unknown(before, after, at)
  }

const comparePatterns =
  (sunsets: Sunsets): Compare =>
  (before, after, at) => {
    const [from, to] = [listInPattern(before), listInPattern(after)]
    return from && to && from.several === to.several
      ? listChanges(from.values, to.values, sunsets, at)
      : format('pattern')(before, after, at)
  }

/** What was announced for values; one that is gone is reported as gone. */
const sunsetChanges = (before: Sunsets, after: Sunsets, schema: JsonObject, at: Place) => {
  const list = Array.isArray(schema.enum) ? schema.enum : listInPattern(schema.pattern)?.values
  const there = (list ?? []).map(written)
  return namesOf(before, after)
    .filter(value => there.includes(value) || Object.hasOwn(after, value))
    .flatMap(value =>
      noticeChanges(noticeOfValue(before, value), noticeOfValue(after, value), {
        ...at,
        member: `${value} of ${at.member}`,
      }),
    )
}

/** Compares `enum`, `pattern` and `x-sunsets` of two schemas together. */
export const compareLists: Compare = (before, after, at) => {
  if (!isObject(before) || !isObject(after)) return []
  const [was, is] = [sunsetsOf(before), sunsetsOf(after)]
  const sunsets = was ?? {}
  return [
    ...(was && is
      ? sunsetChanges(was, is, after, at)
      : unknown(before['x-sunsets'], after['x-sunsets'], at)),
    ...compareEnums(sunsets)(before.enum, after.enum, at),
    ...comparePatterns(sunsets)(before.pattern, after.pattern, at),
  ]
}
