/** Fields that the store computes: of other fields of the same row, by a formula that is data, or of the rows below it. */
import { own } from '#base/object.ts'
import { madeWith, optionsOf } from '#base/shape.ts'
import type { Entity } from '#model/entity.ts'
import {
  computed,
  copyFrom,
  type Field,
  type Formula,
  int,
  internal,
  isDerived,
  type Term,
} from '#model/field.ts'
import { withDeletions } from '#model/references.ts'
import type { Scalar } from '#model/values.ts'
import { nfcKey, wordsKey } from '#model/words.ts'

/** What a term may be: its bounds are those of its number, or of its length. */
type TermType = {
  readonly kind: 'number' | 'money' | 'text' | 'date' | 'time'
  readonly scale: number
  readonly min: number
  readonly max: number
  readonly nullable: boolean
}

const kinds: Readonly<Partial<Record<Scalar, TermType['kind']>>> = {
  int: 'number',
  decimal: 'number',
  money: 'money',
  text: 'text',
  date: 'date',
  time: 'time',
}

type Fields = Readonly<Record<string, Field>>

/** More decimals of a mean than its values have. */
export const meanDigits = 4

/** Which kind of formula it is, and its terms. */
export const partsOf = (formula: Formula) =>
  Object.entries(formula)[0] as readonly [
    'plus' | 'minus' | 'times' | 'concat' | 'coalesce' | 'mean',
    readonly Term[],
  ]

/** The fields that a formula names. */
export const fieldsIn = (term: Term): readonly string[] => {
  if (typeof term === 'string') return [term]
  return 'value' in term || 'text' in term ? [] : partsOf(term)[1].flatMap(fieldsIn)
}

/** What a field may be that is itself, or is to be, a term. */
const fieldType = ({ scalar, scale, range, nullable }: Field, name: string): TermType => {
  const kind = kinds[scalar]
  if (!kind) throw new Error(`has ${name} in its formula, which is ${scalar}`)
  const { min = 0, max = 10 } = range ?? {}
  return { kind, scale, min, max, nullable }
}

/** What a term may be; throws a plain Error with the rest of a sentence about its field. */
export const termType = (fields: Fields, term: Term): TermType => {
  if (typeof term === 'string') {
    const field = own(fields, term)
    if (!field || field.computed || field.foldedFrom !== undefined)
      throw new Error(`has ${term} in its formula, which is no field with a value of its own`)
    return fieldType(field, term)
  }
  if ('value' in term) {
    const { value } = term
    const scale = String(value).split('.')[1]?.length ?? 0
    return { kind: 'number', scale, min: value, max: value, nullable: false }
  }
  if ('text' in term)
    return { kind: 'text', scale: 0, min: 0, max: term.text.length, nullable: false }
  const [by, terms] = partsOf(term)
  if (!Object.hasOwn(boundsBy, by))
    throw new Error(
      `has ${by} in its formula: write plus, minus, times, concat or coalesce in its place`,
    )
  const types = terms.map(term => termType(fields, term))
  const [first, ...others] = types
  if (!first) throw new Error(`has ${by} of nothing in its formula: give it terms`)
  const scale = Math.max(...types.map(({ scale }) => scale))
  const nullable = types.some(({ nullable }) => nullable)
  const isNumber = ({ kind }: TermType) => kind === 'number' || kind === 'money'
  const alike = others.every(({ kind }) => kind === first.kind)
  const made = boundsBy[by](by === 'concat' ? types.map(lengthOf) : types)
  if (by === 'concat') {
    if (!types.every(({ kind, scale }) => kind !== 'money' && kind !== 'time' && scale === 0))
      throw new Error('joins something that is no text, whole number or day')
    return { kind: 'text', scale: 0, min: 0, max: made.max, nullable }
  }
  if (by === 'coalesce') {
    if (!alike) throw new Error('takes the first of values of several kinds: name one kind')
    return { ...first, ...made, scale, nullable: types.every(({ nullable }) => nullable) }
  }
  if (!types.every(isNumber)) throw new Error('calculates with something that is no number')
  if (by === 'mean') return { ...first, scale: scale + meanDigits, nullable: true }
  const amounts = types.filter(({ kind }) => kind === 'money')
  if (by === 'times') {
    if (amounts.length > 1 || (amounts.length > 0 && scale > 0))
      throw new Error('multiplies money by what is no whole number: name one amount, whole numbers')
    const all = types.reduce((sum, { scale }) => sum + scale, 0)
    return exact({ kind: amounts.length > 0 ? 'money' : 'number', ...made, scale: all, nullable })
  }
  if (!alike) throw new Error('adds money to what is none: name amounts alone, or numbers alone')
  return exact({ kind: first.kind, ...made, scale, nullable })
}

