/** Conditions on rows: as authors write them, and resolved against the model as plain data that both cores and their threads understand; also which of them hold for every row by their form. */
import { isDay } from '#base/dates.ts'
import { own } from '#base/object.ts'
import { hintFor, nearest } from '#base/text.ts'
import { type FaultMessage, messageOf } from '#errors.ts'
import { digitsOf, parseMinor } from '#model/money.ts'
import { linkOf, withArticle } from '#model/names.ts'
import {
  codePoints,
  comparedMoment,
  indexedFrom,
  isComparable,
  isSoughtInLists,
  isStorable,
  notATime,
  notStorable,
  type Scalar,
} from '#model/values.ts'
import { foldedAs, type SearchIndex } from '#model/words.ts'

/** The row that the caller's token speaks for. No row of others is compared with one that is not there: it is nobody's. */
export const viewer: unique symbol = Symbol.for('duet.viewer')
/** The time of the request. */
export const now: unique symbol = Symbol.for('duet.now')

/** A value that a field is compared with: as callers write it, times also as a Date. */
type ConditionValue = string | number | boolean | null | Date | typeof viewer | typeof now

/** The comparisons of a field, all of which must hold. */
type FieldCondition = {
  readonly eq?: ConditionValue
  readonly ne?: ConditionValue
  readonly in?: readonly ConditionValue[]
  readonly notIn?: readonly ConditionValue[]
  readonly isNull?: boolean
  readonly lt?: ConditionValue
  readonly lte?: ConditionValue
  readonly gt?: ConditionValue
  readonly gte?: ConditionValue
  readonly contains?: string
  readonly startsWith?: string
  readonly has?: string | number
  readonly hasSome?: readonly (string | number)[]
}

/** What holds of some row of a list, or of none. */
type ListCondition = { readonly some: Condition } | { readonly none: Condition }

/**
 * A condition on a row, as authors write it: its members are fields and relations of the entity, and `and`, `or` and `not`; all of
 * them must hold. A field takes a value or its comparisons, a relation to one row the condition of that row, one to many `some` or
 * `none`. Each row satisfies exactly one of a condition and its `not`: a comparison with a field that is null is false.
 */
export type Condition = {
  readonly and?: readonly Condition[]
  readonly or?: readonly Condition[]
  readonly not?: Condition
  readonly [member: string]:
    | ConditionValue
    | FieldCondition
    | ListCondition
    | Condition
    | readonly Condition[]
    | undefined
}

/** The members that a condition names on its own row. */
export type MembersOf<C> = C extends readonly (infer One)[]
  ? MembersOf<One>
  : {
      [Member in keyof C]: Member extends 'and' | 'or' | 'not' ? MembersOf<C[Member]> : Member
    }[keyof C]

/** Where the row of the viewer is found: by its id, or by a subject, which its slot then has in place of the id. */
export type ViewersTable = { readonly table: string; readonly by: string }

/** What a field is compared with: a stored value, a parameter of a read, the viewer's id, the time of the request, or a result of an earlier step of the write. */
export type Operand =
  | { readonly kind: 'value'; readonly value: string | number | null }
  | { readonly kind: 'slot'; readonly slot: number }
  | { readonly kind: 'viewer'; readonly from?: ViewersTable | undefined }
  | { readonly kind: 'now' }
  | { readonly kind: 'result'; readonly step: string; readonly field: string }

/** A value of a condition that is known as an operand only: a field of the row of an earlier step, or what each request of a caller gives. */
export class OperandValue {
  readonly operand: Operand
  constructor(operand: Operand) {
    this.operand = operand
  }
}

/** What is wrong with a value of a caller: the rest of a sentence about it. */
export class ValueFault {
  readonly message: string
  constructor(message: string) {
    this.message = message
  }
}

/**
 * How a field is compared with one operand. `contains` finds a folded text by an index of trigrams, which `contains short`
 * does not need; `has` looks for a text in a list, `has number` for a number.
 */
type Comparison =
  | 'eq'
  | 'lt'
  | 'lte'
  | 'gt'
  | 'gte'
  | 'contains'
  | 'contains short'
  | 'startsWith'
  | 'has'
  | 'has number'

/** Where the member of a part stands in a caller's condition, such as `where.or.1.rating`. */
type Placed = { readonly path?: string }

