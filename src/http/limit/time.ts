/** How much of the processor a caller may take with what is new to this process, beyond the number of its requests. */
import { lru } from '#base/cache.ts'
import { ApiError } from '#errors.ts'

export type TimeOptions = {
  /** The most requests of a caller in a minute. */
  readonly limit: number
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Milliseconds of the processor that this thread has taken. */
  readonly processor?: (() => number) | undefined
}

/** What a caller may take at once, in milliseconds: a program sends all its documents anew when the service was restarted. */
const atOnce = 1000

/** Callers whose time is remembered: those who took any lately. */
const mostCallers = 10_000

/** Milliseconds for each request that a caller may send. */
const perRequest = 2

const processorOfThread = (): number => {
  const microseconds = Object.values(process.threadCpuUsage())
  return microseconds.reduce((sum, one) => sum + one, 0) / 1000
}

const usedUp = (seconds: number): ApiError =>
  new ApiError(
    'RATE_LIMITED',
    `New documents took more than their share of the processor; try again in ${seconds} s, or send one document each time and what differs as variables`,
    { retryAfter: seconds },
  )

/** Time for each caller, as in a bucket that leaks: what was taken is given back as time passes. */
export const createTimes = ({ limit, now, processor = processorOfThread }: TimeOptions) => {
  const perSecond = (limit * perRequest) / 60
  const callers = lru<{ readonly taken: number; readonly at: number }>(mostCallers)
  /** What a caller has taken and not been given back; a clock that was set back gives nothing back. */
  const takenBy = (caller: string): number => {
    const { taken, at } = callers.get(caller) ?? { taken: 0, at: 0 }
    const seconds = Math.max(0, now() - at) / 1000
    return Math.max(0, taken - seconds * perSecond)
  }
  /** Runs a piece of work for a caller, and counts its time; throws `RATE_LIMITED` without running it where the caller has none left. */
  return <Result>(caller: string, work: () => Result): Result => {
    const taken = takenBy(caller)
    const took = (milliseconds: number) =>
      callers.set(caller, { taken: taken + milliseconds, at: now() })
    if (taken > atOnce) {
      // Counted from now on where the clock was set back, and kept among the callers that are remembered.
      took(0)
      throw usedUp(Math.ceil((taken - atOnce) / perSecond))
    }
    const started = processor()
    try {
      return work()
    } finally {
      took(processor() - started)
    }
  }
}
