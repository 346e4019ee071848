/** What is sent: a letter that waits, and the message that it becomes. */

export type Message = {
  readonly to: { readonly name: string; readonly address: string }
  readonly subject: string
  readonly text: string
  readonly html: string
}

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
