/** What declarations may have, as data: their keys and words; and the sentence about one that has others. */
import { isObject, own } from '#base/object.ts'
import { hintFor } from '#base/text.ts'

/** What a value of a declaration may be. */
export type Shape =
  | 'anything'
  | 'null'
  | 'text'
  | 'number'
  | 'flag'
  | 'function'
  /** One of a closed set. */
  | { readonly words: readonly string[] }
  /** An object with these keys only, and what to call it if something else is given. */
  | { readonly keys: Readonly<Record<string, Shape | Needed>>; readonly called?: string }
  /** An object whose keys the declaration chooses. */
  | { readonly named: Shape }
  | { readonly each: Shape }
  | { readonly either: readonly Shape[] }
  /** The shape of a value, by its type. */
  | { readonly by: (value: unknown) => Shape }

type Needed = { readonly needed: Shape }

/** The shape of a value that must be there. */
export const must = (needed: Shape): Needed => ({ needed })

/** The keys of all members of a union. */
type KeysOf<T> = T extends unknown ? keyof T & string : never

type ShapesOf<T> = {
  readonly [Key in KeysOf<T>]: T extends Readonly<Record<Key, NonNullable<unknown> | null>>
    ? Needed
    : Shape
}

/** The shape of a type. The compiler refuses one that lacks a key of it or has another one, or does not say what is needed. */
export const keys = <T extends object>(
  known: ShapesOf<T>,
  called = 'an object',
): { readonly keys: ShapesOf<T>; readonly called: string } => ({ keys: known, called })

/** The shape of a union of words. The compiler refuses one that lacks a word of it, or has another one. */
export const words = <Word extends string>(known: Readonly<Record<Word, 1>>): Shape => ({
  words: Object.keys(known),
})

/** The options that things were made with: they are checked where the thing stands, since its maker does not know its name. */
const made = new WeakMap<object, { readonly shape: Shape; readonly options: unknown }>()

/** The same thing, for which `faultIn` checks these options in its place. */
export const madeWith = <T extends object>(thing: T, shape: Shape, options: unknown): T => {
  made.set(thing, { shape, options })
  return thing
}

/** The options that a thing was made with, and what they may be; undefined if it was made otherwise. */
export const optionsOf = (thing: object) => made.get(thing)

const isNeeded = (of: Shape | Needed): of is Needed => typeof of === 'object' && 'needed' in of

/** Whether a value is of the JavaScript type of a shape, whatever is in it. */
const isOfType = (shape: Shape, value: unknown): boolean => {
  if (shape === 'anything') return true
  if (shape === 'null') return value === null
  if (shape === 'flag') return typeof value === 'boolean'
  if (shape === 'number' || shape === 'function') return typeof value === shape
  if (shape === 'text' || 'words' in shape) return typeof value === 'string'
  if ('either' in shape) return shape.either.some(one => isOfType(one, value))
  if ('by' in shape) return isOfType(shape.by(value), value)
  return 'each' in shape ? Array.isArray(value) : isObject(value)
}

const inWords = (shape: Shape): string => {
  if (shape === 'flag') return 'true or false'
  if (typeof shape === 'string') return shape === 'null' ? shape : `a ${shape}`
  if ('words' in shape) return `one of ${shape.words.join(', ')}`
  if ('either' in shape) return shape.either.map(inWords).join(', or ')
  if ('keys' in shape && shape.called) return shape.called
  if ('by' in shape) return inWords(shape.by(undefined))
  return 'each' in shape ? 'a list' : 'an object'
}

/** The letters of a word, sorted: the same for words that differ in their case or by swapped letters. */
const lettersOf = (word: string): string =>
  [...word.toLowerCase().replace(/[^a-z0-9]/g, '')].sort().join('')

/** The end of a sentence about an unknown word: the one that was probably meant, or all that there are. */
export const remedy = (word: string, known: readonly string[]): string => {
  const same = known.find(one => lettersOf(one) === lettersOf(word))
  return same === undefined ? hintFor(word, known) : `did you mean ${same}?`
}

/** What options are called now, by the names that they had in earlier releases. */
const renamed: Readonly<Record<string, string>> = {
  barred: 'blocked',
  parts: 'nestedWrites',
  words: 'values',
}

/** The first fault of a value that stands at a place such as `things.rest.listing`, in one sentence; undefined if there is none. */
export const faultIn = (shape: Shape, value: unknown, place: string): string | undefined => {
  if (typeof shape === 'object' && 'by' in shape) return faultIn(shape.by(value), value, place)
  if (shape === 'anything') return undefined
  const from = isObject(value) ? made.get(value) : undefined
  if (from) return faultIn(from.shape, from.options, place)
  if (!isOfType(shape, value)) {
    const given = typeof value === 'function' ? 'a function' : JSON.stringify(value)
    return `${place} is ${given}: it must be ${inWords(shape)}`
  }
  if (typeof shape === 'string') return undefined
  if ('either' in shape) {
    const fitting = shape.either.filter(one => isOfType(one, value))
    const faults = fitting.map(one => faultIn(one, value, place))
    return faults.includes(undefined) ? undefined : faults[0]
  }
  if ('words' in shape) {
    const word = String(value)
    if (shape.words.includes(word)) return undefined
    return `${place} is ${JSON.stringify(word)}, which is no word for it: ${remedy(word, shape.words)}`
  }
  const entries = Object.entries(value as object)
  if ('keys' in shape) {
    const known = Object.keys(shape.keys)
    const unknown = entries.find(([key]) => !known.includes(key))?.[0]
    const name = unknown === undefined ? undefined : own(renamed, unknown)
    if (name !== undefined && known.includes(name))
      return `${place} has ${unknown}, which is called ${name} now`
    if (unknown !== undefined)
      return `${place} has ${unknown}, which is no option of it: ${remedy(unknown, known)}`
    const given = new Map(entries)
    for (const [key, of] of Object.entries(shape.keys))
      if (isNeeded(of) && given.get(key) === undefined) return `${place} has no ${key}: give it one`
  }
  for (const [key, part] of entries) {
    const of = 'keys' in shape ? shape.keys[key] : 'each' in shape ? shape.each : shape.named
    if (!of || (part === undefined && 'keys' in shape)) continue
    // A list has no names: the path of a route says which one it is.
    const name = 'each' in shape && isObject(part) && part.path ? `${key} (${part.path})` : key
    const fault = faultIn(isNeeded(of) ? of.needed : of, part, `${place}.${name}`)
    if (fault !== undefined) return fault
  }
  return undefined
}

/** The value; throws a plain error, one sentence, if it has a fault. */
export const checkShape = <Value>(shape: Shape, value: Value, place: string): Value => {
  const fault = faultIn(shape, value, place)
  if (fault !== undefined) throw new Error(fault)
  return value
}