/** A comparison of one field; with the stored value null `eq` holds if the field is null. */
export type FieldComparison = Placed & {
  readonly kind: 'compare'
  readonly field: string
  readonly is: Comparison
  readonly to: Operand
}

/**
 * A condition resolved against the model. It is plain data that can be sent to another thread, and this is its whole form:
 *
 * - `and` and `or` hold of all or of some of their parts: without parts `and` holds, and `or` does not;
 * - `not` holds if its part does not;
 * - `compare` and `among` look at a field of the row, by its name in the model, and never hold of a null but by `eq` to null;
 * - `across` looks at other rows: `one`, the row of `table` whose id is in field `by` of this one, which must exist and fit;
 *   `some` and `none`, the rows of `table` whose field `by` has the id of this one. `found` says that an index finds those that
 *   fit: one at the most, or few;
 * - `finds` holds of rows that have all of some words, as an index of words finds them;
 * - `has viewer` holds if the caller's token speaks for a row: one that is looked up if `from` says where, else one that it has the id of.
 *
 * Operands are stored values (times in milliseconds, money in minor units, flags as 0 and 1), slots, the viewer and the time.
 */
export type Predicate =
  | { readonly kind: 'and' | 'or'; readonly of: readonly Predicate[] }
  | { readonly kind: 'not'; readonly of: Predicate }
  | FieldComparison
  | (Placed & {
      readonly kind: 'among'
      readonly field: string
      readonly values: readonly Operand[]
      /** Of a caller's condition whose values are one operand, a JSON list: what they are. */
      readonly list?: Scalar
    })
  | (Placed & {
      readonly kind: 'across'
      readonly rows: 'one' | 'some' | 'none'
      readonly table: string
      readonly by: string
      readonly where: Predicate
      readonly found?: 'one' | 'few' | undefined
    })
  | { readonly kind: 'finds'; readonly index: SearchIndex; readonly to: Operand }
  | { readonly kind: 'has viewer'; readonly from?: ViewersTable | undefined }

/** The predicate that all of these are. */
export const allOf = (of: readonly Predicate[]): Predicate =>
  of.length === 1 ? (of[0] as Predicate) : { kind: 'and', of }

/** The predicate that one of these is. */
export const anyOf = (of: readonly Predicate[]): Predicate =>
  of.length === 1 ? (of[0] as Predicate) : { kind: 'or', of }

/** The predicates directly within one. */
export const partsOf = (predicate: Predicate): readonly Predicate[] => {
  if (predicate.kind === 'across') return [predicate.where]
  if (predicate.kind === 'not') return [predicate.of]
  return predicate.kind === 'and' || predicate.kind === 'or' ? predicate.of : []
}

/** The same predicate with others in the place of those directly within it. */
export const mappedParts = (
  predicate: Predicate,
  change: (part: Predicate) => Predicate,
): Predicate => {
  if (predicate.kind === 'across') return { ...predicate, where: change(predicate.where) }
  if (predicate.kind === 'not') return { kind: 'not', of: change(predicate.of) }
  if (predicate.kind !== 'and' && predicate.kind !== 'or') return predicate
  return { kind: predicate.kind, of: predicate.of.map(change) }
}

/** Whether a predicate or one within it is so. */
export const someOf = (predicate: Predicate, isSo: (one: Predicate) => boolean): boolean =>
  isSo(predicate) || partsOf(predicate).some(part => someOf(part, isSo))

/** Whether a predicate can only hold of rows of the viewer, who then has a row. */
export const isOfViewer = (predicate: Predicate): boolean => {
  const { kind } = predicate
  if (kind === 'compare') return predicate.is === 'eq' && predicate.to.kind === 'viewer'
  if (kind === 'and') return predicate.of.some(isOfViewer)
  if (kind === 'or') return predicate.of.length > 0 && predicate.of.every(isOfViewer)
  if (kind === 'across') return predicate.rows !== 'none' && isOfViewer(predicate.where)
  return kind === 'has viewer'
}

/** The values that a predicate itself compares its field with. */
export const operandsIn = (predicate: Predicate): readonly Operand[] => {
  if (predicate.kind === 'among') return predicate.values
  return predicate.kind === 'compare' ? [predicate.to] : []
}

const namesViewerIn = (predicate: Predicate): boolean =>
  someOf(predicate, one => operandsIn(one).some(({ kind }) => kind === 'viewer'))

