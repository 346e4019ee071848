/** What surrounds the APIs, and how each takes part in it. */
import type { ApiError } from '#errors.ts'
import type { Active } from '#http/active.ts'
import type { NameCaller } from '#http/limit/caller.ts'
import type { Limiter } from '#http/limit/limiter.ts'
import type { Memory } from '#http/memory.ts'
import type { Pacing } from '#http/pacing.ts'
import type { Queue } from '#http/queue.ts'
import type { Origins, Reply } from '#http/reply.ts'
import type { Http } from '#http/request.ts'
import type { Collect } from '#http/work.ts'
import type { Viewer } from '#model/policy.ts'
import type { Observe } from '#observe.ts'

/** The part of the service around both APIs, from the configuration. */
export type HttpContext = {
  /** The viewer of an `Authorization` header; throws `UNAUTHENTICATED` for a bad one, and what `beforeCheck` throws before a signature is checked. */
  readonly authenticate: (
    authorization: string | undefined,
    beforeCheck?: () => void,
  ) => Viewer | Promise<Viewer>
  /** The name of a caller, for a fair share of what is scarce. */
  readonly callerOf: NameCaller
  readonly observe: Observe
  readonly queue: Queue
  /** Absent where all connections are always read. */
  readonly pacing?: Pacing | undefined
  /** Absent where requests are not limited. */
  readonly limiter?: Limiter | undefined
  readonly memory: Memory
  readonly active: Active
  readonly origins: Origins
  /** The largest JSON body, in bytes. */
  readonly bodyLimit: number
  /** The longest URL, in characters. */
  readonly urlLimit: number
  /** Seconds for which caches may store what anonymous may read; 0: they must revalidate each time. */
  readonly publicMaxAge: number
  /** Collects what requests do in the store; absent where nobody asks. */
  readonly collect?: Collect | undefined
  /** Whether each answer says in `Server-Timing` where its time went. */
  readonly sendsTiming?: boolean
  /** What is to be said of the position of a request; undefined where all is well. */
  readonly positionStatus?: ((position: string) => string | undefined) | undefined
}

/** How an API prints an error. */
export type Fail = (error: ApiError, requestId: string, c: Http) => Reply

export type Handle = (c: Http, viewer: Viewer, requestId: string) => Reply | Promise<Reply>

/** A handler with its surroundings, the same for all its requests. */
export type Serving = {
  readonly edge: HttpContext
  readonly fail: Fail
  readonly handle: Handle
  /** The pattern of the path; absent where no route takes it. */
  readonly route: string | undefined
  readonly isWrite: IsWrite
  /** Whether a viewer may send such requests at all, whatever is in them. */
  readonly isOpenTo: (viewer: Viewer) => boolean
}

/** Whether a request may change something, by its head and its body, where that is received already. */
export type IsWrite = (c: Http, viewer: Viewer) => boolean
