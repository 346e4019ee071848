/** Conditions of callers, resolved for a plan: their values are in slots, so that those of one shape share it. */
import { isObject } from '#base/object.ts'
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

/** A condition with its values as a text that cursors are bound to; in which order its parts are written makes no difference. */
export const boundForm = (
  predicate: Predicate,
  valueIn: (slot: Slot) => ParameterValue | undefined,
): string => {
  const allOf = (one: Predicate): readonly Predicate[] =>
    one.kind === 'and' ? one.of.flatMap(allOf) : [one]
  const formOf = (one: unknown): string => {
    // Lists are filled up with their last value, which says nothing more.
    if (Array.isArray(one)) return `[${[...new Set(one.map(formOf))].sort().join()}]`
    if (!isObject(one)) return JSON.stringify(one) ?? ''
    if (one.kind === 'slot') return formOf(valueIn(Number(one.slot)))
    // Where a comparison is written is no part of what it says.
    const { path: _, member: __, ...said } = one
    const members = one.kind === 'and' ? { of: allOf(one as Predicate) } : said
    return `{${Object.entries(members).map(([key, part]) => `${key}:${formOf(part)}`)}}`
  }
  return formOf(predicate)
}
