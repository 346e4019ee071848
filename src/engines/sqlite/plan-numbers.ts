/** Numbers for plans, so that each is sent to a thread only once. */
import type { ReadPlan } from '#read/plan.ts'

/** The most plans that a thread caches; then it drops them all. */
const mostPlans = 500

type Numbered = {
  readonly number: number
  /** Whether the thread does not have the plan yet. */
  readonly isNew: boolean
  /** Whether the thread is to drop the plans that it has: their numbers are given anew. */
  readonly dropPlans: boolean
}

/** A function that gives the number of a plan; one for each thread. */
export const createPlanNumbers = (): ((plan: ReadPlan) => Numbered) => {
  const numbers = new Map<ReadPlan, number>()
  return plan => {
    const known = numbers.get(plan)
    if (known !== undefined) return { number: known, isNew: false, dropPlans: false }
    const dropPlans = numbers.size >= mostPlans
    if (dropPlans) numbers.clear()
    const number = numbers.size
    numbers.set(plan, number)
    return { number, isNew: true, dropPlans }
  }
}
