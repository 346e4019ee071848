/** Tells callers what became of their jobs, a few in each turn of the event loop. */
import type { Outcome } from '#write/job.ts'

/** A job, by its number, and what became of it. */
export type Told = readonly [number, Outcome]

/**
 * How many are told in a turn: each is an answer to write, and mostly another request at once, and who comes meanwhile waits for all of
 * them. Where many wait, a part of them, so that it takes few turns, which are long when there is much else to do.
 */
const atOnce = { least: 8, part: 1 / 4 }

/** The longest commit, in milliseconds, that is quick: after a longer one all are told, as what they write next is then to share the next one. */
const quick = 4

type Telling = {
  /** Tells of a group, whose commit took so many `milliseconds`: the first of them in this turn, unless others wait to be told. */
  readonly add: (outcomes: readonly Told[], milliseconds: number) => void
  /** Tells all that wait to be told. */
  readonly flush: () => void
}

/** Tells outcomes with `tell`, in the order in which they are added; `later` calls a function in the next turn. */
export const createTelling = (
  tell: (told: Told) => void,
  later: (work: () => void) => void = setImmediate,
): Telling => {
  let waiting: readonly Told[] = []
  let isScheduled = false
  const tellSome = (most: number) => {
    const some = waiting.slice(0, most)
    waiting = waiting.slice(most)
    for (const told of some) tell(told)
  }
  const turn = () => {
    isScheduled = false
    tellSome(Math.max(atOnce.least, Math.ceil(waiting.length * atOnce.part)))
    schedule()
  }
  const schedule = () => {
    if (isScheduled || waiting.length === 0) return
    isScheduled = true
    later(turn)
  }
  return {
    add: (outcomes, milliseconds) => {
      waiting = [...waiting, ...outcomes]
      if (milliseconds > quick) tellSome(waiting.length)
      else if (!isScheduled) turn()
    },
    flush: () => tellSome(waiting.length),
  }
}