/** Whether the viewer is named below a negation: such a predicate may hold of any row if the viewer has none. */
export const isViewerNegated = (predicate: Predicate): boolean =>
  someOf(
    predicate,
    one =>
      (one.kind === 'not' || (one.kind === 'across' && one.rows === 'none')) && namesViewerIn(one),
  )

/** An entity, as far as the form of a condition on its rows depends on it. */
type FormedEntity = {
  readonly table: string
  readonly fields: Readonly<
    Record<string, { readonly nullable: boolean; readonly foldedFrom?: string | undefined }>
  >
}

/**
 * What a predicate says of all rows of an entity by its form alone, whatever they have: that it holds for each, or for none, as what is
 * compared with an empty list does; undefined if that depends on the row. `given` gives what an operand is.
 */
export const constantTruth = (
  entities: Readonly<Record<string, FormedEntity>>,
  entity: FormedEntity | undefined,
  predicate: Predicate,
  given: (operand: Operand) => unknown,
): boolean | undefined => {
  const within = (part: Predicate) => constantTruth(entities, entity, part, given)
  const isFull = (key: string) => {
    const field = entity?.fields[key]
    const source = field?.foldedFrom === undefined ? field : entity?.fields[field.foldedFrom]
    return source?.nullable === false
  }
  switch (predicate.kind) {
    case 'and':
    case 'or': {
      const decides = predicate.kind === 'or'
      const parts = predicate.of.map(within)
      if (parts.includes(decides)) return decides
      return parts.includes(undefined) ? undefined : !decides
    }
    case 'not': {
      const isSo = within(predicate.of)
      return isSo === undefined ? undefined : !isSo
    }
    case 'compare': {
      const { field, is } = predicate
      const to = given(predicate.to)
      if (is === 'eq' && to === null && isFull(field)) return false
      const isText = is === 'contains' || is === 'contains short' || is === 'startsWith'
      return isText && to === '' && isFull(field) ? true : undefined
    }
    case 'among':
      return predicate.values.length === 0 ? false : undefined
    case 'across': {
      const { rows, table, by, where } = predicate
      const other = Object.values(entities).find(one => one.table === table)
      const isSo = constantTruth(entities, other, where, given)
      if (isSo === false) return rows === 'none'
      return isSo && rows === 'one' && isFull(by) ? true : undefined
    }
    case 'finds':
    case 'has viewer':
      return undefined
    default:
      return predicate satisfies never
  }
}

/** Whether a condition names the viewer anywhere. */
export const namesViewer = (condition: unknown): boolean =>
  condition === viewer ||
  (typeof condition === 'object' &&
    condition !== null &&
    Object.values(condition).some(namesViewer))

/** A fault of a condition: its path, such as `or.1.rating.gte`, and the rest of the sentence. */
export type ConditionFault = { readonly path: string; readonly message: string }

/** The most comparisons of a condition. */
export const mostComparisons = 30
/** From so many on nobody counts them. */
const tooMany = 300
const mostDepth = 6
const mostValues = 100
/** The most letters of a text that a caller looks for. */
const mostLetters = 200

const ranges = ['lt', 'lte', 'gt', 'gte']
const always = ['eq', 'ne', 'in', 'notIn', 'isNull']
const searches = ['contains', 'startsWith']

type Taken = 'value' | 'value or null' | 'values' | 'text' | 'flag'

const taken: Readonly<Record<string, Taken>> = {
  ...{ eq: 'value or null', ne: 'value or null', in: 'values', notIn: 'values' },
  ...{ hasSome: 'values', isNull: 'flag', contains: 'text', startsWith: 'text' },
}

/** What an operator takes: a value of the field's kind, one or null, some of them, a text to look for, or true or false. */
export const operandOf = (operator: string): Taken => own(taken, operator) ?? 'value'

/** A field, as far as a condition looks at it. */
type ComparedField = {
  readonly scalar: Scalar
  readonly scale?: number
  readonly items?: ComparedField | undefined
  readonly values: readonly string[] | undefined
  readonly references: { readonly entity: string } | undefined
  readonly foldedFrom: string | undefined
  readonly accents: 'ignored' | undefined
  readonly copied?: 'words' | 'nfc' | undefined
}

