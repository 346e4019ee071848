/** A read plan as data: nested levels of rows, with the model's field names; `compile` turns them into columns. */
import type { Field } from '#model/field.ts'
import type { Form } from '#model/form.ts'
import type { Condition } from '#read/condition.ts'
import type { Encoding, Page, Root, Slot } from '#read/selection.ts'
import type { Rows } from '#sql/engine.ts'

/** A field of an entity, with the facts that reading it needs. */
export type ReadField = Pick<Field, 'scalar' | 'nullable'> & { readonly name: string }

export type Order = { readonly field: ReadField; readonly descending: boolean }

/** A piece of the text of a row: given text, a field's value, or the text of a level below for this row. */
export type Part =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'field'
      readonly field: string
      readonly as: 'value' | 'path'
      readonly form?: Form | undefined
    }
  /** Other parts by the value of a field; none for a value without a case. */
  | {
      readonly kind: 'case'
      readonly field: string
      readonly cases: Readonly<Record<string, readonly Part[]>>
    }
  /** Other parts where none of these fields is null. */
  | {
      readonly kind: 'present'
      readonly fields: readonly string[]
      readonly parts: readonly Part[]
    }
  | { readonly kind: 'child'; readonly level: ChildLevel }

/** The common members of all levels with rows: rows of one table, each distinct row once. Field 0 is the id. */
export type RowSet = {
  readonly table: string
  readonly where: readonly Condition[]
  readonly fields: readonly ReadField[]
  readonly parts: readonly Part[]
  /** The most characters of the long texts in each of its rows; 0 where it has none, and for one row alone. */
  readonly longText: number
}

/** The rows that fit the conditions. */
export type FromConditions = Pick<Root, 'page' | 'many' | 'fetchOneMore'> & {
  readonly kind: 'root'
  readonly order: readonly Order[]
  /** Whether they are found in their order, without passing others or sorting. */
  readonly isIndexed: boolean
}

/** The rows whose ids are in field `by` of the level above. */
export type FromIds = { readonly kind: 'by ids'; readonly by: string }

/** The rows whose field `by`, their field 1, is an id of the level above. */
export type FromParents = {
  readonly kind: 'children of'
  readonly by: string
  readonly page: Page
  readonly oldestFirst: boolean
}

export type From = FromConditions | FromIds | FromParents

export type RootLevel = RowSet & FromConditions
export type ChildLevel = RowSet & (FromIds | FromParents)
export type RowLevel = RootLevel | ChildLevel

/** The number of rows that fit the conditions; `cached`: the store has a count by this field, for the value in the slot. */
export type CountLevel = {
  readonly kind: 'count'
  readonly table: string
  readonly where: readonly Condition[]
  readonly cached: { readonly field: string; readonly slot: Slot | null } | null
}

/** Whether there is a row with the id in the slot. */
export type ExistsLevel = {
  readonly kind: 'exists'
  readonly entity: string
  readonly table: string
  readonly where: readonly Condition[]
  readonly slot: Slot
}

export type Level = RowLevel | CountLevel | ExistsLevel

export type PlannedRoot = {
  readonly rows: RootLevel
  /** Whether field 1 is the revision of the one row asked for. */
  readonly hasRevision: boolean
  readonly total: CountLevel | null
  readonly exists: readonly ExistsLevel[]
}

/** Plain data, so that it can be sent to a worker thread: levels hold those below them in their parts. */
export type ReadPlan = { readonly encoding: Encoding; readonly roots: readonly PlannedRoot[] }

/** The rows that were found for each level. */
export type Results = Map<Level, Rows>

/** Whether a level has rows that become objects of the answer. */
export const hasRows = (level: Level): level is RowLevel => 'parts' in level

/** The levels directly below one, in the order in which its text holds them. */
export const levelsBelow = ({ parts }: RowLevel): readonly ChildLevel[] =>
  parts.flatMap(part => (part.kind === 'child' ? [part.level] : []))

/** A level with the one above it. */
export type Linked =
  | { readonly level: ChildLevel; readonly above: RowLevel }
  | { readonly level: RootLevel | CountLevel | ExistsLevel; readonly above: null }

const descendants = (above: RowLevel): readonly Linked[] =>
  levelsBelow(above).flatMap(level => [{ level, above }, ...descendants(level)])

/** All levels of a plan: each root's rows, parents before their children, then its count and what must exist. */
export const levelsOf = ({ roots }: ReadPlan): readonly Linked[] =>
  roots.flatMap(({ rows, total, exists }) => [
    { level: rows, above: null },
    ...descendants(rows),
    ...(total ? [{ level: total, above: null }] : []),
    ...exists.map(level => ({ level, above: null })),
  ])

/** The field of the level above whose values lead to this one. */
export const keyOf = (level: ChildLevel): string => (level.kind === 'by ids' ? level.by : 'id')

/** The index in a level's rows of one of its fields. */
export const indexOf = ({ fields }: RowLevel, field: string): number => {
  const index = fields.findIndex(({ name }) => name === field)
  if (index < 0) throw new Error(`${field} is not among the fields that are read`)
  return index
}
