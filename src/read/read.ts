/** The entry to the read core: a prepared plan is run with values any number of times. */
import { setImmediate } from 'node:timers/promises'
import { after } from '#base/after.ts'
import { reads, traced } from '#channels.ts'
import { type AnswerCache, answerCache, type Budget } from '#read/cache.ts'
import type { ReadPlan, Results } from '#read/level.ts'
import type { Answer, Prepared } from '#read/prepare.ts'
import {
  type Changes,
  type QueryScript,
  type Reader,
  type ReadOptions,
  TooLong,
} from '#sql/engine.ts'
import type { SqlValue } from '#sql/sql.ts'

// Apart, so that a thread which only runs plans loads no more.
export { type Answer, type Prepared, prepare } from '#read/prepare.ts'
export type { ReadOptions } from '#sql/engine.ts'

/** A reader with a lane of its own for slow reads: they hold nobody up, and end where nobody waits for them any more. */
export type PlanReader = Reader & {
  /** Runs work in the slow lane; its queries all see the same snapshot. */
  readonly slowly: <Result>(
    begin: () => QueryScript<Result>,
    asked?: ReadOptions,
  ) => Promise<Result>
  /** Runs a read of the slow lane as a whole in another thread; absent where the database is one. */
  readonly elsewhere?: (
    plan: ReadPlan,
    slots: readonly SqlValue[],
    asked: ReadOptions,
  ) => Promise<readonly Answer[]>
  /** The same reader, which publishes nothing, where this one publishes all that is asked of it. */
  readonly plain?: PlanReader
}

/** A reader with a cache of what is made of its answers; without one each read is run. */
export type CachedReader = PlanReader & { readonly cache?: AnswerCache | undefined }

/** The same reader with a cache of so many bytes; without one where nothing reports changes. */
export const cachedReader = (
  reader: PlanReader,
  changes: Changes | undefined,
  budget: Budget,
): CachedReader => (changes ? { ...reader, cache: answerCache(changes, budget) } : reader)

/** What a caller makes of answers; `by` tells it from other things that are made of the same ones. */
export type Making<Made> = {
  readonly by: string
  readonly make: (answers: readonly Answer[]) => Made | Promise<Made>
}

/** Bytes of what is made of an answer beside its text, such as an envelope. */
const around = 500

/**
 * What is made of the answers of a prepared read, which may be cached: `make` is to depend on nothing but the answers, the
 * slots and `by`, and what it gives is not changed by anybody.
 */
export const readAs = <Made>(
  reader: CachedReader,
  prepared: Prepared,
  slots: readonly SqlValue[],
  { by, make }: Making<Made>,
  asked: ReadOptions = {},
): Made | Promise<Made> => {
  if (!reader.cache) return after(read(reader, prepared, slots, asked), make)
  return reader.cache(prepared, slots, by, () => {
    let results: Results | undefined
    const see = (found: Results) => {
      results = found
    }
    return after(read(reader, prepared, slots, asked, see), found => {
      // A character takes up one byte or two.
      const bytes = found.reduce((sum, { text }) => sum + 2 * text.length, around)
      return after(make(found), value => ({ value, bytes, results }))
    })
  })
}

/** From so many rows on others have a turn before the text is made of them: to make either of 10,000 takes 20 to 40 ms. */
const manyRows = 1000

const isLong = (results: Results): boolean =>
  results.values().reduce((sum, rows) => sum + rows.length, 0) >= manyRows

/** Is shown the rows of a read, where they come to this thread. */
type See = (results: Results) => void

const run = (
  reader: PlanReader,
  { plan, lane, single, work, answers }: Prepared,
  slots: readonly SqlValue[],
  asked: ReadOptions,
  see?: See,
): readonly Answer[] | Promise<readonly Answer[]> => {
  const { elsewhere } = reader
  if (elsewhere && lane(slots) === 'slow') return elsewhere(plan, slots, asked)
  const answered = (results: Results) => {
    see?.(results)
    return answers(results, slots)
  }
  try {
    return single
      ? after(reader.query(single.query(slots), asked), rows => {
          const results = single.results(rows)
          return isLong(results) ? setImmediate().then(() => answered(results)) : answered(results)
        })
      : after(
          reader.snapshot(() => work(slots), asked),
          answered,
        )
  } catch (error) {
    // Its lane follows from what it may hold at the most; only now it is known to be long.
    if (elsewhere && error instanceof TooLong) return elsewhere(plan, slots, asked)
    throw error
  }
}

/** Runs a prepared read on one snapshot, as it is asked; synchronous where it is quick and the database is. */
export const read = (
  reader: PlanReader,
  prepared: Prepared,
  slots: readonly SqlValue[],
  asked: ReadOptions = {},
  see?: See,
): readonly Answer[] | Promise<readonly Answer[]> => {
  const { plain = reader } = reader
  if (!reads.hasSubscribers) return run(plain, prepared, slots, asked, see)
  const { levels, lane, statements } = prepared
  return traced(
    reads,
    { levels, lane: lane(slots), statements: () => statements.map(({ text }) => text) },
    () => run(plain, prepared, slots, asked, see),
    (context, answers) => {
      context.rows = answers.reduce((sum, { objects }) => sum + objects, 0)
    },
  )
}
