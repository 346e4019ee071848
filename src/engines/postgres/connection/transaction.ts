/** Transactions on a connection: begin, run work, roll back. */
import type { Connection } from '#engines/postgres/connection/connection.ts'
import { localSettings, type SessionOptions } from '#engines/postgres/connection/settings.ts'
import { ConstraintError, type Query, type Rows, type Work } from '#sql/engine.ts'

/** Runs work to its end; `ask` answers its queries one by one. */
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
      // Work handles only errors that depend on the data.
      if (!(error instanceof ConstraintError)) throw error
      step = work.throw(error)
      continue
    }
    step = work.next(rows)
  }
  return step.value
}

/** Begins a transaction without waiting for the answer: the next query is pipelined behind it. */
export const begin = (connection: Connection, options: SessionOptions, how: string): void => {
  const text = options.prepare ? `begin ${how}` : `begin ${how}; ${localSettings(options)}`
  // If it fails, so do the queries behind it, and those are awaited.
  connection.run(text).catch(() => {})
}

/** Rolls a transaction back; a connection that cannot do so is closed. */
export const rollBack = async (connection: Connection): Promise<void> => {
  try {
    await connection.run('rollback')
  } catch {
    connection.cut()
  }
}
