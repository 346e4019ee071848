/** Mail: letters that wait, are composed when their turn comes, and leave over SMTP. */
import { lru } from '#base/lru.ts'
import type { Letter, Mailer } from '#mail/letter.ts'
import { createOutbox, type Pace } from '#mail/outbox.ts'
import { type Deliver, smtp, type Waits } from '#mail/smtp.ts'
import type { Observe } from '#observe.ts'

export type Mail = Mailer & {
  /** Sends the letters that wait, for at most so many milliseconds. */
  readonly close: (wait: number) => Promise<void>
}

/** How messages leave: over SMTP, shown to a developer, or not at all. */
export type Delivery =
  | { readonly kind: 'smtp'; readonly url: string; readonly from: string; readonly waits?: Waits }
  | { readonly kind: 'shown' }
  | { readonly kind: 'none' }

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
 * Whether one more letter may be sent: at most five an hour to an address, so that nobody can flood another person's mailbox, and
 * ten to a recipient, whose address may change meanwhile.
 */
const createCap = () => {
  const toAddress = createCount(mostToAddress)
  const toRecipient = createCount(mostToRecipient)
  return ({ recipient, address }: Letter, now: number): boolean => {
    const [id, mailbox] = [String(recipient), address.toLowerCase()]
    if (toRecipient.isFull(id, now) || toAddress.isFull(mailbox, now)) return false
    toRecipient.add(id, now)
    toAddress.add(mailbox, now)
    return true
  }
}

const deliverOf = (delivery: Delivery, observe: Observe): Deliver | undefined => {
  switch (delivery.kind) {
    case 'smtp':
      return smtp(delivery.url, delivery.from, delivery.waits)
    case 'shown':
      return async ({ to, subject, text }) =>
        observe({ kind: 'mail', to: to.address, subject, text })
    case 'none':
      return undefined
    default:
      return delivery satisfies never
  }
}

/** The mail of a running service. */
export const createMail = ({ now, observe, delivery, pace }: MailOptions): Mail => {
  const deliver = deliverOf(delivery, observe)
  const isWithinCap = createCap()
  const outbox = createOutbox(
    async (letter, signal) => deliver?.(letter.compose(), now(), signal),
    observe,
    { ...usualPace, ...pace },
  )
  return {
    canSend: deliver !== undefined,
    send: letter => {
      if (!deliver) return
      const { recipient } = letter
      if (isWithinCap(letter, now())) outbox.put(letter)
      else observe({ kind: 'mail failed', recipient, reason: 'too many', again: false })
    },
    close: outbox.close,
  }
}
