/** The engine of a SQLite store: quick reads on this thread's own connection, slow ones in threads, writes through the writer thread. */
import { dirname } from 'node:path'
import type { Engine } from '#engines/shared/store.ts'
import { dialect } from '#engines/sqlite/dialect.ts'
import { watchDisk } from '#engines/sqlite/disk.ts'
import { fileAt, gone } from '#engines/sqlite/lock.ts'
import type { SqliteOptions } from '#engines/sqlite/options.ts'
import { openReader } from '#engines/sqlite/reader.ts'
import { logBytes, logOf } from '#engines/sqlite/shared-log.ts'
import { openSlowReader } from '#engines/sqlite/slow-reader.ts'
import { startWriter } from '#engines/sqlite/writer.ts'

/** Calls `onGone` where the path does not lead to the same file any more; gives a function that ends the watch. */
const watchFile = (file: string, onGone: () => void): (() => void) => {
  const served = fileAt(file)
  const timer = setInterval(() => {
    if (fileAt(file) !== served) onGone()
  }, 250).unref()
  return () => clearInterval(timer)
}

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
  const log = logOf(options.file)
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
    beforeAnswers: reader.renewSnapshot,
    cells: reader.watch?.cells,
    onDamage: damage.onDamage,
  })
  const endWatch = watchFile(options.file, () => writer.stop(gone(options.file)))
  return {
    dialect,
    query: reader.query,
    snapshot: reader.snapshot,
    slowly: slow.slowly,
    elsewhere: slow.elsewhere,
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
      endWatch()
      reader.close()
      await Promise.all([slow.close(), writer.close()])
    },
  }
}
