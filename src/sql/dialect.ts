/** The differences between databases: SQL text, and their abilities as data. Code outside `engines/` needs no engine's name. */

import type { Scalar } from '#model/values.ts'
import type { SearchIndex } from '#model/words.ts'
import type { Sql, SqlPart } from '#sql/sql.ts'

/** The one day after the year 9999 that a time may be on by the clocks of some zones, its month and its year, as ISO 8601 writes them. */
export const afterYears = { day: '+010000-01-01', month: '+010000-01', year: '+010000' } as const

/** The parts of a query for the rows of some ids, in any order. */
type ByIds = {
  readonly table: Sql
  /** The columns to return, each of the table's alias `t`. */
  readonly columns: Sql
  /** The ids: a list of them, or a query that gives them. */
  readonly keys: Sql
  readonly where: Sql
  /** The most rows of the query before the response is too large. */
  readonly budget: Sql
}

/** The parts of a query for the children of many parents. */
type ChildrenOf = ByIds & {
  /** The column that holds the parent's id, of alias `t`. */
  readonly by: Sql
  /** Limit and offset (null: none) for each parent, in this order, or newest first; null: all rows. */
  readonly page: { readonly limit: Sql; readonly offset: Sql | null } | null
  readonly order: Sql | null
}

/** The values of a column that came as one text, in the order of its rows; numbers stay decimal texts. */
type ParsedColumn = readonly (string | null)[]

/** How a database returns many levels from a single statement. */
export type SingleStatement = {
  /** All values of a column as one text, in the order of its rows; null if there are no rows. */
  readonly aggregate: (column: Sql, scalar: Scalar) => Sql
  /** The values in such a text. */
  readonly parse: (text: string, scalar: Scalar) => ParsedColumn
  /** The condition that a column is one of a list that is bound as one parameter. */
  readonly isIn: (column: Sql, list: Sql) => Sql
  /** A table of two such lists, of ids and of viewers' ids or subjects, with the place in the lists as its third column. */
  readonly pairs: (ids: Sql, viewers: Sql, bySubject: boolean) => Sql
}

export type Dialect = {
  readonly name: string
  readonly placeholder: (n: number) => string
  readonly columnType: Readonly<Record<Scalar, string>>
  /** For a database behind a network; null if a call costs next to nothing, so that each level has its own statement. */
  readonly singleStatement: SingleStatement | null
  /** A query whose only row has each of these columns of another query as one JSON list; null if that brings nothing. */
  readonly columnar: ((query: Sql, columns: readonly string[]) => Sql) | null
  readonly byIds: (query: ByIds) => Sql
  readonly childrenOf: (query: ChildrenOf) => Sql
  /** A query for the names of a table's columns, without rows if there is no such table. */
  readonly columnsOf: (table: string) => Sql
  /** A condition that stops a long scan when its time is up; null if the database does so by itself. */
  readonly interruptCheck: Sql | null
  /** Whether it is called for the rows too that conditions look at: this takes half as long again, and is for what all others wait for. */
  readonly checksWithin?: boolean
  /** The folded `column` of alias `t` contains a needle of three letters or more, which an index of trigrams finds. */
  readonly contains: (table: string, column: string, needle: Sql) => Sql
  /** A text contains a needle, which no index finds. */
  readonly holds: (text: Sql, needle: Sql) => Sql
  /** The row of an id has all of some words, which the index finds: they have spaces between them, and the last one may go on. */
  readonly finds: (index: SearchIndex, id: Sql, words: Sql) => Sql
  /** These words as the rows of a query, each as `word` with the space before it, and the one after it if it may not go on. */
  readonly eachWord: (words: Sql) => Sql
  /** A list has an item, a text or a number. */
  readonly has: (list: Sql, item: Sql, isText: boolean) => Sql
  /** `order by` terms for one column, with null after every value or before it. */
  readonly ordered: (column: Sql, nullable: boolean, descending: boolean, nullLast: boolean) => Sql
  /** The condition that a column has one of the values that a query gives, each looked up in the column's index. */
  readonly among: (column: Sql, query: Sql) => Sql
  /** A query that gives the values in a JSON list, ids unless something else is said. */
  readonly valuesIn: (list: Sql, scalar?: Scalar) => Sql
  /**
   * Lists of one length as a table of this name, in their order, with a column for each that is called so, of texts, and `its place` in them; null where a
   * statement costs next to nothing, so that each row has its own.
   */
  readonly eachOf:
    | ((lists: readonly Sql[], table: string, columns: readonly string[]) => Sql)
    | null
  /** A bound value whose type nothing else gives. */
  readonly typed: (value: SqlPart, scalar: Scalar) => Sql
  /** The highest id that a table ever gave out, those of deleted rows too; null if it gave none. */
  readonly highestId: (table: string) => Sql
  /** Of numbers in order: the result at the place of the first that is above the value, or the last of them if none is. */
  readonly stepwise: (value: Sql, steps: readonly number[], results: readonly number[]) => Sql
  /** The day, month or year of a number of seconds since 1970, as ISO 8601 writes it; by the clocks of some zones one may be a day before the year 0 or after 9999. */
  readonly calendar: (seconds: Sql, part: 'day' | 'month' | 'year') => Sql
  /** The time of the database's own clock, milliseconds since 1970. */
  readonly clock: Sql
  /** How the plan of a statement is asked for, and what its rows say: the indexes that it uses, and `scan of` a table that it goes through whole. */
  readonly plans: {
    readonly explain: string
    readonly usesOf: (rows: readonly (readonly unknown[])[], statement: string) => readonly string[]
  }
  /** A JSON object as text, with these members. */
  readonly jsonObject: (members: readonly (readonly [key: string, value: Sql])[]) => Sql
  /** Appended to a read in a writing transaction, so that its rows cannot change before the commit. */
  readonly lockClause: Sql
  /** The same for rows that are only looked at: others may look at them too. */
  readonly shareClause: Sql
  /** A statement that gives a row, after which no other transaction that runs it goes on before this one has ended. */
  readonly oneByOne: Sql
}