type Bounds = Pick<TermType, 'min' | 'max'>

const sumOf = (types: readonly Bounds[]): Bounds => ({
  min: types.reduce((sum, { min }) => sum + min, 0),
  max: types.reduce((sum, { max }) => sum + max, 0),
})

const widest = (types: readonly Bounds[]): Bounds => ({
  min: Math.min(...types.map(({ min }) => min)),
  max: Math.max(...types.map(({ max }) => max)),
})

/** How long a term is as text. */
const lengthOf = ({ kind, min, max }: TermType): Bounds => ({
  min: 0,
  max: kind === 'number' ? Math.max(String(min).length, String(max).length) : max,
})

/** The bounds of a formula by those of its terms. */
const boundsBy: Readonly<Record<ReturnType<typeof partsOf>[0], (of: readonly Bounds[]) => Bounds>> =
  {
    plus: sumOf,
    minus: ([a, b]) => {
      const [from, less] = [a ?? { min: 0, max: 0 }, b ?? { min: 0, max: 0 }]
      return { min: from.min - less.max, max: from.max - less.min }
    },
    times: types =>
      types.reduce((made, { min, max }) => {
        const ends = [made.min * min, made.min * max, made.max * min, made.max * max]
        return { min: Math.min(...ends), max: Math.max(...ends) }
      }),
    concat: sumOf,
    coalesce: widest,
    mean: widest,
  }

/** Databases calculate with whole numbers of 64 bits, and programs with those of 53. */
const exact = (type: TermType): TermType => {
  const { min, max, scale } = type
  if (Math.max(-min, max) * 10 ** scale > Number.MAX_SAFE_INTEGER)
    throw new Error(
      `calculates with numbers up to ${Math.max(-min, max)} with ${scale} decimals, more than are exact: give its terms smaller ranges or fewer decimals`,
    )
  return type
}

/** The rest of a sentence about a computed field whose formula does not give what it is; undefined if nothing is wrong. */
export const computedFault = (fields: Fields, key: string, field: Field): string | undefined => {
  if (!field.computed) return undefined
  try {
    const is = termType(fields, field.computed)
    if ('mean' in field.computed) return undefined
    const as = fieldType(field, key)
    if (is.kind !== as.kind || is.scale > as.scale)
      return `is ${field.scalar}${as.kind === 'number' ? ` with ${as.scale} decimals` : ''}, and its formula gives a ${is.kind}${is.scale > 0 ? ` with ${is.scale}` : ''}: make it one`
    if (is.nullable && !as.nullable)
      return 'may be null by its formula: make what it is in `as` nullable, or let coalesce give a value'
    const isRanged = as.kind !== 'date' && as.kind !== 'time'
    if (isRanged && (is.max > as.max || (as.kind !== 'text' && is.min < as.min)))
      return `may be from ${is.min} to ${is.max} by its formula: let its range hold that`
    return undefined
  } catch (error) {
    const { message } = error as Error
    const remedy = ': name texts, numbers, amounts, days or times of its entity'
    return message.includes(':') ? message : message + remedy
  }
}

const most = Number.MAX_SAFE_INTEGER

/** What a field that the machine keeps for another one was called: it goes with that. */
const formerOf = (field: Field | undefined, keyOf: (key: string) => string): string | false =>
  field?.renamed ? keyOf(field.renamed) : false

