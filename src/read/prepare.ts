/** A plan is prepared once: its statements, and what makes answers of their rows. */
import type { Fetch } from '#read/fetch.ts'
import { type Lane, laneOf } from '#read/lane.ts'
import { levelsOf, type PlannedRoot, type ReadPlan, type Results } from '#read/level.ts'
import { perLevel } from '#read/per-level.ts'
import { inSingleStatement } from '#read/single-statement.ts'
import { type Limits, stitcher, type Text } from '#read/stitch.ts'
import type { Dialect } from '#sql/dialect.ts'
import type { SqlValue } from '#sql/sql.ts'

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
