/** The engine of a SQLite store: reads on this thread's own connection, writes through the writer thread. */
import { dirname } from 'node:path'
import { dialect } from '#engines/sqlite/dialect.ts'
import { watchDisk } from '#engines/sqlite/disk.ts'
import type { SqliteOptions } from '#engines/sqlite/options.ts'
import { openReader } from '#engines/sqlite/reader.ts'
import { startWriter } from '#engines/sqlite/writer.ts'
import type { Engine } from '#engines/store.ts'

/** Opens a migrated SQLite file for reading and writing. */
export const openSqlite = (options: SqliteOptions): Engine => {
  const reader = openReader(options.file, options.readTimeout)
  const disk = watchDisk({
    folder: dirname(options.file),
    min: options.minDisk ?? 0,
    onChange: reason =>
      options.onProblem?.(
        reason === null
          ? 'the disk has space again: the store accepts writes'
          : `the store is read-only: ${reason}`,
      ),
  })
  const writer = startWriter(options, disk, reader.endSnapshot)
  return {
    dialect,
    query: reader.query,
    snapshot: reader.snapshot,
    write: writer.write,
    ready: writer.ready,
    readOnly: disk.readOnly,
    close: async () => {
      disk.close()
      reader.close()
      await writer.close()
    },
  }
}