type ComparedRelation = Parameters<typeof linkOf>[2] & { readonly kind: 'one' | 'many' }

/** An entity, as far as conditions are resolved against it. */
export type ComparedEntity = {
  readonly table: string
  readonly fields: Readonly<Record<string, ComparedField>>
  readonly relations: Readonly<Record<string, ComparedRelation>>
}

/** The folded copy of a text field, or the field itself if it is one. */
export const foldedCopy = (
  { fields }: Pick<ComparedEntity, 'fields'>,
  key: string,
): string | undefined =>
  fields[key]?.foldedFrom === undefined
    ? Object.keys(fields).find(other => fields[other]?.foldedFrom === key && !fields[other]?.copied)
    : key

/** The operators of a field; none if it cannot be compared. */
export const operatorsOf = (entity: ComparedEntity, key: string): readonly string[] => {
  const { scalar, items } = entity.fields[key] ?? {}
  if (isSoughtInLists(items?.scalar)) return ['isNull', 'has', 'hasSome']
  if (scalar === 'file' || items) return ['isNull']
  if (scalar === undefined || !isComparable(scalar)) return []
  if (scalar === 'text')
    return foldedCopy(entity, key) === undefined ? always : [...always, ...searches]
  return scalar === 'id' || scalar === 'flag' ? always : [...always, ...ranges]
}

type StoredOperand = { readonly value: string | number } | { readonly fault: string }

/** The stored form of a value that an author compares a field with; an amount may lie between two minor units, and a time between two milliseconds. */
const storedOperand = (field: ComparedField, given: unknown, digits: number): StoredOperand => {
  if (given instanceof ValueFault) return { fault: given.message }
  const { scalar, values } = field
  const text = typeof given === 'string' ? given : undefined
  switch (scalar) {
    case 'id':
    case 'int':
      if (Number.isSafeInteger(given)) return { value: Number(given) }
      return { fault: 'must be a whole number' }
    case 'money':
    case 'decimal': {
      const parsed = Number.isFinite(given)
        ? parseMinor(String(given), digitsOf(field, digits))
        : undefined
      if (!parsed) return { fault: 'must be a number' }
      const half = Number(given) < 0 ? -0.5 : 0.5
      return { value: Number(parsed.minor) + (parsed.rest ? half : 0) }
    }
    case 'time': {
      const at = given instanceof Date ? given.valueOf() : text && comparedMoment(text)
      return typeof at === 'number' && !Number.isNaN(at) ? { value: at } : { fault: notATime }
    }
    case 'flag':
      if (typeof given === 'boolean') return { value: given ? 1 : 0 }
      return { fault: 'must be true or false' }
    case 'text': {
      if (text === undefined) return { fault: 'must be a text' }
      if (!isStorable(text)) return { fault: notStorable }
      if (!values || values.includes(text)) return { value: text }
      const near = nearest(text, values)
      const hint = near === undefined ? '' : `: did you mean ${near}?`
      return {
        fault: `is ${JSON.stringify(text)}, which is not one of ${values.join(', ')}${hint}`,
      }
    }
    case 'date':
      if (text !== undefined && isDay(text)) return { value: text }
      return { fault: 'must be a day, such as 2026-01-31' }
    case 'list':
      return field.items
        ? storedOperand(field.items, given, digits)
        : { fault: 'cannot be compared' }
    case 'json':
    case 'file':
    case 'bytes':
      return { fault: 'cannot be compared' }
    default:
      return scalar satisfies never
  }
}

type ConditionContext = {
  readonly entities: Readonly<Record<string, ComparedEntity>>
  /** The decimals of the currency. */
  readonly digits: number
  /** The entity of the viewers, to whose rows `viewer` must be compared; not looked at if it is left out. */
  readonly viewers?: string
  /** Where the viewer is found by a subject; its id is in the slot if it is left out. */
  readonly from?: ViewersTable | undefined
  /** Where the rows are groups: by what operators each value is compared, and what a value stands for that a caller wrote. */
  readonly groups?: {
    readonly operatorsOf: (name: string) => readonly string[]
    readonly valueOf: (name: string, given: unknown) => unknown
  }
  /** The vocabulary of a caller, if the condition is not of the content's author; faults and parts then have paths below `where`. */
  readonly caller?: CallerVocabulary
}

