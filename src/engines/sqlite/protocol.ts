/**
 * The threads of a SQLite store and the messages between them. Of a job, a text, a plan or the steps of a form are sent once and then
 * named by a number, and what is sent each time is lists: names of members are copied from thread to thread each time.
 */
import { type MessagePort, Worker } from 'node:worker_threads'
import type { VersionTable } from '#engines/sqlite/changes.ts'
import type { ServedFiles, SqliteOptions } from '#engines/sqlite/file.ts'
import type { ErrorCode } from '#errors.ts'
import type { ReadPlan } from '#read/plan.ts'
import type { Answer } from '#read/read.ts'
import type { Query, Rows } from '#sql/engine.ts'
import type { SqlValue } from '#sql/sql.ts'
import type { DeferredValue, Job, JobStatement, Outcome, Step, Written } from '#write/job.ts'

const bootstrap = new URL('./thread.ts', import.meta.url)

/**
 * Starts a thread that runs the module at that address, which reads `workerData`. What the operator has the process load before the program, such as
 * OpenTelemetry, sees nothing of what a thread does, and would take the memory and the time of a second program there.
 */
export const startThread = (module: URL, workerData: unknown): Worker => {
  const { NODE_OPTIONS: _, ...env } = process.env
  return new Worker(bootstrap, { argv: [module.href], execArgv: [], env, workerData })
}

export type WriterSetup = Required<
  Pick<SqliteOptions, 'sync' | 'digits' | 'limits' | 'readTimeout'>
> &
  Pick<SqliteOptions, 'sharedLog'> & {
    /** Numbered around each commit if somebody watches them. */
    readonly versions: VersionTable | undefined
    readonly served: ServedFiles
    /** Whether the thread that starts it reads too; else only those do that are added. */
    readonly hasReader: boolean
  }

/** What the writer is sent: jobs, a further thread that sends some through a port of its own, and that it shall end. */
export type WriterTask =
  | readonly SentJob[]
  | 'close'
  | { readonly port: MessagePort; readonly number: number }

/** A statement as it is sent: the number of its text, then its values. */
type SentStatement = readonly [text: number, ...values: DeferredValue[]]

/** What comes the first time only, later as its number: the text of a step's statement, a plan, the steps of a form. */
type SentOnce = string | ReadPlan | Job['steps']

/** A job as it is sent. */
export type SentJob = readonly [
  id: number,
  /** When it is too late to begin it, by `sharedNow`. */
  due: number,
  /** Whether the writer forgets the things that it has first: all are numbered anew. */
  isAnew: boolean,
  /** Those that the writer does not have, with the next numbers. */
  things: readonly SentOnce[],
  /** Those of a form by their number, others as they are. */
  steps: number | readonly Step<SentStatement>[],
  own: Job['own'],
  status: Job['status'],
  text: Job['text'],
  isDry: Job['isDry'],
  idempotency: Job['idempotency'],
  caller: Job['caller'],
  plan: number | null,
  longest: number | undefined,
  ...values: DeferredValue[],
]

/** Milliseconds by a clock that all threads share, and that nobody sets. */
export const sharedNow = (): number => Number(process.hrtime.bigint()) / 1_000_000

/** A job, by its number, and what became of it. */
export type JobOutcome = readonly [number, Outcome]

/** The same as it is sent: of one that was done a list. */
export type SentOutcome =
  | JobOutcome
  | readonly [number, readonly Rows[], number, boolean, Written | null]

export type WriterReply =
  | { readonly kind: 'ready' }
  /** Begin a snapshot, so that a commit of another program is told from those of the writer. */
  | { readonly kind: 'look' }
  /** What an operator should know, of a store that is served on. */
  | { readonly kind: 'problem'; readonly message: string }
  /** A damaged page was met. */
  | { readonly kind: 'damaged'; readonly message: string }
  | {
      readonly kind: 'outcomes'
      readonly outcomes: readonly SentOutcome[]
      /** How long the commit took, in milliseconds. */
      readonly milliseconds: number
      /** How many writes were committed, told to one thread of those that sent some; to the others 0. */
      readonly committed: number
    }
  /**
   * `full`, `busy`, `broken`: the disk is full, another program writes, or the store failed before the commit.
   * Nothing was done, and the next group may try. `unknown`: whether the group is on the disk is not known; the writer
   * has stopped. `gone`: the file or its log was deleted or replaced, so the group is lost; the writer has stopped too.
   * The thread that started the writer is told in any case, others if jobs of theirs are among them.
   */
  | {
      readonly kind: 'full' | 'busy' | 'broken' | 'unknown' | 'gone'
      readonly ids: readonly number[]
      readonly message: string
    }

