/** Compares the keywords of JSON Schema that say which plain values are allowed: types, limits, formats. */
import { isDeepStrictEqual } from 'node:util'
import { type Difference, found } from '#contract/difference.ts'
import type { Rule } from '#contract/rules.ts'
import { type Compare, type Place, unknown } from '#contract/walk.ts'

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
const missing = (types: readonly string[], other: readonly string[]): readonly string[] =>
  types.filter(type => !other.includes(type) && !(type === 'integer' && other.includes('number')))

const nullChanges = (
  lost: readonly string[],
  gained: readonly string[],
  at: Place,
): readonly Difference[] => {
  if (gained.includes('null'))
    return found(at, 'null-added', `${at.member} may be null`, [at.member, 'null'])
  return lost.includes('null') ? found(at, 'null-removed', `${at.member} is never null`) : []
}

const notNull = (types: readonly string[]): readonly string[] =>
  types.filter(type => type !== 'null')

const ruleOfTypes = (from: readonly string[], to: readonly string[]): Rule | undefined => {
  const [lost, gained] = [missing(notNull(from), to), missing(notNull(to), from)]
  if (lost.length + gained.length === 0) return undefined
  const isOther = [
    lost.length * gained.length > 0,
    notNull(from).length === 0,
    notNull(to).length === 0,
  ]
  if (isOther.includes(true)) return 'type-changed'
  return lost.length > 0 ? 'type-narrower' : 'type-wider'
}

/** Compares the keyword `type`; that a value may be null is a difference of its own. */
export const compareTypes: Compare = (before, after, at) => {
  const [from, to] = [typesOf(before), typesOf(after)]
  if (!from || !to) return unknown(before, after, at)
  const rule = ruleOfTypes(from, to)
  const message = `${at.member} is ${inWords(to)} instead of ${inWords(from)}`
  return [
    ...nullChanges(missing(from, to), missing(to, from), at),
    ...(rule ? found(at, rule, message) : []),
  ]
}

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
    const message = `${key} of ${at.member} is ${after ?? 'none'} instead of ${before ?? 'none'}`
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

/** Compares a keyword that says how a value is written. */
export const format =
  (key: string): Compare =>
  (before, after, at) => {
    if (isDeepStrictEqual(before, after)) return []
    const rule =
      before === undefined
        ? 'format-added'
        : after === undefined
          ? 'format-removed'
          : 'format-changed'
    return found(
      at,
      rule,
      `${key} of ${at.member} is ${after ?? 'none'} instead of ${before ?? 'none'}`,
    )
  }
