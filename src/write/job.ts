/** A write as plain data, so that it can be sent to a worker thread or pipelined. */
import type { ReadPlan } from '#read/plan.ts'
import type { Answer } from '#read/read.ts'
import type { Dialect } from '#sql/dialect.ts'
import { type Position, type Query, queryOf, type Reader, type Rows } from '#sql/engine.ts'
import { number, type Parameter, type Sql, type SqlValue, type Statement } from '#sql/sql.ts'

/** A column of the first row that a step returned; or of all its rows, as a JSON list of ids. */
type StepColumn = {
  readonly step: number
  readonly column: number
  readonly as?: 'list'
}

/** A value that is known, or that will be when a step has run; or, by its place, one of those that a job has of its own, as its steps are those of all jobs of a form. */
export type DeferredValue = SqlValue | StepColumn | { readonly own: number }

/** The value that it is, unless it is known only when its step has run. */
export const filledIn = (value: DeferredValue, own: Job['own']): SqlValue | StepColumn => {
  if (value === null || typeof value !== 'object' || !('own' in value)) return value
  return own?.[value.own] as SqlValue
}

/** Whether a value is known only when its step has run. */
export const isResult = (value: DeferredValue): value is StepColumn =>
  value !== null && typeof value === 'object' && 'step' in value

/** A statement of a job: its text and its values, in order. */
export type JobStatement = { readonly text: string; readonly values: readonly DeferredValue[] }

/** The statement of a job with its values; `deferred` gives those of parameters that have none themselves. */
export const withValues = (
  { text, parameters }: Statement,
  deferred: (parameter: Parameter) => DeferredValue,
): JobStatement => {
  const values: DeferredValue[] = []
  for (const one of parameters) values.push(one.kind === 'value' ? one.value : deferred(one))
  return { text, values }
}

/** A guarded statement: its expectation, and the query that explains a failure. */
export type Step<Statement = JobStatement> = {
  readonly statement: Statement
  /** `row`, which a command's step is unless it says otherwise: it must touch or find one, else the whole job is undone. */
  readonly expect: 'row' | 'any'
  /** Run when the expectation fails, so that the command can choose the error. */
  readonly explain?: Statement
  /** Whether it guards the viewer's right to write: it then also decides whether a stored response is shown. */
  readonly checksViewer?: boolean
  /** The path of the part of the input that it is about, for its error. */
  readonly path?: string | undefined
  /** The slugs that it makes of texts, each with the unique column that it is for: nobody is told of one that another job takes meanwhile. */
  readonly slugs?: readonly { readonly target: string; readonly text: string }[]
}

/** The statement that does as many steps at once, and returns a row for each. */
export type Together = { readonly rows: number; readonly statement: JobStatement }

/** Whether a job only lost a race for a slug that it makes, so that it gets another one when it runs again. */
export const lostSlug = ({ steps }: Pick<Job, 'steps'>, outcome: Outcome): boolean =>
  outcome.kind === 'violation' &&
  outcome.constraint === 'unique' &&
  steps[outcome.step]?.slugs?.some(({ target }) => target === outcome.target) === true

/** The status of an answer: always the same, or by whether a step returned a row. */
export type Status =
  | number
  | { readonly step: number; readonly some: number; readonly none: number }

/**
 * The key under which a response is stored in the transaction of the effect. `reserve` takes the key and returns a row,
 * or none if a response is stored under it; a second request at the same time waits there for the first. `lookup`
 * finds the stored response. `store` stores this one: its first four parameters are status, text, id and revision.
 */
export type Idempotency = {
  /** The key of the request, with its scope. */
  readonly name: string
  readonly fingerprint: string
  readonly reserve: JobStatement
  /** For a write that is a part of its request: takes the key for all of the request and returns a row, or none if another request has it. */
  readonly claim?: JobStatement
  readonly lookup: JobStatement
  readonly store: JobStatement
}

/** How many queries take the key of a job: they are its first ones. */
export const keyQueriesOf = ({ idempotency }: Pick<Job, 'idempotency'>): number => {
  if (!idempotency) return 0
  return idempotency.claim ? 2 : 1
}

