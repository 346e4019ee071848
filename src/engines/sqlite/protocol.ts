/** The messages between the main thread and the threads that write and read. */
import type { Cells } from '#engines/sqlite/changes.ts'
import type { ServedFiles } from '#engines/sqlite/lock.ts'
import type { SqliteOptions } from '#engines/sqlite/options.ts'
import type { ErrorCode } from '#errors.ts'
import type { ReadPlan } from '#read/plan.ts'
import type { Answer } from '#read/read.ts'
import type { Query, Rows } from '#sql/engine.ts'
import type { SqlValue } from '#sql/sql.ts'
import type { DeferredValue, Outcome, Status, Step } from '#write/job.ts'

export type WriterSetup = Required<
  Pick<SqliteOptions, 'sync' | 'digits' | 'limits' | 'readTimeout'>
> &
  Pick<SqliteOptions, 'sharedLog'> & {
    /** Numbered around each commit where somebody watches them. */
    readonly cells: Cells | undefined
    readonly served: ServedFiles
  }

/** A statement as it is sent: the number of its text, then its values. */
export type SentStatement = readonly [text: number, ...values: DeferredValue[]]

export type SentStep = readonly [
  statement: SentStatement,
  expect: Step['expect'],
  checksViewer: boolean,
  explain: SentStatement | undefined,
]

/** A job as it is sent: texts of statements and plans come the first time only, later their numbers. */
export type Sent = {
  readonly id: number
  /** Whether the writer forgets the texts and plans that it has first: all are numbered anew. */
  readonly isAnew: boolean
  /** Those that the writer does not have, with the next numbers. */
  readonly texts: readonly string[]
  readonly plans: readonly ReadPlan[]
  readonly steps: readonly SentStep[]
  readonly status: Status
  readonly text: string | undefined
  readonly idempotency:
    | readonly [
        name: string,
        fingerprint: string,
        reserve: SentStatement,
        claim: SentStatement | undefined,
        lookup: SentStatement,
        store: SentStatement,
      ]
    | undefined
  readonly answer: readonly [plan: number, values: readonly DeferredValue[]] | null
}

/** Jobs that are sent together. */
export type Batch = readonly Sent[]

export type Reply =
  | { readonly kind: 'ready' }
  /** What an operator should know, of a store that is served on. */
  | { readonly kind: 'problem'; readonly message: string }
  /** A damaged page was met. */
  | { readonly kind: 'damaged'; readonly message: string }
  | {
      readonly kind: 'outcomes'
      readonly outcomes: readonly (readonly [number, Outcome])[]
      /** How long the commit took, in milliseconds. */
      readonly milliseconds: number
    }
  /**
   * `full`, `busy`, `broken`: the disk is full, another program writes, or the store failed before the commit.
   * Nothing was done, and the next group may try. `unknown`: whether the group is on the disk is not known; the writer
   * has stopped. `gone`: the file or its log was deleted or replaced, so the group is lost; the writer has stopped too.
   */
  | {
      readonly kind: 'full' | 'busy' | 'broken' | 'unknown' | 'gone'
      readonly ids: readonly number[]
      readonly message: string
    }

export type ReaderSetup = Pick<SqliteOptions, 'file' | 'digits' | 'limits' | 'readTimeout'> & {
  /** Shared with the thread: the number of the task that shall end. */
  readonly stopped: Int32Array<SharedArrayBuffer>
}

/** What a reader thread shall do, one thing at a time. */
export type Task =
  /** A read as a whole; its plan comes the first time only, and `dropPlans` makes the thread forget those it has. */
  | {
      readonly kind: 'read'
      readonly number: number
      readonly plan: number
      readonly made: ReadPlan | null
      readonly dropPlans: boolean
      readonly slots: readonly SqlValue[]
    }
  /** One query of a work, in a snapshot that lasts until its end. */
  | { readonly kind: 'query'; readonly number: number; readonly query: Query }
  | { readonly kind: 'end'; readonly number: number }

/** What the thread answers to a task. */
export type TaskReply =
  | { readonly kind: 'ready' }
  /** The answers of a read, the rows of a query. */
  | { readonly kind: 'done'; readonly result: readonly Answer[] | Rows }
  | {
      readonly kind: 'refused'
      readonly code: ErrorCode
      readonly message: string
      readonly retryAfter: number | undefined
    }
  /** A damaged page was met; the task gets its own reply too. */
  | { readonly kind: 'damaged'; readonly message: string }
  /** A fault of the program or of the store. */
  | { readonly kind: 'failed'; readonly message: string }
