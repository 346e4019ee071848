/**
 * Which rows commits have changed, in memory that the threads share. Each table has a version, and each value of a key (an id, a
 * reference …) one that it may share with others. Before a commit the writer makes the commit's number the version of all that it
 * changes: what was read when that number was not yet settled, and has no later version, is as it was.
 */
import { hashOf } from '#base/text.ts'
import { dataVersion, replacing, type SqliteConnection } from '#engines/sqlite/connection.ts'
import { type Changes, queryWith } from '#sql/engine.ts'
import type { SqlValue } from '#sql/sql.ts'

/** A column by whose values rows are asked for, of numbers (an id or a reference) or of texts. */
type KeyColumn = { readonly table: string; readonly column: string; readonly type: string }

/** The tables and keys of a store with their versions, ready to be sent to a thread. */
export type VersionTable = {
  readonly tables: readonly string[]
  readonly keys: readonly KeyColumn[]
  /** The numbers below, a version for each table, then those of the keys. */
  readonly values: Int32Array<SharedArrayBuffer>
}

/** The places of the numbers before the versions. */
const numbers = {
  /** Moved if everything may have changed: by a commit of another program. */
  others: 0,
  /** The number of the last commit of the writer that was begun, and of the last one that was settled. */
  begun: 1,
  settled: 2,
  /** The sum of both that each reader has noticed, from here on: each in a line of the processor's cache that no other thread writes. */
  noticed: 16,
} as const

/** The most threads that read a store, and the numbers in a line of a processor's cache. */
const mostReaders = 65
const line = 16
const firstTable = numbers.noticed + mostReaders * line

/** The versions of the values of all keys together; values that share one are taken to be written together. */
const versionsOfKeys = 65_536

/** After so many commits everything counts as changed: numbers that are further apart could not be compared. */
const longest = 2 ** 30

/** Stands among the places of a group for all of them: a row that another one replaces is deleted without a trigger. */
const everything = -1

/** How soon the writer looks again for a commit that came with its own, in milliseconds. */
const soon = 5

const tableNames = queryWith("select name from sqlite_schema where type = 'table' order by name")

// A trigger may replace rows, and so may a constraint: `on conflict replace`.
const definitions = queryWith('select sql from sqlite_schema where sql is not null')

// The ids, the references, and texts that an index begins with, compared to the byte: a comparison goes by the collation of the
// column, which only the definition of its table shows. One that names any has no such text. The keys of a table follow one another.
const keyColumns =
  queryWith(`select t.name, c.name, c.type from pragma_table_list t, pragma_table_info(t.name) c
  where t.schema = 'main' and t.type = 'table'
    and exists (select 1 from pragma_table_info(t.name) where pk = 1 and type = 'INTEGER')
    and (c.type = 'INTEGER' and (c.pk = 1
        or exists (select 1 from pragma_foreign_key_list(t.name) f where f."from" = c.name))
      or c.type = 'TEXT' and exists (select 1 from pragma_index_list(t.name) i, pragma_index_xinfo(i.name) x
        where x.seqno = 0 and x.name = c.name)
        and not exists (select 1 from sqlite_schema where name = t.name and sql like '%collate%'))
  order by 1, 2`)

/** The place of the version of a value of a key, which is named by its number. */
const placeOfValue = ({ tables }: VersionTable, key: number, value: unknown): number =>
  firstTable + tables.length + (hashOf(`${key} ${value}`) & (versionsOfKeys - 1))

const placesOfTables = ({ tables }: VersionTable): ReadonlyMap<string, number> =>
  new Map(tables.map((table, index) => [table, firstTable + index]))

/** A number that is another one before, in and after each commit of the writer. */
const movesOf = (values: Int32Array): number =>
  (Atomics.load(values, numbers.begun) + Atomics.load(values, numbers.settled)) | 0

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** Makes the connection report each value of a key that it writes, in whatever way: by triggers, so that cascades are reported too. */
const reportKeys = (
  { database, query, run }: SqliteConnection,
  keys: readonly KeyColumn[],
  report: (key: number, value: unknown) => void,
): void => {
  database.function('duet_wrote', { varargs: true }, (first, count, ...values) => {
    // Of a changed row those before come first; most keys stay as they were.
    for (const [at, value] of values.entries())
      if (value !== values[at - Number(count)]) report(Number(first) + (at % Number(count)), value)
    return null
  })
  // One that held files of an earlier release may have been dropped since the keys were read; none goes during a transaction.
  run('begin')
  const there = new Set(query(tableNames).map(([table]) => table))
  for (const [first, { table }] of keys.entries()) {
    if (keys[first - 1]?.table === table || !there.has(table)) continue
    const columns = keys.filter(key => key.table === table).map(({ column }) => column)
    const valuesOf = (row: string) => columns.map(column => `${row}.${quoted(column)}`).join()
    for (const [event, rows] of Object.entries({
      insert: ['new'],
      update: ['old', 'new'],
      delete: ['old'],
    }))
      run(`create temp trigger ${quoted(`${table}_keys_${event}`)} after ${event} on main.${quoted(table)}
     begin select duet_wrote(${first}, ${columns.length}, ${rows.map(valuesOf).join()}); end;`)
  }
  run('commit')
}

/** A reader as the writer knows it: its number, and how it is asked to look. One that reads after each commit anyway is not asked. */
export type Watcher = { readonly number: number; readonly remind?: () => void }

