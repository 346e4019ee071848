/** A plan is prepared once: its statements, its lane, and the function that makes answers of the rows. */
import { sealCursor } from '#read/cursor.ts'
import {
  indexOf,
  levelsBelow,
  levelsOf,
  type PagedChildren,
  type ReadPlan,
  type Results,
  type RootLevel,
  type RowLevel,
} from '#read/plan.ts'
import type { Keyset } from '#read/selection.ts'
import { type Fetch, inSingleStatement, perLevel } from '#read/statements.ts'
import { type Limits, type Paging, stitcher } from '#read/stitch.ts'
import type { Dialect } from '#sql/dialect.ts'
import type { Row } from '#sql/engine.ts'
import type { SqlValue } from '#sql/sql.ts'

/** The answer of one root. */
export type Answer = {
  /** JSON text: an object, `null` or a list. */
  readonly text: string
  readonly objects: number
  /** The number of all rows that fit, if it was wanted. */
  readonly total: number | undefined
  /** For a cursor: the id of the last row of the page, and whether there are more. */
  readonly last: number | undefined
  readonly more: boolean
  /** The cursors of the first row and of the last, of a list that has them and is not empty. */
  readonly ends?: { readonly first: string; readonly last: string } | undefined
  /** The revision of the one row that was read. */
  readonly revision: number | undefined
  /** A row that must exist and does not; the answer is then void. */
  readonly missing: { readonly entity: string; readonly id: SqlValue } | undefined
}

/** Of slow and quick reads: quick ones are answered at once, slow ones wait in a queue of their own, so that they hold up nobody else. */
type Lane = 'quick' | 'slow'

/** A plan ready to run on one database, with the function that makes answers from the fetched rows. */
export type Prepared = Fetch & {
  readonly plan: ReadPlan
  readonly levels: number
  readonly texts: () => readonly string[]
  readonly lane: (parameters: readonly SqlValue[]) => Lane
  readonly answers: (results: Results, parameters: readonly SqlValue[]) => readonly Answer[]
}

/** The most rows that a quick read passes: those of its pages, those that their offsets skip, and those below them. */
const usualQuickRows = 1000

/** The most characters of long texts in a quick read. */
const quickText = 8_388_608

/** The number of rows assumed below one if the model does not say how many there are. */
const usuallyBelow = 10

/** Adds the cost of a level and those below it, for a number of rows above it. */
type AddCost = (
  cost: { rows: number; text: number },
  above: number,
  parameters: readonly SqlValue[],
) => void

const costOf = (level: RowLevel): AddCost => {
  const below = levelsBelow(level).map(costOf)
  const isOneEach = !('page' in level) || (level.kind === 'root' && !level.many)
  const { page } = isOneEach ? { page: null } : level
  return (cost, above, parameters) => {
    // Each row above has so many rows at the most, and its offset skips so many.
    let rows = isOneEach ? 1 : usuallyBelow
    let skipped = 0
    if (page !== null) {
      rows = Number(parameters[page.limit])
      if (page.offset !== null) skipped = Number(parameters[page.offset])
    }
    const own = above * rows
    cost.rows += own + above * skipped
    cost.text += own * level.longText
    for (const add of below) add(cost, own, parameters)
  }
}

/**
 * The function that gives the lane of a plan for the values of its parameters, the same on every engine. A read is slow that
 * searches, sorts or counts without an index, or whose pages, offsets and texts may be large. `mayStop`: one that passes many
 * hidden rows is noticed, and ends; `stopsAtRow`: so is one of groups of rows.
 */
export const laneOf = (
  plan: ReadPlan,
  quickRows = usualQuickRows,
  mayStop = false,
  stopsAtRow = false,
): Prepared['lane'] => {
  // The number of rows that it passes is then not known from its pages.
  const isUnbounded = plan.roots.some(
    ({ rows: { many, page, isIndexed, foundBy, groups }, total }) => {
      const mayBeFew = (mayStop && foundBy !== undefined) || (stopsAtRow && groups?.areFew)
      return (many && (page === null || !(isIndexed || mayBeFew))) || total?.cached === null
    },
  )
  const isSorted = levelsOf(plan).some(
    ({ level }) => ('isSorted' in level && level.isSorted) || level.kind === 'counts of',
  )
  if (isUnbounded || isSorted) return () => 'slow'
  const costs = plan.roots.map(({ rows }) => costOf(rows))
  const [one, ...others] = plan.roots
  // A row by its key needs no counting each time.
  if (one && others.length === 0 && !one.rows.many && levelsBelow(one.rows).length === 0)
    return () => (quickRows < 1 ? 'slow' : 'quick')
  return parameters => {
    const cost = { rows: 0, text: 0 }
    for (const add of costs) add(cost, 1, parameters)
    return cost.rows > quickRows || cost.text > quickText ? 'slow' : 'quick'
  }
}

