/** The file of a store: whether it can be made, that one process alone serves it, that it stays in its place, and the room on its disk. */
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readSync,
  realpathSync,
  rmdirSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { retry } from '#base/retry.ts'
import { fileAt, lock, opened, ownFile, ownFolder } from '#engines/shared/files.ts'
import type { EngineOptions } from '#engines/shared/store.ts'
import type { Durability } from '#engines/sqlite/connection.ts'

export type SqliteFile = {
  readonly file: string
  readonly sync?: Durability
  /** Writes are refused below so many free bytes on the disk; 0 or absent: they go on until it is full. */
  readonly minDisk?: number
  /** How many threads slow reads have; each is started when it is first needed. One for each spare core unless it says otherwise. */
  readonly readers?: number | undefined
  /** Another program makes the checkpoints, up to so many bytes of the log; undefined: Duet makes them. */
  readonly sharedLog?: number | undefined
}

export type SqliteOptions = EngineOptions & SqliteFile

/** Another process serves the store. */
export class StoreInUseError extends Error {
  override readonly name = 'StoreInUseError'
}

/** The log of a store that is there: SQLite has it beside the file itself, and not beside a symbolic link to that. */
export const logOf = (file: string): string => `${realpathSync(file)}-wal`

/** The file of a served store and its log, and which they were when it was opened. */
export type ServedFiles = {
  readonly file: string
  readonly log: string
  readonly fileId: string | undefined
  /** Undefined if there is no log: SQLite makes it before the first read, unless the file system lacks what it needs. */
  readonly logId: string | undefined
}

/** The files of a store that a connection has open. */
export const servedFiles = (file: string): ServedFiles => {
  const log = logOf(file)
  return { file, log, fileId: fileAt(file), logId: fileAt(log) }
}

/** The sentence for an operator whose store, or its log, is not at its path any more; undefined if both are. */
export const goneOf = ({ file, log, fileId, logId }: ServedFiles): string | undefined => {
  const end =
    'was deleted, moved or replaced while it was served: what is written now would be lost'
  if (fileAt(file) !== fileId) return `the store ${file} ${end}`
  // While a connection is open, no program that keeps to the locks of SQLite removes it.
  if (logId !== undefined && fileAt(log) !== logId) return `the log ${log} of the store ${end}`
  return undefined
}

/**
 * Takes the lock of a SQLite file for this process; gives the function that releases it, to be called when no connection is
 * open any more. Throws StoreInUseError. If there is no file, an empty one is made, and removed if it is still empty in the end.
 */
