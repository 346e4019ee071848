/** Sends jobs to the writer thread: those of one turn of the event loop together, and each plan only once. */
import { createPlanNumbers } from '#engines/sqlite/plan-numbers.ts'
import type { Batch, Sent } from '#engines/sqlite/protocol.ts'
import type { ReadPlan } from '#read/plan.ts'
import type { Job } from '#write/job.ts'

/** A placeholder for a plan that the writer has. */
const cachedPlan: ReadPlan = { encoding: 'rest', roots: [] }

export type Batcher = {
  readonly add: (id: number, job: Job) => void
  /** Sends the jobs that were added. */
  readonly flush: () => void
}

/** A batcher without jobs, which sends its batches with `send`. */
export const createBatcher = (send: (batch: Batch) => void): Batcher => {
  const numberOf = createPlanNumbers()
  let jobs: Sent[] = []
  let dropPlans = false
  const flush = () => {
    if (jobs.length === 0) return
    const batch = { dropPlans, jobs }
    jobs = []
    dropPlans = false
    send(batch)
  }
  /** The job as it is sent: with its plan the first time, later with the plan's number only. */
  const packed = (id: number, job: Job): Sent => {
    const { answer } = job
    if (!answer) return { id, plan: null, job }
    const { number: plan, isNew, dropPlans: areNew } = numberOf(answer.plan)
    if (areNew) {
      // The jobs so far refer to plans by their old numbers, so they go first.
      flush()
      dropPlans = true
    }
    return { id, plan, job: isNew ? job : { ...job, answer: { ...answer, plan: cachedPlan } } }
  }
  const add = (id: number, job: Job) => {
    const sent = packed(id, job)
    // Requests that arrived together are sent together, and commit together.
    if (jobs.length === 0) setImmediate(flush)
    jobs.push(sent)
  }
  return { add, flush }
}
