/** One server for one file: a lock on the file itself, which the operating system releases when the process ends, however it ends. */
import { closeSync, fstatSync, mkdirSync, openSync, realpathSync, rmSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { retry } from '#base/retry.ts'

/** Another process serves the store. */
export class StoreInUseError extends Error {
  override readonly name = 'StoreInUseError'
}

type Locks = {
  readonly tryLock: (
    descriptor: number,
    offset: number,
    length: number,
    options?: { readonly shared: boolean },
  ) => boolean
}

const require = createRequire(import.meta.url)

/** The byte that is locked: above every byte of a database, since SQLite locks some of those for itself. */
const lockedByte = 2 ** 52

/** Which file a path leads to, by device and inode; undefined where it leads to none. */
export const fileAt = (path: string): string | undefined => {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats && `${stats.dev} ${stats.ino}`
}

/** The file of a served store and its log, and which they were when it was opened. */
export type ServedFiles = {
  readonly file: string
  readonly log: string
  readonly fileId: string | undefined
  /** Undefined where there is no log: SQLite makes it before the first read, unless the file system has none of its locks. */
  readonly logId: string | undefined
}

/** The log of a store that is there: SQLite has it beside the file itself, and not beside a symbolic link to that. */
export const logOf = (file: string): string => `${realpathSync(file)}-wal`

/** The files of a store that a connection has open. */
export const servedFiles = (file: string): ServedFiles => {
  const log = logOf(file)
  return { file, log, fileId: fileAt(file), logId: fileAt(log) }
}

/** The sentence for an operator whose store, or its log, is not at its path any more; undefined where both are. */
export const goneOf = ({ file, log, fileId, logId }: ServedFiles): string | undefined => {
  const end =
    'was deleted, moved or replaced while it was served: what is written now would be lost'
  if (fileAt(file) !== fileId) return `the store ${file} ${end}`
  // While a connection is open, no program that keeps to the locks of SQLite removes it.
  if (logId !== undefined && fileAt(log) !== logId) return `the log ${log} of the store ${end}`
  return undefined
}

/** Which file is open, as `fileAt` tells it. */
export const opened = (descriptor: number): string => {
  const { dev, ino } = fstatSync(descriptor)
  return `${dev} ${ino}`
}

// Loaded when it is needed: it is native, and most commands do without it.
const locks = (): Locks => require('fs-native-extensions') as Locks

/** Locks an open file; false where another process has locked it. */
export const lock = (descriptor: number): boolean => locks().tryLock(descriptor, lockedByte, 1)

/** Locks bytes of an open file as one of many; false where a program has locked one of them alone. */
export const lockShared = (descriptor: number, offset: number, length: number): boolean =>
  locks().tryLock(descriptor, offset, length, { shared: true })

/** The descriptor of the locked file, or undefined where another process has locked it. */
const lockedDescriptor = (file: string): number | undefined => {
  for (;;) {
    const descriptor = openSync(file, 'a+')
    try {
      if (!lock(descriptor)) {
        closeSync(descriptor)
        return undefined
      }
    } catch (cause) {
      closeSync(descriptor)
      throw cause
    }
    // Between opening and locking, `restore` may have replaced the file.
    if (opened(descriptor) === fileAt(file)) return descriptor
    closeSync(descriptor)
  }
}

/**
 * Takes the lock of a SQLite file for this process; gives the function that releases it, to be called when no connection is
 * open any more. Throws StoreInUseError. Where there is no file, an empty one is made, and removed if it is still empty in the end.
 */
export const holdStore = (file: string): (() => void) => {
  mkdirSync(dirname(file), { recursive: true })
  const isNew = fileAt(file) === undefined
  const descriptor = lockedDescriptor(file)
  if (descriptor === undefined)
    throw new StoreInUseError(
      `${file} is served by another process already; stop that one, or name another store in DUET_DATABASE_URL`,
    )
  return () => {
    const isEmpty = isNew && fstatSync(descriptor).size === 0
    if (isEmpty && opened(descriptor) === fileAt(file)) rmSync(file)
    closeSync(descriptor)
  }
}

/** Milliseconds between two looks at a lock that another process has. */
const betweenLooks = 50

/** Takes the lock as `holdStore` does, and waits so many milliseconds for a process that has it; calls `onWait` before it does. */
export const holdWhenFree = (
  file: string,
  wait: number,
  onWait: (reason: string) => void,
): Promise<() => void> =>
  retry(
    {
      wait,
      pause: betweenLooks,
      passes: error => error instanceof StoreInUseError,
      onWait: () => onWait(`${file} is served by another process`),
    },
    () => holdStore(file),
  )