/** Whether one text of it can be written in several ways: not what has a form of its own, nor what is compared by its characters. */
const isWrittenVariously = (field: Field | undefined): boolean =>
  field?.scalar === 'text' &&
  !isDerived(field) &&
  field.values === undefined &&
  field.format === undefined &&
  field.initial !== 'subject' &&
  !(typeof field.initial === 'object' && 'slugOf' in field.initial)

/** The texts of an entity that are unique, alone or in a set, and have no folded copy that is: letters count as one however they are composed. */
export const composedIn = ({ fields, sets, view }: Entity): readonly string[] => {
  const isFolded = (key: string) =>
    Object.values(fields).some(({ foldedFrom, unique }) => foldedFrom === key && unique)
  const isUnique = (key: string) => fields[key]?.unique && !isFolded(key)
  const ofSets = sets.flatMap(set => set.fields)
  return Object.keys(view ? {} : fields).filter(
    key => isWrittenVariously(fields[key]) && (isUnique(key) || ofSets.includes(key)),
  )
}

/**
 * The entities with the fields that the machine adds: words of searched texts, composed copies of unique texts, and the sums and counts behind means, which also give their decimals. Where no declaration says what a delete does, this decides it.
 */
export const withKept = <M extends Readonly<Record<string, Entity>>>(declared: M): M => {
  const entities = withDeletions(declared)
  const keeps = (entity: Entity) =>
    Object.keys(entity.search).length > 0 ||
    composedIn(entity).length > 0 ||
    Object.values(entity.fields).some(({ kept }) => kept)
  if (!Object.values(entities).some(keeps)) return entities
  const completed = Object.entries(entities).map(([name, entity]) => {
    const fields = Object.entries(entity.fields).flatMap(([key, field]) => {
      const { relation = '', of, where } = field.kept ?? {}
      const child = own(entities, own(entity.relations, relation)?.to ?? '')
      const source = of === undefined ? undefined : own(child?.fields ?? {}, of)
      if (!source || of === undefined) return [[key, field] as const]
      const [sum, count] = [`${key}Sum`, `${key}Count`]
      const { min = 0, max = 0 } = source.range ?? {}
      const scale = source.scale + meanDigits
      const total = (kept: Field['kept'], end: string) => ({
        ...int({ ...internal, min: -most, max: most, initial: { value: 0 } }),
        kept,
        scale: kept?.as === 'sum' ? source.scale : 0,
        renamed: formerOf(field, former => former + end),
      })
      const mean = computed({
        as: { ...field, scale, range: { min, max } },
        from: { mean: [sum, count] },
      })
      return [
        [sum, total({ relation, of, as: 'sum', where }, 'Sum')] as const,
        [count, total({ relation, of, as: 'count', where }, 'Count')] as const,
        [key, { ...mean, kept: field.kept }] as const,
      ]
    })
    // What is no text of its own is refused as what is searched, not as what is kept of it.
    for (const key of Object.keys(entity.search))
      if (own(entity.fields, key)?.scalar === 'text' && !own(entity.fields, wordsKey(key)))
        fields.push([
          wordsKey(key),
          copyFrom(key, 'words', { renamed: formerOf(own(entity.fields, key), wordsKey) }),
        ])
    const composed = composedIn(entity).filter(key => !own(entity.fields, nfcKey(key)))
    for (const key of composed) {
      const field = own(entity.fields, key)
      const renamed = formerOf(field, nfcKey)
      fields.push([nfcKey(key), copyFrom(key, 'nfc', { renamed, unique: field?.unique })])
    }
    const sets = entity.sets.flatMap(set => {
      const keys = set.fields.map(key => (composed.includes(key) ? nfcKey(key) : key))
      return set.fields.some(key => composed.includes(key)) ? [{ ...set, fields: keys }] : []
    })
    const kept: Entity = {
      ...entity,
      fields: Object.fromEntries(fields),
      sets: [...entity.sets, ...sets],
    }
    const declared = optionsOf(entity)
    return [name, declared ? madeWith(kept, declared.shape, declared.options) : kept] as const
  })
  return Object.fromEntries(completed) as M
}