/** The members that callers may compare in conditions, and how they write values. */
export type CallerVocabulary = {
  /** The fields and relations of an entity that are open to them, by the names that they have for them. */
  readonly membersOf: (entity: string) => ReadonlyMap<string, string>
  /** A value as conditions have it, of what a caller wrote, or what is wrong with it; anything else is left as it is, and is a fault. */
  readonly valueOf: (entity: string, field: string, given: unknown) => unknown
  /** Whether an index of trigrams finds what a folded copy contains. */
  readonly isSearched: (entity: string, folded: string) => boolean
  /** Whether a value alone stands for `eq`. */
  readonly isShort: boolean
  /** Where the condition stands in the request. */
  readonly path: string
}

/** One of the two vocabularies of conditions: that of authors, whose conditions are sound once they were resolved, or that of callers. */
type Vocabulary = Pick<CallerVocabulary, 'isSearched' | 'isShort' | 'path'> & {
  readonly keyOf: (entity: string, member: string) => string | undefined
  readonly namesOf: (entity: string) => readonly string[]
  readonly stored: (
    entity: string,
    key: string,
    field: ComparedField,
    given: unknown,
  ) => StoredOperand
  /** Whether a reference may stand for the row that it leads to, as its relation does. */
  readonly leadsOn: boolean
  /** Where a part stands, if that is told to anybody. */
  readonly placed: (path: string) => Placed
  /** From so many comparisons, and so many faults, on no more is looked at: a condition may have been sent to take long. */
  readonly enough: number
  readonly enoughFaults: number
  readonly longestText: number
}

const nowhere: Placed = {}

const authorVocabulary = ({ entities, digits, groups }: ConditionContext): Vocabulary => ({
  keyOf: (_, member) => member,
  namesOf: name => {
    const { fields, relations } = entities[name] as ComparedEntity
    return [...Object.keys(fields), ...Object.keys(relations)]
  },
  stored: (_, key, field, given) =>
    storedOperand(field, groups ? groups.valueOf(key, given) : given, digits),
  isSearched: () => false,
  isShort: true,
  path: '',
  leadsOn: true,
  placed: () => nowhere,
  enough: tooMany,
  enoughFaults: Number.POSITIVE_INFINITY,
  longestText: Number.POSITIVE_INFINITY,
})

const callerVocabulary = ({ digits }: ConditionContext, caller: CallerVocabulary): Vocabulary => ({
  ...caller,
  keyOf: (name, member) => caller.membersOf(name).get(member),
  namesOf: name => [...caller.membersOf(name).keys()],
  stored: (name, key, field, given) => {
    const found = storedOperand(field, caller.valueOf(name, key, given), digits)
    if ('fault' in found || typeof found.value !== 'number') return found
    // No row has a number beyond those that are exact.
    const most = Number.MAX_SAFE_INTEGER
    return { value: Math.min(Math.max(found.value, -most), most) }
  },
  leadsOn: false,
  placed: path => ({ path }),
  enough: mostComparisons,
  enoughFaults: tooMany,
  longestText: mostLetters,
})

/** A place where an operand stands for a value: how its field has a value that is given in its place, and the kind of that field. */
export type OperandPlace = {
  readonly operand: OperandValue
  readonly scalar: Scalar
  readonly stored: (given: unknown) => StoredOperand
}

type Resolving = ConditionContext & {
  readonly vocabulary: Vocabulary
  readonly faults: ConditionFault[]
  readonly operands: OperandPlace[]
  comparisons: number
}

const neither: Predicate = { kind: 'or', of: [] }

const fault = ({ faults }: Resolving, path: string, message: FaultMessage): Predicate => {
  faults.push({ path, message: messageOf(message, faults.length) })
  return neither
}

const within = (path: string, member: string | number) =>
  path === '' ? String(member) : `${path}.${member}`

const isEnough = ({ comparisons, faults, vocabulary: words }: Resolving): boolean =>
  comparisons > words.enough || faults.length > words.enoughFaults

const isPlain = (given: unknown): given is Readonly<Record<string, unknown>> =>
  typeof given === 'object' &&
  given !== null &&
  [Object.prototype, null].includes(Object.getPrototypeOf(given))

/** A field, by its own name, at its place in a condition; where `path` leads to its operator, `member` leads to itself. */
type FieldAt = Readonly<{ name: string; key: string; path: string; member?: string }>

