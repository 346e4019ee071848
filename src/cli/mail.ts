/** The mail as the settings have it: over SMTP, or shown to a developer, or none. */
import type { Config } from '#config.ts'
import { createMail, type Delivery, type Mail } from '#mail/mail.ts'
import type { Observe } from '#observe.ts'

const deliveryOf = ({ values, development }: Config): Delivery => {
  const { DUET_SMTP_URL: url, DUET_MAIL_FROM: from } = values
  if (url !== undefined && from !== undefined) return { kind: 'smtp', url, from }
  return { kind: development ? 'shown' : 'none' }
}

/** The mail of a service. */
export const mailOf = (config: Config, observe: Observe): Mail =>
  createMail({ now: Date.now, observe, delivery: deliveryOf(config) })
