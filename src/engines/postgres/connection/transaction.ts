/** A transaction on a connection: how it begins, how work is driven in it, and how it is undone. */
import type { Connection } from '#engines/postgres/connection/connection.ts'
import { type ConnectionOptions, localSettings } from '#engines/postgres/connection/settings.ts'
import { ConstraintError, type Query, type Rows, type Work } from '#sql/engine.ts'

/** Runs work to its end, query by query, each as `ask` answers it. */
export const driveBy = async <Result>(
  work: Work<Result>,
  ask: (query: Query) => Promise<Rows>,
): Promise<Result> => {
  let step = work.next()
  while (!step.done) {
    let rows: Rows
    try {
      rows = await ask(step.value)
    } catch (error) {
      // Only what the data decides is the work's own affair.
      if (!(error instanceof ConstraintError)) throw error
      step = work.throw(error)
      continue
    }
    step = work.next(rows)
  }
  return step.value
}

/** Begins a transaction. It is not waited for: what comes next is sent behind it. */
export const begin = (connection: Connection, options: ConnectionOptions, how: string): void => {
  const text = options.prepare ? `begin ${how}` : `begin ${how}; ${localSettings(options)}`
  // If it fails, so does all that is behind it, which is waited for.
  connection.run(text).catch(() => {})
}

/** Ends a transaction with nothing kept; a connection that cannot do so is cut. */
export const rollBack = async (connection: Connection): Promise<void> => {
  try {
    await connection.run('rollback')
  } catch {
    connection.cut()
  }
}
