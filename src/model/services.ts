/** What the code of a content is given beside the store: types alone, which the rooms that make them fill. */

/** A mail to one person. */
export type Message = {
  readonly to: { readonly name?: string; readonly address: string }
  readonly subject: string
  readonly text: string
  /** The same as HTML, for programs that show that. */
  readonly html?: string
}

/** A mail that is composed just before it is sent, so that it is up to date. */
export type Letter = {
  /** The id of the recipient's row, which logs may contain; the address they may not. Null for one that its sender counts. */
  readonly recipient: number | null
  readonly address: string
  readonly compose: () => Message
}

/** Where mail is handed in. */
export type Mailer = {
  /** Whether mail can be sent, or shown to a developer. */
  readonly canSend: boolean
  /**
   * Sends it, unless it may never be sent, because the service has no mail server, the server refuses it for good, or the address got
   * five within the hour; rejects if it should be tried again, as the outbox does.
   */
  readonly send: (mail: Message | Letter, signal: AbortSignal) => Promise<void>
}

/** A file that the service makes itself, or takes in a way of its own, such as an invoice. */
export type MadeFile = {
  readonly bytes: Uint8Array
  /** What its maker says it is, or those of which it must be one by its bytes: else it is refused with 415. */
  readonly type: string | readonly string[]
  /** One without an ending gets that of the type. */
  readonly name: string
}

/** The services that actions and effects may use beside the store. */
export type Services = {
  readonly mail: Mailer
  /** A key of the store's own, for tokens that the content makes. */
  readonly key: Uint8Array
  /** The public URL of the service, for links in mail; without a slash at the end. */
  readonly publicUrl: () => string
  /** Keeps a file, and gives the value by which a write that follows at once gives it to a row; what no row has is collected after a day. */
  readonly keepFile: (file: MadeFile) => Promise<string>
  /** The current time, milliseconds since 1970. */
  readonly now: () => number
}
