/** What a database must do for the service: read in one snapshot, write in one transaction, say what went wrong. */
import type { SqlValue } from '#sql/sql.ts'

/** A row as the database returns it: values in the order of the statement's columns. */
export type Row = readonly SqlValue[]
export type Rows = readonly Row[]

/** A statement with its values, on its way to a connection. */
export type Query = {
  readonly text: string
  readonly values: readonly SqlValue[]
  /** Stop reading, with `RESPONSE_TOO_LARGE`, when the rows hold more than so many characters. */
  readonly bytes?: number
  /** It finds its rows by an index, so that it may share a connection with others. */
  readonly isQuick?: boolean
  /**
   * The same query for many keys at once, where it looks one row up by the only value it has: its place then takes a
   * list of keys, and the first column of a row says whose it is.
   */
  readonly forMany?: string
}

/** The query of a text with the values that it names. */
export const queryWith = (text: string, ...values: readonly SqlValue[]): Query => ({ text, values })

/** Work on one connection: it asks for queries and is handed their rows, so one text serves sync and async drivers. */
export type Work<Result> = Generator<Query, Result, Rows>

/** How far the store had come when a write was kept; a read that names it sees that write. Opaque to callers. */
export type Position = string

/** Where reads go. With `after` a read sees no moment before that position. */
export type Reader = {
  /** The rows of one statement, which is a snapshot by itself. */
  readonly query: (query: Query, after?: Position) => Rows | Promise<Rows>
  /** Runs work whose queries all see the same moment. It is begun again where the server it ran on was lost. */
  readonly snapshot: <Result>(
    begin: () => Work<Result>,
    after?: Position,
  ) => Result | Promise<Result>
}

/** A database session for CLI commands. */
export type Session = {
  readonly query: (query: Query) => Promise<Rows>
  /** Runs the work in one transaction; nothing of it stays where it throws. */
  readonly transaction: <Result>(work: () => Promise<Result>) => Promise<Result>
  /** Runs a part of a transaction; where it throws, only that part is undone, and the transaction may go on. */
  readonly attempt: <Result>(work: () => Promise<Result>) => Promise<Result>
  /** Tells the store that rows with ids of their own came in: later ids go on above them. Within the transaction. */
  readonly settleIds: (tables: readonly string[]) => Promise<void>
  /** Lets the store look at what it has now, for better plans. */
  readonly analyze: () => Promise<void>
  readonly close: () => Promise<void>
}

/** A constraint of the store that a statement ran into, by the names the model knows. */
export class ConstraintError extends Error {
  override readonly name = 'ConstraintError'
  readonly kind: 'unique' | 'reference' | 'check'
  /** `table.column`, where the database says it. */
  readonly target: string

  constructor(kind: ConstraintError['kind'], target: string, options?: ErrorOptions) {
    super(`${kind} constraint: ${target}`, options)
    this.kind = kind
    this.target = target
  }
}

/** Runs work to its end on a driver that answers at once. */
export const drive = <Result>(work: Work<Result>, query: (query: Query) => Rows): Result => {
  let step = work.next()
  while (!step.done) {
    let rows: Rows
    try {
      rows = query(step.value)
    } catch (error) {
      step = work.throw(error)
      continue
    }
    step = work.next(rows)
  }
  return step.value
}
