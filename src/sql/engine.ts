/** What a database must offer: reads in one snapshot, sessions for commands, and errors that the model knows. */
import type { Asking } from '#base/slow-lane.ts'
import type { Dialect } from '#sql/dialect.ts'
import { type Sql, type SqlValue, statement } from '#sql/sql.ts'

/** A row as the database returns it: values in the order of the statement's columns. */
export type Row = readonly SqlValue[]
export type Rows = readonly Row[]

/** A statement with its values, ready for a connection. */
export type Query = {
  readonly text: string
  readonly values: readonly SqlValue[]
  /** The most bytes of the rows, which are read one by one for it; above it the read ends with `RESPONSE_TOO_LARGE`. */
  readonly bytes?: number
  /** The most characters of the rows if they are read at once; above it the read ends with `TooLong`. */
  readonly characters?: number
  /** The text of the same query with each column as one JSON list: their lengths cost less to count than the rows. */
  readonly columnar?: string
  /** Whether it is of the quick lane, so that it may share a connection with others. */
  readonly isQuick?: boolean
  /**
   * If it looks one row up by its first value: the text of the same query for a list of keys; the first column of
   * each row is its key.
   */
  readonly forMany?: string
  /** Whom that text takes in a second list beside the key; the last column of each row is then its place in the lists. */
  readonly viewer?: SqlValue
}

/** The query of a text with its values. */
export const queryWith = (text: string, ...values: readonly SqlValue[]): Query => ({ text, values })

/** The query of a piece; throws if a value is not known yet. */
export const queryOf = (piece: Sql, { placeholder }: Pick<Dialect, 'placeholder'>): Query => {
  const { text, parameters } = statement(piece, placeholder)
  const values = parameters.map((parameter): SqlValue => {
    if (parameter.kind === 'value') return parameter.value
    throw new Error(`a query takes no ${parameter.kind}`)
  })
  return { text, values }
}

/** A script for one connection: it yields queries and gets their rows, so that the same code serves sync and async drivers. */
export type QueryScript<Result> = Generator<Query, Result, Rows>

/** The state of the store after a commit; a read that names it sees that write. Opaque to callers. */
export type Position = string

/** How a read is to be done, and for whom. */
export type ReadOptions = Asking & {
  /** It must see a state not older than this position. */
  readonly after?: Position | undefined
  /** Whether it must see all that was committed, which a replica may not have yet. */
  readonly isPresent?: boolean
}

/** Runs reads. */
export type Reader = {
  /** The rows of one statement, which is a snapshot by itself. */
  readonly query: (query: Query, options?: ReadOptions) => Rows | Promise<Rows>
  /** Runs a script whose queries all see the same snapshot. It is started again if its server was lost. */
  readonly snapshot: <Result>(
    begin: () => QueryScript<Result>,
    options?: ReadOptions,
  ) => Result | Promise<Result>
  /** Whether the write of a position may be lost, or nobody knows; undefined if all is well. Absent if nothing gets lost. */
  readonly positionStatus?: (after: Position) => 'lost' | 'unknown' | undefined
}

/** Knows whether rows are as they were, by versions: numbers, each of the rows of a table or of those with a value in a column. */
export type Changes = {
  /** The place of the version of a whole table; undefined if the store does not report its changes. */
  readonly versionOf: (table: string) => number | undefined
  /** Gives the place of the version of the rows with a value in a column, undefined for some values; undefined for a column that is not watched. */
  readonly versionsBy: (
    table: string,
    column: string,
  ) => ((value: SqlValue) => number | undefined) | undefined
  /** The number of the last change that reads which begin now are sure to see. */
  readonly now: () => number
  /** Whether the rows of the versions at these places are as they were at such a number, and none of them is being written. */
  readonly isUnchanged: (versions: Int32Array, since: number) => boolean
  /** Another number than before if any row may have changed. */
  readonly epoch: () => number
}

/** A database session for CLI commands. */
export type Session = {
  readonly query: (query: Query) => Promise<Rows>
  /** Runs the work in one transaction, which is rolled back if it throws. */
  readonly transaction: <Result>(work: () => Promise<Result>) => Promise<Result>
  /** Runs a part of a transaction; if it throws, only that part is undone, and the transaction may go on. */
  readonly attempt: <Result>(work: () => Promise<Result>) => Promise<Result>
  /** After rows with ids of their own, within the same transaction: makes later ids larger than theirs. */
  readonly settleIds: (tables: readonly string[]) => Promise<void>
  /** Updates the statistics that the query planner uses. */
  readonly analyze: () => Promise<void>
  readonly close: () => Promise<void>
}

/** The rows of a query hold more text than it may read at once. */
export class TooLong extends Error {
  override readonly name = 'TooLong'
}

/** A statement violated a constraint of the store. */
export class ConstraintError extends Error {
  override readonly name = 'ConstraintError'
  readonly kind: 'unique' | 'reference' | 'check'
  /** `table.column`, if the database names it. */
  readonly target: string

  constructor(kind: ConstraintError['kind'], target: string, options?: ErrorOptions) {
    super(`${kind} constraint: ${target}`, options)
    this.kind = kind
    this.target = target
  }
}

/** The same script, each of whose queries is seen before it is asked, and its rows after that. */
export const watched = function* <Result>(
  script: QueryScript<Result>,
  see: (query: Query) => void,
  seeRows?: (rows: Rows) => void,
): QueryScript<Result> {
  let step = script.next()
  while (!step.done) {
    see(step.value)
    let rows: Rows
    try {
      rows = yield step.value
    } catch (error) {
      step = script.throw(error)
      continue
    }
    seeRows?.(rows)
    step = script.next(rows)
  }
  return step.value
}

/** Runs a script to its end on a driver that answers at once. */
export const drive = <Result>(
  script: QueryScript<Result>,
  query: (query: Query) => Rows,
): Result => {
  let step = script.next()
  while (!step.done) {
    let rows: Rows
    try {
      rows = query(step.value)
    } catch (error) {
      step = script.throw(error)
      continue
    }
    step = script.next(rows)
  }
  return step.value
}

/** Runs a script to its end on a driver that answers later; `ask` answers its queries one by one. */
export const driveBy = async <Result>(
  script: QueryScript<Result>,
  ask: (query: Query) => Promise<Rows>,
): Promise<Result> => {
  let step = script.next()
  while (!step.done) {
    let rows: Rows
    try {
      rows = await ask(step.value)
    } catch (error) {
      // A script handles only errors that depend on the data.
      if (!(error instanceof ConstraintError)) throw error
      step = script.throw(error)
      continue
    }
    step = script.next(rows)
  }
  return step.value
}
