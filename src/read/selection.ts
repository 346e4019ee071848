/** A request as both APIs make it: entities, members, arguments, children. Nothing is resolved or allowed yet. */
import type { GroupValue } from '#model/aggregate.ts'
import type { FieldComparison, Predicate } from '#model/condition.ts'
import type { Links } from '#model/entity.ts'
import type { FileForm } from '#model/stored-file.ts'
import type { Form } from '#model/version.ts'
import type { SqlValue } from '#sql/sql.ts'

/** The index of a read's parameter, whose value comes with each run; slot 0 is the viewer's id. */
export type Slot = number

export const VIEWER: Slot = 0

/** The value of a parameter. */
export type ParameterValue = SqlValue

/** A location in a GraphQL document, for errors. */
export type Location = { readonly line: number; readonly column: number }

/** One member of the object to write, under its key in the answer. */
export type Item =
  | {
      readonly kind: 'field'
      readonly key: string
      readonly field: string
      /** Another way to write its value. */
      readonly form?: Form | undefined
      /** How a file is written; without it, as it is stored. */
      readonly file?: FileForm | undefined
      readonly at?: Location
    }
  /** The row itself once more, under the last of these keys. */
  | { readonly kind: 'row'; readonly keys: readonly string[]; readonly items: readonly Item[] }
  /** The cursor of the row, in a list that has them. */
  | { readonly kind: 'cursor'; readonly key: string }
  /** The same JSON text for every row (`__typename`). */
  | { readonly kind: 'text'; readonly key: string; readonly json: string }
  /** Links whose paths have the row's fields in them, below `prefix`. */
  | {
      readonly kind: 'links'
      readonly key: string
      readonly prefix: string
      readonly links: Links
    }
  | (Related & { readonly kind: 'relation'; readonly items: readonly Item[] })
  /** A page of those rows by cursors, with what is told about it. */
  | (Related & {
      readonly kind: 'connection'
      readonly keyset: Keyset
      readonly members: readonly ConnectionMember[]
    })

/** The rows that a relation leads to. */
export type Related = {
  readonly key: string
  readonly relation: string
  /** The page of each parent; null: all rows. */
  readonly page: Page
  /** Only rows that have the words in the slot. */
  readonly search?: Slot | undefined
  /** Instead of the relation's own order. */
  readonly sort?: readonly Sort[]
  /** Only rows that fit a caller's condition. */
  readonly condition?: Predicate | undefined
  readonly at?: Location
}

/** What is told of a page: a member of Relay's PageInfo. */
export type PageFact = 'hasNextPage' | 'hasPreviousPage' | 'startCursor' | 'endCursor'

/** One member of a connection. */
export type ConnectionMember =
  | { readonly kind: 'text'; readonly key: string; readonly json: string }
  /** An object for each row of the page. */
  | { readonly kind: 'edges'; readonly key: string; readonly items: readonly Item[] }
  | {
      readonly kind: 'page info'
      readonly key: string
      readonly facts: readonly { readonly key: string; readonly of: PageFact | '__typename' }[]
    }
  /** The number of the rows on all pages. */
  | { readonly kind: 'total'; readonly key: string }

/** One member of the object to write for a group of rows. */
export type GroupItem =
  | { readonly kind: 'text'; readonly key: string; readonly json: string }
  | {
      readonly kind: 'value'
      readonly key: string
      readonly value: GroupValue
      readonly form?: Form | undefined
      readonly at?: Location
    }
  | { readonly kind: 'object'; readonly key: string; readonly items: readonly GroupItem[] }

/** The groups that are read of the rows, in place of the rows themselves. */
export type Aggregate = {
  /** The values that the rows of a group share; without any all rows are one group. */
  readonly keys: readonly GroupValue[]
  readonly timeZone: string
  readonly items: readonly GroupItem[]
  /** Only groups that fit: its fields are the names of the values that are compared. */
  readonly having?: Predicate | undefined
  readonly compared: readonly GroupValue[]
  /** Nulls come last both ways; ties are in the order of the keys. */
  readonly order: readonly { readonly value: GroupValue; readonly descending: boolean }[]
}

/** Limit and offset (null: from the first row on); a null page: all rows. */
export type Page = { readonly limit: Slot; readonly offset: Slot | null } | null

