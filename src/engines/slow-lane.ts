/** The lane of slow reads: few run at a time, a bounded number waits, and callers take turns. */
import { ApiError } from '#errors.ts'
import type { Asked } from '#sql/engine.ts'

type OnStop = (stop: () => void) => void

export type SlowLane = {
  /**
   * Runs work when its turn comes; `onStop` reports to it when nobody waits for it any more. Throws `OVERLOADED` where the lane or the
   * caller's half of it is full, or where its turn does not come in time, and `CLIENT_CLOSED_REQUEST` where the client is gone.
   */
  readonly run: <Result>(work: (onStop: OnStop) => Promise<Result>, asked: Asked) => Promise<Result>
}

export type SlowLaneLimits = {
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
const hungUp = () => new ApiError('CLIENT_CLOSED_REQUEST')

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

/** How many slots of the lane each caller holds, running or waiting. */
const createShares = (size: number) => {
  const held = new Map<string, number>()
  let all = 0
  return {
    /** Takes a slot; throws where the lane or the caller's half of it is full. */
    take: (caller: string) => {
      const own = held.get(caller) ?? 0
      if (all >= size) throw laneFull()
      if (own >= Math.ceil(size / 2)) throw shareFull()
      held.set(caller, own + 1)
      all++
    },
    give: (caller: string) => {
      const own = held.get(caller) ?? 0
      if (own > 1) held.set(caller, own - 1)
      else held.delete(caller)
      all--
    },
  }
}

/** What shall happen when the client is gone, which may be already so; `forget` ends the watch. */
const watchFor = ({ onGone }: Asked) => {
  let isGone = false
  let stop = () => {}
  const forget = onGone?.(() => {
    isGone = true
    stop()
  })
  const onStop: OnStop = then => {
    stop = then
    if (isGone) then()
  }
  return { onStop, isGone: () => isGone, forget: () => forget?.() }
}

/** The slots in which slow reads run; the others wait for one. */
const createSlots = ({ slots, patience }: Pick<SlowLaneLimits, 'slots' | 'patience'>) => {
  const turns = createTurns()
  let running = 0
  const wait = (caller: string, onStop: OnStop): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const one = { caller, begin: resolve }
    const leave = (error: ApiError) => {
      turns.remove(one)
      reject(error)
    }
    const timer = setTimeout(() => leave(tooLate()), patience)
    turns.add(one)
    onStop(() => leave(hungUp()))
    return promise.finally(() => clearTimeout(timer))
  }
  return {
    enter: async (caller: string, onStop: OnStop): Promise<void> => {
      if (running >= slots) return wait(caller, onStop)
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
export const createSlowLane = ({ slots, waiting, patience }: SlowLaneLimits): SlowLane => {
  const shares = createShares(slots + waiting)
  const { enter, leave } = createSlots({ slots, patience })
  const run: SlowLane['run'] = async (work, asked) => {
    const caller = asked.caller?.() ?? ''
    shares.take(caller)
    const { onStop, isGone, forget } = watchFor(asked)
    try {
      await enter(caller, onStop)
      try {
        if (isGone()) throw hungUp()
        return await work(onStop)
      } catch (error) {
        throw isGone() ? hungUp() : error
      } finally {
        leave()
      }
    } finally {
      forget()
      shares.give(caller)
    }
  }
  return { run }
}
