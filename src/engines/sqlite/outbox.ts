/** Sends jobs to the writer thread: those of one turn of the event loop together, and each plan only once. */
import type { Batch, Sent } from '#engines/sqlite/protocol.ts'
import type { ReadPlan } from '#read/plan.ts'
import type { Job } from '#write/job.ts'

/** The most plans that the writer caches; then it drops them all. */
const plansKept = 500

/** A placeholder for a plan that the writer has. */
const sentBefore: ReadPlan = { encoding: 'rest', roots: [] }

export type Outbox = {
  readonly add: (id: number, job: Job) => void
  /** Sends the jobs that are in it now. */
  readonly flush: () => void
}

/** An empty outbox that sends its batches with `send`. */
export const createOutbox = (send: (batch: Batch) => void): Outbox => {
  const numbers = new Map<ReadPlan, number>()
  let jobs: Sent[] = []
  let forget = false
  const flush = () => {
    if (jobs.length === 0) return
    const batch = { forget, jobs }
    jobs = []
    forget = false
    send(batch)
  }
  const numberOf = (plan: ReadPlan): number => {
    if (numbers.size >= plansKept) {
      // The jobs so far refer to plans by their old numbers, so they go first.
      flush()
      numbers.clear()
      forget = true
    }
    numbers.set(plan, numbers.size)
    return numbers.size - 1
  }
  /** The job as it is sent: with its plan the first time, later with the plan's number only. */
  const packed = (id: number, job: Job): Sent => {
    const { answer } = job
    if (!answer) return { id, plan: null, job }
    const known = numbers.get(answer.plan)
    if (known === undefined) return { id, plan: numberOf(answer.plan), job }
    return { id, plan: known, job: { ...job, answer: { ...answer, plan: sentBefore } } }
  }
  const add = (id: number, job: Job) => {
    const sent = packed(id, job)
    // Requests that arrived together are sent together, and commit together.
    if (jobs.length === 0) setImmediate(flush)
    jobs.push(sent)
  }
  return { add, flush }
}
