/** The plan of a read as plain data: its levels, and the parts of the texts of their rows. `planner.ts` makes it. */
import type { GroupType, GroupValue } from '#model/aggregate.ts'
import type { Predicate } from '#model/condition.ts'
import type { Field } from '#model/field.ts'
import type { FileForm } from '#model/stored-file.ts'
import type { Form } from '#model/version.ts'
import type { Relevance } from '#read/predicate.ts'
import type { Aggregate, Encoding, Keyset, Page, PageFact, Root, Slot } from '#read/selection.ts'
import type { Rows } from '#sql/engine.ts'

/** A field of an entity, with the facts that reading it needs. */
export type ReadField = Pick<Field, 'scalar' | 'nullable'> & {
  readonly name: string
  /** How many decimals it has, if it is a decimal. */
  readonly scale?: number
  /** The field whose value it has in the rows of a predicate; it is null in others. */
  readonly shown?: { readonly field: string; readonly in: Predicate }
  /** The field that it is of the row at the end of a path, or the relevance of that; null where there is none. */
  readonly across?: {
    readonly hops: readonly Hop[]
    readonly field: string
    readonly relevance?: Relevance
  }
  /** The order that it is the number of the row in, from its end if it is read backwards. */
  readonly rank?: { readonly order: readonly OrderKey[]; readonly backwards?: boolean }
  readonly group?: GroupValue
  /** Whether it is a sum or a mean, which comes as two numbers and is written exactly. */
  readonly exact?: GroupType['exact']
}

/** A row that another leads to by its field `by`, if it fits the conditions. */
export type Hop = {
  readonly table: string
  readonly by: string
  readonly where: readonly Predicate[]
}

/** A key of an order, by its column. */
export type OrderKey = {
  readonly column: ReadField
  readonly descending: boolean
  readonly nullsLast: boolean
}

/** A part of the text of a row: given text, a field's value, or the text of a level below for this row. */
export type RowPart =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'field'
      readonly field: string
      readonly as: 'value' | 'path'
      readonly form?: Form | undefined
      readonly file?: FileForm | undefined
    }
  /** Other parts by the value of a field; none for a value without a case. */
  | {
      readonly kind: 'case'
      readonly field: string
      readonly cases: Readonly<Record<string, readonly RowPart[]>>
    }
  /** Other parts if none of these fields is null. */
  | {
      readonly kind: 'present'
      readonly fields: readonly string[]
      readonly parts: readonly RowPart[]
    }
  | { readonly kind: 'child'; readonly level: ChildLevel }
  /** What is told of the page of a level below for this row. */
  | { readonly kind: 'page'; readonly level: PagedChildren; readonly of: PageFact }
  /** The cursor of the row. */
  | { readonly kind: 'cursor' }

/** The common members of all levels with rows: rows of one table, each distinct row once. Field 0 is the id. */
export type RowSet = {
  readonly table: string
  readonly where: readonly Predicate[]
  readonly fields: readonly ReadField[]
  readonly parts: readonly RowPart[]
  /** The most characters that the long texts of a row may have; 0 if it has none, and for one row alone. */
  readonly longText: number
}

/** The rows that fit the conditions. */
export type RootLevel = RowSet &
  Pick<Root, 'page' | 'many' | 'fetchOneMore'> & {
    readonly kind: 'root'
    /** The last key is the id, or follows it. */
    readonly order: readonly OrderKey[]
    /** For a list with cursors, whose values are those of the order. */
    readonly keyset?: Keyset
    /** Whether they are found in their order, without passing others or sorting. */
    readonly isIndexed: boolean
    /** How many conditions find them so, if rows are passed that the others leave out, or that a cursor does, whose equals they are. */
    readonly foundBy?: number
    /** Groups of the rows, whose values are the fields, in place of the rows; `areFew`: an index finds those, and they may be few. */
    readonly groups?: Pick<Aggregate, 'timeZone' | 'having' | 'order'> & {
      readonly areFew?: boolean
    }
  }

/** The rows whose field `by`, their field 1, is an id of the level above. */
export type Children = RowSet & {
  readonly kind: 'children of'
  readonly by: string
  readonly page: Page
  readonly oldestFirst: boolean
  /** Instead of the order by id; the rows then have their rank in it. */
  readonly order?: readonly OrderKey[]
  /** For a list with cursors, whose values are those of the order. */
  readonly keyset?: Keyset
  /** Whether the page of a parent is found only by sorting all its rows, their words or a caller's condition that looks beyond their values. */
  readonly isSorted?: boolean
}

export type PagedChildren = Children & Required<Pick<Children, 'keyset' | 'order'>>

export type ChildLevel =
  /** The rows whose ids are in field `by` of the level above. */
  | (RowSet & { readonly kind: 'by ids'; readonly by: string })
  | Children
  /** How many there are of those for each id: it is field 0, and their number field 1. */
  | (RowSet & { readonly kind: 'counts of'; readonly by: string })

export type RowLevel = RootLevel | ChildLevel

/** The number of rows that fit the conditions; `cached`: the store has a count by this field, for the value in the slot. */
export type CountLevel = {
  readonly kind: 'count'
  readonly table: string
  readonly where: readonly Predicate[]
  readonly cached: { readonly field: string; readonly slot: Slot | null } | null
}

/** Whether there is a row with the id in the slot. */
export type ExistsLevel = {
  readonly kind: 'exists'
  readonly entity: string
  readonly table: string
  readonly where: readonly Predicate[]
  readonly slot: Slot
}

export type Level = RowLevel | CountLevel | ExistsLevel

export type PlannedRoot = {
  readonly rows: RootLevel
  /** Whether field 1 is the revision of the one row that is read. */
  readonly hasRevision: boolean
  readonly total: CountLevel | null
  readonly exists: readonly ExistsLevel[]
}

/** Plain data with the model's field names, so that it can be sent to a worker thread: levels hold those below them in their parts. */
export type ReadPlan = {
  readonly encoding: Encoding
  readonly roots: readonly PlannedRoot[]
  /** Whether a rule that it passed looks at rows, so that not even callers without a token share its answers. */
  readonly isByRow?: boolean
}

/** A level with the one above it. */
export type LinkedLevel =
  | { readonly level: ChildLevel; readonly above: RowLevel }
  | { readonly level: RootLevel | CountLevel | ExistsLevel; readonly above: null }

/** The rows that were found for each level. */
export type Results = Map<Level, Rows>

/** Whether a level has rows that become objects of the answer. */
export const hasRows = (level: Level): level is RowLevel => 'parts' in level

/** The levels directly below one, in the order in which its text holds them. */
export const levelsBelow = ({ parts }: RowLevel): readonly ChildLevel[] => {
  const levels = parts.flatMap(part =>
    part.kind === 'child' || part.kind === 'page' ? [part.level] : [],
  )
  return [...new Set(levels)]
}

const descendants = (above: RowLevel): readonly LinkedLevel[] =>
  levelsBelow(above).flatMap(level => [{ level, above }, ...descendants(level)])

/** All levels of a plan: each root's rows, parents before their children, then its count and what must exist. */
export const levelsOf = ({ roots }: ReadPlan): readonly LinkedLevel[] =>
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
