/** Runs a job inside a transaction: its steps in order, then the read of the written row. */
import { ApiError } from '#errors.ts'
import type { Prepared } from '#read/read.ts'
import { ConstraintError, type Query, type QueryScript, type Rows } from '#sql/engine.ts'
import type { SqlValue } from '#sql/sql.ts'
import {
  type DeferredValue,
  filledIn,
  type Idempotency,
  isResult,
  type Job,
  type JobStatement,
  type Outcome,
  type Together,
  type Written,
} from '#write/job.ts'

const settled = (deferred: DeferredValue, results: readonly Rows[], own: Job['own']): SqlValue => {
  const value = filledIn(deferred, own)
  if (!isResult(value)) return value
  const { step, column, as } = value
  const rows = results[step] ?? []
  if (as === undefined) return rows[0]?.[column] as SqlValue
  return JSON.stringify(rows.map(row => Number(row[column])))
}

/** A statement with its values, some of which are the job's own, or columns of rows that earlier steps returned. */
export const boundQuery = (
  { text, values }: JobStatement,
  results: readonly Rows[] = [],
  own?: Job['own'],
): Query => ({ text, values: values.map(value => settled(value, results, own)) })

/** The refusal by a step that gave these rows; undefined if its expectation holds. */
const refusalBy = function* (
  job: Job,
  index: number,
  results: readonly Rows[],
  rows: Rows,
): QueryScript<Outcome | undefined> {
  const { expect, explain } = job.steps[index] ?? {}
  if (expect !== 'row' || rows.length > 0) return undefined
  const told = explain ? yield boundQuery(explain, results, job.own) : []
  return { kind: 'refused', step: index, rows: told }
}

/**
 * The response stored under the job's key, or the refusal to show it; undefined if there is none: the key is then
 * reserved for this job.
 */
const storedResponse = function* (
  job: Job,
  { reserve, claim, lookup, fingerprint: own }: Idempotency,
): QueryScript<Outcome | undefined> {
  const isStored = (yield boundQuery(reserve)).length === 0
  // Last, so that a replay, which comes no further, writes nothing.
  const isReused = !isStored && claim && (yield boundQuery(claim)).length === 0
  if (!isStored && !isReused) return undefined
  // Nothing is shown to a viewer who may not write any more.
  const index = job.steps.findIndex(({ checksViewer }) => checksViewer)
  const check = job.steps[index]
  const rows = check ? yield boundQuery(check.statement, [], job.own) : []
  const refused = check && (yield* refusalBy(job, index, [], rows))
  if (refused) return refused
  if (isReused) return { kind: 'reused' }
  const [row] = yield boundQuery(lookup)
  if (!row) throw new Error('the key is reserved and has no stored response')
  const [fingerprint, status, text, id, revision] = row
  if (fingerprint !== own) return { kind: 'reused' }
  const number = (value: SqlValue | undefined) => (value == null ? undefined : Number(value))
  const answer = { text: String(text), last: number(id), revision: number(revision) }
  return { kind: 'done', rows: [], status: Number(status), answer, replayed: true }
}

/** What was done or sent together is void: the job must be undone, and done again step by step. */
export class TogetherVoid extends Error {
  override readonly name = 'TogetherVoid'
}

/** Does several steps by one statement, and gives the rows of each; throws TogetherVoid. */
const doneTogether = function* (
  { statement, rows: wanted }: Together,
  results: readonly Rows[],
  own: Job['own'],
): QueryScript<readonly Rows[]> {
  try {
    const rows = yield boundQuery(statement, results, own)
    if (rows.length === wanted) return rowsOfEach(rows)
  } catch (error) {
    // Each row alone has as long as all had together.
    const isLate = error instanceof ApiError && error.code === 'TIMEOUT'
    if (!isLate && !(error instanceof ConstraintError)) throw error
  }
  throw new TogetherVoid()
}

/** The rows of a statement that did several steps, as those of each. */
export const rowsOfEach = (rows: Rows): readonly Rows[] => rows.map(row => [row])

/** The most characters of an answer that a key keeps for a day: what a body of the usual length says is never so long. */
const longestKept = 2_097_152

const tooLong = (why: string) => new ApiError('RESPONSE_TOO_LARGE', `${why}; ask for less of it`)

const steps = function* (
  job: Job,
  prepared: Prepared | undefined,
  results: Rows[],
  isApart: boolean,
): QueryScript<Outcome> {
  const { idempotency } = job
  const stored = idempotency && (yield* storedResponse(job, idempotency))
  if (stored) return stored
  for (const [index, step] of job.steps.entries()) {
    if (index < results.length) continue
    const together = isApart ? undefined : job.together?.get(index)
    if (together) {
      results.push(...(yield* doneTogether(together, results, job.own)))
      continue
    }
    const rows = yield boundQuery(step.statement, results, job.own)
    const refused = yield* refusalBy(job, index, results, rows)
    if (refused) return refused
    results.push(rows)
  }
  let answer: Written | null = null
  if (job.text !== undefined) {
    const ids = (step: number) => (results[step] ?? []).map(([id]) => Number(id))
    const text =
      typeof job.text === 'string' ? job.text : JSON.stringify(job.text.idsOf.flatMap(ids))
    answer = { text, revision: undefined, last: undefined }
  }
  if (answer === null && job.answer && prepared) {
    const values = job.answer.values.map(value => settled(value, results, job.own))
    answer = prepared.answers(yield* prepared.script(values), values)[0] ?? null
    const { length } = answer?.text ?? ''
    if (length > (job.answer.longest ?? length))
      throw tooLong('The answer would be too long, with those of the mutations before it')
    if (idempotency && length > longestKept)
      throw tooLong(`A key keeps at most ${longestKept} characters, and the answer would be longer`)
  }
  let { status } = job
  if (typeof status !== 'number') status = results[status.step]?.length ? status.some : status.none
  if (job.isDry) return { kind: 'tried', rows: [], status, answer, replayed: false }
  if (idempotency) {
    const { text, values } = boundQuery(idempotency.store, results)
    const { last = null, revision = null } = answer ?? {}
    yield { text, values: [status, answer?.text ?? '', last, revision, ...values.slice(4)] }
  }
  return { kind: 'done', rows: job.own ? [] : results, status, answer, replayed: false }
}

/**
 * The outcome of the job. Its caller rolls back unless the outcome is `done`;
 * errors that are not the caller's are thrown, and TogetherVoid unless it is done step by step (`isApart`).
 */
export const perform = function* (
  job: Job,
  prepared: Prepared | undefined,
  isApart = false,
): QueryScript<Outcome> {
  const results: Rows[] = []
  try {
    return yield* steps(job, prepared, results, isApart)
  } catch (error) {
    if (error instanceof ConstraintError)
      return {
        kind: 'violation',
        constraint: error.kind,
        target: error.target,
        step: results.length,
        text: error.cause instanceof Error ? error.cause.message : error.message,
      }
    if (!(error instanceof ApiError)) throw error
    const { code, status, title, message } = error
    return { kind: 'failed', code, status, title, message }
  }
}
