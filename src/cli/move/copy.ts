/** Copies the rows of tables, from where an interrupted move stopped to the end. */
import { progress } from '#cli/progress.ts'
import type { MoveTarget } from '#engines/postgres/moving.ts'
import {
  countBehind,
  keyOf,
  laterBehind,
  type MovedTable,
  pageBehind,
  type Side,
} from '#engines/shared/moving.ts'
import { ConstraintError } from '#sql/engine.ts'

/** The remedy where the copy cannot become equal to the source. */
export const remedy =
  'the store was changed since the move began, or somebody wrote into the target; start over with --restart'

const copyTable = async (source: Side, target: MoveTarget, table: MovedTable): Promise<void> => {
  let after = await target.reached(table)
  const shown = progress(`moving ${table.name}`, await countBehind(source, table, after))
  let rows = await pageBehind(source, table, after)
  for (let last = rows.at(-1); last; last = rows.at(-1)) {
    const next = keyOf(table, last)
    // The next page is read while the target writes.
    const [isWritten, following] = await Promise.all([
      target.put(table, after, rows),
      pageBehind(source, table, next),
    ])
    if (isWritten) {
      shown.step(rows.length)
      after = next
      rows = following
    } else {
      after = await target.reached(table)
      rows = await pageBehind(source, table, after)
    }
  }
  shown.done()
}

/** Sets the references to later rows of the same table, which were left out of the batches; those that are set already stay. */
const setLater = async (source: Side, target: MoveTarget, table: MovedTable): Promise<void> => {
  if (table.own.length === 0) return
  let rows = await laterBehind(source, table, null)
  for (let last = rows.at(-1); last; last = rows.at(-1)) {
    await target.refer(table, rows)
    rows = await laterBehind(source, table, last.slice(0, 1))
  }
}

/** Copies what the target does not have yet of these tables. */
export const copyTables = async (
  source: Side,
  target: MoveTarget,
  tables: readonly MovedTable[],
): Promise<void> => {
  for (const table of tables)
    try {
      await copyTable(source, target, table)
      await setLater(source, target, table)
    } catch (cause) {
      if (!(cause instanceof ConstraintError)) throw cause
      throw new Error(`${table.name} cannot be moved (${cause.message}): ${remedy}`, { cause })
    }
}