/** A condition on a field of the root; `member` is the caller's name of the field. */
export type Where = FieldComparison & { readonly member?: string }

/** The comparison of a field with the value in a slot. */
export const comparing = (
  field: string,
  is: FieldComparison['is'],
  slot: Slot,
): FieldComparison => ({ kind: 'compare', field, is, to: { kind: 'slot', slot } })

/** A key of an order: a field of the row, or of the one at the end of a path of relations to one row. */
export type Sort = {
  readonly path?: readonly string[]
  readonly field: string
  readonly descending: boolean
  /** Whether null comes last in either direction; else it comes after every value ascending, and before it descending. */
  readonly nullsLast?: boolean
  /** Whether it is by how well rows fit the words that their list is searched for, and by no field. */
  readonly isRelevance?: boolean
  readonly member?: string
}

/** The most keys that a caller may order by, and the most relations of a path to one: a cursor has all their values. */
export const mostKeys = 4
export const mostHops = 3

/** The keys of an order, with the id at its end. */
export const keysOf = (sort: readonly Sort[]): readonly Sort[] =>
  sort.some(({ field, path = [] }) => field === 'id' && path.length === 0)
    ? sort
    : [...sort, { field: 'id', descending: false }]

/** The places in a list that a page lies after and before, each by the slots of its values for the keys of the order, the id among them. */
export type Keyset = {
  /** The slot of the key that seals the cursors of the list. */
  readonly seal: Slot
  readonly after?: readonly Slot[] | undefined
  readonly before?: readonly Slot[] | undefined
  /** Whether the page is the last one between them; else it is the first. */
  readonly backwards: boolean
}

export type Root = {
  readonly entity: string
  /** Groups of the rows are read, not the rows: they are the list, and `items` and `sort` are of no matter. */
  readonly aggregate?: Aggregate
  readonly items: readonly Item[]
  readonly where: readonly Where[]
  /** Only rows that have the words in the slot, as `searchedWords` makes them; not empty. */
  readonly search?: Slot | undefined
  /** Only rows that fit a caller's condition, with its values in slots; the plan adds what its relations hide from the caller. */
  readonly condition?: Predicate | undefined
  /** Only rows that fit a condition of the service's own, such as a rule, whether or not the caller may read what it looks at. */
  readonly granted?: Predicate | undefined
  /** Only rows that rows of another entity link with the id in the slot, by its fields for that (`by`) and for the row (`of`). */
  readonly linked?: {
    readonly entity: string
    readonly by: string
    readonly of: string
    readonly slot: Slot
  }
  /** Rows that must exist; if one does not, the answer is `NOT_FOUND`. */
  readonly exists: readonly { readonly entity: string; readonly slot: Slot }[]
  readonly sort: readonly Sort[]
  /** For a list with cursors for its rows. */
  readonly keyset?: Keyset
  /** Whether it is a list (a page or all of it), not one row or null. */
  readonly many: boolean
  readonly page: Page
  /** One row more is read than `limit` says, to know whether there is a next page; it is not written. */
  readonly fetchOneMore: boolean
  /** Whether the number of all rows that fit the conditions is wanted. */
  readonly total: boolean
  /** What the same request did to its row: its writer may see it in the answer, whatever the rule for reads. */
  readonly written?: 'created' | 'changed'
  /** The key in the answer and the location in the document, for errors. */
  readonly key?: string
  readonly at?: Location
}

/** The root of one row, by the id in slot 1. */
export const oneRow = (entity: string, items: readonly Item[]): Root => ({
  entity,
  items,
  where: [comparing('id', 'eq', 1)],
  exists: [],
  sort: [],
  many: false,
  page: null,
  fetchOneMore: false,
  total: false,
})

/** How scalars are written: GraphQL writes ids as strings. */
export type Encoding = 'rest' | 'graphql'

export type Selection = { readonly encoding: Encoding; readonly roots: readonly Root[] }

/** The most rows of one page, in both APIs. */
export const mostPerPage = 100

/** How many rows a page has for a `limit`: 1 to 100. */
export const pageSize = (limit: number): number => Math.min(Math.max(limit, 1), mostPerPage)
