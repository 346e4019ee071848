/** One server for one file: a lock that the operating system releases when the process ends, however it ends. */
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { BUSY, errorCode } from '#engines/sqlite/connection.ts'

/** Another process serves the store. */
export class StoreInUseError extends Error {
  override readonly name = 'StoreInUseError'
}

/**
 * Takes the lock of a SQLite file for this process; gives the function that releases it. Throws StoreInUseError.
 * It is SQLite's own lock on a small file beside the store: unlike a process id in a file, it cannot be stale.
 */
export const holdStore = (file: string): (() => void) => {
  mkdirSync(dirname(file), { recursive: true })
  const database = new DatabaseSync(`${file}.lock`, { timeout: 0 })
  try {
    database.exec('pragma journal_mode = delete; begin exclusive')
  } catch (cause) {
    database.close()
    if (errorCode(cause) !== BUSY) throw cause
    throw new StoreInUseError(
      `${file} is served by another process already; stop that one, or name another store in DUET_DATABASE_URL`,
      { cause },
    )
  }
  return () => database.close()
}
