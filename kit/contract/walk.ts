/** Walks two documents side by side, so that no key of either is left out. */
import { isDeepStrictEqual } from 'node:util'
import { isObject, type JsonObject, own } from '#base/object.ts'
import {
  compareNotices,
  type DiffContext,
  noticeOf,
  tell,
  tellRemoval,
} from '#kit/contract/difference.ts'
import type { ContractRule } from '#kit/contract/rules.ts'

type DocumentPair = {
  readonly before: JsonObject
  readonly after: JsonObject
  /** The pairs of references that were followed, by `pairOf`. */
  readonly followed: Set<string>
}

/** The pairs of references of one request or response that are being compared, and the pairs already compared. */
type Visited = { readonly open: Set<string>; readonly done: Set<string> }

export type Place = DiffContext & { readonly run: DocumentPair; readonly visited: Visited }

/** Adds the differences of two values to those found. */
export type Compare = (before: unknown, after: unknown, at: Place) => void

/** What each key of an object means; a key that is not there is unknown. */
export type KeyComparisons = Readonly<Record<string, Compare>>

/** Nothing visited yet. */
export const nothing = (): Visited => ({ open: new Set(), done: new Set() })

/** A place further in: a step of the path, and the name there if it has one. */
export const inside = (at: Place, step: string, member = at.member): Place => ({
  ...at,
  path: at.path + step,
  member,
})

/** The values of one list that are not in another. */
export const missing = <Value>(values: readonly Value[], other: readonly Value[]) =>
  values.filter(value => !other.some(another => isDeepStrictEqual(another, value)))

/** Compares values whose every change is a difference of one rule. */
export const fixed =
  (rule: ContractRule, about: (at: Place, before: unknown, after: unknown) => string): Compare =>
  (before, after, at) => {
    if (!isDeepStrictEqual(before, after)) tell(at, rule, about(at, before, after))
  }

const unknownPart = (part: string): Compare =>
  fixed('unknown', ({ member }) => `${part}${member} has changed in a way that no rule knows`)

/** Whatever no rule knows: any change of it is breaking. */
export const unknown = unknownPart('')

/** For texts that promise nothing, and for keys that are compared with another. */
export const free: Compare = () => {}

/** For what people read and generators print, and no request depends on. */
export const annotation = (key: string): Compare =>
  fixed('annotation-changed', ({ member }) => `the ${key} of ${member} is another`)

/** The keys that objects of all kinds have. */
export const commonKeys: KeyComparisons = {
  description: free,
  summary: free,
  example: free,
  examples: free,
  // Compared together, in compareKeys.
  deprecated: free,
  'x-sunset': free,
}

/** Compares each key of two objects as the table says, and the keys that all objects have. */
export const compareKeys = (keys: KeyComparisons): Compare => {
  const known = { ...commonKeys, ...keys }
  return (before, after, at) => {
    if (!isObject(before) || !isObject(after)) return unknown(before, after, at)
    const announced = [before, after].map(
      ({ deprecated = false, 'x-sunset': sunset = '' }: JsonObject) => ({ deprecated, sunset }),
    )
    const isReadable = announced.every(
      ({ deprecated, sunset }) => typeof deprecated === 'boolean' && typeof sunset === 'string',
    )
    if (isReadable) compareNotices(noticeOf(before), noticeOf(after), at)
    else unknown(announced[0], announced[1], at)
    for (const [key, was, is] of pairs(before, after))
      (own(known, key) ?? unknownPart(`${key} of `))(was, is, at)
  }
}

/** The names of either object, each with what it has there before and after. */
export const pairs = <Value>(
  before: Readonly<Record<string, Value>>,
  after: Readonly<Record<string, Value>>,
): readonly (readonly [name: string, before: Value | undefined, after: Value | undefined])[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].map(name => [
    name,
    own(before, name),
    own(after, name),
  ])

/** Compares two objects; one that is left out is empty. */
export const objects =
  (compare: (before: JsonObject, after: JsonObject, at: Place) => void): Compare =>
  (before = {}, after = {}, at) =>
    isObject(before) && isObject(after) ? compare(before, after, at) : unknown(before, after, at)

/** Compares two maps name by name; a map that is left out is empty. */
export const maps = (
  compare: (name: string, before: unknown, after: unknown, at: Place) => void,
): Compare =>
  objects((before, after, at) => {
    for (const [name, was, is] of pairs(before, after)) compare(name, was, is, at)
  })

/** Compares two lists; a list that is left out is empty. */
export const lists =
  (compare: (before: readonly unknown[], after: readonly unknown[], at: Place) => void): Compare =>
  (before = [], after = [], at) =>
    Array.isArray(before) && Array.isArray(after)
      ? compare(before, after, at)
      : unknown(before, after, at)

/** Compares two lists of equal length, each item with the one in its place. */
export const byPlace = (compare: Compare): Compare =>
  lists((before, after, at) => {
    if (before.length !== after.length) unknown(before, after, at)
    else for (const [index, item] of before.entries()) compare(item, after[index], at)
  })

