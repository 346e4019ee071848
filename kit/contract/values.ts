/** Compares the keywords of JSON Schema that say which plain values are allowed: types, limits, formats, and fixed lists of values with the days on which some of them end. */
import { isObject, type JsonObject } from '#base/object.ts'
import {
  compareNotices,
  type DiffContext,
  type Notice,
  tell,
  tellRemoval,
} from '#kit/contract/difference.ts'
import { type Compare, fixed, missing, type Place, pairs, unknown } from '#kit/contract/walk.ts'

const anyType = ['array', 'boolean', 'null', 'number', 'object', 'string'] as const

/** The types that a keyword `type` names; undefined if it is none. */
const typesOf = (type: unknown): readonly string[] | undefined => {
  if (type === undefined) return anyType
  const types = Array.isArray(type) ? type : [type]
  return types.every(name => [...anyType, 'integer'].includes(name)) ? types : undefined
}

const inWords = (types: readonly string[]): string =>
  types.length === anyType.length ? 'anything' : types.join(' or ')

/** The types of one side that the other does not allow; every integer is a number. */
const typesWithout = (types: readonly string[], other: readonly string[]): readonly string[] =>
  types.filter(type => !other.includes(type) && !(type === 'integer' && other.includes('number')))

/** Adds that a value may be null, and was not. */
export const tellNullAdded = (at: DiffContext): void =>
  tell(at, 'null-added', `${at.member} may be null`, [at.member, 'null'])

/** Adds that a value is never null, and was. */
export const tellNullRemoved = (at: DiffContext): void =>
  tell(at, 'null-removed', `${at.member} is never null`)

/** Compares the keyword `type`; that a value may be null is a difference of its own. */
export const compareTypes: Compare = (before, after, at) => {
  const [from, to] = [typesOf(before), typesOf(after)]
  if (!from || !to) return unknown(before, after, at)
  const [wasNull, isNull] = [from.includes('null'), to.includes('null')]
  if (isNull && !wasNull) tellNullAdded(at)
  if (wasNull && !isNull) tellNullRemoved(at)
  const [were, are] = [from, to].map(types => types.filter(type => type !== 'null'))
  if (!were || !are) return
  const isLess = typesWithout(were, are).length > 0
  const isMore = typesWithout(are, were).length > 0
  if (!isLess && !isMore) return
  const isOther = (isLess && isMore) || were.length === 0 || are.length === 0
  const rule = isOther ? 'type-changed' : isLess ? 'type-narrower' : 'type-wider'
  tell(at, rule, `${at.member} is ${inWords(to)} instead of ${inWords(from)}`)
}

/** What a keyword is, in a sentence. */
const isInstead = (key: string, member: string, before: unknown, after: unknown): string =>
  `${key} of ${member} is ${after ?? 'none'} instead of ${before ?? 'none'}`

/** Compares a limit; the smaller of two is tighter for an upper one, the larger for a lower one. */
export const limit =
  (key: string, kind: 'upper' | 'lower'): Compare =>
  (before, after, at) => {
    if (before === after) return
    // Nothing has fewer than no characters, elements or members.
    const least = /^min(Length|Items|Properties)$/.test(key) ? 0 : -Infinity
    const open = kind === 'upper' ? Infinity : least
    const [from, to] = [before ?? open, after ?? open]
    if (typeof from !== 'number' || typeof to !== 'number') return unknown(before, after, at)
    const isTighter = kind === 'upper' ? to < from : to > from
    const rule = from === to ? 'limit-same' : isTighter ? 'limit-tighter' : 'limit-looser'
    tell(at, rule, isInstead(key, at.member, before, after))
  }

/** Compares the keyword `multipleOf`. */
export const compareSteps: Compare = (before, after, at) => {
  if (before === after) return
  if (before === undefined || after === undefined)
    return limit('multipleOf', 'lower')(before, after, at)
  const isWhole = (of: unknown, by: unknown) => Number.isInteger(Number(of) / Number(by))
  const isLooser = isWhole(before, after)
  const rule = isWhole(after, before)
    ? 'limit-tighter'
    : isLooser
      ? 'limit-looser'
      : 'format-changed'
  tell(at, rule, `${at.member} is a multiple of ${after} instead of ${before}`)
}

