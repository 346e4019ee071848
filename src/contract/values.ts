/** Compares the keywords of JSON Schema that say which plain values are allowed: types, limits, formats, and fixed lists of values with the days on which some of them end. */
import { isObject, type JsonObject } from '#base/object.ts'
import {
  type DiffContext,
  type Differences,
  found,
  type Notice,
  noticeChanges,
  removal,
} from '#contract/difference.ts'
import type { ContractRule } from '#contract/rules.ts'
import { type Compare, fixed, missing, type Place, pairs, unknown } from '#contract/walk.ts'

const anyType = ['array', 'boolean', 'null', 'number', 'object', 'string'] as const

/** The types that a keyword `type` names; undefined where it is none. */
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

/** A value may be null, and was not. */
export const nullAdded = (at: DiffContext): Differences =>
  found(at, 'null-added', `${at.member} may be null`, [at.member, 'null'])

/** A value is not null, and was. */
export const nullRemoved = (at: DiffContext): Differences =>
  found(at, 'null-removed', `${at.member} is never null`)

const notNull = (types: readonly string[]): readonly string[] =>
  types.filter(type => type !== 'null')

const ruleOfTypes = (
  before: readonly string[],
  after: readonly string[],
): ContractRule | undefined => {
  const [from, to] = [notNull(before), notNull(after)]
  const [lost, gained] = [typesWithout(from, to).length > 0, typesWithout(to, from).length > 0]
  if (!lost && !gained) return undefined
  if ((lost && gained) || from.length === 0 || to.length === 0) return 'type-changed'
  return lost ? 'type-narrower' : 'type-wider'
}

/** Compares the keyword `type`; that a value may be null is a difference of its own. */
export const compareTypes: Compare = (before, after, at) => {
  const [from, to] = [typesOf(before), typesOf(after)]
  if (!from || !to) return unknown(before, after, at)
  const [wasNull, isNull] = [from.includes('null'), to.includes('null')]
  const rule = ruleOfTypes(from, to)
  return [
    ...(isNull && !wasNull ? nullAdded(at) : []),
    ...(wasNull && !isNull ? nullRemoved(at) : []),
    ...(rule ? found(at, rule, `${at.member} is ${inWords(to)} instead of ${inWords(from)}`) : []),
  ]
}

/** What a keyword is, in a sentence. */
const isInstead = (key: string, member: string, before: unknown, after: unknown): string =>
  `${key} of ${member} is ${after ?? 'none'} instead of ${before ?? 'none'}`

/** Compares a limit; the smaller of two is tighter for an upper one, the larger for a lower one. */
export const limit =
  (key: string, kind: 'upper' | 'lower'): Compare =>
  (before, after, at) => {
    if (before === after) return []
    // Nothing has fewer than no characters, elements or members.
    const least = /^min(Length|Items|Properties)$/.test(key) ? 0 : -Infinity
    const open = kind === 'upper' ? Infinity : least
    const [from, to] = [before ?? open, after ?? open]
    if (typeof from !== 'number' || typeof to !== 'number') return unknown(before, after, at)
    const message = isInstead(key, at.member, before, after)
    if (from === to) return found(at, 'limit-same', message)
    const isTighter = kind === 'upper' ? to < from : to > from
    return found(at, isTighter ? 'limit-tighter' : 'limit-looser', message)
  }

/** Compares the keyword `multipleOf`. */
export const compareSteps: Compare = (before, after, at) => {
  if (before === after) return []
  if (before === undefined || after === undefined)
    return limit('multipleOf', 'lower')(before, after, at)
  const isWhole = (of: unknown, by: unknown) => Number.isInteger(Number(of) / Number(by))
  const message = `${at.member} is a multiple of ${after} instead of ${before}`
  if (isWhole(after, before)) return found(at, 'limit-tighter', message)
  return found(at, isWhole(before, after) ? 'limit-looser' : 'format-changed', message)
}

const ruleOfFormats = (before: unknown, after: unknown): ContractRule => {
  if (before === undefined) return 'format-added'
  return after === undefined ? 'format-removed' : 'format-changed'
}

/** Compares a keyword that says how a value is written. */
export const format =
  (key: string): Compare =>
  (before, after, at) =>
    fixed(ruleOfFormats(before, after), ({ member }) => isInstead(key, member, before, after))(
      before,
      after,
      at,
    )

/** A list of values; `several` of them may stand in a text, with commas between. */
type List = { readonly values: readonly unknown[]; readonly several: boolean }

/** A pattern that is nothing but words to choose from, such as `^(id|name)(,(id|name))*$`. */
const listInPattern = (pattern: unknown): List | undefined => {
  const [, words, several] = /^\^\(([\w.|-]+)\)(\(,\(\1\)\)\*)?\$$/.exec(String(pattern)) ?? []
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

const listChanges = (
  before: readonly unknown[],
  after: readonly unknown[],
  sunsets: Sunsets,
  at: Place,
): Differences => {
  const lost = missing(before, after).map(written)
  const gained = missing(after, before).map(written)
  const announced = lost.filter(value => Object.hasOwn(sunsets, value))
  const others = missing(lost, announced)
  return [
    ...announced.flatMap(value =>
      removal(noticeOfDay(sunsets[value]), at, 'value-removed', `${at.member} is never ${value}`),
    ),
    ...(others.length > 0
      ? found(at, 'value-removed', `${at.member} is never ${others.join(', ')}`)
      : []),
    ...(gained.length > 0
      ? found(at, 'value-added', `${at.member} may be ${gained.join(', ')}`, [at.member, ...gained])
      : []),
  ]
}

const enumChanges = (before: unknown, after: unknown, sunsets: Sunsets, at: Place) => {
  const { member } = at
  const inWords = (values: readonly unknown[]) => values.map(written).join(', ')
  if (Array.isArray(before) && Array.isArray(after)) return listChanges(before, after, sunsets, at)
  if (before === undefined && Array.isArray(after))
    return found(at, 'values-closed', `${member} is one of ${inWords(after)}`)
  if (after === undefined && Array.isArray(before))
    return found(at, 'values-opened', `${member} is any value, not one of ${inWords(before)}`)
  return unknown(before, after, at)
}

const patternChanges = (before: unknown, after: unknown, sunsets: Sunsets, at: Place) => {
  const [from, to] = [listInPattern(before), listInPattern(after)]
  return from && to && from.several === to.several
    ? listChanges(from.values, to.values, sunsets, at)
    : format('pattern')(before, after, at)
}

/** What was announced for values; one that is gone is reported as gone. */
const sunsetChanges = (before: Sunsets, after: Sunsets, schema: JsonObject, at: Place) => {
  const list = Array.isArray(schema.enum) ? schema.enum : listInPattern(schema.pattern)?.values
  const there = (list ?? []).map(written)
  return pairs(before, after)
    .filter(([value, , is]) => there.includes(value) || is !== undefined)
    .flatMap(([value, was, is]) =>
      noticeChanges(noticeOfDay(was), noticeOfDay(is), {
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
    ...enumChanges(before.enum, after.enum, sunsets, at),
    ...patternChanges(before.pattern, after.pattern, sunsets, at),
  ]
}
