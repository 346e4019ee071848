/** The entry to the read core: a prepared plan is run with values any number of times, and its answers may be cached. */
import { setImmediate } from 'node:timers/promises'
import { after } from '#base/after.ts'
import { type ReadFacts, reads, traced } from '#channels.ts'
import { type AnswerCache, answerCache, type Budget } from '#read/cache.ts'
import type { ReadPlan, Results } from '#read/plan.ts'
import type { Answer, Prepared } from '#read/prepare.ts'
import {
  type Changes,
  type Query,
  type QueryScript,
  type Reader,
  type ReadOptions,
  TooLong,
  watched,
} from '#sql/engine.ts'
import type { SqlValue } from '#sql/sql.ts'

// Apart, so that a thread which only runs plans loads no more.
export { type Answer, type Prepared, prepare } from '#read/prepare.ts'
export type { ReadOptions } from '#sql/engine.ts'

/** A reader with a lane of its own for slow reads: they hold nobody up, and end once nobody waits for them any more. */
export type PlanReader = Reader & {
  /** Runs a script in the slow lane; its queries all see the same snapshot. */
  readonly slowly: <Result>(
    begin: () => QueryScript<Result>,
    options?: ReadOptions,
  ) => Promise<Result>
  /** Runs a read of the slow lane as a whole in another thread; absent if the database is one. */
  readonly runInThread?: (
    plan: ReadPlan,
    parameters: readonly SqlValue[],
    options: ReadOptions,
  ) => Promise<readonly Answer[]>
  /** The same reader, which publishes nothing, if this one publishes all its reads. */
  readonly plain?: PlanReader
  /** A cache of the responses made of its answers; without one each read is run. */
  readonly cache?: AnswerCache | undefined
}

/** The same reader with a cache of this many bytes; without one if nothing reports changes. */
export const cachedReader = (
  reader: PlanReader,
  changes: Changes | undefined,
  budget: Budget,
): PlanReader => (changes ? { ...reader, cache: answerCache(changes, budget) } : reader)

/** Makes a response of answers; `by` tells it from others that are made of the same ones. */
export type Renderer<Made> = {
  readonly by: string
  readonly make: (answers: readonly Answer[]) => Made | Promise<Made>
}

/** Bytes of a response beside the texts of its answers, such as an envelope. */
const around = 500

/** From this many rows on others have a turn before the text is made of them: to make either of 10,000 takes 20 to 40 ms. */
const manyRows = 1000

/**
 * The response made of the answers of a prepared read, which may be cached: `make` is to depend on nothing but the answers, the
 * parameters and `by`, and nobody changes its result.
 */
export const readCached = <Made>(
  reader: PlanReader,
  prepared: Prepared,
  parameters: readonly SqlValue[],
  { by, make }: Renderer<Made>,
  options: ReadOptions = {},
): Made | Promise<Made> => {
  if (!reader.cache) return after(read(reader, prepared, parameters, options), make)
  return reader.cache(prepared, parameters, by, () => {
    let results: Results | undefined
    const see = (found: Results) => {
      results = found
    }
    return after(read(reader, prepared, parameters, options, see), answers => {
      // A character takes up one byte or two.
      const bytes = answers.reduce((sum, { text }) => sum + 2 * text.length, around)
      return after(make(answers), value => ({ value, bytes, results }))
    })
  })
}

/**
 * Runs a prepared read on one snapshot, with these options; synchronous if it is quick and the database is. It is published on the
 * channel of reads if anybody subscribes. `see` is shown the rows, if they come to this thread.
 */
export const read = (
  reader: PlanReader,
  prepared: Prepared,
  parameters: readonly SqlValue[],
  options: ReadOptions = {},
  see?: (results: Results) => void,
): readonly Answer[] | Promise<readonly Answer[]> => {
  const { plain = reader } = reader
  if (!reads.hasSubscribers) return run(plain, prepared, parameters, options, see)
  const { levels, lane, texts } = prepared
  return traced<ReadFacts, readonly Answer[]>(
    reads,
    { levels, lane: lane(parameters), statements: texts },
    () => run(plain, prepared, parameters, options, see),
    (facts, answers) => {
      facts.rows = 0
      for (const { objects } of answers) facts.rows += objects
    },
  )
}

const run = (
  reader: PlanReader,
  prepared: Prepared,
  parameters: readonly SqlValue[],
  options: ReadOptions,
  see?: (results: Results) => void,
  isWhole = false,
): readonly Answer[] | Promise<readonly Answer[]> => {
  const { runInThread } = reader
  const { plan, lane, single, script, answers } = prepared
  if (runInThread && lane(parameters) === 'slow') return runInThread(plan, parameters, options)
  const answered = (results: Results) => {
    see?.(results)
    return answers(results, parameters)
  }
  try {
    if (!single)
      return after(
        reader.snapshot(() => script(parameters), options),
        answered,
      )
    const query = single.query(parameters, isWhole)
    return after(reader.query(query, options), found => {
      const results = single.results(found, query)
      if (!results) return run(reader, prepared, parameters, options, see, true)
      let count = 0
      for (const rows of results.values()) count += rows.length
      return count < manyRows ? answered(results) : setImmediate().then(() => answered(results))
    })
  } catch (error) {
    // Its lane follows from what it may hold at the most; only now it is known to be long.
    if (runInThread && error instanceof TooLong) return runInThread(plan, parameters, options)
    throw error
  }
}

const factsOf = (texts: readonly string[], lane: ReadFacts['lane']): ReadFacts => ({
  get levels() {
    return texts.length
  },
  lane,
  statements: () => texts,
})

/** Runs a script as `run` does, and publishes its queries and the number of their rows. */
const publish = <Result>(
  lane: ReadFacts['lane'],
  begin: () => QueryScript<Result>,
  run: (begin: () => QueryScript<Result>) => Result | Promise<Result>,
): Result | Promise<Result> => {
  if (!reads.hasSubscribers) return run(begin)
  const texts: string[] = []
  let count = 0
  // One that is begun again counts anew.
  const counted = (): QueryScript<Result> => {
    texts.length = 0
    count = 0
    const see = ({ text }: Query) => void texts.push(text)
    return watched(begin(), see, rows => {
      count += rows.length
    })
  }
  return traced(
    reads,
    factsOf(texts, lane),
    () => run(counted),
    facts => {
      facts.rows = count
    },
  )
}

/**
 * The same reader, which also publishes queries that pass `read()` by, as those of a content's routes do; `plain` is the one
 * that does not.
 */
export const publishing = (plain: PlanReader): PlanReader => ({
  ...plain,
  plain,
  query: (query, options) => {
    if (!reads.hasSubscribers) return plain.query(query, options)
    const facts = factsOf([query.text], query.isQuick ? 'quick' : 'slow')
    return traced(
      reads,
      facts,
      () => plain.query(query, options),
      (facts, rows) => {
        facts.rows = rows.length
      },
    )
  },
  snapshot: (begin, options) => publish('quick', begin, begun => plain.snapshot(begun, options)),
  slowly: async (begin, options) => publish('slow', begin, begun => plain.slowly(begun, options)),
})