/** Compares a keyword that says how a value is written. */
export const format =
  (key: string): Compare =>
  (before, after, at) => {
    const isChanged = before !== undefined && after !== undefined
    const rule = isChanged
      ? 'format-changed'
      : after === undefined
        ? 'format-removed'
        : 'format-added'
    fixed(rule, ({ member }) => isInstead(key, member, before, after))(before, after, at)
  }

/** A pattern that is nothing but words to choose from, such as `^(id|name)(,(id|name))*$`; `several` may stand in a text. */
const listInPattern = (pattern: unknown) => {
  const [, words, several] = /^\^\(([\w.:|-]+)\)(\(,\(\1\)\)\*)?\$$/.exec(String(pattern)) ?? []
  return words === undefined
    ? undefined
    : { values: words.split('|'), several: several !== undefined }
}

const written = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value)

/** The days on which values end, by value: the member `x-sunsets` of a schema. */
type Sunsets = Readonly<Record<string, string>>

const sunsetsOf = ({ 'x-sunsets': sunsets = {} }: JsonObject): Sunsets | undefined =>
  isObject(sunsets) && Object.values(sunsets).every(day => typeof day === 'string')
    ? (sunsets as Sunsets)
    : undefined

const noticeOfDay = (sunset: string | undefined): Notice => ({
  deprecated: sunset !== undefined,
  sunset,
})

const compareValues = (
  before: readonly unknown[],
  after: readonly unknown[],
  sunsets: Sunsets,
  at: Place,
): void => {
  const { member } = at
  const lost = missing(before, after).map(written)
  const gained = missing(after, before).map(written)
  const [announced = [], others = []] = [true, false].map(isAnnounced =>
    lost.filter(value => Object.hasOwn(sunsets, value) === isAnnounced),
  )
  for (const value of announced) {
    const notice = noticeOfDay(sunsets[value])
    tellRemoval(notice, at, 'value-removed', `${member} is never ${value}`)
  }
  if (others.length > 0) tell(at, 'value-removed', `${member} is never ${others.join(', ')}`)
  if (gained.length > 0)
    tell(at, 'value-added', `${member} may be ${gained.join(', ')}`, [member, ...gained])
}

/** Compares `enum`, `pattern` and `x-sunsets` of two schemas together. */
export const compareLists: Compare = (before, after, at) => {
  if (!isObject(before) || !isObject(after)) return
  const { member } = at
  const [was, is] = [sunsetsOf(before), sunsetsOf(after)]
  const sunsets = was ?? {}
  const [oldList, newList] = [listInPattern(before.pattern), listInPattern(after.pattern)]
  if (was && is) {
    const list = Array.isArray(after.enum) ? after.enum : newList?.values
    const there = (list ?? []).map(written)
    // One that is gone is told as gone.
    for (const [value, old, now] of pairs(was, is))
      if (there.includes(value) || now !== undefined) {
        const place = { ...at, member: `${value} of ${member}` }
        compareNotices(noticeOfDay(old), noticeOfDay(now), place)
      }
  } else unknown(before['x-sunsets'], after['x-sunsets'], at)

  const [from, to] = [before.enum, after.enum]
  const inWords = (values: readonly unknown[]) => values.map(written).join(', ')
  if (Array.isArray(from) && Array.isArray(to)) compareValues(from, to, sunsets, at)
  else if (from === undefined && Array.isArray(to))
    tell(at, 'values-closed', `${member} is one of ${inWords(to)}`)
  else if (to === undefined && Array.isArray(from))
    tell(at, 'values-opened', `${member} is any value, not one of ${inWords(from)}`)
  else unknown(from, to, at)

  if (oldList && newList && oldList.several === newList.several)
    compareValues(oldList.values, newList.values, sunsets, at)
  else format('pattern')(before.pattern, after.pattern, at)
}
