/** A queue of letters: of limited size, a few sent at once, each tried twice; adding one never waits. */
import type { Letter } from '#mail/letter.ts'
import type { Observe } from '#observe.ts'

export type OutboxOptions = {
  readonly send: (letter: Letter, signal: AbortSignal) => Promise<void>
  /** Why a sending failed, in one word that may be logged. */
  readonly reasonOf: (error: unknown) => { readonly code: string; readonly isFinal: boolean }
  readonly observe: Observe
  /** How many may wait; later ones are dropped. */
  readonly size: number
  readonly atOnce: number
  /** How long after a failure a message is tried again, in milliseconds. */
  readonly retryAfter: number
}

type Waiting = { readonly letter: Letter; readonly isRetry: boolean }

type Outbox = {
  readonly options: OutboxOptions
  readonly waiting: Waiting[]
  /** Letters that are tried again when their timer is up. */
  readonly later: Map<NodeJS.Timeout, Letter>
  readonly ended: AbortController
  running: number
  isClosed: boolean
  /** Called when nothing is being sent. */
  idle: () => void
}

const drop = ({ options }: Outbox, { recipient }: Letter, reason: string) =>
  options.observe({ kind: 'mail failed', recipient, reason, again: false })

const tryAgain = (outbox: Outbox, letter: Letter) => {
  const { later, waiting, options } = outbox
  const timer = setTimeout(() => {
    later.delete(timer)
    waiting.push({ letter, isRetry: true })
    work(outbox)
  }, options.retryAfter)
  timer.unref()
  later.set(timer, letter)
}

const sendOne = async (outbox: Outbox, { letter, isRetry }: Waiting) => {
  const { send, reasonOf, observe, size } = outbox.options
  try {
    await send(letter, outbox.ended.signal)
  } catch (error) {
    const { code, isFinal } = reasonOf(error)
    const again = !isRetry && !isFinal && !outbox.isClosed && outbox.later.size < size
    observe({ kind: 'mail failed', recipient: letter.recipient, reason: code, again })
    if (again) tryAgain(outbox, letter)
  }
  outbox.running--
  work(outbox)
}

const work = (outbox: Outbox) => {
  while (outbox.running < outbox.options.atOnce) {
    const next = outbox.waiting.shift()
    if (!next) break
    outbox.running++
    void sendOne(outbox, next)
  }
  if (outbox.running === 0) outbox.idle()
}

/** Settles when nothing is being sent, or after `wait` milliseconds. */
const emptied = (outbox: Outbox, wait: number) =>
  new Promise<void>(resolve => {
    const timer = setTimeout(resolve, wait)
    outbox.idle = () => {
      clearTimeout(timer)
      resolve()
    }
    work(outbox)
  })

/** A queue of letters. */
export const createOutbox = (options: OutboxOptions) => {
  const outbox: Outbox = {
    options,
    waiting: [],
    later: new Map(),
    ended: new AbortController(),
    running: 0,
    isClosed: false,
    idle: () => {},
  }
  const { waiting, later } = outbox
  return {
    put: (letter: Letter): void => {
      const { isClosed } = outbox
      if (isClosed || waiting.length >= options.size) {
        drop(outbox, letter, isClosed ? 'closed' : 'full')
        return
      }
      waiting.push({ letter, isRetry: false })
      // After the answer to the request that asked for it.
      setImmediate(work, outbox)
    },
    /** Takes no more, and resolves when the rest is sent or, `wait` milliseconds later, dropped. */
    close: async (wait: number): Promise<void> => {
      outbox.isClosed = true
      for (const [timer, letter] of later) {
        clearTimeout(timer)
        waiting.push({ letter, isRetry: true })
      }
      later.clear()
      await emptied(outbox, wait)
      for (const { letter } of waiting.splice(0)) drop(outbox, letter, 'closed')
      outbox.ended.abort()
    },
  }
}