/**
 * A commit that takes so many milliseconds is slow. After it the writer waits for the next writes of the callers who were just
 * answered, which takes little beside such a commit; they are answered in turns, since very many may have waited.
 */
export const slowFlush = 40

/** The most things that a thread keeps; then it forgets them all. */
const most = 1000

/** Numbers for things that one thread keeps, in the order in which they are first met, so that each is sent to it only once. */
export const createNumbers = <Thing>() => {
  const numbers = new Map<Thing, number>()
  let met: Thing[] = []
  return {
    /** Begins a message: whether the thread is to forget all that it has, as that is so much; and the list of what it does not have, which grows as things are met. */
    begin: (): { readonly isAnew: boolean; readonly met: readonly Thing[] } => {
      const isAnew = numbers.size >= most
      if (isAnew) numbers.clear()
      met = []
      return { isAnew, met }
    },
    of: (thing: Thing): number => {
      const known = numbers.get(thing)
      if (known !== undefined) return known
      met.push(thing)
      const number = numbers.size
      numbers.set(thing, number)
      return number
    },
  }
}

/** A step with its statements in another form. */
const stepWith = <From, To>(
  { statement, explain, ...step }: Step<From>,
  form: (statement: From) => To,
): Step<To> => ({
  ...step,
  statement: form(statement),
  ...(explain && { explain: form(explain) }),
})

/** A function that makes of jobs, one after another, what is sent to one writer. */
export const createPacker = (): ((id: number, due: number, job: Job) => SentJob) => {
  const numbers = createNumbers<SentOnce>()
  const form = ({ text, values }: JobStatement): SentStatement => [numbers.of(text), ...values]
  return (id, due, { caller, steps, own, status, text, isDry, idempotency, answer }) => {
    const { isAnew, met: things } = numbers.begin()
    const sent = own ? numbers.of(steps) : steps.map(step => stepWith(step, form))
    const plan = answer && numbers.of(answer.plan)
    const values = answer?.values ?? []
    const read = [plan, answer?.longest, ...values] as const
    return [id, due, isAnew, things, sent, own, status, text, isDry, idempotency, caller, ...read]
  }
}

/** A function that gives the jobs back of which one packer made what it is given, in the same order. */
export const createUnpacker = (): ((sent: SentJob) => Job) => {
  const kept: SentOnce[] = []
  const form = ([number, ...values]: SentStatement): JobStatement => ({
    text: kept[number] as string,
    values,
  })
  return ([, , isAnew, things, sent, own, status, text, isDry, idempotency, caller, ...read]) => {
    if (isAnew) kept.length = 0
    kept.push(...things)
    const steps =
      typeof sent === 'number'
        ? (kept[sent] as Job['steps'])
        : sent.map(step => stepWith(step, form))
    const [plan, longest, ...values] = read
    const answer = plan === null ? null : { plan: kept[plan] as ReadPlan, longest, values }
    return { caller, steps, own, status, text, isDry, idempotency, answer }
  }
}

/** What is sent of an outcome. */
export const packOutcome = (id: number, outcome: Outcome): SentOutcome => {
  if (outcome.kind !== 'done') return [id, outcome]
  return [id, outcome.rows, outcome.status, outcome.replayed, outcome.answer]
}

/** The outcome of which that was sent. */
export const unpackOutcome = (sent: SentOutcome): JobOutcome => {
  if (sent.length === 2) return sent
  const [id, rows, status, replayed, answer] = sent
  return [id, { kind: 'done', rows, status, replayed, answer }]
}

export type ReaderSetup = Pick<SqliteOptions, 'file' | 'digits' | 'limits' | 'readTimeout'> & {
  /** Shared with the thread: the number of the task that shall end. */
  readonly stopped: Int32Array<SharedArrayBuffer>
}

/** What a reader thread shall do, one thing at a time. */
export type ReaderTask =
  /** A read as a whole; its plan comes the first time only, and `dropPlans` makes the thread forget those it has. */
  | {
      readonly kind: 'read'
      readonly number: number
      readonly plan: number
      readonly made: ReadPlan | null
      readonly dropPlans: boolean
      readonly parameters: readonly SqlValue[]
    }
  /** One query of a script, in a snapshot that lasts until its end. */
  | { readonly kind: 'query'; readonly number: number; readonly query: Query }
  | { readonly kind: 'end'; readonly number: number }

/** What the thread answers to a task. */
export type ReaderReply =
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
