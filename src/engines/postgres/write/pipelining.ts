/** Pipelining of a job's steps: those that need no result of an earlier one are sent together. */
import type { Connection } from '#engines/postgres/connection/connection.ts'
import type { Query, Rows } from '#sql/engine.ts'
import { isResult, type Job, type JobStatement, keyQueriesOf } from '#write/job.ts'
import { boundQuery } from '#write/perform.ts'

/**
 * A guard failed, so the pipelined results are void: later steps may have changed the rows that explain the failure. The
 * transaction must be rolled back and the job run again step by step.
 */
export class PipelineVoid extends Error {
  override readonly name = 'PipelineVoid'
}

type Sent = { readonly query: Query; readonly rows: Promise<Rows> }

/** Whether a statement has all the results that it needs, when so many steps are answered. */
const isReady = ({ values }: JobStatement, answered: number): boolean =>
  values.every(value => !isResult(value) || value.step < answered)

/** A function that answers the queries of a job's work in order. It throws PipelineVoid. */
export const pipelining = (job: Job, connection: Connection): ((query: Query) => Promise<Rows>) => {
  const results: Rows[] = []
  const sent: Sent[] = []
  let next = 0
  // With an idempotency key, no step is sent before the answers to the first queries, which take the key. Where the key
  // was used already none is ever sent ahead: it would have its effect again.
  let awaited = keyQueriesOf(job)
  let isUsed = false
  const pipelineReady = () => {
    for (; next < job.steps.length; next++) {
      const statement = job.steps[next]?.statement
      if (!statement || !isReady(statement, results.length)) return
      const query = boundQuery(statement, results)
      const rows = connection.query(query)
      // Where one fails the work ends, and the later ones are not awaited.
      rows.catch(() => {})
      sent.push({ query, rows })
    }
  }
  return async query => {
    if (awaited === 0) pipelineReady()
    const head = sent.shift()
    if (!head) {
      const rows = await connection.query(query)
      if (rows.length === 0) isUsed = true
      if (awaited > 0 && !isUsed) awaited--
      return rows
    }
    if (head.query.text !== query.text) throw new PipelineVoid()
    const rows = await head.rows
    results.push(rows)
    return rows
  }
}
