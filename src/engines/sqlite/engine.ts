/** The engine of a SQLite store: quick reads on this thread's own connection, slow ones in threads, writes through the writer thread. */
import { dirname } from 'node:path'
import type { Engine } from '#engines/shared/store.ts'
import { dialect } from '#engines/sqlite/dialect.ts'
import { watchDisk } from '#engines/sqlite/disk.ts'
import { fileAt, goneOf, servedFiles } from '#engines/sqlite/lock.ts'
import type { SqliteOptions } from '#engines/sqlite/options.ts'
import { openReader } from '#engines/sqlite/reader.ts'
import { logBytes } from '#engines/sqlite/shared-log.ts'
import { openSlowReader } from '#engines/sqlite/slow-reader.ts'
import { startWriter } from '#engines/sqlite/writer.ts'

/** Remembers that a damaged page was met, and reports the first; `check` throws from then on. */
const watchDamage = ({ file, onProblem }: SqliteOptions) => {
  let found: string | undefined
  const onDamage = (message: string) => {
    if (found !== undefined) return
    found = `the store ${file} is damaged (${message}): stop the server, keep the file, and restore a backup`
    onProblem?.(found)
  }
  const check = () => {
    if (found !== undefined) throw new Error(found)
  }
  return { onDamage, check }
}

/** Opens a migrated SQLite file for reading and writing. */
export const openSqlite = (options: SqliteOptions): Engine => {
  const damage = watchDamage(options)
  const reader = openReader(options.file, damage.onDamage, options.isWatched)
  const slow = openSlowReader(options, damage.onDamage)
  const served = servedFiles(options.file)
  const { log } = served
  const disk = watchDisk({
    // Beside the log: a symbolic link to the file may be on another disk.
    folder: dirname(log),
    min: options.minDisk ?? 0,
    onChange: reason =>
      reason === null
        ? options.onNotice?.('the disk has space again: the store accepts writes')
        : options.onProblem?.(`the store is read-only: ${reason}`),
  })
  const writer = startWriter({
    ...options,
    disk,
    served,
    onFatal: message => {
      // A log that was deleted is still open here: what it has is carried over into the file, which is then whole.
      if (fileAt(log) === undefined && fileAt(options.file) === served.fileId) reader.checkpoint()
      options.onFatal(message)
    },
    beforeAnswers: reader.renewSnapshot,
    cells: reader.watch?.cells,
    onDamage: damage.onDamage,
  })
  const timer = setInterval(() => {
    const gone = goneOf(served)
    if (gone !== undefined) writer.stop(gone)
  }, 250).unref()
  return {
    dialect,
    query: reader.query,
    snapshot: reader.snapshot,
    slowly: slow.slowly,
    runInThread: slow.runInThread,
    ...(reader.watch && { changes: reader.watch }),
    write: writer.write,
    ready: async () => {
      damage.check()
      await writer.ready()
    },
    readOnly: disk.readOnly,
    figures: {
      writesWaiting: writer.waiting,
      walBytes: () => logBytes(log),
    },
    close: async () => {
      disk.close()
      clearInterval(timer)
      const closed = Promise.all([slow.close(), writer.close()])
      // Before the writer has opened the log the reader is the last to close it, and removes it: that would look like a loss.
      await writer.ready().catch(() => {})
      reader.close()
      await closed
    },
  }
}
