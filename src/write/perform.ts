/** Runs a job inside a transaction: its steps in order, then the read of the written row. */
import { ApiError } from '#errors.ts'
import type { Prepared } from '#read/read.ts'
import { ConstraintError, type Query, type QueryScript, type Rows } from '#sql/engine.ts'
import type { SqlValue } from '#sql/sql.ts'
import {
  type DeferredValue,
  type Idempotency,
  isResult,
  type Job,
  type JobStatement,
  type Outcome,
  type Status,
  type Written,
} from '#write/job.ts'

const settled = (value: DeferredValue, results: readonly Rows[]): SqlValue =>
  isResult(value) ? (results[value.step]?.[0]?.[value.column] as SqlValue) : value

/** A statement with its values, some of which are columns of rows that earlier steps returned. */
export const boundQuery = ({ text, values }: JobStatement, results: readonly Rows[]): Query => ({
  text,
  values: values.map(value => settled(value, results)),
})

const statusOf = (status: Status, results: readonly Rows[]): number => {
  if (typeof status === 'number') return status
  return results[status.step]?.length ? status.some : status.none
}

/** The answer of the job: its text, or the row read after the steps; null if it has neither. */
const answerOf = function* (
  job: Job,
  prepared: Prepared | undefined,
  results: readonly Rows[],
): QueryScript<Written | null> {
  if (job.text !== undefined) return { text: job.text, revision: undefined, last: undefined }
  if (!job.answer || !prepared) return null
  const values = job.answer.values.map(value => settled(value, results))
  const [answer = null] = prepared.answers(yield* prepared.script(values), values)
  return answer
}

/** The refusal by a step that gave these rows; undefined if its expectation holds. */
const refusalBy = function* (
  { steps }: Job,
  index: number,
  results: readonly Rows[],
  rows: Rows,
): QueryScript<Outcome | undefined> {
  const { expect, explain } = steps[index] ?? {}
  if (expect !== 'row' || rows.length > 0) return undefined
  return { kind: 'refused', step: index, rows: explain ? yield boundQuery(explain, results) : [] }
}

/** The refusal of a viewer who may not write any more; undefined if the viewer may. */
const viewerRefusal = function* (job: Job): QueryScript<Outcome | undefined> {
  const index = job.steps.findIndex(({ checksViewer }) => checksViewer)
  const check = job.steps[index]
  return check && (yield* refusalBy(job, index, [], yield boundQuery(check.statement, [])))
}

/** Takes the key for the job if it is free; else a response may be stored under it, or another request has it. */
const takeKey = function* ({
  reserve,
  claim,
}: Idempotency): QueryScript<'taken' | 'stored' | 'reused'> {
  const reserved = yield boundQuery(reserve, [])
  if (reserved.length === 0) return 'stored'
  // Last, so that a replay, which comes no further, writes nothing.
  const claimed = claim && (yield boundQuery(claim, []))
  return claimed?.length === 0 ? 'reused' : 'taken'
}

/**
 * The response stored under the job's key, or the refusal to show it; undefined if there is none: the key is then
 * reserved for this job.
 */
const storedResponse = function* (
  job: Job,
  idempotency: Idempotency,
): QueryScript<Outcome | undefined> {
  const key = yield* takeKey(idempotency)
  if (key === 'taken') return undefined
  const refused = yield* viewerRefusal(job)
  if (refused) return refused
  if (key === 'reused') return { kind: 'reused' }
  const [row] = yield boundQuery(idempotency.lookup, [])
  if (!row) throw new Error('the key is reserved and has no stored response')
  const [fingerprint, status, text, id, revision] = row
  if (fingerprint !== idempotency.fingerprint) return { kind: 'reused' }
  const number = (value: SqlValue | undefined) => (value == null ? undefined : Number(value))
  const answer = { text: String(text), last: number(id), revision: number(revision) }
  return { kind: 'done', rows: [], status: Number(status), answer, replayed: true }
}

const steps = function* (job: Job, prepared: Prepared | undefined): QueryScript<Outcome> {
  const { idempotency } = job
  const stored = idempotency && (yield* storedResponse(job, idempotency))
  if (stored) return stored
  const results: Rows[] = []
  for (const [index, step] of job.steps.entries()) {
    const rows = yield boundQuery(step.statement, results)
    const refused = yield* refusalBy(job, index, results, rows)
    if (refused) return refused
    results.push(rows)
  }
  const answer = yield* answerOf(job, prepared, results)
  const status = statusOf(job.status, results)
  if (idempotency) {
    const { text, values } = boundQuery(idempotency.store, results)
    const { last = null, revision = null } = answer ?? {}
    yield { text, values: [status, answer?.text ?? '', last, revision, ...values.slice(4)] }
  }
  return { kind: 'done', rows: results, status, answer, replayed: false }
}

/**
 * The outcome of the job. Its caller rolls back unless the outcome is `done`;
 * errors that are not the caller's are thrown.
 */
export const perform = function* (job: Job, prepared: Prepared | undefined): QueryScript<Outcome> {
  try {
    return yield* steps(job, prepared)
  } catch (error) {
    if (error instanceof ConstraintError)
      return { kind: 'violation', constraint: error.kind, target: error.target }
    if (!(error instanceof ApiError)) throw error
    const { code, status, title, message } = error
    return { kind: 'failed', code, status, title, message }
  }
}
