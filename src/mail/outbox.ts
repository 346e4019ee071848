/** A queue of letters: of limited size, a few sent at once, each tried twice; adding one never waits. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Letter } from '#mail/letter.ts'
import { reasonOf } from '#mail/smtp.ts'
import type { Event, Observe } from '#observe.ts'

/** How fast letters leave, and how many wait. */
export type Pace = {
  /** How many may wait; later ones are dropped. */
  readonly size: number
  readonly atOnce: number
  /** How long after a failure a message is tried again, in milliseconds. */
  readonly retryAfter: number
}

type Send = (letter: Letter, signal: AbortSignal) => Promise<void>

type Waiting = { readonly letter: Letter; readonly isRetry: boolean }

const failure = ({ recipient }: Letter, reason: string, again = false): Event => ({
  kind: 'mail failed',
  recipient,
  reason,
  again,
})

/** Waits for it, and no longer than so many milliseconds, in which the process stays alive. */
const atMost = async (wait: number, done: Promise<void>): Promise<void> => {
  const patience = new AbortController()
  const late = sleep(wait, undefined, { signal: patience.signal }).catch(() => {})
  await Promise.race([done, late])
  patience.abort()
}

/** A queue of letters that are sent by `send`. */
export const createOutbox = (send: Send, observe: Observe, { size, atOnce, retryAfter }: Pace) => {
  const waiting: Waiting[] = []
  const closed = new AbortController()
  const ended = new AbortController()
  const emptied = Promise.withResolvers<void>()
  let running = 0
  let later = 0

  const tryAgain = async (letter: Letter): Promise<void> => {
    later++
    // The end of the outbox ends the wait too.
    await sleep(retryAfter, undefined, { ref: false, signal: closed.signal }).catch(() => {})
    later--
    waiting.push({ letter, isRetry: true })
    work()
  }

  const sendOne = async ({ letter, isRetry }: Waiting): Promise<void> => {
    try {
      await send(letter, ended.signal)
    } catch (error) {
      const { code, isFinal } = reasonOf(error)
      const again = !isRetry && !isFinal && !closed.signal.aborted && later < size
      observe(failure(letter, code, again))
      if (again) void tryAgain(letter)
    }
    running--
    work()
  }

  const work = (): void => {
    while (running < atOnce) {
      const next = waiting.shift()
      if (!next) break
      running++
      void sendOne(next)
    }
    if (closed.signal.aborted && running + later === 0) emptied.resolve()
  }

  return {
    put: (letter: Letter): void => {
      if (closed.signal.aborted) return void observe(failure(letter, 'closed'))
      if (waiting.length >= size) return void observe(failure(letter, 'full'))
      waiting.push({ letter, isRetry: false })
      // After the answer to the request that asked for it.
      setImmediate(work)
    },
    /** Takes no more, and resolves when the rest is sent or, `wait` milliseconds later, dropped. */
    close: async (wait: number): Promise<void> => {
      closed.abort()
      work()
      await atMost(wait, emptied.promise)
      for (const { letter } of waiting.splice(0)) observe(failure(letter, 'closed'))
      ended.abort()
    },
  }
}
