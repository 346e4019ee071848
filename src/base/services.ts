/** The services that actions and effects may use beside the store. */

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

export type Services = {
  readonly mail: {
    /** Whether messages can be sent, or shown to a developer. */
    readonly canSend: boolean
    /** Sends the letter soon. Never throws, never waits, and reports no result. */
    readonly send: (letter: Letter) => void
  }
  /** A key of the store's own, for tokens that the content makes. */
  readonly key: Uint8Array
  /** The public URL of the service, for links in mail; without a slash at the end. */
  readonly publicUrl: () => string
  /** The current time, milliseconds since 1970. */
  readonly now: () => number
}
