/** The mail: messages that ask for a proof of an address, and what a proof is worth. */
import { messageOf } from '#mail/message.ts'
import { createOutbox, type OutboxOptions } from '#mail/outbox.ts'
import { type Deliver, reasonOf, smtp, type Waits } from '#mail/smtp.ts'
import { openToken, type Person, type Proven, sealToken } from '#mail/token.ts'
import type { Observe } from '#observe.ts'

export type Mail = {
  /** Whether messages go anywhere. */
  readonly canSend: boolean
  /** Sends the message to this person soon. Never throws, never waits, and says nothing of what becomes of it. */
  readonly invite: (person: Person) => void
  /** What a token proves now. */
  readonly proven: (token: string) => Proven
  /** Sends what waits, for at most so many milliseconds. */
  readonly close: (wait: number) => Promise<void>
}

/** How messages leave: over SMTP, shown to a developer, or not at all. */
export type Delivery =
  | { readonly kind: 'smtp'; readonly url: string; readonly from: string; readonly waits?: Waits }
  | { readonly kind: 'shown' }
  | { readonly kind: 'none' }

type Pace = Pick<OutboxOptions<Person>, 'size' | 'atOnce' | 'retryAfter'>

export type MailOptions = {
  /** What tokens are signed with; it moves with the store. */
  readonly key: Uint8Array
  readonly now: () => number
  readonly observe: Observe
  /** Where people reach the service, for the link in the message; without a slash at the end. */
  readonly publicUrl: () => string
  readonly delivery: Delivery
  readonly pace?: Partial<Pace>
}

const usualPace: Pace = { size: 1000, atOnce: 4, retryAfter: 15_000 }

const hour = 3_600_000
const mostAnHour = 5
const mostAddresses = 10_000

/** Says whether one more message may go to an address: five an hour, so that nobody is flooded in another's name. */
const createCap = () => {
  const sent = new Map<string, { since: number; count: number }>()
  return (address: string, now: number): boolean => {
    const key = address.toLowerCase()
    const known = sent.get(key)
    if (known && now - known.since < hour) return ++known.count <= mostAnHour
    sent.delete(key)
    if (sent.size >= mostAddresses) sent.delete(sent.keys().next().value as string)
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
export const createMail = (options: MailOptions): Mail => {
  const { key, now, observe, publicUrl, delivery } = options
  const deliver = deliverOf(delivery, observe)
  const mayGo = createCap()
  const outbox = createOutbox<Person>({
    ...usualPace,
    ...options.pace,
    observe,
    reasonOf,
    send: async (person, signal) => {
      const token = sealToken(key, person, now())
      await deliver?.(messageOf(person, token, publicUrl()), now(), signal)
    },
  })
  return {
    canSend: deliver !== undefined,
    invite: person => {
      if (!deliver) return
      if (mayGo(person.email, now())) outbox.put(person)
      else observe({ kind: 'mail failed', user: person.id, reason: 'too many', again: false })
    },
    proven: token => openToken(key, token, now()),
    close: outbox.close,
  }
}
