/** What differs between databases: text, and what they can do as data. Nothing outside `engines/` asks which one it is. */
import type { Sql } from '#sql/sql.ts'

/** The kinds of values that content is made of. */
export type Scalar = 'id' | 'text' | 'int' | 'money' | 'time' | 'flag' | 'bytes'

/** The rows below many parents, so many of each: what `compile` knows of such a level. */
export type Below = {
  readonly table: Sql
  /** The columns to return, each of the table's alias `t`. */
  readonly columns: Sql
  /** The column that holds the parent's key, of alias `t`. */
  readonly by: Sql
  readonly keys: Sql
  readonly where: Sql
  /** The order among the rows of one parent. */
  readonly order: Sql
  /** How many of each parent, after how many; null: all of them. */
  readonly page: { readonly limit: Sql; readonly offset: Sql } | null
  /** How many in all before the response is too large. */
  readonly budget: Sql
}

export type Dialect = {
  readonly name: string
  readonly placeholder: (n: number) => string
  readonly columnType: Readonly<Record<Scalar, string>>
  /** True: all levels in one statement, a CTE each. False: one statement a level in one read transaction. */
  readonly together: boolean
  /** The rows of a list of keys, as a table expression with one column that `in (…)` takes. */
  readonly keys: (keys: Sql) => Sql
  readonly below: (below: Below) => Sql
  /** A condition that stops a long scan when its time is up; null where the database does so by itself. */
  readonly tick: Sql | null
  /** `column` contains `needle`, both folded; `indexed` where the needle is long enough for a trigram index. */
  readonly contains: (table: string, column: Sql, needle: Sql, indexed: boolean) => Sql
  /** `order by` terms for one column: null after every value ascending, before it descending. */
  readonly ordered: (column: Sql, nullable: boolean, descending: boolean) => Sql
  /** A bound value where nothing else tells its type. */
  readonly typed: (value: Sql, scalar: Scalar) => Sql
  /** Appended to a read in a writing transaction, so that what it saw still holds at the end of it. */
  readonly holding: Sql
}