const operandAt = (at: Resolving, { name, key, path }: FieldAt, given: unknown): Operand => {
  const { entities, viewers, from, vocabulary: words, operands } = at
  const field = entities[name]?.fields[key] as ComparedField
  if (given === viewer) {
    const leadsTo = key === 'id' ? name : field.references?.entity
    if (leadsTo === undefined || (viewers !== undefined && leadsTo !== viewers))
      fault(
        at,
        path,
        `is compared with the viewer and is no id of ${withArticle(viewers ?? 'viewer')}: name a reference to one`,
      )
    return { kind: 'viewer', ...(from && { from }) }
  }
  if (given instanceof OperandValue) {
    const scalar = field.scalar === 'list' ? (field.items?.scalar ?? 'text') : field.scalar
    const stored = (one: unknown) => words.stored(name, key, field, one)
    operands.push({ operand: given, scalar, stored })
    return given.operand
  }
  if (given === now) {
    if (field.scalar !== 'time') fault(at, path, 'is compared with now and is no time')
    return { kind: 'now' }
  }
  const found = words.stored(name, key, field, given)
  if ('value' in found) return { kind: 'value', value: found.value }
  fault(at, path, found.fault)
  return { kind: 'value', value: null }
}

/** No row has a number as far from zero as this one, which stands for all beyond it. */
const beyondAll = 2 ** 53

/** A comparison of a field with one value. No row has an amount between two minor units, or such a time; a bound there is that of the nearest one. */
export const comparedTo = (field: string, is: Comparison, to: Operand): Predicate => {
  if (to.kind !== 'value' || typeof to.value !== 'number' || Number.isInteger(to.value))
    return { kind: 'compare', field, is, to }
  if (is === 'eq') return neither
  const isLeast = is === 'gt' || is === 'gte'
  const whole = isLeast ? Math.floor(to.value) : Math.ceil(to.value)
  const value = Math.min(Math.max(whole, -beyondAll), beyondAll)
  return { kind: 'compare', field, is: isLeast ? 'gt' : 'lt', to: { kind: 'value', value } }
}

const compared = (at: Resolving, field: FieldAt, operator: string, given: unknown): Predicate => {
  const { vocabulary: words, entities } = at
  const { name, key, path, member = path } = field
  const not = (than: string, to = given): Predicate => ({
    kind: 'not',
    of: compared(at, field, than, to),
  })
  if (operator === 'ne') return not('eq')
  if (operator === 'notIn') return not('in')
  if (operator === 'isNull') {
    if (typeof given !== 'boolean') return fault(at, path, 'must be true or false')
    return given ? compared(at, field, 'eq', null) : not('eq', null)
  }
  if (++at.comparisons > mostComparisons && isEnough(at)) return neither
  const placed = words.placed(member)
  const entity = entities[name] as ComparedEntity
  switch (operator) {
    case 'in':
    case 'hasSome': {
      if (!Array.isArray(given)) return fault(at, path, 'must be a list of values')
      if (given.length > mostValues)
        return fault(at, path, `has ${given.length} values, and at most ${mostValues} are taken`)
      const each = (place: number) => ({ ...field, member, path: within(path, place) })
      if (operator === 'hasSome')
        return { kind: 'or', of: given.map((one, place) => compared(at, each(place), 'has', one)) }
      const values = given.map((one, place) => operandAt(at, each(place), one))
      const isExact = (one: Operand) =>
        one.kind !== 'value' || typeof one.value !== 'number' || Number.isInteger(one.value)
      const list = placed.path === undefined ? {} : { list: entity.fields[key]?.scalar as Scalar }
      return { kind: 'among', field: key, values: values.filter(isExact), ...list, ...placed }
    }
    case 'contains':
    case 'startsWith': {
      if (typeof given !== 'string') return fault(at, path, 'must be a text')
      if (!isStorable(given)) return fault(at, path, notStorable)
      const copy = foldedCopy(entity, key) ?? key
      const value = foldedAs(entity.fields[copy] as ComparedField, given)
      if (value.length > words.longestText)
        return fault(at, path, `is longer than ${words.longestText} letters: look for less`)
      const isIndexed = codePoints(value) >= indexedFrom && words.isSearched(name, copy)
      const is = operator === 'contains' && !isIndexed ? 'contains short' : operator
      return { kind: 'compare', field: copy, is, to: { kind: 'value', value }, ...placed }
    }
    default: {
      const isNumber = entity.fields[key]?.items?.scalar === 'int'
      const is = operator === 'has' && isNumber ? 'has number' : (operator as Comparison)
      const to =
        given === null && operator === 'eq'
          ? ({ kind: 'value', value: null } as const)
          : operandAt(at, field, given)
      const predicate = comparedTo(key, is, to)
      return predicate === neither ? neither : { ...predicate, ...placed }
    }
  }
}

