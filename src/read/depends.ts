/** What the answers of a plan depend on, as cells of a store that reports changes. */
import { columnName } from '#model/names.ts'
import { tablesIn } from '#read/condition.ts'
import {
  indexOf,
  keyOf,
  type Level,
  type Linked,
  levelsOf,
  type ReadPlan,
  type Results,
} from '#read/level.ts'
import type { Slot } from '#read/selection.ts'
import type { Changes } from '#sql/engine.ts'
import type { SqlValue } from '#sql/sql.ts'

/** The most cells of an answer; of a level that would have more the whole table counts. */
const most = 500

type CellBy = (value: SqlValue) => number | undefined

/** The rows of a level: those with a value that a slot holds, or with one of the ids that the level above found, or any. */
type Source = {
  readonly whole: number
  readonly bySlot?: { readonly slot: Slot; readonly cellBy: CellBy } | undefined
  readonly byIds?: { readonly linked: Linked; readonly cellBy: CellBy } | undefined
  /** The cells of the tables that its conditions look into. */
  readonly others: readonly number[]
}

/** The tables that a level reads. A cached count is one of rows of the table that is counted. */
const tablesOfLevel = ({ table, where }: Level): readonly string[] => [
  table,
  ...where.flatMap(tablesIn),
]

/** The tables that a plan reads. */
export const tablesOf = (plan: ReadPlan): ReadonlySet<string> =>
  new Set(levelsOf(plan).flatMap(({ level }) => tablesOfLevel(level)))

/** The fields that have the value of a slot in each row of a level: it depends on the rows that have it, and on no others. */
const equalities = (level: Level): readonly { readonly field: string; readonly slot: Slot }[] => {
  const equal = level.where.flatMap(condition =>
    condition.kind === 'field' && condition.is === 'equals' ? [condition] : [],
  )
  return level.kind === 'exists' ? [{ field: 'id', slot: level.slot }, ...equal] : equal
}

const bySlot = (level: Level, changes: Changes): Source['bySlot'] => {
  for (const { field, slot } of equalities(level)) {
    const cellBy = changes.cellsBy(level.table, columnName(field))
    if (cellBy) return { slot, cellBy }
  }
  return undefined
}

/** The column whose values lead from the ids of the level above to the rows of this one. */
const columnOf = (level: Level): string | undefined => {
  if (level.kind === 'by ids') return 'id'
  return level.kind === 'children of' ? columnName(level.by) : undefined
}

const sourceOf = (linked: Linked, changes: Changes): Source | undefined => {
  const { level } = linked
  const [whole, ...others] = tablesOfLevel(level).map(changes.cellOf)
  if (whole === undefined || others.includes(undefined)) return undefined
  const column = columnOf(level)
  const cellBy = column === undefined ? undefined : changes.cellsBy(level.table, column)
  return {
    whole,
    others: others as readonly number[],
    ...(cellBy ? { byIds: { linked, cellBy } } : { bySlot: bySlot(level, changes) }),
  }
}

/** The cells of the ids that the level above found; undefined where these are not known, or too many. */
const cellsBelow = (
  { linked: { level, above }, cellBy }: NonNullable<Source['byIds']>,
  results: Results | undefined,
): readonly number[] | undefined => {
  const rows = above && results?.get(above)
  if (!rows || rows.length > most || (level.kind !== 'by ids' && level.kind !== 'children of'))
    return undefined
  const column = indexOf(above, keyOf(level))
  const cells = rows.flatMap(row => (row[column] === null ? [] : [cellBy(row[column] as SqlValue)]))
  return cells.includes(undefined) ? undefined : (cells as readonly number[])
}

const cellsOf = (
  { whole, bySlot, byIds, others }: Source,
  slots: readonly SqlValue[],
  results: Results | undefined,
): readonly number[] => {
  const below = byIds && cellsBelow(byIds, results)
  if (below) return [...below, ...others]
  return [bySlot?.cellBy(slots[bySlot.slot] as SqlValue) ?? whole, ...others]
}

/** The cells that an answer depends on, by the values of its slots and, where they are at hand, the rows that it was made of. */
export type Depends = (slots: readonly SqlValue[], results: Results | undefined) => Int32Array

/** What the answers of a plan depend on; undefined where it reads a table whose changes the store does not report. */
export const dependsOf = (plan: ReadPlan, changes: Changes): Depends | undefined => {
  const sources = levelsOf(plan).map(linked => sourceOf(linked, changes))
  if (sources.includes(undefined)) return undefined
  const known = sources as readonly Source[]
  const whole = Int32Array.from(new Set(known.flatMap(({ whole, others }) => [whole, ...others])))
  return (slots, results) => {
    const cells = new Set(known.flatMap(source => cellsOf(source, slots, results)))
    return cells.size > most ? whole : Int32Array.from(cells)
  }
}
