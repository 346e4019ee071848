/** The log of a store (its -wal file) whose checkpoints another program makes, as Litestream does: see decisions/0029. */
import { openSync, readSync, statSync } from 'node:fs'
import { lockShared } from '#engines/shared/files.ts'
import { busyTimeout, type SqliteConnection } from '#engines/sqlite/connection.ts'
import { logOf } from '#engines/sqlite/file.ts'
import { queryWith } from '#sql/engine.ts'

/** The byte of the header that is 2 if the file has a log (SQLite, "Database File Format", section 1.3.3). */
const readVersion = 19

/** The bytes that every connection of SQLite locks while it is open, and that the last one must have alone to remove the log. */
const sharedBytes = { offset: 0x4000_0002, length: 510 }

// None is ever closed: with any descriptor of a file, a process loses all of SQLite's locks on it.
const openFiles = new Map<string, { readonly descriptor: number; isLocked: boolean }>()

/**
 * Keeps the log of a store when this process closes its last connection, which would otherwise checkpoint and remove it. To be
 * called before it connects; for a file that has no log yet, once more when it has.
 */
export const keepLog = (file: string): void => {
  let opened = openFiles.get(file)
  if (!opened) {
    if (statSync(file, { throwIfNoEntry: false }) === undefined) return
    opened = { descriptor: openSync(file, 'r+'), isLocked: false }
    openFiles.set(file, opened)
  }
  if (opened.isLocked) return
  const byte = Buffer.alloc(1)
  const hasLog = readSync(opened.descriptor, byte, 0, 1, readVersion) === 1 && byte[0] === 2
  if (hasLog)
    opened.isLocked = lockShared(opened.descriptor, sharedBytes.offset, sharedBytes.length)
}

/** How long a checkpoint waits for those who read the log, in milliseconds; writes wait as long. */
const checkpointWait = 100

/** The bytes of a log; 0 if it is not there. */
export const logBytes = (log: string): number => statSync(log, { throwIfNoEntry: false })?.size ?? 0

/**
 * Gives a function that checkpoints a log of more than `most` bytes, to be called after each commit. Its other program seems
 * dead then, so `warn` gets a sentence, which also says if the log could not be emptied.
 */
export const boundLog = (
  { query, run }: SqliteConnection,
  file: string,
  most: number,
  warn: (message: string) => void,
): (() => void) => {
  const log = logOf(file)
  let next = most
  return () => {
    const size = logBytes(log)
    if (size <= next) return
    let fault: string | undefined
    run(`pragma busy_timeout = ${checkpointWait}`)
    try {
      const [[isBusy] = []] = query(queryWith('pragma wal_checkpoint(truncate)'))
      if (isBusy !== 0) fault = 'another program reads it; restart that one'
    } catch (error) {
      fault = (error as Error).message
    }
    run(`pragma busy_timeout = ${busyTimeout}`)
    // It is not tried at each commit, since each would wait as long.
    next = fault === undefined ? most : size + most / 8
    warn(
      fault === undefined
        ? `${log} reached ${size} bytes, and no other program checkpointed it as DUET_WAL=shared promises: Duet did; start that program again`
        : `${log} has ${size} bytes, no other program checkpoints it, and Duet cannot: ${fault}`,
    )
  }
}
