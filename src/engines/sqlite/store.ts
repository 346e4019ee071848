/** A SQLite file as a store: its lock, its migrations, its keys, sessions for commands, and the engine that serves it. */
import { dirname } from 'node:path'
import { talliesOf } from '#base/tallies.ts'
import { withOpened } from '#base/with-opened.ts'
import { fileAt } from '#engines/shared/files.ts'
import type { Migration } from '#engines/shared/migrations.ts'
import type { MovedTable } from '#engines/shared/moving.ts'
import {
  type Engine,
  type ServingThread,
  type Store,
  transactionsOf,
} from '#engines/shared/store.ts'
import type { VersionTable } from '#engines/sqlite/changes.ts'
import { connect, type SqliteConnection } from '#engines/sqlite/connection.ts'
import { dialect } from '#engines/sqlite/dialect.ts'
import {
  checkPath,
  type Disk,
  diskIn,
  holdWhenFree,
  type SharedDisk,
  type SqliteFile,
  type SqliteOptions,
  servedFiles,
  watchDisk,
} from '#engines/sqlite/file.ts'
import { keepLog, logBytes } from '#engines/sqlite/log.ts'
import { migrateSqlite, pendingMigrations, secretsOf } from '#engines/sqlite/migrate.ts'
import { openReader } from '#engines/sqlite/reader.ts'
import { openReaderPool } from '#engines/sqlite/reader-pool.ts'
import { ddl, madeIn } from '#engines/sqlite/schema.ts'
import { joinWriter, startWriter } from '#engines/sqlite/writer.ts'
import type { Scalar } from '#model/values.ts'
import { queryWith, type Session } from '#sql/engine.ts'

type SqliteStoreOptions = SqliteFile & {
  /** All migrations of the store, in order. */
  readonly migrations: readonly Migration[]
}

/** A session on a connection, which it closes; `begin` is the statement that its transactions begin with. */
const sessionOn = ({ run, query, close }: SqliteConnection, begin: string): Session => ({
  query: async statement => query(statement),
  ...transactionsOf(run, begin, 'commit'),
  // Nothing to do: `autoincrement` continues above the highest id that was ever used.
  settleIds: async () => {},
  analyze: async () => run('pragma optimize = 0x10002'),
  close: async () => close(),
})

/** The store in a file, which is made if there is none yet. */
export const sqliteStore = ({ migrations, ...options }: SqliteStoreOptions): Store => {
  const { file, sync = 'full', sharedLog } = options
  const sharesLog = sharedLog !== undefined
  /** Does it so that a shared log outlives its last connection. */
  const withLog = <Result>(work: () => Result): Result => {
    if (!sharesLog) return work()
    keepLog(file)
    const result = work()
    // A new file has its log only now.
    keepLog(file)
    return result
  }
  const session: Store['session'] = async purpose =>
    withLog(() =>
      purpose === 'reading'
        ? sessionOn(connect(file, { readOnly: true }), 'begin')
        : sessionOn(connect(file, { sync, sharesLog, takesResponses: true }), 'begin immediate'),
    )
  return {
    label: file,
    dialect,
    ddl,
    made: () => withOpened(session('reading'), ({ query }) => madeIn(query)),
    hold: async (wait, onWait) => {
      checkPath(file)
      return holdWhenFree(file, wait, onWait)
    },
    migrate: async () => withLog(() => migrateSqlite(file, migrations, sharesLog)),
    pending: async () => withLog(() => pendingMigrations(file, migrations)),
    secrets: async () => withLog(() => secretsOf(file)),
    session,
    open: ({ thread, ...serving }) => {
      const all = { ...serving, ...options }
      return withLog(() => (thread ? joinSqlite(all, thread) : openSqlite(all)))
    },
  }
}

/** The sentence about the first damaged page that was met, which is reported once. */
const createDamage = ({ file, onProblem, onDamage }: SqliteOptions) => {
  let damage: string | undefined
  return {
    met: (message: string) => {
      if (damage !== undefined) return
      damage = `the store ${file} is damaged (${message}): stop the server, keep the file, and restore a backup`
      onProblem?.(damage)
      onDamage?.(message)
    },
    check: () => {
      if (damage !== undefined) throw new Error(damage)
    },
  }
}

/** What the engine of the main thread has as those of further ones do. */
const engineOn = (
  { query, snapshot }: ReturnType<typeof openReader>,
  { slowly, runInThread }: ReturnType<typeof openReaderPool>,
  { write, ready }: Pick<ReturnType<typeof startWriter>, 'write' | 'ready'>,
  { readOnly }: Pick<Disk, 'readOnly'>,
  damage: ReturnType<typeof createDamage>,
) => ({
  dialect,
  query,
  snapshot,
  slowly,
  runInThread,
  write,
  ready: async () => {
    damage.check()
    await ready()
  },
  readOnly,
  tellDamage: damage.met,
})

type SharedMemory = { readonly versions: VersionTable; readonly disk: SharedDisk }

