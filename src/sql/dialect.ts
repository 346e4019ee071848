/** What differs between databases: text, and what they can do as data. Nothing outside `engines/` asks which one it is. */
import type { Sql, SqlValue } from '#sql/sql.ts'

/** The kinds of values that content is made of. */
export type Scalar = 'id' | 'text' | 'int' | 'money' | 'time' | 'flag' | 'bytes'

/** The rows of a list of keys: what `compile` knows of such a level. Their order does not matter. */
export type Among = {
  readonly table: Sql
  /** The columns to return, each of the table's alias `t`. */
  readonly columns: Sql
  readonly keys: Sql
  readonly where: Sql
  /** How many in all before the response is too large. */
  readonly budget: Sql
}

/** The rows below many parents, so many of each. */
export type Below = Among & {
  /** The column that holds the parent's key, of alias `t`. */
  readonly by: Sql
  /** How many of each parent, newest first, after how many (null: none); null: all of them. */
  readonly page: { readonly limit: Sql; readonly offset: Sql | null } | null
}

/** What one statement for many levels needs. */
export type Together = {
  /** All values of a column as one text, in the order of its rows; null where there are no rows. */
  readonly gathered: (column: Sql, scalar: Scalar) => Sql
  /** The values in such a text; what is no text stays as it is written there. */
  readonly spread: (text: string, scalar: Scalar) => readonly SqlValue[]
  /** That a column is one of the keys in a list that takes one place. */
  readonly listed: (column: Sql, keys: Sql) => Sql
}

export type Dialect = {
  readonly name: string
  readonly placeholder: (n: number) => string
  readonly columnType: Readonly<Record<Scalar, string>>
  /**
   * How the levels of a read are asked for: apart, where a call costs next to nothing, or together in one statement,
   * a CTE each, where a call is a way over the network.
   */
  readonly levels: { readonly are: 'apart' } | ({ readonly are: 'together' } & Together)
  /** The rows whose ids are the keys. */
  readonly among: (among: Among) => Sql
  readonly below: (below: Below) => Sql
  /** A condition that stops a long scan when its time is up; null where the database does so by itself. */
  readonly tick: Sql | null
  /** `column` contains `needle`, both folded; `indexed` where the needle is long enough for a trigram index. */
  readonly contains: (table: string, column: Sql, needle: Sql, indexed: boolean) => Sql
  /** `order by` terms for one column: null after every value ascending, before it descending. */
  readonly ordered: (column: Sql, nullable: boolean, descending: boolean) => Sql
  /** A bound value where nothing else tells its type. */
  readonly typed: (value: Sql, scalar: Scalar) => Sql
  /** The whole days from 1970 to a moment, in UTC; before 1970 they are negative. */
  readonly day: (time: Sql) => Sql
  /** Appended to a read in a writing transaction, so that what it saw still holds at the end of it. */
  readonly holding: Sql
}
