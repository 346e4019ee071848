/** Mail: letters that are composed when they are sent, over SMTP, with a limit for each person. */
import { lru } from '#base/cache.ts'
import { type Deliver, reasonOf, smtp, type Waits } from '#mail/smtp.ts'
import type { Mailer } from '#model/services.ts'
import type { Observe } from '#observe.ts'

/** A letter was not sent, which was told, and may be sent later. */
class NotSent extends Error {
  override readonly name = 'NotSent'
  readonly isTold = true
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
}

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
    add: (key: string, now: number, by: 1 | -1): void => {
      const { since, count } = countOf(key, now)
      sent.set(key, { since, count: count + by })
    },
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

/**
 * The mail of a running service. At most five letters an hour go to an address, so that nobody can flood another person's mailbox, and
 * ten to a recipient, whose address may change meanwhile.
 */
export const createMail = ({ now, observe, delivery }: MailOptions): Mailer => {
  const deliver = deliverOf(delivery, observe)
  const toAddress = createCount(mostToAddress)
  const toRecipient = createCount(mostToRecipient)
  return {
    canSend: deliver !== undefined,
    send: async (mail, signal) => {
      if (!deliver) return
      const isLetter = 'compose' in mail
      const address = isLetter ? mail.address : mail.to.address
      const recipient = isLetter ? mail.recipient : null
      const giveUp = (reason: string) =>
        observe({ kind: 'mail failed', recipient, reason, again: false })
      // The row may have none, and will have none at the next try.
      if (!address) return giveUp('no address')
      const isCounted = !isLetter || recipient !== null
      // Without a row of its recipient a message counts for its address alone.
      const row = recipient === null ? undefined : String(recipient)
      const [mailbox, time] = [address.toLowerCase(), now()]
      const isFull =
        toAddress.isFull(mailbox, time) || (row !== undefined && toRecipient.isFull(row, time))
      if (isCounted && isFull) return giveUp('too many')
      const count = (by: 1 | -1) => {
        if (!isCounted) return
        if (row !== undefined) toRecipient.add(row, time, by)
        toAddress.add(mailbox, time, by)
      }
      count(1)
      try {
        await deliver(isLetter ? mail.compose() : mail, time, signal)
      } catch (error) {
        count(-1)
        const { code, isFinal } = reasonOf(error)
        if (isFinal) return giveUp(code)
        observe({ kind: 'mail failed', recipient, reason: code, again: true })
        throw new NotSent(code)
      }
    },
  }
}
