/** The services that actions and effects may use beside the store. */
import type { Mailer } from '#mail/mail.ts'

export type Services = {
  readonly mail: Mailer
  /** A key of the store's own, for tokens that the content makes. */
  readonly key: Uint8Array
  /** The public URL of the service, for links in mail; without a slash at the end. */
  readonly publicUrl: () => string
  /** The current time, milliseconds since 1970. */
  readonly now: () => number
}
