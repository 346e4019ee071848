/** Where letters wait to be sent: so many at most, a few at once, each tried twice; putting one in never waits. */

import type { Letter } from '#base/services.ts'
import type { Observe } from '#observe.ts'

export type OutboxOptions = {
  readonly send: (letter: Letter, signal: AbortSignal) => Promise<void>
  /** Why a sending failed, in one word that may be logged. */
  readonly reasonOf: (error: unknown) => { readonly code: string; readonly isFinal: boolean }
  readonly observe: Observe
  /** How many may wait; a letter above that is dropped. */
  readonly size: number
  readonly atOnce: number
  /** How long after a failure a message is tried again, in milliseconds. */
  readonly retryAfter: number
}

type Waiting = { readonly letter: Letter; readonly isRetry: boolean }

/** A queue of letters. */
export const createOutbox = (options: OutboxOptions) => {
  const { send, reasonOf, observe, size, atOnce, retryAfter } = options
  const waiting: Waiting[] = []
  const later = new Map<NodeJS.Timeout, Letter>()
  const ended = new AbortController()
  let running = 0
  let isClosed = false
  let idle: (() => void) | undefined
  const drop = ({ recipient }: Letter, reason: string) =>
    observe({ kind: 'mail failed', recipient, reason, again: false })
  const tryAgain = (letter: Letter) => {
    const timer = setTimeout(() => {
      later.delete(timer)
      waiting.push({ letter, isRetry: true })
      work()
    }, retryAfter)
    timer.unref()
    later.set(timer, letter)
  }
  const sendOne = async ({ letter, isRetry }: Waiting) => {
    try {
      await send(letter, ended.signal)
    } catch (error) {
      const { code, isFinal } = reasonOf(error)
      const again = !isRetry && !isFinal && !isClosed && later.size < size
      observe({ kind: 'mail failed', recipient: letter.recipient, reason: code, again })
      if (again) tryAgain(letter)
    }
    running--
    work()
  }
  const work = () => {
    while (running < atOnce) {
      const next = waiting.shift()
      if (!next) break
      running++
      void sendOne(next)
    }
    if (running === 0) idle?.()
  }
  return {
    put: (letter: Letter): void => {
      if (isClosed || waiting.length >= size) {
        drop(letter, isClosed ? 'closed' : 'full')
        return
      }
      waiting.push({ letter, isRetry: false })
      // After the answer to the request that caused it.
      setImmediate(work)
    },
    /** Takes no more, and resolves when the rest is sent or, `wait` milliseconds later, dropped. */
    close: async (wait: number): Promise<void> => {
      isClosed = true
      for (const [timer, letter] of later) {
        clearTimeout(timer)
        waiting.push({ letter, isRetry: true })
      }
      later.clear()
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, wait)
      idle = resolve
      work()
      await promise
      clearTimeout(timer)
      for (const { letter } of waiting.splice(0)) drop(letter, 'closed')
      ended.abort()
    },
  }
}
