/** Mail: letters that wait in a queue of limited size, are composed when their turn comes, and leave over SMTP, each tried twice. */
import { setTimeout as sleep } from 'node:timers/promises'
import { lru } from '#base/cache.ts'
import { type Deliver, type Message, reasonOf, smtp, type Waits } from '#mail/smtp.ts'
import type { Observe } from '#observe.ts'

/** A message that waits to be sent; it is composed just before it is sent, so that it is up to date. */
export type Letter = {
  /** The id of the recipient's row, which logs may contain; the address they may not. */
  readonly recipient: number
  readonly address: string
  readonly compose: () => Message
}

/** Where letters are handed in. */
export type Mailer = {
  /** Whether messages can be sent, or shown to a developer. */
  readonly canSend: boolean
  /** Sends the letter soon. Never throws, never waits, and reports no result. */
  readonly send: (letter: Letter) => void
}

export type Mail = Mailer & {
  /** Sends the letters that wait, for at most `wait` milliseconds. */
  readonly close: (wait: number) => Promise<void>
}

/** How messages leave: over SMTP, shown to a developer, or not at all. */
export type Delivery =
  | { readonly kind: 'smtp'; readonly url: string; readonly from: string; readonly waits?: Waits }
  | { readonly kind: 'shown' }
  | { readonly kind: 'none' }

/** How fast letters leave, and how many wait. */
export type Pace = {
  /** How many may wait; later ones are dropped. */
  readonly size: number
  readonly atOnce: number
  /** How long after a failure a message is tried again, in milliseconds. */
  readonly retryAfter: number
}

export type MailOptions = {
  readonly now: () => number
  readonly observe: Observe
  readonly delivery: Delivery
  readonly pace?: Partial<Pace>
}

const usualPace: Pace = { size: 1000, atOnce: 4, retryAfter: 15_000 }

const hour = 3_600_000
const mostToAddress = 5
const mostToRecipient = 10
const mostKnown = 10_000

/** How many messages a key got within an hour of its first one. */
const createCount = (most: number) => {
  const sent = lru<{ readonly since: number; readonly count: number }>(mostKnown)
  const countOf = (key: string, now: number) => {
    const known = sent.get(key)
    // Either way: by a clock that was set back, an hour from then on would not end for as long.
    return known && Math.abs(now - known.since) < hour ? known : { since: now, count: 0 }
  }
  return {
    isFull: (key: string, now: number): boolean => countOf(key, now).count >= most,
    add: (key: string, now: number): void => {
      const { since, count } = countOf(key, now)
      sent.set(key, { since, count: count + 1 })
    },
  }
}

/**
 * The mail of a running service. At most five letters an hour go to an address, so that nobody can flood another person's mailbox, and
 * ten to a recipient, whose address may change meanwhile.
 */
export const createMail = ({ now, observe, delivery, pace }: MailOptions): Mail => {
  const shown: Deliver = async ({ to, subject, text }) =>
    observe({ kind: 'mail', to: to.address, subject, text })
  const deliver =
    delivery.kind === 'smtp' ? smtp(delivery.url, delivery.from, delivery.waits) : shown
  const canSend = delivery.kind !== 'none'
  const toAddress = createCount(mostToAddress)
  const toRecipient = createCount(mostToRecipient)
  const outbox = createOutbox(
    (letter, signal) => deliver(letter.compose(), now(), signal),
    observe,
    { ...usualPace, ...pace },
  )
  return {
    canSend,
    send: letter => {
      if (!canSend) return
      const { recipient, address } = letter
      const [id, mailbox, time] = [String(recipient), address.toLowerCase(), now()]
      if (toRecipient.isFull(id, time) || toAddress.isFull(mailbox, time))
        return observe({ kind: 'mail failed', recipient, reason: 'too many', again: false })
      toRecipient.add(id, time)
      toAddress.add(mailbox, time)
      outbox.put(letter)
    },
    close: outbox.close,
  }
}

/** A queue of letters that are sent by `send`, a few at once; putting one in never waits. */
export const createOutbox = (
  send: (letter: Letter, signal: AbortSignal) => Promise<void>,
  observe: Observe,
  { size, atOnce, retryAfter }: Pace,
) => {
  const waiting: { readonly letter: Letter; readonly isRetry: boolean }[] = []
  const closed = new AbortController()
  const ended = new AbortController()
  const emptied = Promise.withResolvers<void>()
  let running = 0
  let later = 0

  const tellFailed = ({ recipient }: Letter, reason: string, again = false): void =>
    observe({ kind: 'mail failed', recipient, reason, again })

  const sendOne = async (letter: Letter, isRetry: boolean): Promise<void> => {
    let again = false
    running++
    try {
      await send(letter, ended.signal)
    } catch (error) {
      const { code, isFinal } = reasonOf(error)
      again = !isRetry && !isFinal && !closed.signal.aborted && later < size
      tellFailed(letter, code, again)
    }
    running--
    if (again) {
      later++
      work()
      // The end of the outbox ends the wait too.
      await sleep(retryAfter, undefined, { ref: false, signal: closed.signal }).catch(() => {})
      later--
      waiting.push({ letter, isRetry: true })
    }
    work()
  }

  const work = (): void => {
    while (running < atOnce) {
      const next = waiting.shift()
      if (!next) break
      void sendOne(next.letter, next.isRetry)
    }
    if (closed.signal.aborted && running + later === 0) emptied.resolve()
  }

  return {
    put: (letter: Letter): void => {
      if (closed.signal.aborted) return void tellFailed(letter, 'closed')
      if (waiting.length >= size) return void tellFailed(letter, 'full')
      waiting.push({ letter, isRetry: false })
      // After the answer to the request that asked for it.
      setImmediate(work)
    },
    /** Takes no more, and resolves when the rest is sent or, `wait` milliseconds later, dropped. */
    close: async (wait: number): Promise<void> => {
      closed.abort()
      work()
      // The process stays alive for so long, and no longer.
      const done = new AbortController()
      const late = sleep(wait, undefined, { signal: done.signal }).catch(() => {})
      await Promise.race([emptied.promise, late])
      done.abort()
      for (const { letter } of waiting.splice(0)) tellFailed(letter, 'closed')
      ended.abort()
    },
  }
}
