/** What rows may be grouped by and what is known of a group: values with names such as `status`, `createdAtMonth`, `count` and `sum.amount`. */
import { meanDigits } from '#model/computed.ts'
import type { Entity } from '#model/entity.ts'
import type { Field } from '#model/field.ts'
import { fieldOf } from '#model/names.ts'
import { isComparable, type Scalar } from '#model/values.ts'

/** The most keys of a group, and the most groups of an answer. */
export const mostKeys = 4
export const mostGroups = 1000

/** A part of a time or a day that groups may be of. */
type DatePart = 'day' | 'month' | 'year'

/** What is made of a field of the rows of a group. */
export type GroupMeasure = 'sum' | 'avg' | 'min' | 'max'

/** A value of a group: one that its rows share, the number of those, or what is made of a field of theirs. */
export type GroupValue =
  | {
      readonly kind: 'key'
      readonly field: string
      /** The part of a time in a zone, or of a day of the calendar. */
      readonly part?: { readonly is: DatePart; readonly of: Scalar }
    }
  | { readonly kind: 'count' }
  | { readonly kind: GroupMeasure; readonly field: string }

/** The kind of a value of a group; `exact`: it is calculated, and written as text if a number would not hold it. */
export type GroupType = {
  readonly scalar: Scalar
  readonly scale: number
  readonly exact?: 'sum' | 'mean'
}

/**
 * A sum comes as millions and the rest, a mean as a whole number and four decimals: no sum of whole numbers below 2^53 passes
 * the 64 bits of databases then. The lower one is never below zero.
 */
export const sumBase = (exact: NonNullable<GroupType['exact']>): number =>
  exact === 'sum' ? 1_000_000 : 10 ** meanDigits

const parts: Readonly<Partial<Record<Scalar, readonly DatePart[]>>> = {
  time: ['day', 'month', 'year'],
  date: ['month', 'year'],
}

const partWord = { day: 'Day', month: 'Month', year: 'Year' } satisfies Record<DatePart, string>

export const measures: readonly GroupMeasure[] = ['sum', 'avg', 'min', 'max']

/** The parameters of REST that select groups. */
export const groupParameters: readonly string[] = ['group', ...measures, 'tz', 'having']

/** The arguments of GraphQL for groups that may be called as a filter is, which is the list's alone then. */
export const groupArguments: readonly string[] = ['groupBy', 'timeZone']

/** What a group has beside its keys; a field of such a name is no key. */
const reserved: readonly string[] = ['count', ...measures]

/** Whether something is made of a field in a group: sums and means of numbers, least and most of what has an order. */
const isMeasured = (field: Field, by: GroupMeasure): boolean =>
  by === 'sum' || by === 'avg'
    ? ['int', 'money', 'decimal'].includes(field.scalar)
    : isComparable(field.scalar) && field.scalar !== 'flag' && field.scalar !== 'id'

/**
 * The values that groups of an entity's rows may have, by their names: keys, `count`, and `sum.amount`. `fields` are those that may
 * be grouped and summed, under the caller's names.
 */
export const groupValues = (
  entity: Entity,
  fields: readonly (readonly [name: string, field: string])[],
): ReadonlyMap<string, GroupValue> => {
  const values = new Map<string, GroupValue>()
  const groupable = fields.map(([name, field]) => [name, field, fieldOf(entity, field)] as const)
  for (const [name, field] of groupable)
    if (field !== 'id' && !reserved.includes(name)) values.set(name, { kind: 'key', field })
  for (const [name, field, { scalar }] of groupable)
    for (const part of parts[scalar] ?? [])
      values.getOrInsert(`${name}${partWord[part]}`, {
        kind: 'key',
        field,
        part: { is: part, of: scalar },
      })
  values.set('count', { kind: 'count' })
  for (const kind of measures)
    for (const [name, field, of] of groupable)
      if (isMeasured(of, kind)) values.set(`${kind}.${name}`, { kind, field })
  return values
}

/** The operators by which a value of a group of that kind is compared. */
export const groupOperators = (scalar: Scalar): readonly string[] =>
  scalar === 'text' ? ['eq', 'ne'] : ['eq', 'ne', 'lt', 'lte', 'gt', 'gte']

/** The name of a value by the names of the model. */
export const nameOf = (value: GroupValue): string => {
  if (value.kind === 'count') return 'count'
  if (value.kind !== 'key') return `${value.kind}.${value.field}`
  return value.part === undefined ? value.field : `${value.field}${partWord[value.part.is]}`
}

/** What a value of a group is. */
export const typeOf = (entity: Entity, value: GroupValue): GroupType => {
  if (value.kind === 'count') return { scalar: 'int', scale: 0 }
  const { scalar, scale } = fieldOf(entity, value.field)
  if (value.kind === 'sum') return { scalar, scale, exact: 'sum' }
  if (value.kind === 'avg') return { scalar, scale, exact: 'mean' }
  if (value.kind !== 'key' || value.part === undefined) return { scalar, scale }
  const made = { day: 'date', month: 'text', year: 'int' } as const
  return { scalar: made[value.part.is], scale: 0 }
}