export type Job = {
  /** Who asks for it, so that callers take turns, of whom all without a token are one; absent where the service itself does, as for sign-in. */
  readonly caller?: string | undefined
  readonly steps: readonly Step[]
  /** Its own values, where its steps are those of all jobs of a form. */
  readonly own?: readonly SqlValue[] | undefined
  /** Steps that may be done by one statement, by the first of each; where that fails, each by itself tells why. */
  readonly together?: ReadonlyMap<number, Together> | undefined
  readonly status: Status
  /** The text of an answer if nothing is read: a list of the ids that some steps returned, or always the same. */
  readonly text?: string | { readonly idsOf: readonly number[] } | undefined
  readonly idempotency?: Idempotency | undefined
  /** Whether its steps must all see one state of the store; if only one job writes at a time they do. */
  readonly isolated?: boolean | undefined
  /** Whether it is only tried: done as any other, and then undone. */
  readonly isDry?: boolean | undefined
  /** The read of the written row, in the same transaction, and how many characters it may give, where that is fewer than of any read; null: the answer is empty, or `text`. */
  readonly answer: {
    readonly plan: ReadPlan
    readonly longest?: number | undefined
    readonly values: readonly DeferredValue[]
  } | null
}

/** The answer of a write: its text, and the revision and id for ETag and Location. */
export type Written = Pick<Answer, 'text' | 'revision' | 'last'>

/** What a job did. */
type Performed = {
  /** Those of each step, which stay with the writer where the job is a form with values. */
  readonly rows: readonly Rows[]
  readonly status: number
  readonly answer: Written | null
  /** Whether this is the stored response to an earlier request. */
  readonly replayed: boolean
  /** The store's position after the commit, if it has positions. */
  readonly position?: Position
}

export type Outcome =
  | ({ readonly kind: 'done' } & Performed)
  /** All could be done, and nothing was changed. */
  | ({ readonly kind: 'tried' } & Performed)
  /** The idempotency key was used for another request. */
  | { readonly kind: 'reused' }
  /** A step's expectation failed; nothing was changed. */
  | { readonly kind: 'refused'; readonly step: number; readonly rows: Rows }
  /** A constraint of the store failed; nothing was changed. */
  | {
      readonly kind: 'violation'
      readonly constraint: 'unique' | 'reference' | 'check'
      readonly target: string
      /** How many steps were done before. */
      readonly step: number
      /** What the database says of it. */
      readonly text: string
    }
  /** An error of the read that follows, or of the store; nothing was changed. */
  | {
      readonly kind: 'failed'
      readonly code: string
      readonly status: number
      readonly title: string
      readonly message: string
    }

/** Performs jobs. Rejects with `UNAVAILABLE` if it is unknown whether the write was done. */
export type Writer = { readonly write: (job: Job) => Promise<Outcome> }

/** The rows of each of these queries, which are a job of their own; throws if the store refused it. */
export const writeQueries = async (
  writer: Writer,
  queries: readonly Query[],
): Promise<readonly Rows[]> => {
  const steps = queries.map(statement => ({ statement, expect: 'any' as const }))
  const outcome = await writer.write({ steps, status: 200, answer: null })
  if (outcome.kind !== 'done')
    throw new Error(
      `statements were not done: ${outcome.kind === 'failed' ? outcome.message : outcome.kind}`,
    )
  return outcome.rows
}

/** What writes to an open store. */
export type WriteAccess = { readonly writer: Writer; readonly dialect: Dialect }

/** The rows of each of these pieces, likewise. */
export const writePieces = (
  { writer, dialect }: WriteAccess,
  ...pieces: readonly Sql[]
): Promise<readonly Rows[]> =>
  writeQueries(
    writer,
    pieces.map(piece => queryOf(piece, dialect)),
  )

/** So many rows are deleted at once, so that other writes run in between. */
const batch = 1000

/** Deletes by these pieces, which are given the most rows that each may delete, until none finds so many; gives how many there were. */
export const deleteInBatches = async (
  store: WriteAccess,
  piecesFor: (most: Sql) => readonly Sql[],
): Promise<number> => {
  const pieces = piecesFor(number(batch))
  for (let sum = 0; ; ) {
    const counts = (await writePieces(store, ...pieces)).map(({ length }) => length)
    sum += counts.reduce((all, count) => all + count, 0)
    if (counts.every(count => count < batch)) return sum
  }
}

/** What reads and writes an open store. */
export type StoreAccess = WriteAccess & { readonly reader: Pick<Reader, 'query'> }

/** Reads what was committed before, by whichever process: a replica may not have it yet, so the primary is asked. */
export const readPrimary = async (
  { reader, writer, dialect }: StoreAccess,
  query: Query,
): Promise<Rows> =>
  dialect.singleStatement === null
    ? reader.query({ ...query, isQuick: true })
    : ((await writeQueries(writer, [query]))[0] ?? [])
