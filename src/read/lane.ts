/** The lane of a read: quick ones are answered at once, slow ones wait in a queue of their own, so that they hold up nobody else. */
import {
  levelsBelow,
  type PlannedRoot,
  type ReadPlan,
  type RootLevel,
  type RowLevel,
} from '#read/level.ts'
import type { SqlValue } from '#sql/sql.ts'

/** Of slow and quick reads; the class of a read is the same on every engine. */
export type Lane = 'quick' | 'slow'

/** The most rows that a quick read passes: those of its pages, those that their offsets skip, and those below them. */
const usualQuickRows = 1000

/** The most characters of long texts in a quick read. */
const quickText = 8_388_608

/** Taken for the rows below one where the model does not say how many there are. */
const usuallyBelow = 10

type Slots = readonly SqlValue[]
type Sum = { rows: number; text: number }

/** Adds what a level and those below it cost, for so many rows above it. */
type Count = (sum: Sum, above: number, slots: Slots) => void

/** How many rows a level has at the most for each row above it, and how many its offset skips. */
const pageOf = (level: RowLevel, slots: Slots): { rows: number; skipped: number } => {
  if (level.kind === 'by ids' || (level.kind === 'root' && !level.many))
    return { rows: 1, skipped: 0 }
  const { page } = level
  if (page === null) return { rows: usuallyBelow, skipped: 0 }
  const skipped = page.offset === null ? 0 : Number(slots[page.offset])
  return { rows: Number(slots[page.limit]), skipped }
}

const counting = (level: RowLevel): Count => {
  const below = levelsBelow(level).map(counting)
  return (sum, above, slots) => {
    const { rows, skipped } = pageOf(level, slots)
    const own = above * rows
    sum.rows += own + above * skipped
    sum.text += own * level.longText
    for (const count of below) count(sum, own, slots)
  }
}

/** Whether the number of rows that a root passes cannot be known from its pages. */
const isUnbounded = ({ many, page, isIndexed }: RootLevel): boolean =>
  many && (page === null || !isIndexed)

const passesAny = ({ rows, total }: PlannedRoot): boolean =>
  isUnbounded(rows) || (total !== null && total.cached === null)

/**
 * The function that gives the lane of a plan for the values of its slots. A read is slow that searches, sorts or counts without
 * an index, or whose pages, offsets and texts may be large.
 */
export const laneOf = (plan: ReadPlan, quickRows = usualQuickRows): ((slots: Slots) => Lane) => {
  if (plan.roots.some(passesAny)) return () => 'slow'
  const counts = plan.roots.map(({ rows }) => counting(rows))
  const [one, ...others] = plan.roots
  // A row by its key needs no counting each time.
  if (one && others.length === 0 && !one.rows.many && levelsBelow(one.rows).length === 0)
    return () => (quickRows < 1 ? 'slow' : 'quick')
  return slots => {
    const sum = { rows: 0, text: 0 }
    for (const count of counts) count(sum, 1, slots)
    return sum.rows > quickRows || sum.text > quickText ? 'slow' : 'quick'
  }
}
