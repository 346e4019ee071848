/** Differences that are breaking by their rule although only the document was wrong, each named with its reason. */
import { isObject } from '#base/object.ts'
import { type ContractFile, jsonOf } from '#kit/contract/contract.ts'
import type { Differences } from '#kit/contract/difference.ts'

/** One difference that a corrected document has, in a file of the contract. */
type Correction = {
  readonly file: string
  readonly rule: string
  readonly message: string
  readonly place: string
}

const texts = ['reason', 'file', 'rule', 'message'] as const

/** The single differences that a file of corrections names; throws a plain error, one sentence, for a file that is none. */
export const correctionsIn = (source: ContractFile): readonly Correction[] => {
  const { name } = source
  const entries = jsonOf(source)
  if (!Array.isArray(entries)) throw new Error(`${name} must be a list of corrections`)
  const all = entries.flatMap((entry: unknown, index) => {
    const where = `${name}, entry ${index + 1},`
    if (!isObject(entry)) throw new Error(`${where} must be an object`)
    const lacking = texts.find(key => typeof entry[key] !== 'string' || entry[key] === '')
    if (lacking) throw new Error(`${where} lacks ${lacking}, a text`)
    const strange = Object.keys(entry).find(key => ![...texts, 'places'].includes(key))
    if (strange) throw new Error(`${where} has ${strange}: there are ${texts.join(', ')}, places`)
    const { places } = entry
    const isList = Array.isArray(places) && places.every(place => typeof place === 'string')
    if (!isList || places.length === 0)
      throw new Error(`${where} lacks places, a list of texts such as GET /things → 200`)
    const { file, rule, message } = entry as Omit<Correction, 'place'>
    return places.map((place: string) => ({ file, rule, message, place }))
  })
  const keys = all.map(keyOf)
  const twice = all.find((one, index) => keys.indexOf(keyOf(one)) !== index)
  if (twice) throw new Error(`${name} names ${inWords(twice)} twice: leave one out`)
  return all
}

const keyOf = ({ file, rule, message, place }: Correction): string =>
  JSON.stringify([file, rule, message, place])

const inWords = ({ file, rule, message, place }: Correction): string =>
  `${rule} at ${place} of ${file} (${message})`

/**
 * The differences of a file that no correction names, those that one does, and a sentence for each correction of the file that names
 * no breaking difference.
 */
export const corrected = (file: string, differences: Differences, all: readonly Correction[]) => {
  const own = new Map(all.filter(one => one.file === file).map(one => [keyOf(one), one]))
  const keyed = differences.map(difference => {
    const { rule, message, path: place } = difference
    return { difference, key: keyOf({ file, rule, message, place }) }
  })
  const isNamed = ({ difference, key }: (typeof keyed)[number]) =>
    difference.class === 'breaking' && own.has(key)
  const found = new Set(keyed.filter(isNamed).map(({ key }) => key))
  return {
    left: keyed.filter(one => !isNamed(one)).map(({ difference }) => difference),
    named: keyed.filter(isNamed).map(({ difference }) => difference),
    missed: [...own]
      .filter(([key]) => !found.has(key))
      .map(([, one]) => `${inWords(one)} is no breaking difference: take it out`),
  }
}

/** The corrections that another list has not: those of a release have done their work. */
export const newIn = (all: readonly Correction[], before: readonly Correction[]) => {
  const known = new Set(before.map(keyOf))
  return all.filter(one => !known.has(keyOf(one)))
}