type KeysetLevel = (RootLevel | PagedChildren) & { readonly keyset: Keyset }

const cursorsIn = (level: KeysetLevel) => {
  const columns = level.order.map(({ column: { name, scalar } }) => {
    const isText = scalar === 'text' || scalar === 'date'
    return { index: indexOf(level, name), isText }
  })
  const sealed = (seal: string, row: Row): string => {
    const values = columns.map(({ index, isText }) => {
      const value = row[index] ?? null
      // Numbers may come as decimal text.
      return value === null || isText ? value : Number(value)
    })
    return sealCursor(seal, values)
  }
  return { level, sealed }
}

/**
 * Prepares a plan for a database: its statements and its stitcher, both made once. `interruptible`: its statements look
 * for each row whether they shall end, which costs each a little. `isAtOnce`: others wait meanwhile, so a read of much text
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
  const stopsAtRow = isAtOnce && dialect.interruptCheck !== null
  const mayStop = singleStatement !== null || stopsAtRow
  const lane = laneOf(plan, limits.quickRows, mayStop, stopsAtRow)
  const isQuick = (parameters: readonly SqlValue[]) => lane(parameters) === 'quick'
  const fetch = singleStatement
    ? inSingleStatement(plan, dialect, singleStatement, limits, isQuick)
    : perLevel(plan, interruptible ? dialect : { ...dialect, interruptCheck: null }, {
        ...limits,
        isAtOnce,
        ...(mayStop && { stopping: dialect }),
      })
  const texts = fetch.statements.map(({ text }) => text)
  const stitch = stitcher(plan, digits, limits)
  const keyed = levelsOf(plan).flatMap(({ level }) =>
    'keyset' in level && level.keyset ? [cursorsIn(level as KeysetLevel)] : [],
  )
  const answers: Prepared['answers'] = (results, parameters) => {
    // Cuts off the row that was fetched only to know whether there is a next page.
    const more: boolean[] = []
    const pages: Map<RowLevel, Paging> | undefined = keyed.length === 0 ? undefined : new Map()
    for (const { level, sealed } of keyed) {
      const seal = String(parameters[level.keyset.seal])
      const limit = Number(parameters[level.page?.limit ?? 0])
      pages?.set(level, { limit, cursorOf: row => sealed(seal, row) })
    }
    for (const { rows: level } of plan.roots) {
      const { page, fetchOneMore } = level
      const rows = results.get(level) ?? []
      const limit = fetchOneMore && page !== null ? Number(parameters[page.limit]) : rows.length
      more.push(rows.length > limit)
      let kept = rows.length > limit ? rows.slice(0, limit) : rows
      if (level.keyset?.backwards) kept = kept.toReversed()
      if (kept !== rows) results.set(level, kept)
    }
    const stitched = stitch(results, pages)
    const all: Answer[] = []
    for (const [index, { rows: level, total, hasRevision, exists }] of plan.roots.entries()) {
      const { text = '', objects = 0 } = stitched[index] ?? {}
      const rows = results.get(level) ?? []
      const last = rows.at(-1)?.[0]
      const revision = hasRevision ? rows[0]?.[1] : undefined
      const absent = exists.find(level => results.get(level)?.length === 0)
      const cursorOf = pages?.get(level)?.cursorOf
      const [first] = rows
      // Sealed where it is asked for: each takes as long as some rows.
      const ends = cursorOf &&
        first && {
          get first() {
            return cursorOf(first)
          },
          get last() {
            return cursorOf(rows.at(-1) ?? first)
          },
        }
      all.push({
        text,
        objects,
        total: total === null ? undefined : Number(results.get(total)?.[0]?.[0] ?? 0),
        last: last == null ? undefined : Number(last),
        more: more[index] ?? false,
        ...(ends && { ends }),
        revision: revision == null ? undefined : Number(revision),
        missing: absent && { entity: absent.entity, id: parameters[absent.slot] as SqlValue },
      })
    }
    return all
  }
  return { plan, levels: levelsOf(plan).length, texts: () => texts, lane, ...fetch, answers }
}
