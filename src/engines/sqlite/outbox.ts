/** Jobs on their way to the writer thread: those of one moment together, and each plan only once. */
import type { Batch, Sent } from '#engines/sqlite/protocol.ts'
import type { ReadPlan } from '#read/plan.ts'
import type { Job } from '#write/job.ts'

/** The writer keeps so many plans ready; then it starts afresh. */
const plansKept = 500

/** Stands for a plan that the writer has. */
const sentBefore: ReadPlan = { encoding: 'rest', roots: [] }

export type Outbox = {
  readonly add: (id: number, job: Job) => void
  /** Sends what is in it now. */
  readonly flush: () => void
}

/** An empty one; `send` is handed what is sent. */
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
      // What is on its way refers to plans by number: it goes first.
      flush()
      numbers.clear()
      forget = true
    }
    numbers.set(plan, numbers.size)
    return numbers.size - 1
  }
  /** The job as it is sent: a plan travels once, and later jobs name it by its number. */
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
