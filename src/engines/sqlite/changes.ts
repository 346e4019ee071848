/**
 * Which rows commits have changed, in memory that the threads share. Each table has a cell, and each value of a key (an id, a
 * reference …) one that it may share with others. Before a commit the writer puts the commit's number into the cells of all that it
 * changes: what was read when that number was not yet settled, and has no later one in its cells, is as it was.
 */
import { type Connection, dataVersion, replacing } from '#engines/sqlite/connection.ts'
import { cellsBy, cellsOfKeys, type Key, keysOf, reportKeys } from '#engines/sqlite/keys.ts'
import { type Changes, queryWith } from '#sql/engine.ts'
import type { SqlValue } from '#sql/sql.ts'

/** The numbers before the cells. */
const numbers = {
  /** Moved where everything may have changed: by a commit of another program. */
  others: 0,
  /** The number of the last commit of the writer that was begun, and of the last one that was settled. */
  begun: 1,
  settled: 2,
  /** The sum of both that the reader has noticed. */
  noticed: 3,
} as const
const firstTable = 4

/** The tables and keys of a store with their cells, ready to be sent to a thread. */
export type Cells = {
  readonly tables: readonly string[]
  readonly keys: readonly Key[]
  readonly values: Int32Array<SharedArrayBuffer>
}

/** After so many commits everything counts as changed: numbers that are further apart could not be compared. */
const longest = 2 ** 30

const tableNames = queryWith("select name from sqlite_schema where type = 'table' order by name")

const cellsOf = (connection: Connection): Cells => {
  const tables = connection.query(tableNames).map(([name]) => String(name))
  const size = firstTable + tables.length + cellsOfKeys
  const memory = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT * size)
  return { tables, keys: keysOf(connection), values: new Int32Array(memory) }
}

const cellsByTable = ({ tables }: Cells): ReadonlyMap<string, number> =>
  new Map(tables.map((table, index) => [table, firstTable + index]))

const firstKey = ({ tables }: Cells): number => firstTable + tables.length

// A trigger may replace rows, and so may a constraint: `on conflict replace`.
const definitions = queryWith('select sql from sqlite_schema where sql is not null')

/** Stands among the cells of a group for all of them: a row that another one replaces is deleted without a trigger. */
const everything = -1

/** A number that is another one before, in and after each commit of the writer. */
const movesOf = (values: Int32Array): number =>
  (Atomics.load(values, numbers.begun) + Atomics.load(values, numbers.settled)) | 0

/** How soon the writer looks again for a commit that came with its own, in milliseconds. */
const soon = 5

/** Looks for commits of other programs, which only the connection that writes can tell from its own. */
const lookingForOthers = (values: Int32Array, connection: Connection) => {
  let version = dataVersion(connection)
  let timer: NodeJS.Timeout | undefined
  const look = () => {
    const now = dataVersion(connection)
    if (now !== version) Atomics.add(values, numbers.others, 1)
    version = now
  }
  const lookAgain = () => {
    timer = undefined
    const isNoticed = Atomics.load(values, numbers.noticed) === movesOf(values)
    try {
      look()
    } catch {
      // The next group looks again, and reports what is wrong with the store.
    }
    if (!isNoticed) lookSoon()
  }
  const lookSoon = () => {
    timer ??= setTimeout(lookAgain, soon).unref()
  }
  return { look, lookSoon, close: () => clearTimeout(timer) }
}

/** The writer's side: collects the cells of what jobs write, and numbers them before the commit. */
export const countCommits = (all: Cells, connection: Connection) => {
  const { values, keys } = all
  const tables = cellsByTable(all)
  const others = lookingForOthers(values, connection)
  const written = { job: new Set<number>(), group: new Set<number>() }
  const base = firstKey(all)
  const anyReplaces = connection.query(definitions).some(([text]) => replacing.test(String(text)))
  reportKeys(connection, keys, cell => void written.job.add(base + cell))
  return {
    /** Takes down that the job that is being run writes a table. One that came later is not known to readers either. */
    wrote: (table: string, replaces: boolean) => {
      if (replaces || anyReplaces) written.job.add(everything)
      const cell = tables.get(table)
      if (cell !== undefined) written.job.add(cell)
    },
    /** Begins a group, inside its transaction. */
    begin: () => {
      written.job.clear()
      written.group.clear()
      others.look()
    },
    /** Ends a job: what it wrote stays, or was undone. */
    endJob: (isDone: boolean) => {
      if (isDone) for (const cell of written.job) written.group.add(cell)
      written.job.clear()
    },
    /** Before the commit. */
    committing: () => {
      const number = (Atomics.load(values, numbers.begun) + 1) | 0
      Atomics.store(values, numbers.begun, number)
      if (written.group.delete(everything)) values.fill(number, firstTable)
      else for (const cell of written.group) Atomics.store(values, cell, number)
      if (number % longest !== 0) return
      values.fill(number, firstTable)
      Atomics.add(values, numbers.others, 1)
    },
    /** After it, or after it was undone. Where its outcome is unknown it is never settled. */
    settled: () => {
      Atomics.store(values, numbers.settled, Atomics.load(values, numbers.begun))
      others.lookSoon()
    },
    close: others.close,
  }
}

/** The reader's side: the changes up to its open snapshot, for which it looks when it opens one. */
export const watchCommits = (connection: Connection) => {
  const all = cellsOf(connection)
  const { values, keys } = all
  const tables = cellsByTable(all)
  const base = firstKey(all)
  const seen = { moves: movesOf(values), settled: 0, others: 0 }
  let version = dataVersion(connection)
  /** A change without a commit of the writer is another program's. One that came with it, the writer finds. */
  const lookForOthers = (moves: number) => {
    const now = dataVersion(connection)
    if (now !== version && seen.moves === movesOf(values))
      seen.others = Atomics.add(values, numbers.others, 1) + 1
    version = now
    seen.moves = moves
    Atomics.store(values, numbers.noticed, moves)
  }
  const isUnchanged: Changes['isUnchanged'] = (cells, since) => {
    // No cell has a later number than that of the last commit that was begun.
    if (((Atomics.load(values, numbers.begun) - since) | 0) <= 0) return true
    for (let at = 0; at < cells.length; at++)
      if (((Atomics.load(values, cells[at] as number) - since) | 0) > 0) return false
    return true
  }
  return {
    cells: all,
    versionOf: (table: string) => tables.get(table),
    versionsBy: (table: string, column: string) => {
      const cellOf = cellsBy(keys, table, column)
      return (
        cellOf &&
        ((value: SqlValue) => {
          const cell = cellOf(value)
          return cell === undefined ? undefined : base + cell
        })
      )
    },
    now: () => seen.settled,
    epoch: () => seen.others,
    isUnchanged,
    /** To be called first in a transaction: a snapshot begins with its first read, so the numbers are not newer. */
    look: () => {
      const moves = movesOf(values)
      seen.settled = Atomics.load(values, numbers.settled)
      seen.others = Atomics.load(values, numbers.others)
      lookForOthers(moves)
    },
  }
}
