/** The entry to the read core: a plan is prepared once, then run with values any number of times. */
import { setImmediate } from 'node:timers/promises'
import { after } from '#base/after.ts'
import { reads, traced } from '#channels.ts'
import { type AnswerCache, answerCache, type Budget } from '#read/cache.ts'
import type { Fetch } from '#read/fetch.ts'
import { type Lane, laneOf } from '#read/lane.ts'
import { levelsOf, type PlannedRoot, type ReadPlan, type Results } from '#read/level.ts'
import { perLevel } from '#read/per-level.ts'
import { inSingleStatement } from '#read/single-statement.ts'
import { type Limits, stitcher, type Text } from '#read/stitch.ts'
import type { Dialect } from '#sql/dialect.ts'
import { type Asked, type Changes, type Reader, TooLong, type Work } from '#sql/engine.ts'
import type { SqlValue } from '#sql/sql.ts'

export type { Asked, Position } from '#sql/engine.ts'

/** The answer of one root. */
export type Answer = {
  /** JSON text: an object, `null` or a list. */
  readonly text: string
  readonly objects: number
  /** The number of all rows that fit, where it was asked for. */
  readonly total: number | undefined
  /** For a cursor: the id of the last row of the page, and whether there are more. */
  readonly last: number | undefined
  readonly more: boolean
  /** The revision of the one row asked for. */
  readonly revision: number | undefined
  /** A row that must exist and does not; the answer is then void. */
  readonly missing: { readonly entity: string; readonly id: SqlValue } | undefined
}

/** A plan ready to run on one database, with the function that makes answers from the fetched rows. */
export type Prepared = Fetch & {
  readonly plan: ReadPlan
  /** How many levels the plan has. */
  readonly levels: number
  readonly lane: (slots: readonly SqlValue[]) => Lane
  readonly answers: (results: Results, slots: readonly SqlValue[]) => readonly Answer[]
}

const idAt = (value: SqlValue | undefined): number | undefined =>
  value == null ? undefined : Number(value)

/** Cuts off the row that was fetched only to know whether there is a next page; true where there was one. */
const cutPage = ({ rows }: PlannedRoot, slots: readonly SqlValue[], results: Results): boolean => {
  const { page, fetchOneMore } = rows
  const fetched = results.get(rows) ?? []
  if (!fetchOneMore || page === null) return false
  const limit = Number(slots[page.limit])
  if (fetched.length <= limit) return false
  results.set(rows, fetched.slice(0, limit))
  return true
}

const missingOf = ({ exists }: PlannedRoot, slots: readonly SqlValue[], results: Results) => {
  const absent = exists.find(level => results.get(level)?.length === 0)
  return absent && { entity: absent.entity, id: slots[absent.slot] as SqlValue }
}

const totalOf = ({ total }: PlannedRoot, results: Results): number | undefined =>
  total === null ? undefined : Number(results.get(total)?.[0]?.[0] ?? 0)

const answersOf = (
  { roots }: ReadPlan,
  slots: readonly SqlValue[],
  results: Results,
  stitch: (results: Results) => readonly Text[],
): readonly Answer[] => {
  const more = roots.map(root => cutPage(root, slots, results))
  return stitch(results).map((written, index) => {
    const root = roots[index] as PlannedRoot
    const rows = results.get(root.rows) ?? []
    return {
      ...written,
      total: totalOf(root, results),
      last: idAt(rows.at(-1)?.[0]),
      more: more[index] ?? false,
      revision: root.hasRevision ? idAt(rows[0]?.[1]) : undefined,
      missing: missingOf(root, slots, results),
    }
  })
}

/**
 * Prepares a plan for a database: its statements and its stitcher, both made once. `interruptible`: its statements look
 * for each row whether they shall end, which costs each a little. `isAtOnce`: where others wait meanwhile, a read of much text
 * ends with `TooLong`, if the database answers at once.
 */
export const prepare = (
  plan: ReadPlan,
  dialect: Dialect,
  digits: number,
  limits: Limits,
  { interruptible = false, isAtOnce = false } = {},
): Prepared => {
  const { singleStatement } = dialect
  const lane = laneOf(plan, limits.quickRows)
  const fetch = singleStatement
    ? inSingleStatement(plan, dialect, singleStatement, limits, lane)
    : perLevel(plan, interruptible ? dialect : { ...dialect, interruptCheck: null }, {
        ...limits,
        isAtOnce,
      })
  const stitch = stitcher(plan, digits, limits)
  return {
    plan,
    levels: levelsOf(plan).length,
    lane,
    ...fetch,
    answers: (results, slots) => answersOf(plan, slots, results, stitch),
  }
}

/** A reader with a lane of its own for slow reads: they hold nobody up, and end where nobody waits for them any more. */
export type PlanReader = Reader & {
  /** Runs work in the slow lane; its queries all see the same snapshot. */
  readonly slowly: <Result>(begin: () => Work<Result>, asked?: Asked) => Promise<Result>
  /** Runs a read of the slow lane as a whole in another thread; absent where the database is one. */
  readonly elsewhere?: (
    plan: ReadPlan,
    slots: readonly SqlValue[],
    asked: Asked,
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
  asked: Asked = {},
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
  asked: Asked,
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
  asked: Asked = {},
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