export const holdStore = (file: string): (() => void) => {
  mkdirSync(dirname(file), { recursive: true, mode: ownFolder })
  const isNew = fileAt(file) === undefined
  for (;;) {
    const descriptor = openSync(file, 'a+', ownFile)
    let isLocked = false
    try {
      isLocked = lock(descriptor)
    } finally {
      if (!isLocked) closeSync(descriptor)
    }
    if (!isLocked)
      throw new StoreInUseError(
        `${file} is served by another process already; stop that one, or name another store in DUET_DATABASE_URL`,
      )
    if (opened(descriptor) === fileAt(file))
      return () => {
        const isEmpty = isNew && fstatSync(descriptor).size === 0
        if (isEmpty && opened(descriptor) === fileAt(file)) rmSync(file)
        closeSync(descriptor)
      }
    // Between opening and locking, `restore` has replaced the file.
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

const remedy = 'name another path in DUET_DATABASE_URL'

/** The first bytes of a database file (SQLite, "Database File Format", section 1.3.1). */
const header = 'SQLite format 3\0'

/** What is wrong with a file that is to be opened as a store; undefined if nothing is. */
const faultOf = (file: string): string | undefined => {
  const stats = statSync(file)
  if (stats.isDirectory()) return 'it is a folder; name a file in DUET_DATABASE_URL'
  if (!stats.isFile()) return `it is not a file; ${remedy}`
  if (stats.size === 0) return undefined
  const start = Buffer.alloc(header.length)
  const descriptor = openSync(file, 'r')
  try {
    readSync(descriptor, start)
  } finally {
    closeSync(descriptor)
  }
  return start.toString('latin1') === header ? undefined : `it is not a SQLite database; ${remedy}`
}

/** Throws a sentence with the remedy if no store can be written at a path. It leaves nothing there. */
export const checkPath = (file: string): void => {
  if (existsSync(file)) {
    const fault = faultOf(file)
    if (fault) throw new Error(`the store ${file} cannot be opened, ${fault}`)
    accessSync(file, constants.W_OK)
  }
  let folder = dirname(file)
  while (!existsSync(folder)) folder = dirname(folder)
  if (!statSync(folder).isDirectory())
    throw new Error(`the store ${file} cannot be made, a file is in the way; ${remedy}`)
  try {
    // Below /proc or on a network share permissions do not tell, so it is tried.
    rmdirSync(mkdtempSync(join(folder, '.duet-')))
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    throw new Error(
      `the store ${file} cannot be written, ${folder} accepts no files (${code}); ${remedy}, or give this user the right to it`,
      { cause },
    )
  }
}

/** Throws, with the remedy, if there is no such file, which opening it would make, or if this user may not look whether there is. */
export const checkExists = (file: string): void => {
  if (!statSync(file, { throwIfNoEntry: false }))
    throw new Error(`there is no store ${file}; name it in DUET_DATABASE_URL`)
}

type DiskOptions = {
  readonly folder: string
  /** The least free space for writes, in bytes; 0: they go on until the disk is full. */
  readonly min: number
  /** Called at each change with the reason why the store is read-only, or with null when it no longer is. */
  readonly onChange: (reason: string | null) => void
  /** Milliseconds between two checks. */
  readonly every?: number
}

/** The free bytes from which on a disk that was full is written again. */
const enough = 1_048_576

const diskStates = ['room', 'low', 'full'] as const

/** The number of a state of the disk, in memory that threads share. */
export type SharedDisk = Int32Array<SharedArrayBuffer>

/** The disk as another thread watches it, whose memory this is. */
export const diskIn = (shared: SharedDisk, min: number) => {
  const reasons = {
    room: null,
    low: `the disk has less than ${min} bytes free`,
    full: 'the disk is full',
  } as const
  const state = () => diskStates[Atomics.load(shared, 0)] ?? 'room'
  return {
    state,
    /** Whether there is too little space for writes. */
    isLow: () => Atomics.load(shared, 0) === diskStates.indexOf('low'),
    /** Why the store can only be read now; null if it can be written. */
    readOnly: () => reasons[state()],
  }
}

/** Checks the free space of the store's disk once a second: while there is too little, writes are refused and reads go on. */
export const watchDisk = ({ folder, min, onChange, every = 1000 }: DiskOptions) => {
  const shared: SharedDisk = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  const { state, isLow, readOnly } = diskIn(shared, min)
  const setState = (next: (typeof diskStates)[number]) => {
    if (next === state()) return
    Atomics.store(shared, 0, diskStates.indexOf(next))
    onChange(readOnly())
  }
  const check = () => {
    if (min === 0 && state() === 'room') return
    let free = Number.POSITIVE_INFINITY
    try {
      const { bavail, bsize } = statfsSync(folder)
      free = bavail * bsize
    } catch {
      // The system does not say: there is room until a write fails.
    }
    if (free < min) setState('low')
    else if (state() !== 'full' || free >= enough) setState('room')
  }
  check()
  const timer = setInterval(check, every).unref()
  return {
    shared,
    isLow,
    readOnly,
    /** To be called when a write has found the disk full. */
    wasFull: () => {
      if (state() === 'room') setState('full')
    },
    close: () => clearInterval(timer),
  }
}

export type Disk = ReturnType<typeof watchDisk>
