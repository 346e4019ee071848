/** Mail: letters that wait, are composed when their turn comes, and leave over SMTP. */
import { lru } from '#base/lru.ts'
import type { Mailer } from '#mail/letter.ts'
import { createOutbox, type OutboxOptions } from '#mail/outbox.ts'
import { type Deliver, reasonOf, smtp, type Waits } from '#mail/smtp.ts'
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

type Pace = Pick<OutboxOptions, 'size' | 'atOnce' | 'retryAfter'>

export type MailOptions = {
  readonly now: () => number
  readonly observe: Observe
  readonly delivery: Delivery
  readonly pace?: Partial<Pace>
}

const usualPace: Pace = { size: 1000, atOnce: 4, retryAfter: 15_000 }

const hour = 3_600_000
const mostAnHour = 5
const mostAddresses = 10_000

/** Whether one more message may go to an address: at most five an hour, so that nobody can flood another person's mailbox. */
const createCap = () => {
  const sent = lru<{ readonly since: number; count: number }>(mostAddresses)
  return (address: string, now: number): boolean => {
    const key = address.toLowerCase()
    const known = sent.get(key)
    if (known && now - known.since < hour) return ++known.count <= mostAnHour
    sent.set(key, { since: now, count: 1 })
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
  const outbox = createOutbox({
    ...usualPace,
    ...pace,
    observe,
    reasonOf,
    send: async (letter, signal) => deliver?.(letter.compose(), now(), signal),
  })
  return {
    canSend: deliver !== undefined,
    send: letter => {
      if (!deliver) return
      const { recipient, address } = letter
      if (isWithinCap(address, now())) outbox.put(letter)
      else observe({ kind: 'mail failed', recipient, reason: 'too many', again: false })
    },
    close: outbox.close,
  }
}
