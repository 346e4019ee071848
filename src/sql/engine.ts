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
}

/** Work on one connection: it asks for queries and is handed their rows, so one text serves sync and async drivers. */
export type Work<Result> = Generator<Query, Result, Rows>

/** Where reads go. */
export type Reader = {
  /** Runs work whose queries all see the same moment, later than every write that was answered. */
  readonly snapshot: <Result>(work: Work<Result>) => Result | Promise<Result>
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
