/** The filters of a list, as query parameters ask for them. */
import type { Entity, Filter } from '#model/entity.ts'
import { parseId } from '#model/id.ts'
import { fieldOf } from '#model/model.ts'
import { parseMinor } from '#model/money.ts'
import { codePoints, fold } from '#model/text.ts'
import type { Comparison, Value } from '#read/selection.ts'
import type { Query } from '#rest/query.ts'

/** A filter that has an effect: the condition and the value it is about. */
export type AppliedFilter = {
  readonly field: string
  readonly is: Comparison
  readonly value: Value
}

/** A trigram index finds texts of at least so many letters. */
const indexedFrom = 3

const numberOf = (
  text: string,
  filter: Filter,
  query: Query,
  name: string,
  digits: number,
): number => {
  const parsed = parseMinor(text, digits)
  if (!parsed) query.fault(name, 'must be a number')
  const { minor = 0n, rest = false } = parsed ?? {}
  // A bound between two minor units keeps what is beyond it; cut off, -0.005 has lost its sign.
  const beyond = rest && (filter.kind === 'at least') !== text.startsWith('-')
  const step = filter.kind === 'at least' ? 1n : -1n
  const bound = beyond ? minor + step : minor
  const most = BigInt(Number.MAX_SAFE_INTEGER)
  return Number(bound > most ? most : bound < -most ? -most : bound)
}

/** Stores read a text beside a number each in its own way: an id that names nothing is 0, which no row has. */
const equalTo = (entity: Entity, field: string, text: string): Value =>
  fieldOf(entity, field).scalar === 'id' ? (parseId(text) ?? 0) : text

const appliedFilter = (
  entity: Entity,
  name: string,
  filter: Filter,
  query: Query,
  digits: number,
): AppliedFilter | undefined => {
  const text = query.get(name)
  if (text === undefined) return undefined
  const { field } = filter
  switch (filter.kind) {
    case 'equals':
      return text === '' ? undefined : { field, is: 'equals', value: equalTo(entity, field, text) }
    case 'above zero':
      return text === 'true' ? { field, is: 'above zero', value: null } : undefined
    case 'contains': {
      const needle = fold(text)
      const is = codePoints(needle) < indexedFrom ? 'contains short' : 'contains'
      return needle === '' ? undefined : { field, is, value: needle }
    }
    case 'at least':
    case 'at most': {
      const scale = fieldOf(entity, field).scalar === 'money' ? digits : 0
      return { field, is: filter.kind, value: numberOf(text, filter, query, name, scale) }
    }
    default:
      return filter satisfies never
  }
}

/** The filters that a request asks for and that have an effect, in the entity's order. */
export const filtersOf = (entity: Entity, query: Query, digits: number): readonly AppliedFilter[] =>
  Object.entries(entity.rest.listing.filters ?? {}).flatMap(([name, filter]) => {
    const applied = appliedFilter(entity, name, filter, query, digits)
    return applied ? [applied] : []
  })
