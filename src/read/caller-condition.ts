/** Conditions of callers, resolved for a plan: their values are in slots, so that those of one shape share it. */
import {
  type CallerVocabulary,
  type ConditionFault,
  mappedParts,
  type Operand,
  type OperandPlace,
  type Predicate,
  resolveCondition,
} from '#model/condition.ts'
import { entityOf, fieldOf, type Model } from '#model/model.ts'
import type { ParameterValue, Slot } from '#read/selection.ts'

/** A caller's condition, resolved: its predicate, whose values are in slots, what tells it from those of other shapes, and how much it compares. */
export type CallerCondition = {
  readonly predicate: Predicate
  readonly values: readonly ParameterValue[]
  readonly shape: string
  readonly comparisons: number
  readonly operands: readonly OperandPlace[]
}

/** Resolves a caller's condition on the rows of an entity, with its values in slots from `first` on; or gives its faults. */
export const resolveCallerCondition = (
  model: Model,
  entityName: string,
  condition: unknown,
  vocabulary: Omit<CallerVocabulary, 'isSearched'>,
  first: Slot,
): CallerCondition | { readonly faults: readonly ConditionFault[] } => {
  const { entities, settings } = model
  const isSearched = (name: string, key: string) =>
    fieldOf(entityOf(model, name), key).indexed === true
  const caller = { ...vocabulary, isSearched }
  const context = { entities, digits: settings.currency.digits, caller }
  const resolved = resolveCondition(context, entityName, condition)
  if (resolved.faults.length > 0) return { faults: resolved.faults }
  const { predicate, values } = parameterized(resolved.predicate, first)
  const { comparisons, operands } = resolved
  return { predicate, values, shape: JSON.stringify(predicate), comparisons, operands }
}

/** The most values that have a slot each; SQLite takes 1,000 parameters, and keeps the plans of thousands of statements. */
export const mostSlots = 8

/**
 * A condition with its values in slots, so that conditions of one shape share their plans. A list of values is as long as the next
 * power of two, its last value said again; a long one is in one slot.
 */
const parameterized = (
  predicate: Predicate,
  first: Slot,
): { readonly predicate: Predicate; readonly values: readonly ParameterValue[] } => {
  const values: ParameterValue[] = []
  const slotted = (to: Operand): Operand =>
    to.kind === 'value' && to.value !== null
      ? { kind: 'slot', slot: first + values.push(to.value) - 1 }
      : to
  const moved = (one: Predicate): Predicate => {
    switch (one.kind) {
      case 'compare':
        return { ...one, to: slotted(one.to) }
      case 'among': {
        const { length } = one.values
        const texts = one.values.map(to => (to.kind === 'value' ? to.value : undefined))
        if (one.list && length > mostSlots && !texts.includes(undefined)) {
          const to = { kind: 'value', value: JSON.stringify(texts) } as const
          return { ...one, values: [slotted(to)] }
        }
        const { list: _, ...each } = one
        const size = length === 0 ? 0 : 2 ** Math.ceil(Math.log2(length))
        const last = one.values.at(-1) as Operand
        const padded = Array.from({ length: size }, (_, at) => one.values[at] ?? last)
        return { ...each, values: padded.map(slotted) }
      }
      default:
        return mappedParts(one, moved)
    }
  }
  return { predicate: moved(predicate), values }
}

/**
 * A condition in the one spelling that all have which mean the same by their form: with their parts in another order or twice, with a
 * value written in another way, as a list of one, or with another operator of the same sense.
 */
export const canonicalForm = (
  predicate: Predicate,
  valueIn: (slot: Slot) => ParameterValue | undefined,
): string => {
  const given = (to: Operand): unknown =>
    to.kind === 'value' ? to.value : to.kind === 'slot' ? valueIn(to.slot) : [to]
  /** The comparisons that the values of a list stand for. */
  const each = ({ field, values, list }: Predicate & { kind: 'among' }): readonly Predicate[] => {
    const found = values.map(given)
    const isText = list !== undefined && values[0]?.kind === 'slot' && typeof found[0] === 'string'
    const all: unknown[] = isText ? JSON.parse(String(found[0])) : found
    return all.map(value => ({
      kind: 'compare',
      field,
      is: 'eq',
      to: { kind: 'value', value: value as string | number },
    }))
  }
  const constant = (isSo: boolean, isNot: boolean) => String(isSo !== isNot)
  /** The parts of a predicate, or of its opposite, whose parts are all of that kind. */
  const parts = (one: Predicate, isNot: boolean, kind: 'and' | 'or'): readonly string[] => {
    if (one.kind === 'not') return parts(one.of, !isNot, kind)
    if (one.kind === 'among') return parts({ kind: 'or', of: each(one) }, isNot, kind)
    const isSame = (one.kind === kind) !== isNot
    return (one.kind === 'and' || one.kind === 'or') && isSame
      ? one.of.flatMap(part => parts(part, isNot, kind))
      : [spelled(one, isNot)]
  }
  const leaf = (words: readonly unknown[], isNot: boolean) =>
    JSON.stringify(isNot ? ['not', words] : words)
  const spelled = (one: Predicate, isNot: boolean): string => {
    switch (one.kind) {
      case 'not':
        return spelled(one.of, !isNot)
      case 'among':
        return spelled({ kind: 'or', of: each(one) }, isNot)
      case 'and':
      case 'or': {
        const kind = (one.kind === 'and') === isNot ? 'or' : 'and'
        const found = new Set(parts(one, isNot, kind))
        // Without parts "and" holds, and "or" does not; one such part decides.
        found.delete(String(kind === 'and'))
        if (found.has(String(kind !== 'and'))) return String(kind !== 'and')
        const all = [...found].sort()
        if (all.length < 2) return all[0] ?? String(kind === 'and')
        return `["${kind}",${all.join()}]`
      }
      case 'compare': {
        const value = given(one.to)
        if (value === null && one.to.kind === 'value') return leaf([one.field, 'null'], isNot)
        if (value === null) return constant(false, isNot)
        // Stored numbers are whole ones.
        if (typeof value === 'number' && one.is === 'gt')
          return leaf([one.field, 'gte', value + 1], isNot)
        if (typeof value === 'number' && one.is === 'lt')
          return leaf([one.field, 'lte', value - 1], isNot)
        return leaf([one.field, one.is === 'contains short' ? 'contains' : one.is, value], isNot)
      }
      case 'across': {
        const { rows, table, by, where } = one
        const words = [rows === 'none' ? 'some' : rows, table, by, spelled(where, false)]
        return leaf(words, isNot !== (rows === 'none'))
      }
      case 'finds':
        return leaf(['finds', one.index.name, given(one.to)], isNot)
      case 'has viewer':
        return leaf(['has viewer'], isNot)
      default:
        return one satisfies never
    }
  }
  return spelled(predicate, false)
}
