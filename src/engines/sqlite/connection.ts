/** One connection to a SQLite file: pragmas, limits, cached statements, and errors as the model knows them. */
import { constants, DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { lru } from '#base/cache.ts'
import { errorCode } from '#engines/sqlite/codes.ts'
import { columnarRows, longestList } from '#engines/sqlite/columnar.ts'
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

export type Connection = {
  readonly query: (query: Query) => Rows
  /** Runs statements without values or rows: schema, pragmas, transactions. */
  readonly run: (text: string) => void
  readonly close: () => void
  readonly database: DatabaseSync
}

/** SQLite before 3.51.3 can damage a file when two connections write and checkpoint at the same time. */
const oldest = [3, 51, 3] as const

const checkLibrary = () => {
  const [major = 0, minor = 0, patch = 0] = process.versions.sqlite?.split('.').map(Number) ?? []
  const number = major * 1e6 + minor * 1e3 + patch
  if (number < oldest[0] * 1e6 + oldest[1] * 1e3 + oldest[2])
    throw new Error(
      `SQLite ${oldest.join('.')} or newer is needed, this Node has ${process.versions.sqlite}`,
    )
}

/** An integer goes in as a BigInt: a plain number is bound as REAL, which a TEXT column would keep as `5.0`. */
const bindable = (value: SqlValue): SQLInputValue =>
  typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : value

const kinds = {
  2067: 'unique',
  1555: 'unique',
  787: 'reference',
  275: 'check',
  1299: 'check',
  3091: 'check',
} as const

/** `a.b, a.c` in the form of index names: `a.b_c`. */
const targetOf = (message: string): string =>
  (/failed: (.*)/.exec(message)?.[1] ?? '').replaceAll(/, \w+\./g, '_')

/** How many levels of rows go with one that is deleted: SQLite allows no more. */
const mostLevels = 1000

const tooDeep = (cause: Error) =>
  new ApiError(
    'CONFLICT',
    `Rows on more than ${mostLevels} levels below it would be deleted with it: delete those on the lowest levels first`,
    { cause },
  )

const translated = (error: unknown): unknown => {
  if (!(error instanceof Error) || !('errcode' in error)) return error
  if (error.message === 'too many levels of trigger recursion') return tooDeep(error)
  // SQLite reports a row held by `on delete restrict` like an error of a trigger.
  const isHeld = error.errcode === 1811 && /^FOREIGN KEY/.test(error.message)
  const kind = isHeld ? 'reference' : kinds[error.errcode as keyof typeof kinds]
  if (!kind) return error
  return new ConstraintError(kind, targetOf(error.message), { cause: error })
}

const size = (row: Row): number =>
  row.reduce((sum: number, value) => sum + (typeof value === 'string' ? value.length : 8), 0)

const tooLarge = (bytes: number) =>
  new ApiError(
    'RESPONSE_TOO_LARGE',
    `The answer would hold more than ${bytes} bytes; use \`limit\` on the lists in it`,
  )

/** The rows, if they hold no more: read one by one, too large a result is never in memory as a whole. */
const upTo = (rows: Iterable<Row>, most: number, fail: (most: number) => Error): Rows => {
  const result: Row[] = []
  let sum = 0
  for (const row of rows) {
    sum += size(row)
    if (sum > most) throw fail(most)
    result.push(row)
  }
  return result
}

/** How long a connection waits for one that has the file locked, in milliseconds. */
export const busyTimeout = 5000

/** The most bytes of a row where SQLite alone sets it; else a row has no more than a list. */
const mostLength = 1_000_000_000

const open = (file: string, options: ConnectOptions): DatabaseSync => {
  const { sync = 'full', sharesLog, takesResponses } = options
  try {
    const database = new DatabaseSync(file, {
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
    database.exec(`pragma journal_mode = wal; pragma synchronous = ${sync};
      pragma wal_autocheckpoint = ${sharesLog ? 0 : usualPages}; pragma journal_size_limit = 67108864;
      pragma trusted_schema = off; pragma cache_size = -8000; pragma temp_store = memory`)
    return database
  } catch (cause) {
    throw new Error(`the store ${file} cannot be opened: ${(cause as Error).message}`, { cause })
  }
}

/** A statement with the tables that it may write, by itself, by triggers or by foreign keys; `replaces`: it may delete rows unseen by triggers. */
type Prepared = {
  readonly statement: StatementSync
  readonly writes: Set<string>
  readonly replaces: boolean
}

const writing: readonly number[] = [
  constants.SQLITE_INSERT,
  constants.SQLITE_UPDATE,
  constants.SQLITE_DELETE,
]

/**
 * Collects the tables that SQLite asks leave to write when it plans a statement, in the set that was given last. It plans
 * one anew while it runs where the schema has changed.
 */
const collectWrites = (database: DatabaseSync) => {
  let tables = new Set<string>()
  database.setAuthorizer((action, table) => {
    if (table !== null && writing.includes(action)) tables.add(table)
    return constants.SQLITE_OK
  })
  return (into: Set<string>) => {
    tables = into
  }
}

const version = queryWith('pragma data_version')

/** A number that is another one after each commit of another connection to the file. */
export const dataVersion = ({ query }: Pick<Connection, 'query'>): number =>
  Number(query(version)[0]?.[0])

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

/** The result codes for a damaged file, and for one that is no database. */
const damages = [11, 26]

const commit = queryWith('commit')

/** Ends a read transaction, also one that a damaged page keeps from its commit: the next one could not begin. */
export const endRead = ({ database, query, run }: Connection): void => {
  // A read that failed because of the disk has ended it already.
  if (!database.isTransaction) return
  try {
    query(commit)
  } catch {
    if (database.isTransaction) run('rollback')
  }
}

/** Pages in the log from which on a commit checkpoints it. */
const usualPages = 1000

/** What may replace rows; it also finds the function of that name, which does no harm. */
export const replacing = /\breplace\b/i

/** Gives the statement of a text, which is planned once. */
type Prepare = (text: string) => Prepared

const preparing = (
  database: DatabaseSync,
  collect: ReturnType<typeof collectWrites> | undefined,
): Prepare => {
  // Plans make few different texts; a flood of unusual plans must not fill the memory.
  const statements = lru<Prepared>(2000)
  return text => {
    const known = statements.get(text)
    if (known) return known
    const writes = new Set<string>()
    collect?.(writes)
    const made = { statement: database.prepare(text), writes, replaces: replacing.test(text) }
    made.statement.setReturnArrays(true)
    return statements.set(text, made)
  }
}

/** The rows of a query by its statement. */
const rowsOf = (database: DatabaseSync, prepare: Prepare, made: Prepared, query: Query): Rows => {
  const { values, columnar, bytes, characters } = query
  const { statement } = made
  const bound = values.map(bindable)
  const most = characters ?? bytes ?? 0
  const lists = columnar && columnarRows(database, prepare(columnar).statement, bound, most)
  if (lists) return lists
  // With setReturnArrays a row is an array; the types of node:sqlite do not know this.
  const found =
    bytes === undefined
      ? (statement.all(...bound) as unknown as Rows)
      : (statement.iterate(...bound) as unknown as Iterable<Row>)
  if (characters !== undefined) return upTo(found, characters, () => new TooLong())
  return Array.isArray(found) ? found : upTo(found, bytes ?? 0, tooLarge)
}

/** Opens the file with the service's pragmas and limits. */
export const connect = (file: string, options: ConnectOptions = {}): Connection => {
  checkLibrary()
  const { onWrite } = options
  const database = open(file, options)
  if (options.readOnly) database.exec('pragma query_only = on')
  const collect = onWrite && collectWrites(database)
  const prepare = preparing(database, collect)
  const plain = (made: Prepared, query: Query): Rows => rowsOf(database, prepare, made, query)
  const noting = (made: Prepared, query: Query): Rows => {
    collect?.(made.writes)
    try {
      return plain(made, query)
    } finally {
      for (const table of made.writes) onWrite?.(table, made.replaces)
    }
  }
  const run = onWrite ? noting : plain
  const query = (query: Query): Rows => {
    try {
      return run(prepare(query.text), query)
    } catch (error) {
      if (damages.includes(errorCode(error))) options.onDamage?.((error as Error).message)
      throw translated(error)
    }
  }
  const exec = (text: string) => {
    // What these write is of no statement that is kept.
    collect?.(new Set())
    database.exec(text)
  }
  return { database, query, run: exec, close: () => database.close() }
}

/**
 * Calls `look` again and again while a statement of a slow read runs on the connection, which has a check for each row; what it throws
 * ends the statement.
 */
export const lookWhileReading = ({ database }: Connection, look: () => void): void => {
  let calls = 0
  // Called for each row of a scan; looking at the clock each time would cost more than the row.
  database.function('duet_interrupt_check', () => {
    if ((++calls & 0x3f) === 0) look()
    return 1
  })
}
