/** The lane of slow reads: few run at a time, a bounded number waits, and callers take turns. */
import { ApiError } from '#errors.ts'
import type { ReadOptions } from '#sql/engine.ts'

type SlowLaneLimits = {
  /** How many run at a time. */
  readonly slots: number
  /** How many may wait. */
  readonly waiting: number
  /** The longest wait, in milliseconds. */
  readonly patience: number
}

/** How many slow reads may wait in one process. */
export const usualWaiting = 64

const overloaded = (message: string) => new ApiError('OVERLOADED', message, { retryAfter: 2 })
const laneFull = () =>
  overloaded('Too many long reads are waiting; ask for less, or try again soon')
const shareFull = () =>
  overloaded('Too many of your long reads are waiting; wait for their answers, or ask for less')
const tooLate = () =>
  overloaded('Other long reads took all the time; ask for less, or try again soon')

/** The error for a read that ran until its time was up. */
export const tookTooLong = () =>
  new ApiError('TIMEOUT', 'Reading took too long; ask for less', { retryAfter: 5 })

type Waiting = { readonly caller: string; readonly begin: () => void }

/** Those that wait, by caller: the next is of the caller whose turn was longest ago. */
const createTurns = () => {
  const turns = new Map<string, Set<Waiting>>()
  const remove = (one: Waiting) => {
    const own = turns.get(one.caller)
    own?.delete(one)
    if (own?.size === 0) turns.delete(one.caller)
  }
  return {
    add: (one: Waiting) => void turns.getOrInsertComputed(one.caller, () => new Set()).add(one),
    remove,
    next: (): Waiting | undefined => {
      const [[caller, own] = ['', new Set<Waiting>()] as const] = turns
      const [first] = own
      if (!first) return undefined
      own.delete(first)
      turns.delete(caller)
      if (own.size > 0) turns.set(caller, own)
      return first
    },
  }
}

/** The callers in the lane, one entry for each read that runs or waits. */
const createShares = (size: number) => {
  const callers: string[] = []
  return {
    /** Lets a read in; throws where the lane or the caller's half of it is full. */
    take: (caller: string) => {
      if (callers.length >= size) throw laneFull()
      const own = callers.filter(one => one === caller)
      if (own.length >= Math.ceil(size / 2)) throw shareFull()
      callers.push(caller)
    },
    give: (caller: string) => void callers.splice(callers.indexOf(caller), 1),
  }
}

/** The slots in which slow reads run; the others wait for one. */
const createSlots = ({ slots, patience }: Pick<SlowLaneLimits, 'slots' | 'patience'>) => {
  const turns = createTurns()
  let running = 0
  const wait = (caller: string, gone: AbortSignal): Promise<void> => {
    gone.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const one = { caller, begin: resolve }
    const leave = (error: unknown) => {
      turns.remove(one)
      reject(error)
    }
    const timer = setTimeout(() => leave(tooLate()), patience)
    gone.addEventListener('abort', () => leave(gone.reason))
    turns.add(one)
    return promise.finally(() => clearTimeout(timer))
  }
  return {
    enter: async (caller: string, gone: AbortSignal): Promise<void> => {
      if (running >= slots) return wait(caller, gone)
      running++
    },
    leave: () => {
      const next = turns.next()
      // The slot goes to the next one.
      if (next) next.begin()
      else running--
    },
  }
}

/** A lane in which nobody is yet. */
export const createSlowLane = ({ slots, waiting, patience }: SlowLaneLimits) => {
  const shares = createShares(slots + waiting)
  const { enter, leave } = createSlots({ slots, patience })
  /**
   * Runs work when its turn comes; `gone` tells it that nobody waits for it any more. Throws `OVERLOADED` where the lane or the
   * caller's half of it is full, or where its turn does not come in time, and `CLIENT_CLOSED_REQUEST` where the client is gone.
   */
  const run = async <Result>(
    work: (gone: AbortSignal) => Promise<Result>,
    { caller: callerOf, onGone }: ReadOptions,
  ): Promise<Result> => {
    const caller = callerOf?.() ?? ''
    shares.take(caller)
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
      shares.give(caller)
    }
  }
  return { run }
}