/** Compares a flag that is false if it is left out. */
export const flag =
  (on: ContractRule, off: ContractRule, about: (at: Place, isOn: boolean) => string): Compare =>
  (before = false, after = false, at) => {
    if (typeof before !== 'boolean' || typeof after !== 'boolean') unknown(before, after, at)
    else if (before !== after) tell(at, after ? on : off, about(at, after))
  }

const refOf = (part: unknown): string | undefined => {
  const ref = isObject(part) ? own(part, '$ref') : undefined
  return typeof ref === 'string' ? ref : undefined
}

/** A step without its percent escapes; as it is if they are none. */
const unescaped = (step: string): string => {
  try {
    return decodeURIComponent(step)
  } catch {
    return step
  }
}

/** The part of a document that a reference leads to; undefined if it leads nowhere in it. */
const target = (document: JsonObject, ref: string): unknown =>
  ref.startsWith('#/')
    ? ref
        .slice(2)
        .split('/')
        .map(step => unescaped(step).replaceAll('~1', '/').replaceAll('~0', '~'))
        .reduce<unknown>(
          (part, step) =>
            Array.isArray(part) ? part[Number(step)] : isObject(part) ? own(part, step) : undefined,
          document,
        )
    : undefined

/** Whether a key tells callers something, and allows or refuses no value. */
const isNote = (key: string): boolean =>
  Object.hasOwn(commonKeys, key) || /^(title|default|\$.*|x-.*)$/.test(key)

const joined = (there: unknown, beside: unknown): unknown =>
  isObject(there) && isObject(beside)
    ? {
        ...there,
        ...Object.fromEntries(
          Object.entries(beside).map(([name, schema]) => {
            const other = own(there, name) ?? schema
            return [name, isDeepStrictEqual(other, schema) ? schema : { allOf: [other, schema] }]
          }),
        ),
      }
    : beside

/** What holds if a reference has keys beside it: in a schema both do, and of notes the nearer wins. */
const together = (there: JsonObject, beside: JsonObject): JsonObject => {
  const clashes = Object.keys(beside).filter(
    key => Object.hasOwn(there, key) && !isNote(key) && !isDeepStrictEqual(there[key], beside[key]),
  )
  const also = clashes.filter(key => !['properties', 'required', 'allOf'].includes(key))
  const lists = (key: string) =>
    [there[key], beside[key]].flatMap(list => (Array.isArray(list) ? list : []))
  const rest = Object.fromEntries(also.map(key => [key, there[key]]))
  const parts = [...lists('allOf'), ...(also.length > 0 ? [rest] : [])]
  return {
    ...there,
    ...beside,
    ...(clashes.includes('properties') && {
      properties: joined(there.properties, beside.properties),
    }),
    ...(clashes.includes('required') && { required: [...new Set(lists('required'))] }),
    ...(parts.length > 0 && { allOf: parts }),
  }
}

/** A part with its reference followed, and what stands beside it. One that leads nowhere stays. */
export const followed = (document: JsonObject, part: unknown, depth = 0): unknown => {
  const ref = refOf(part)
  const there = ref === undefined ? undefined : target(document, ref)
  // A reference that leads to itself through others.
  if (!isObject(part) || there === undefined || depth > 20) return part
  const { $ref: _, ...beside } = part
  const resolved = followed(document, there, depth + 1)
  return isObject(resolved) ? together(resolved, beside) : resolved
}

/** Adds the removal of a part of the first document, by what it or its reference announced. */
export const tellRemoved = (part: unknown, at: Place, rule: ContractRule, message: string): void =>
  tellRemoval(noticeOf(followed(at.run.before, part)), at, rule, message)

/** The name of a pair of references. */
export const pairOf = (before: string, after: string): string => `${before} ${after}`

/** Compares what two parts are once their references are followed; the same two under one name only once in a request or response. */
export const throughRefs =
  (compare: Compare): Compare =>
  (before, after, at) => {
    const { run } = at
    const compareHere = () => compare(followed(run.before, before), followed(run.after, after), at)
    const [from, to] = [refOf(before), refOf(after)]
    if (from === undefined && to === undefined) return compareHere()
    if (from !== undefined && to !== undefined && isBare(before) && isBare(after))
      run.followed.add(pairOf(from, to))
    const { open, done } = at.visited
    const pair = JSON.stringify([at.way, before, after])
    const named = `${at.member} ${pair}`
    // A schema that contains itself ends here; and if many lead to many, the ways to a difference are countless.
    if (open.has(pair) || done.has(named)) return
    open.add(pair)
    done.add(named)
    compareHere()
    open.delete(pair)
  }

/** Whether a part is a reference with nothing beside it but texts. */
const isBare = (part: unknown): boolean =>
  isObject(part) && Object.keys(part).every(key => ['$ref', 'description', 'summary'].includes(key))
