/** Conditions of callers, resolved for a plan: their values are in slots, so that those of one shape share it. */
import {
  type AskingWords,
  type ConditionFault,
  mappedParts,
  type Operand,
  type Predicate,
  resolveCondition,
} from '#model/condition.ts'
import { entityOf, type Model } from '#model/model.ts'
import type { ParameterValue, Slot } from '#read/selection.ts'

/** A caller's condition, resolved: its predicate, whose values are in slots, what tells it from those of other shapes, and how much it compares. */
export type Asked = {
  readonly predicate: Predicate
  readonly values: readonly ParameterValue[]
  readonly shape: string
  readonly comparisons: number
}

/** Resolves a caller's condition on the rows of an entity, with its values in slots from `first` on; or gives its faults. */
export const resolveAsked = (
  model: Model,
  entityName: string,
  condition: unknown,
  words: Omit<AskingWords, 'isSearched'>,
  first: Slot,
): Asked | { readonly faults: readonly ConditionFault[] } => {
  const { entities, settings } = model
  const isSearched = (name: string, field: string) =>
    Object.values(entityOf(model, name).rest.listing.filters ?? {}).some(
      filter => filter.kind === 'contains' && filter.field === field,
    )
  const asking = { ...words, isSearched }
  const context = { entities, digits: settings.currency.digits, asking }
  const resolved = resolveCondition(context, entityName, condition)
  if (resolved.faults.length > 0) return { faults: resolved.faults }
  const { predicate, values } = inSlots(resolved.predicate, first)
  return { predicate, values, shape: JSON.stringify(predicate), comparisons: resolved.comparisons }
}

/** The most values that have a slot each; SQLite takes 1,000 parameters, and keeps the plans of thousands of statements. */
export const mostSlots = 8

/**
 * A condition with its values in slots, so that conditions of one shape share their plans. A list of values is as long as the next
 * power of two, its last value said again; a long one is in one slot.
 */
const inSlots = (
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
