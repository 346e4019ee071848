/**
 * Counters of commits, in memory that the threads share: one for each table. The writer makes a table's counter odd before
 * a commit that writes it and even after it, so a reader that finds it even and unchanged reads what it read before.
 */
import { type Connection, dataVersion } from '#engines/sqlite/connection.ts'
import { type Changes, queryWith } from '#sql/engine.ts'

/** The counters before those of the tables. */
const counters = {
  /** Moved by what is not told by table: commits of other programs, and tables that came later. */
  any: 0,
  /** Moved around every commit of the writer. */
  commits: 1,
  /** The value of `commits` that the reader has noticed. */
  noticed: 2,
} as const
const firstTable = 3

/** The tables of a store with their counters, ready to be sent to a thread. */
export type Counters = {
  readonly tables: readonly string[]
  readonly values: Int32Array<SharedArrayBuffer>
}

const tablesOf = queryWith("select name from sqlite_schema where type = 'table' order by name")

const countersOf = (connection: Connection): Counters => {
  const tables = connection.query(tablesOf).map(([name]) => String(name))
  const memory = new SharedArrayBuffer(4 * (firstTable + tables.length))
  return { tables, values: new Int32Array(memory) }
}

const numbersIn = ({ tables }: Counters): ReadonlyMap<string, number> =>
  new Map(tables.map((table, index) => [table, firstTable + index]))

/** How soon the writer looks again for a commit that came with its own, in milliseconds. */
const soon = 5

/** The writer's side: collects the tables that jobs write, and moves their counters around the commit. */
export const countCommits = (all: Counters, connection: Connection) => {
  const { values } = all
  const numbers = numbersIn(all)
  const written = { job: new Set<number>(), group: new Set<number>() }
  let version = dataVersion(connection)
  let timer: NodeJS.Timeout | undefined
  const move = () => {
    Atomics.add(values, counters.commits, 1)
    for (const number of written.group) Atomics.add(values, number, 1)
  }
  /** Only the connection that writes can tell another program's commit from one of its own. */
  const lookForOthers = () => {
    const now = dataVersion(connection)
    if (now !== version) Atomics.add(values, counters.any, 2)
    version = now
  }
  const lookAgain = () => {
    timer = undefined
    const isNoticed =
      Atomics.load(values, counters.noticed) === Atomics.load(values, counters.commits)
    try {
      lookForOthers()
    } catch {
      // The next group looks again, and tells what is wrong with the store.
    }
    if (!isNoticed) lookSoon()
  }
  const lookSoon = () => {
    timer ??= setTimeout(lookAgain, soon).unref()
  }
  return {
    /** Takes down that the job that is being run writes a table. */
    wrote: (table: string) => void written.job.add(numbers.get(table) ?? counters.any),
    /** Begins a group, inside its transaction. */
    begin: () => {
      written.job.clear()
      written.group.clear()
      lookForOthers()
    },
    /** Ends a job: what it wrote stays, or was undone. */
    endJob: (isDone: boolean) => {
      if (isDone) for (const number of written.job) written.group.add(number)
      written.job.clear()
    },
    /** Before the commit. */
    committing: move,
    /** After it, or after it was undone. Where its outcome is unknown the counters stay odd. */
    settled: () => {
      move()
      lookSoon()
    },
    close: () => clearTimeout(timer),
  }
}

/** The reader's side: the changes up to its open snapshot, for which it looks when it opens one. */
export const watchCommits = (connection: Connection) => {
  const all = countersOf(connection)
  const { values } = all
  const numbers = numbersIn(all)
  const seen = new Int32Array(values.length)
  let version = dataVersion(connection)
  let commits = 0
  /** A change without a commit of the writer is another program's. One that came with it, the writer finds. */
  const lookForOthers = () => {
    const now = dataVersion(connection)
    if (now !== version && commits === Atomics.load(values, counters.commits))
      seen[counters.any] = Atomics.add(values, counters.any, 2) + 2
    version = now
    commits = seen[counters.commits] as number
    Atomics.store(values, counters.noticed, commits)
  }
  const numbersOf: Changes['numbersOf'] = tables => {
    const found = [...tables].flatMap(table => numbers.get(table) ?? [])
    return found.length === new Set(tables).size ? found : undefined
  }
  const stateOf: Changes['stateOf'] = tables => {
    let sum = seen[counters.any] as number
    for (const table of tables) {
      const value = seen[table] as number
      if (value % 2 !== 0) return undefined
      sum += value
    }
    return sum
  }
  return {
    counters: all,
    numbersOf,
    stateOf,
    /** To be called first in a transaction: a snapshot begins with its first read, so the counters are not newer. */
    look: () => {
      for (let at = 0; at < values.length; at++) seen[at] = Atomics.load(values, at)
      lookForOthers()
    },
  }
}