/** The writer's side: collects the places of what jobs write, and numbers them before the commit. `watchers` are those who look for commits. */
export const countCommits = (
  all: VersionTable,
  connection: SqliteConnection,
  watchers: ReadonlySet<Watcher> = new Set([{ number: 0 }]),
) => {
  const { values, keys } = all
  const tables = placesOfTables(all)
  const written = { job: new Set<number>(), group: new Set<number>() }
  const anyReplaces = connection.query(definitions).some(([text]) => replacing.test(String(text)))
  reportKeys(connection, keys, (key, value) => written.job.add(placeOfValue(all, key, value)))

  // Only the connection that writes can tell commits of other programs from its own.
  let version = dataVersion(connection)
  let timer: NodeJS.Timeout | undefined
  let movesBefore = 0
  let reminded = 0
  const lookForOthers = () => {
    const now = dataVersion(connection)
    if (now !== version) Atomics.add(values, numbers.others, 1)
    version = now
  }
  const lookSoon = () => {
    timer ??= setTimeout(() => {
      timer = undefined
      const moves = movesOf(values)
      const late = [...watchers].filter(
        ({ number }) => Atomics.load(values, numbers.noticed + number * line) !== moves,
      )
      try {
        lookForOthers()
      } catch {
        // The next group looks again, and reports what is wrong with the store.
      }
      // Nothing was written meanwhile: who has not looked has nothing else to do, and is asked once.
      if (moves === movesBefore && moves !== reminded) {
        for (const { remind } of late) remind?.()
        reminded = moves
      }
      movesBefore = moves
      if (late.length > 0) lookSoon()
    }, soon).unref()
  }

  return {
    /** Takes down that the job that is being run writes a table. One that came later is not known to readers either. */
    wrote: (table: string, replaces: boolean) => {
      if (replaces || anyReplaces) written.job.add(everything)
      const place = tables.get(table)
      if (place !== undefined) written.job.add(place)
    },
    /** Begins a group, inside its transaction. */
    begin: () => {
      written.job.clear()
      written.group.clear()
      lookForOthers()
    },
    /** Ends a job: what it wrote stays, or was undone. */
    endJob: (isDone: boolean) => {
      if (isDone) for (const place of written.job) written.group.add(place)
      written.job.clear()
    },
    /** Before the commit. */
    committing: () => {
      const number = (Atomics.load(values, numbers.begun) + 1) | 0
      Atomics.store(values, numbers.begun, number)
      if (written.group.delete(everything)) values.fill(number, firstTable)
      else for (const place of written.group) Atomics.store(values, place, number)
      if (number % longest !== 0) return
      values.fill(number, firstTable)
      Atomics.add(values, numbers.others, 1)
    },
    /** After it, or after it was undone. If its outcome is unknown it is never settled. */
    settled: () => {
      Atomics.store(values, numbers.settled, Atomics.load(values, numbers.begun))
      lookSoon()
    },
    close: () => clearTimeout(timer),
  }
}

/** The tables and keys of a store, all unchanged. */
const versionTable = ({ query }: SqliteConnection): VersionTable => {
  const tables = query(tableNames).map(([name]) => String(name))
  const size = firstTable + tables.length + versionsOfKeys
  return {
    tables,
    keys: query(keyColumns)
      .map(row => row.map(String))
      .map(([table = '', column = '', type = '']) => ({ table, column, type })),
    values: new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT * size)),
  }
}

/** The reader's side: the changes up to its open snapshot, for which it looks when it opens one. Of several readers each has a `number`. */
export const watchCommits = (
  connection: SqliteConnection,
  all = versionTable(connection),
  number = 0,
) => {
  const { values, keys } = all
  const noticed = numbers.noticed + number * line
  const tables = placesOfTables(all)
  const seen = { moves: movesOf(values), settled: 0, others: 0 }
  let version = dataVersion(connection)
  const isUnchanged: Changes['isUnchanged'] = (places, since) => {
    // No version is later than the number of the last commit that was begun.
    if (((Atomics.load(values, numbers.begun) - since) | 0) <= 0) return true
    for (let at = 0; at < places.length; at++)
      if (((Atomics.load(values, places[at] as number) - since) | 0) > 0) return false
    return true
  }
  return {
    /** To be given to the writer. */
    versions: all,
    versionOf: (table: string) => tables.get(table),
    versionsBy: (table: string, column: string) => {
      const number = keys.findIndex(key => key.table === table && key.column === column)
      if (number === -1) return undefined
      const isText = keys[number]?.type === 'TEXT'
      return (value: SqlValue) => {
        // A value of another kind than the column's is converted before SQLite compares it.
        const isOfKind = isText
          ? typeof value === 'string' && value.isWellFormed()
          : Number.isSafeInteger(value)
        return isOfKind ? placeOfValue(all, number, value) : undefined
      }
    },
    now: () => seen.settled,
    /** Whether a commit was settled since it looked. */
    isBehind: () => Atomics.load(values, numbers.settled) !== seen.settled,
    epoch: () => seen.others,
    isUnchanged,
    /** To be called first in a transaction: a snapshot begins with its first read, so the numbers are not newer. */
    look: () => {
      const moves = movesOf(values)
      seen.settled = Atomics.load(values, numbers.settled)
      seen.others = Atomics.load(values, numbers.others)
      // A change without a commit of the writer is another program's. One that came with it, the writer finds.
      const now = dataVersion(connection)
      if (now !== version && seen.moves === movesOf(values))
        seen.others = Atomics.add(values, numbers.others, 1) + 1
      version = now
      seen.moves = moves
      Atomics.store(values, noticed, moves)
    },
  }
}