const across = (
  at: Resolving,
  rows: 'one' | 'some' | 'none',
  { to, by }: { readonly to: string; readonly by: string },
  given: unknown,
  path: string,
  depth: number,
): Predicate => {
  const table = own(at.entities, to)?.table ?? ''
  const where = resolvedPart(at, to, given, path, depth + 1)
  return { kind: 'across', rows, table, by, where, ...at.vocabulary.placed(path) }
}

const relationPart = (
  at: Resolving,
  name: string,
  relation: ComparedRelation,
  given: unknown,
  path: string,
  depth: number,
): Predicate => {
  const { entities } = at
  if (relation.kind === 'one')
    return given === viewer
      ? compared(at, { name, key: relation.by, path }, 'eq', given)
      : across(at, 'one', relation, given, path, depth)
  const [[rows, of] = ['', undefined], ...others] = isPlain(given) ? Object.entries(given) : []
  if ((rows !== 'some' && rows !== 'none') || others.length > 0)
    return fault(at, path, 'is a list: write { some: … } or { none: … }')
  const place = within(path, rows)
  const link = relation.through === undefined ? undefined : linkOf(entities, name, relation)
  if (!link) return across(at, rows, relation, of, place, depth)
  const { table = '' } = own(entities, relation.through ?? '') ?? {}
  const where = across(at, 'one', { to: relation.to, by: link.of }, of, place, depth)
  return { kind: 'across', rows, table, by: link.by, where, ...at.vocabulary.placed(place) }
}

/** What holds of a field, which is called `written` there. */
const fieldPart = (
  at: Resolving,
  field: FieldAt,
  written: string,
  given: unknown,
  depth: number,
): Predicate => {
  const { vocabulary: words, entities } = at
  const { name, key, path } = field
  if (given === undefined) return fault(at, path, 'is undefined: give it a value')
  const entity = entities[name] as ComparedEntity
  const { references, scalar } = entity.fields[key] as ComparedField
  const operators = at.groups?.operatorsOf(key) ?? operatorsOf(entity, key)
  if (operators.length === 0) return fault(at, path, 'cannot be compared: leave it out')
  if (!isPlain(given)) {
    if (!words.isShort) return fault(at, path, 'must be comparisons, such as { isNull: true }')
    if (operators.includes('eq')) return compared(at, field, 'eq', given)
    return fault(at, path, `is compared by operators alone: take one of ${operators.join(', ')}`)
  }
  const keys = Object.keys(given)
  if (references && words.leadsOn && !(keys.length > 0 && keys.every(one => always.includes(one))))
    return across(at, 'one', { to: references.entity, by: key }, given, path, depth)
  if (keys.length === 0)
    return fault(at, path, `names no operator: take one of ${operators.join(', ')}`)
  const parts = keys.map((operator): Predicate => {
    const place = { ...field, member: path, path: within(path, operator) }
    if (operators.includes(operator)) return compared(at, place, operator, given[operator])
    if (words.leadsOn && !at.groups && scalar === 'text' && searches.includes(operator))
      return fault(
        at,
        place.path,
        `needs a folded copy: add one to ${name}, such as ${key}Key: folded('${key}')`,
      )
    return fault(at, place.path, () => {
      const hint = hintFor(operator, operators, `take one of ${operators.join(', ')}`)
      return `is not an operator of ${written}: ${hint}`
    })
  })
  return allOf(parts)
}

