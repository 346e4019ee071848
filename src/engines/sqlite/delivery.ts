/** Delivers the outcomes of jobs to their callers, a few in each turn of the event loop. */
import type { Outcome } from '#write/job.ts'

/** A job, by its number, and what became of it. */
export type JobOutcome = readonly [number, Outcome]

/**
 * How many are delivered in a turn: each is an answer to write, and mostly another request at once, and who comes meanwhile waits for all of
 * them. Where many wait, a part of them, so that it takes few turns, which are long when there is much else to do.
 */
const atOnce = { least: 8, part: 1 / 4 }

/** The longest commit, in milliseconds, that is quick: after a longer one all are delivered, as what they write next is then to share the next one. */
const quick = 4

/**
 * The shortest commit that is slow, in milliseconds: after it very many may have waited, and are delivered in turns again. The writer then
 * waits for what they write next, which takes little of the time of such commits.
 */
export const slow = 40

/** Delivers outcomes with `deliver`, in the order in which they are added; `later` calls a function in the next turn. */
export const createDelivery = (
  deliver: (outcome: JobOutcome) => void,
  later: (work: () => void) => void = setImmediate,
) => {
  let waiting: readonly JobOutcome[] = []
  let isScheduled = false
  const deliverSome = (most: number) => {
    const some = waiting.slice(0, most)
    waiting = waiting.slice(most)
    for (const outcome of some) deliver(outcome)
  }
  const turn = () => {
    isScheduled = false
    deliverSome(Math.max(atOnce.least, Math.ceil(waiting.length * atOnce.part)))
    schedule()
  }
  const schedule = () => {
    if (isScheduled || waiting.length === 0) return
    isScheduled = true
    later(turn)
  }
  return {
    /** Adds the outcomes of a group, whose commit took so many `milliseconds`: the first of them are delivered in this turn, unless others wait. */
    add: (outcomes: readonly JobOutcome[], milliseconds: number) => {
      waiting = [...waiting, ...outcomes]
      if (milliseconds > quick && milliseconds < slow) deliverSome(waiting.length)
      else if (!isScheduled) turn()
    },
    /** Delivers all that wait. */
    flush: () => deliverSome(waiting.length),
  }
}
