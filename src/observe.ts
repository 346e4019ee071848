/** The events of the service. Code reports them; the listener decides between log, metrics and nothing. */

export type Event =
  /** A request that was answered. */
  | {
      readonly kind: 'request'
      readonly requestId: string
      readonly method: string
      readonly path: string
      readonly status: number
      readonly milliseconds: number
      readonly viewer: number | null
      readonly code: string | undefined
    }
  /** An error that is not the caller's, answered 500. */
  | { readonly kind: 'bug'; readonly requestId: string; readonly error: unknown }
  /** A message that could not be sent: its recipient's id and a reason without the address; `again`: it is tried once more. */
  | {
      readonly kind: 'mail failed'
      readonly recipient: number
      readonly reason: string
      readonly again: boolean
    }
  /** A message that is shown instead of being sent: in development, where no mail server is set. */
  | {
      readonly kind: 'mail'
      readonly to: string
      readonly subject: string
      readonly text: string
    }
  /** A fact that an operator should know. */
  | { readonly kind: 'notice'; readonly message: string }
  /** A part of the work cannot be done now. */
  | { readonly kind: 'problem'; readonly message: string }
  /** The store stopped; the process ends. */
  | { readonly kind: 'fatal'; readonly message: string }

export type Observe = (event: Event) => void
