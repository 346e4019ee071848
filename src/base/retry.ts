/** Doing again what may succeed in a moment, until a deadline. */
import { setTimeout as sleep } from 'node:timers/promises'

export type RetryOptions = {
  /** Milliseconds from the first failure on, which may itself take longer than a short wait. */
  readonly wait: number
  /** Milliseconds between two tries. */
  readonly pause: number
  /** Whether an error may be gone the next time. */
  readonly passes: (error: unknown) => boolean
  /** Called once, before the first pause. */
  readonly onWait: (error: unknown) => void
}

/** What the work gives when it succeeds; throws its error if that does not pass, or when the time is over. */
export const retry = async <Result>(
  { wait, pause, passes, onWait }: RetryOptions,
  work: () => Result | Promise<Result>,
): Promise<Result> => {
  let deadline: number | undefined
  for (;;) {
    try {
      return await work()
    } catch (error) {
      const now = performance.now()
      if (!passes(error) || now >= (deadline ?? now + wait)) throw error
      if (deadline === undefined) onWait(error)
      deadline ??= now + wait
    }
    await sleep(pause)
  }
}

/** Whether the work ends within so many milliseconds; throws what it throws until then. */
export const endsWithin = async (ms: number, work: Promise<unknown>): Promise<boolean> => {
  const { promise: late, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(resolve, ms, false)
  try {
    return await Promise.race([work.then(() => true), late])
  } finally {
    clearTimeout(timer)
  }
}
