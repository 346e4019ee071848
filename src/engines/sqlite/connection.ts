/** One connection to a SQLite file: pragmas, limits, cached statements, and errors as the model knows them. */
import { constants, DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { lru } from '#base/cache.ts'
import { ApiError } from '#errors.ts'
import {
  ConstraintError,
  type Query,
  queryWith,
  type Row,
  type Rows,
  TooLong,
} from '#sql/engine.ts'
import type { SqlValue } from '#sql/sql.ts'

export type Durability = 'full' | 'normal'

export type SqliteConnection = {
  readonly query: (query: Query) => Rows
  /** Runs statements without values or rows: schema, pragmas, transactions. */
  readonly run: (text: string) => void
  readonly close: () => void
  readonly database: DatabaseSync
}

type ConnectOptions = {
  readonly readOnly?: boolean
  /** FULL unless a test asks for less. */
  readonly sync?: Durability
  /** Whether another program makes the checkpoints of the log. */
  readonly sharesLog?: boolean
  /** Whether it reads or writes stored responses, as the writer and a move do; each may be longer than any row of the content. */
  readonly takesResponses?: boolean
  /** Called with each table that a statement may have written, and whether it may have replaced rows. */
  readonly onWrite?: (table: string, replaces: boolean) => void
  /** Called when a query meets a damaged page, or a file that is no database any more. */
  readonly onDamage?: (message: string) => void
}

/** SQLite before 3.51.3 can damage a file when two connections write and checkpoint at the same time. */
const oldest = '3.51.3'

/** The result code for a file that another connection has locked. */
export const BUSY = 5

/** The result code for a value that is too long, as all texts of a column together may be. */
const TOOBIG = 18

/** The result codes for a damaged file, and for one that is no database. */
const damages = [11, 26]

/** The primary result code of an error of SQLite; 0 for any other error. */
export const errorCode = (error: unknown): number =>
  error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : 0

/** How long a connection waits for one that has the file locked, in milliseconds. */
export const busyTimeout = 5000

/** Pages in the log from which on a commit checkpoints it. */
const usualPages = 1000

/** The most bytes of a row that only SQLite limits; any other row has no more than a list. */
const mostLength = 1_000_000_000

/** The most bytes of a list of a column's values: above it the rows are read one by one. */
const longestList = 2_000_000

/** How many levels of rows go with one that is deleted: SQLite allows no more. */
const mostLevels = 1000

/** What may replace rows; it also finds the function of that name, which does no harm. */
export const replacing = /\breplace\b/i

/** The extended result codes of violated constraints, by their kind. */
const constraintKinds = {
  2067: 'unique',
  1555: 'unique',
  787: 'reference',
  275: 'check',
  1299: 'check',
  3091: 'check',
} as const

/** An error of SQLite as the model knows it; any other as it is. */
const translated = (error: unknown): unknown => {
  if (!(error instanceof Error) || !('errcode' in error)) return error
  if (error.message === 'too many levels of trigger recursion')
    return new ApiError(
      'CONFLICT',
      `Rows on more than ${mostLevels} levels below it would be deleted with it: delete those on the lowest levels first`,
      { cause: error },
    )
  // SQLite reports a row held by `on delete restrict` like an error of a trigger.
  const isHeld = error.errcode === 1811 && /^FOREIGN KEY/.test(error.message)
  const kind = isHeld ? 'reference' : constraintKinds[error.errcode as keyof typeof constraintKinds]
  if (!kind) return error
  // `a.b, a.c` becomes the form of index names: `a.b_c`.
  const target = (/failed: (.*)/.exec(error.message)?.[1] ?? '').replaceAll(/, \w+\./g, '_')
  return new ConstraintError(kind, target, { cause: error })
}

/** An integer goes in as a BigInt: a plain number is bound as REAL, which a TEXT column would keep as `5.0`. */
const bindable = (value: SqlValue): SQLInputValue =>
  typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : value

/**
 * The rows of a columnar query, which gives one JSON list of each column: their lengths cost less to count than the rows. Undefined
 * if they hold more characters than `most`, or more than fit in a list.
 */
const columnarRows = (
  { limits }: DatabaseSync,
  statement: StatementSync,
  values: readonly SQLInputValue[],
  most: number,
): Rows | undefined => {
  const { length } = limits
  const takesMore = length > longestList
  if (takesMore) limits.length = longestList
  try {
    const lists = statement.get(...values) as unknown as readonly string[]
    if (lists.reduce((sum, list) => sum + list.length, 0) > most) return undefined
    const [first = [], ...others] = lists.map(list => JSON.parse(list) as SqlValue[])
    return first.map((value, at) => {
      const row = [value]
      for (const column of others) row.push(column[at] as SqlValue)
      return row
    })
  } catch (error) {
    if (errorCode(error) !== TOOBIG) throw error
    return undefined
  } finally {
    if (takesMore) limits.length = length
  }
}

/** A statement with the tables that it may write, by itself, by triggers or by foreign keys; `replaces`: it may delete rows unseen by triggers. */
type PreparedStatement = {
  readonly statement: StatementSync
  readonly writes: Set<string>
  readonly replaces: boolean
}

const writing: readonly number[] = [
  constants.SQLITE_INSERT,
  constants.SQLITE_UPDATE,
  constants.SQLITE_DELETE,
]

/** Makes the log of a new store. SQLite waits for nobody who makes it too, but does before a write: then it is tried again. */
const beginLog = (database: DatabaseSync, tries = 10): void => {
  try {
    database.exec('pragma journal_mode = wal')
  } catch (error) {
    if (errorCode(error) !== BUSY || tries === 0) throw error
    database.exec('begin immediate; rollback')
    beginLog(database, tries - 1)
  }
}

/** Opens the file with the service's pragmas and limits. */
export const connect = (file: string, options: ConnectOptions = {}): SqliteConnection => {
  const { readOnly, sync = 'full', sharesLog, takesResponses, onWrite, onDamage } = options
  const { sqlite = '' } = process.versions
  if (sqlite.localeCompare(oldest, 'en', { numeric: true }) < 0)
    throw new Error(
      `SQLite ${oldest} or newer is needed, this Node has ${sqlite}: run Node 24.16, or 26 and later`,
    )

  let database!: DatabaseSync
  try {
    database = new DatabaseSync(file, {
      timeout: busyTimeout,
      enableForeignKeyConstraints: true,
      limits: {
        length: takesResponses ? mostLength : longestList,
        sqlLength: 100_000,
        attach: 0,
        likePatternLength: 300,
        variableNumber: 1000,
        // Each filter that is given is one deeper.
        exprDepth: 1000,
        compoundSelect: 10,
        triggerDepth: mostLevels,
      },
    } as ConstructorParameters<typeof DatabaseSync>[1])
    beginLog(database)
    database.exec(`pragma synchronous = ${sync};
      pragma wal_autocheckpoint = ${sharesLog ? 0 : usualPages}; pragma journal_size_limit = 67108864;
      pragma trusted_schema = off; pragma cache_size = -8000; pragma temp_store = memory`)
  } catch (cause) {
    database?.close()
    // Of a log and its index that cannot be written, by who reads too, of a read or a write that fails, and of a log that cannot be made.
    const hint = [8, 10, 14].includes(errorCode(cause))
      ? '; see whether this user may write there, and whether its disk is full or can only be read'
      : ''
    throw new Error(`the store ${file} cannot be opened: ${(cause as Error).message}${hint}`, {
      cause,
    })
  }
  if (readOnly) database.exec('pragma query_only = on')

  // The tables that SQLite asks leave to write when it plans a statement; it plans one anew while it runs if the schema has changed.
  let writtenTables = new Set<string>()
  if (onWrite)
    database.setAuthorizer((action, table) => {
      if (table !== null && writing.includes(action)) writtenTables.add(table)
      return constants.SQLITE_OK
    })

  // Plans make few different texts; a flood of unusual plans must not fill the memory.
  const statements = lru<PreparedStatement>(2000)
  const prepare = (text: string): PreparedStatement => {
    const known = statements.get(text)
    if (known) return known
    const writes = new Set<string>()
    writtenTables = writes
    const made = { statement: database.prepare(text), writes, replaces: replacing.test(text) }
    made.statement.setReturnArrays(true)
    return statements.set(text, made)
  }

  const query = ({ text, values, columnar, bytes, characters }: Query): Rows => {
    let made: PreparedStatement | undefined
    try {
      made = prepare(text)
      writtenTables = made.writes
      const bound = values.map(bindable)
      const most = characters ?? bytes
      if (columnar !== undefined) {
        const lists = columnarRows(database, prepare(columnar).statement, bound, most ?? 0)
        if (lists) return lists
      }
      // With setReturnArrays a row is an array; the types of node:sqlite do not know this.
      if (most === undefined) return made.statement.all(...bound) as unknown as Rows
      // Read one by one, too large a result is never in memory as a whole.
      const found =
        bytes === undefined ? made.statement.all(...bound) : made.statement.iterate(...bound)
      const rows: Row[] = []
      let sum = 0
      for (const row of found as unknown as Iterable<Row>) {
        for (const value of row) sum += typeof value === 'string' ? value.length : 8
        if (sum > most)
          throw characters !== undefined
            ? new TooLong()
            : new ApiError(
                'RESPONSE_TOO_LARGE',
                `The answer would hold more than ${bytes} bytes; use \`limit\` on the lists in it`,
              )
        rows.push(row)
      }
      return rows
    } catch (error) {
      if (damages.includes(errorCode(error))) onDamage?.((error as Error).message)
      throw translated(error)
    } finally {
      if (onWrite && made) for (const table of made.writes) onWrite(table, made.replaces)
    }
  }
  const run = (text: string): void => {
    // What these write is of no statement that is kept.
    writtenTables = new Set()
    database.exec(text)
  }
  return { database, query, run, close: () => database.close() }
}

const version = queryWith('pragma data_version')

/** A number that is another one after each commit of another connection to the file. */
export const dataVersion = ({ query }: Pick<SqliteConnection, 'query'>): number =>
  Number(query(version)[0]?.[0])

const commit = queryWith('commit')

/** Ends a read transaction, also one that a damaged page keeps from its commit: the next one could not begin. */
export const endRead = ({ database, query, run }: SqliteConnection): void => {
  // A read that failed because of the disk has ended it already.
  if (!database.isTransaction) return
  try {
    query(commit)
  } catch {
    if (database.isTransaction) run('rollback')
  }
}

/**
 * Calls `look` again and again while a statement of a slow read runs on the connection, which has a check for each row; what it throws
 * ends the statement.
 */
export const lookWhileReading = ({ database }: SqliteConnection, look: () => void): void => {
  let calls = 0
  // Called for each row of a scan; looking at the clock each time would cost more than the row.
  database.function('duet_interrupt_check', () => {
    if ((++calls & 0x3f) === 0) look()
    return 1
  })
}
