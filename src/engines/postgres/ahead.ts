/** Sends the steps of a job ahead of their turn: those that need no answer of one before them go the way together. */
import type { Line } from '#engines/postgres/line.ts'
import { ConstraintError, type Query, type Rows, type Work } from '#sql/engine.ts'
import type { Statement } from '#sql/sql.ts'
import type { Job, Outcome } from '#write/job.ts'
import { queryOf } from '#write/perform.ts'

/**
 * The work went another way than its steps say: a guard failed, and it asks why. What was sent ahead may be part of
 * the answer, so the transaction is to be undone and the job done step by step.
 */
export class WentAnotherWay extends Error {
  override readonly name = 'WentAnotherWay'
}

type Sent = { readonly query: Query; readonly rows: Promise<Rows> }

/** Whether all that a statement takes from steps before it is there, with so many of them answered. */
const isReady = ({ parameters }: Statement, answered: number): boolean =>
  parameters.every(parameter => parameter.kind !== 'result' || parameter.step < answered)

/** Runs the work of a job to its end on a connection. Throws WentAnotherWay. */
export const driveAhead = async (job: Job, work: Work<Outcome>, line: Line): Promise<Outcome> => {
  const results: Rows[] = []
  const sent: Sent[] = []
  let next = 0
  const sendAhead = () => {
    for (; next < job.steps.length; next++) {
      const statement = job.steps[next]?.statement
      if (!statement || !isReady(statement, results.length)) return
      const query = queryOf(statement, results)
      const rows = line.query(query)
      // Where one fails the work ends, and nobody waits for those behind it.
      rows.catch(() => {})
      sent.push({ query, rows })
    }
  }
  const answer = async (query: Query): Promise<Rows> => {
    const head = sent.shift()
    if (!head) return line.query(query)
    if (head.query.text !== query.text) throw new WentAnotherWay()
    const rows = await head.rows
    results.push(rows)
    return rows
  }
  // With a key nothing goes ahead of the question whether it was used.
  let isHeld = job.once !== undefined
  let step = work.next()
  while (!step.done) {
    if (!isHeld) sendAhead()
    let rows: Rows
    try {
      rows = await answer(step.value)
    } catch (error) {
      if (!(error instanceof ConstraintError)) throw error
      step = work.throw(error)
      continue
    }
    if (isHeld && rows.length > 0) isHeld = false
    step = work.next(rows)
  }
  return step.value
}