const memberPart = (
  at: Resolving,
  name: string,
  written: string,
  given: unknown,
  path: string,
  depth: number,
): Predicate => {
  const { fields, relations } = at.entities[name] as ComparedEntity
  const key = at.vocabulary.keyOf(name, written) ?? ''
  const relation = own(relations, key)
  if (relation) return relationPart(at, name, relation, given, path, depth)
  if (own(fields, key)) return fieldPart(at, { name, key, path }, written, given, depth)
  return fault(at, path, () => {
    const known = at.vocabulary.namesOf(name)
    const hint = hintFor(written, [...known, 'and', 'or', 'not'], `name one of ${known.join(', ')}`)
    return `is not a field or relation of ${name}: ${hint}`
  })
}

const resolvedPart = (
  at: Resolving,
  name: string,
  given: unknown,
  path: string,
  depth: number,
): Predicate => {
  if (!isPlain(given)) return fault(at, path, 'must be a condition, such as { id: 1 }')
  if (depth > mostDepth) return fault(at, path, `is deeper than ${mostDepth}: make it flatter`)
  const entries = Object.entries(given)
  // What compares nothing counts too, so that a condition of many empty parts is refused.
  if (entries.length === 0 && (at.vocabulary.leadsOn || path !== at.vocabulary.path))
    at.comparisons++
  const parts = entries.map(([key, value]): Predicate => {
    const place = within(path, key)
    if (isEnough(at)) return neither
    if (key === 'not') return { kind: 'not', of: resolvedPart(at, name, value, place, depth + 1) }
    if (key !== 'and' && key !== 'or') return memberPart(at, name, key, value, place, depth)
    if (!Array.isArray(value)) return fault(at, place, 'must be a list of conditions')
    if (value.length === 0) at.comparisons++
    const of = value.map((one, index) =>
      resolvedPart(at, name, one, within(place, index), depth + 1),
    )
    return { kind: key, of }
  })
  return allOf(parts)
}

/** Resolves a condition on the rows of an entity; all its faults are named, and the places of its operands. */
export const resolveCondition = (
  context: ConditionContext,
  entityName: string,
  condition: unknown,
): {
  readonly predicate: Predicate
  readonly faults: readonly ConditionFault[]
  readonly operands: readonly OperandPlace[]
  readonly comparisons: number
} => {
  const { caller } = context
  const vocabulary = caller ? callerVocabulary(context, caller) : authorVocabulary(context)
  const at: Resolving = { ...context, vocabulary, faults: [], operands: [], comparisons: 0 }
  const predicate = resolvedPart(at, entityName, condition, vocabulary.path, 1)
  const { comparisons, faults, operands } = at
  if (comparisons > mostComparisons) {
    const count = comparisons > vocabulary.enough ? 'too many' : comparisons
    fault(at, vocabulary.path, `has ${count} comparisons, and at most ${mostComparisons} are taken`)
  }
  return { predicate, faults, operands, comparisons }
}

const wordsOf: Readonly<Record<string, string>> = {
  eq: 'is',
  ne: 'is not',
  in: 'is one of',
  notIn: 'is none of',
  lt: 'is below',
  lte: 'is at most',
  gt: 'is above',
  gte: 'is at least',
  contains: 'contains',
  startsWith: 'begins with',
}

/** A condition in a person's words, for the documents: `status is published and owner is the caller`. */
export const conditionInWords = (condition: unknown, path = ''): string => {
  const valueWords = (value: unknown): string => {
    if (value === viewer) return 'the caller'
    if (value === now) return 'now'
    if (Array.isArray(value)) return value.map(valueWords).join(', ')
    return value instanceof Date ? value.toISOString() : String(value)
  }
  if (typeof condition !== 'object' || condition === null || condition instanceof Date)
    return `${path} is ${valueWords(condition)}`
  const parts = Object.entries(condition).map(([key, value]) => {
    if (key === 'not') return `not (${conditionInWords(value, path)})`
    if (key === 'and' || key === 'or') {
      const all = (value as readonly unknown[]).map(one => conditionInWords(one, path))
      return `(${all.join(` ${key} `)})`
    }
    if (key === 'isNull') return `${path} is ${value === true ? '' : 'not '}null`
    if (key === 'some' || key === 'none')
      return `${key === 'some' ? 'one' : 'none'} of ${path} has ${conditionInWords(value)}`
    const operator = path === '' ? undefined : own(wordsOf, key)
    return operator === undefined
      ? conditionInWords(value, path === '' ? key : `${path}.${key}`)
      : `${path} ${operator} ${valueWords(value)}`
  })
  return parts.length === 0 ? 'it exists' : parts.join(' and ')
}
