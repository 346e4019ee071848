/** The events of the service. Code reports them; the listeners make log lines and metrics of them. */

/** The place of a request in a trace of its caller (W3C Trace Context). */
export type Trace = {
  readonly traceId: string
  /** The caller's span; undefined if the trace begins here. */
  readonly parentId: string | undefined
  /** The span of this request. */
  readonly spanId: string
  /** Two hexadecimal digits; the lowest bit says that the caller records the trace. */
  readonly flags: string
}

/** The GraphQL operation of a request. */
export type Operation = {
  readonly name: string | undefined
  /** The SHA-256 of the document, in hexadecimal digits; made when it is asked for. */
  readonly hash: () => string
}

/** What a request did in the store. */
export type RequestStats = {
  reads: number
  /** How many of them were in the slow lane. */
  slow: number
  writes: number
  /** Levels of the reads. */
  levels: number
  /** Objects that were read. */
  rows: number
  /** Milliseconds in the store, its queues included. */
  store: number
  /** The texts of the statements, without values. */
  readonly statements: string[]
}

/** A request that was answered. */
export type RequestEvent = {
  readonly kind: 'request'
  readonly requestId: string
  readonly method: string
  readonly path: string
  /** The pattern of its path, such as `/api/things/:id`; undefined if no route takes it. */
  readonly route: string | undefined
  readonly status: number
  readonly milliseconds: number
  /** How many of them it waited for its turn. */
  readonly wait: number
  /** The id that its token is for, or the digest of a subject that rows are found by. */
  readonly viewer: number | string | null
  readonly code: string | undefined
  /** The length of the answer's body in bytes. */
  readonly bytes: number
  readonly trace: Trace | undefined
  readonly operation: Operation | undefined
  /** Undefined if it is not collected. */
  readonly work: RequestStats | undefined
}

export type Event =
  | RequestEvent
  /** An error that is not the caller's, answered 500. */
  | { readonly kind: 'bug'; readonly requestId: string; readonly error: unknown }
  /** A message that could not be sent: its recipient's id and a reason without the address; `again`: it is tried again. */
  | {
      readonly kind: 'mail failed'
      readonly recipient: number | null
      readonly reason: string
      readonly again: boolean
    }
  /** An effect of a write (the entity and `create`, say) that failed, with the id of the row; `again`: it is tried again, else never more. */
  | {
      readonly kind: 'effect failed'
      readonly effect: string
      readonly row: number
      readonly reason: string
      readonly again: boolean
    }
  /** A message that is shown instead of being sent: in development, if no mail server is set. */
  | {
      readonly kind: 'mail'
      readonly to: string
      readonly subject: string
      readonly text: string
    }
  /** A line for a developer's own terminal alone: it may have an address. */
  | { readonly kind: 'shown'; readonly text: string }
  /** A fact that an operator should know. */
  | { readonly kind: 'notice'; readonly message: string }
  /** A part of the work cannot be done now. */
  | { readonly kind: 'problem'; readonly message: string }
  /** The store stopped; the process ends. */
  | { readonly kind: 'fatal'; readonly message: string }

export type Observe = (event: Event) => void