/** Opens a migrated file to serve it: quick reads on this thread's own connection, slow ones in threads, writes through the writer thread. */
const openSqlite = (options: SqliteOptions): Engine => {
  const { file, onProblem, isHost = false } = options
  const damage = createDamage(options)
  const reader = openReader(file, damage.met, isHost || options.isWatched)
  const served = servedFiles(file)
  const slow = openReaderPool(options, damage.met)
  const disk = watchDisk({
    // Beside the log: a symbolic link to the file may be on another disk.
    folder: dirname(served.log),
    min: options.minDisk ?? 0,
    onChange: reason =>
      reason === null
        ? options.onNotice?.('the disk has space again: the store accepts writes')
        : onProblem?.(`the store is read-only: ${reason}`),
  })
  const versions = reader.watch?.versions
  const writer = startWriter({
    ...options,
    disk,
    served,
    onFatal: message => {
      // A log that was deleted is still open here: what it has is carried over into the file, which is then whole.
      if (fileAt(served.log) === undefined && fileAt(file) === served.fileId) reader.checkpoint()
      options.onFatal(message)
    },
    beforeAnswers: reader.renewSnapshot,
    versions,
    hasReader: !isHost,
    tally: undefined,
    onDamage: damage.met,
  })
  return {
    ...engineOn(reader, slow, writer, disk, damage),
    ...(reader.watch && { changes: reader.watch }),
    figures: { writesWaiting: writer.waiting, walBytes: () => logBytes(served.log) },
    ...(isHost &&
      versions && {
        shareWith: (number: number) => ({
          port: writer.connect(number),
          memory: { versions, disk: disk.shared } satisfies SharedMemory,
        }),
      }),
    close: async () => {
      disk.close()
      const closed = Promise.all([slow.close(), writer.close()])
      // Before the writer has opened the log the reader is the last to close it, and removes it: that would look like a loss.
      await writer.ready().catch(() => {})
      reader.close()
      await closed
    },
  }
}

/** Opens a file in a further thread that serves it: with a connection and threads for slow reads of its own, and the writer of the main thread. */
const joinSqlite = (options: SqliteOptions, thread: ServingThread): Engine => {
  const { file, isWatched, minDisk = 0 } = options
  const { port, memory } = thread.share
  const { versions, disk: shared } = memory as SharedMemory
  const { number } = thread
  // The main thread reports it, and tells it to all.
  const damage = createDamage({ ...options, onProblem: () => {} })
  const reader = openReader(file, damage.met, true, { versions, number })
  const tally = talliesOf(thread.tallies, number - 1)('writes')
  const slow = openReaderPool(options, damage.met, tally.threads)
  const disk = diskIn(shared, minDisk)
  const writer = joinWriter(port, {
    ...options,
    // The main thread is told of what befalls the writer and the disk too, and reports it.
    onProblem: () => {},
    disk: { ...disk, wasFull: () => {} },
    beforeAnswers: reader.renewSnapshot,
    tally,
    onDamage: damage.met,
  })
  return {
    ...engineOn(reader, slow, writer, disk, damage),
    ...(isWatched && reader.watch && { changes: reader.watch }),
    figures: { writesWaiting: writer.waiting, walBytes: () => 0 },
    stopWriting: writer.stop,
    close: async () => {
      await Promise.all([slow.close(), writer.close()])
      reader.close()
    },
  }
}

/** Keys, stored responses, and what is remembered of deprecated versions: all stays valid after a move. */
const machineTables = [
  'secrets',
  'replies',
  'outbox',
  'version_notices',
  'version_uses',
  'viewer_subjects',
  'files',
  'uploads',
  'admin_views',
]

const scalarOf: Readonly<Record<string, Scalar>> = { INTEGER: 'int', TEXT: 'text', BLOB: 'bytes' }

/** What those who sign in have; it comes after their rows. Counts of tries begin anew. */
const peopleTables = ['auth_sessions', 'auth_accounts', 'auth_verifications', 'auth_keys']

/** The machine's own tables, which `move` takes along: those that refer to no row, and those of people who sign in, if there are any. */
export const machineryOf = async (session: Session) => ({
  first: await movedTables(session, machineTables),
  last: (await movedTables(session, peopleTables)).filter(({ key }) => key.length > 0),
})

const movedTables = (
  { query }: Session,
  tables: readonly string[],
): Promise<readonly MovedTable[]> =>
  Promise.all(
    tables.map(async table => {
      const text = 'select name, type, pk from pragma_table_info(?1) order by cid'
      const rows = await query(queryWith(text, table))
      const key = rows
        .filter(([, , position]) => Number(position) > 0)
        .toSorted((a, b) => Number(a[2]) - Number(b[2]))
      return {
        name: table,
        key: key.map(([name]) => String(name)),
        columns: Object.fromEntries(
          rows.map(([name, type]) => [
            String(name),
            scalarOf[String(type).toUpperCase()] ?? 'text',
          ]),
        ),
        own: [],
        appendOnly: false,
        page: 200,
      }
    }),
  )

/** The highest id that each table ever gave out, including those of deleted rows. */
export const highestIds = async ({ query }: Session): Promise<ReadonlyMap<string, number>> => {
  const rows = await query(queryWith('select name, seq from sqlite_sequence'))
  return new Map(rows.map(([table, id]) => [String(table), Number(id)]))
}
