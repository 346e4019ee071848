/** A store: the database that the configuration names, with all that the program does to it. Each engine offers one. */
import type { MessagePort } from 'node:worker_threads'
import type { RateCounts } from '#base/rate-counts.ts'
import type { Tallies } from '#base/tallies.ts'
import type { MadeObjects } from '#engines/shared/catalogue.ts'
import type { Ddl } from '#engines/shared/schema.ts'
import { overloaded } from '#errors.ts'
import type { PlanReader } from '#read/read.ts'
import type { Limits } from '#read/stitch.ts'
import type { Dialect } from '#sql/dialect.ts'
import type { Changes, Session } from '#sql/engine.ts'
import type { Writer } from '#write/job.ts'

/** The keys that each store makes for itself: one signs cursors, the other tokens in mail. */
export const secrets = ['cursor', 'mail'] as const
export type Secrets = Readonly<Record<(typeof secrets)[number], Uint8Array>>

/** A newer program than this one has migrated the store. */
export class NewerStoreError extends Error {
  override readonly name = 'NewerStoreError'
}

/** How long a write waits for its turn unless an operator says otherwise, in milliseconds. */
export const usualWriteWait = 5000

/** The error for a write when too many are waiting already. */
export const tooManyWrites = () => overloaded('Too many writes are waiting; try again soon')

/** What the engine of the main thread shares with that of a serving thread: a port to its writer, and memory as the engine has it. */
export type EngineShare = { readonly port: MessagePort; readonly memory: unknown }

/** One of several threads that serve a store: its number from 1 on, and what all of them have in common. */
export type ServingThread = {
  readonly number: number
  readonly share: EngineShare
  readonly tallies: Tallies
}

export type EngineOptions = {
  readonly digits: number
  readonly limits: Limits
  /** How long one read may take, in milliseconds. */
  readonly readTimeout: number
  /** How many writes may wait before more are refused. */
  readonly queue: number
  /** How many milliseconds a write waits for its turn and for a connection, if it needs them: `usualWriteWait` unless it is given. */
  readonly writeWait?: number
  /** Whether it reports changes, if it can. */
  readonly isWatched?: boolean
  /** Whether other threads serve the store and this one only has its writer. */
  readonly isHost?: boolean
  /** Absent unless it is one of several threads that serve the store. */
  readonly thread?: ServingThread
  /** Called at failures that the service survives. */
  readonly onProblem?: (message: string) => void
  /** Called with other news for the operator, such as that a failure is over. */
  readonly onNotice?: (message: string) => void
  /** Called after each commit with the number of its writes and its milliseconds. */
  readonly onCommit?: (writes: number, milliseconds: number) => void
  /** Called with what SQLite says of a damaged page that was met. */
  readonly onDamage?: (message: string) => void
  /** Called once when nothing can be written any more and the process must end. */
  readonly onFatal: (message: string) => void
}

/** A store that is served. */
export type Engine = PlanReader &
  Writer & {
    readonly dialect: Dialect
    /** Reports changes, so that answers can be cached; absent if it cannot, or nobody asks. */
    readonly changes?: Changes
    /** Settles when the store can be used; rejects with what is wrong. */
    readonly ready: () => Promise<void>
    /** Why it can only be read now; null if it can be written. */
    readonly readOnly: () => string | null
    /** Figures for an operator, read when they are asked for. */
    readonly figures: {
      readonly writesWaiting: () => number
      /** The length of the log of writes beside a file. */
      readonly walBytes?: () => number
      /** How far replicas are behind, in seconds, by their names; NaN for one that does not answer. */
      readonly replicaLags?: () => ReadonlyMap<string, number>
    }
    /** What the serving thread of that number gets; absent if the engine serves one thread only. */
    readonly shareWith?: (thread: number) => EngineShare
    /** Ends the writing for good: waiting writes are told that their outcome is unknown. */
    readonly stopWriting?: (reason: string) => void
    /** Has it know of a damaged page that another thread met. */
    readonly tellDamage?: (message: string) => void
    /** Adds to the counts that all processes share; absent if one process serves the store alone. */
    readonly rateCounts?: RateCounts
    readonly close: () => Promise<void>
  }

export type Store = {
  /** Its name in messages; never with a password. */
  readonly label: string
  readonly dialect: Dialect
  readonly ddl: Ddl
  /** What it has; `validated`: without constraints that may not hold for the rows of before. */
  readonly made: (validated?: boolean) => Promise<MadeObjects>
  /**
   * Takes it for this process if only one may serve it, and waits so many milliseconds for another to release it, or for a
   * server that takes sessions; `onWait` gets the reason before it waits. Gives the function that releases it. Throws
   * StoreInUseError, and what the last try to connect threw.
   */
  readonly hold: (wait: number, onWait: (reason: string) => void) => Promise<() => void>
  /** Applies the missing migrations; gives their names. Throws NewerStoreError before it changes anything. */
  readonly migrate: () => Promise<readonly string[]>
  /** The names of the missing migrations; throws NewerStoreError, or if there is no store. Changes nothing. */
  readonly pending: () => Promise<readonly string[]>
  /** The keys of the store; throws if it was never migrated. */
  readonly secrets: () => Promise<Secrets>
  /** A session for a command: to read a snapshot of the store, or to fill it. */
  readonly session: (purpose: 'reading' | 'filling') => Promise<Session>
  readonly open: (serving: EngineOptions) => Engine
}

type Run = (text: string) => void | Promise<void>

const framed =
  (run: Run, end: Run, [first, last, undone]: readonly [string, string, string]) =>
  async <Result>(work: () => Promise<Result>): Promise<Result> => {
    await run(first)
    try {
      const result = await work()
      await end(last)
      return result
    } catch (error) {
      try {
        await run(undone)
      } catch {
        // The first error has the reason: a lost connection, say, or a full disk, which ends a transaction by itself.
      }
      throw error
    }
  }

/** Transactions that begin and end with these statements; `end` runs those that commit. */
export const transactionsOf = (
  run: Run,
  begin: string,
  commit: string,
  end: Run = run,
): Pick<Session, 'transaction' | 'attempt'> => ({
  transaction: framed(run, end, [begin, commit, 'rollback']),
  attempt: framed(run, run, [
    'savepoint attempt',
    'release attempt',
    'rollback to attempt; release attempt',
  ]),
})
