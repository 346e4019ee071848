/** A lane of slow work, such as reads: little runs at a time, a bounded number waits, and callers take turns. */
import { createFairLine } from '#base/fair-line.ts'
import { ApiError, overloaded } from '#errors.ts'

export type Asking = {
  /** Who asks: no caller may take up more than a fair share of a scarce resource. */
  readonly caller?: () => string
  /** Calls back when nobody waits for the answer any more; gives the function that forgets this. */
  readonly onGone?: (stop: () => void) => () => void
}

type SlowLaneLimits = {
  readonly concurrency: number
  readonly waiting: number
  /** How long one may wait, in milliseconds. */
  readonly longestWait: number
  /** What waits there, in the plural. */
  readonly what: string
}

/** A lane in which nobody is yet. */
export const createSlowLane = ({ concurrency, waiting, longestWait, what }: SlowLaneLimits) => {
  const size = concurrency + waiting
  /** The caller of all that runs or waits, each time. */
  const callers: string[] = []
  /** How to begin what waits. */
  const line = createFairLine<() => void>()
  let running = 0

  /** Resolves when one more may run. */
  const enter = async (caller: string, gone: AbortSignal): Promise<void> => {
    if (running < concurrency) {
      running++
      return
    }
    gone.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    line.add(caller, resolve)
    const giveUp = (error: unknown) => {
      line.remove(caller, resolve)
      reject(error)
    }
    const late = `Other ${what} took all the time; try again soon`
    const timer = setTimeout(() => giveUp(overloaded(late, 2)), longestWait)
    gone.addEventListener('abort', () => giveUp(gone.reason))
    return promise.finally(() => clearTimeout(timer))
  }

  /** Lets the next one run in the place of one that is done. */
  const leave = (): void => {
    const begin = line.next()
    if (begin) begin()
    else running--
  }

  /**
   * Runs work when its turn comes; `gone` tells it that nobody waits for it any more. Throws `OVERLOADED` if the lane or the
   * caller's half of it is full, or its turn does not come in time, and `CLIENT_CLOSED_REQUEST` if the client is gone.
   */
  const run = async <Result>(
    work: (gone: AbortSignal) => Promise<Result>,
    { caller: callerOf, onGone }: Asking,
  ): Promise<Result> => {
    const caller = callerOf?.() ?? ''
    if (callers.length >= size) throw overloaded(`Too many ${what} are waiting; try again soon`, 2)
    if (callers.filter(one => one === caller).length >= Math.ceil(size / 2))
      throw overloaded(`Too many of your ${what} are waiting; wait for their answers`, 2)
    callers.push(caller)
    const client = new AbortController()
    const gone = client.signal
    const forget = onGone?.(() => client.abort(new ApiError('CLIENT_CLOSED_REQUEST')))
    try {
      await enter(caller, gone)
      try {
        gone.throwIfAborted()
        return await work(gone)
      } catch (error) {
        gone.throwIfAborted()
        throw error
      } finally {
        leave()
      }
    } finally {
      forget?.()
      callers.splice(callers.indexOf(caller), 1)
    }
  }
  return { run }
}
