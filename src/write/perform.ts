/** Runs a job inside a transaction: its steps in order, then the read of what they made. */
import { ApiError } from '#errors.ts'
import type { Prepared } from '#read/read.ts'
import { ConstraintError, type Query, type Rows, type Work } from '#sql/engine.ts'
import type { SqlValue, Statement } from '#sql/sql.ts'
import type { Job, Late, Outcome } from '#write/job.ts'

const queryOf = (statement: Statement, results: readonly Rows[]): Query => ({
  text: statement.text,
  values: statement.parameters.map(parameter => {
    if (parameter.kind === 'value') return parameter.value
    if (parameter.kind === 'result')
      return results[parameter.step]?.[0]?.[parameter.column] as SqlValue
    throw new Error(`a step has no ${parameter.kind}`)
  }),
})

const settled = (value: Late, results: readonly Rows[]): SqlValue =>
  value !== null && typeof value === 'object' && 'step' in value
    ? (results[value.step]?.[0]?.[value.column] as SqlValue)
    : value

const steps = function* (job: Job, prepared: Prepared | undefined): Work<Outcome> {
  const results: Rows[] = []
  for (const [index, step] of job.steps.entries()) {
    const rows = yield queryOf(step.statement, results)
    if (step.expect === 'row' && rows.length === 0)
      return {
        kind: 'refused',
        step: index,
        rows: step.explain ? yield queryOf(step.explain, results) : [],
      }
    results.push(rows)
  }
  if (!job.answer || !prepared) return { kind: 'done', rows: results, answer: null }
  const values = job.answer.values.map(value => settled(value, results))
  const [answer = null] = yield* prepared.work(values)
  return { kind: 'done', rows: results, answer }
}

/**
 * What came of the job. Whoever runs it undoes everything unless the outcome is `done`;
 * errors that are not the caller's are thrown.
 */
export const perform = function* (job: Job, prepared: Prepared | undefined): Work<Outcome> {
  try {
    return yield* steps(job, prepared)
  } catch (error) {
    if (error instanceof ConstraintError)
      return { kind: 'violation', constraint: error.kind, target: error.target }
    if (error instanceof ApiError)
      return { kind: 'failed', code: error.code, message: error.message }
    throw error
  }
}
