/** Pipelining of a job's steps: those that need no result of an earlier one are sent together. */
import type { Connection } from '#engines/postgres/connection/connection.ts'
import type { Query, Rows } from '#sql/engine.ts'
import type { Statement } from '#sql/sql.ts'
import type { Job } from '#write/job.ts'
import { queryOf } from '#write/perform.ts'

/**
 * A guard failed, so the pipelined results are void: steps behind it may have changed what the reason is read from. The
 * transaction is to be undone and the job run again step by step.
 */
export class PipelineVoid extends Error {
  override readonly name = 'PipelineVoid'
}

type Sent = { readonly query: Query; readonly rows: Promise<Rows> }

/** Whether all that a statement takes from steps before it is there, with so many of them answered. */
const isReady = ({ parameters }: Statement, answered: number): boolean =>
  parameters.every(parameter => parameter.kind !== 'result' || parameter.step < answered)

/** A function that answers the queries of a job's work in their order. It throws PipelineVoid. */
export const pipelining = (job: Job, connection: Connection): ((query: Query) => Promise<Rows>) => {
  const results: Rows[] = []
  const sent: Sent[] = []
  let next = 0
  // With a key nothing goes ahead of the question whether it was used.
  let isHeld = job.idempotency !== undefined
  const sendAhead = () => {
    for (; next < job.steps.length; next++) {
      const statement = job.steps[next]?.statement
      if (!statement || !isReady(statement, results.length)) return
      const query = queryOf(statement, results)
      const rows = connection.query(query)
      // Where one fails the work ends, and nobody waits for those behind it.
      rows.catch(() => {})
      sent.push({ query, rows })
    }
  }
  return async query => {
    if (!isHeld) sendAhead()
    const head = sent.shift()
    if (!head) {
      const rows = await connection.query(query)
      if (rows.length > 0) isHeld = false
      return rows
    }
    if (head.query.text !== query.text) throw new PipelineVoid()
    const rows = await head.rows
    results.push(rows)
    return rows
  }
}
