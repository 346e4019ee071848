/** Writes files atomically: beside the target, synced, and then renamed. */
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileAt, lock, opened } from '#engines/sqlite/lock.ts'

/** What SQLite adds to the name of a file for those that it makes beside it. */
export const companions = ['-journal', '-wal', '-shm'] as const

const removePart = (part: string) => {
  for (const ending of [...companions, '']) rmSync(`${part}${ending}`, { force: true })
}

// Earlier releases put the id of their process into the name.
const nameOfPart = /\.(?:\d+-)?[0-9a-f]{8}\.part$/

/** Locks an open part; false where another program has it. Where the file system has no locks nobody has it. */
const lockPart = (descriptor: number): boolean => {
  try {
    return lock(descriptor)
  } catch {
    return true
  }
}

/** Removes a part that nobody writes. Where there are no locks, or it is somebody else's file, it stays: nobody knows. */
const removeIfStale = (part: string): void => {
  let descriptor: number | undefined
  try {
    descriptor = openSync(part, 'r+')
    if (lock(descriptor)) removePart(part)
  } catch {
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

/** Removes the temporary files of programs that were killed while they wrote files whose names begin so. */
export const removeStaleParts = (folder: string, start: string): void => {
  for (const entry of readdirSync(folder))
    if (entry.startsWith(start) && nameOfPart.test(entry)) removeIfStale(join(folder, entry))
}

/** Waits until what was written to a file or a folder is on the disk. */
export const sync = (path: string): void => {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } catch (error) {
    // Windows syncs no folder.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error
  } finally {
    closeSync(descriptor)
  }
}

type Options = {
  /** The mode of the file, taken from one with the same content; unless given that of the file replaced, or the usual one. */
  readonly mode?: number
  /** Called just before the rename; throws to prevent it. */
  readonly before?: () => void
}

/** Gives an open file that mode, whatever the umask takes off new ones. */
const setMode = (descriptor: number, mode: number): void => {
  // Where files have no modes of their own, they have the same already.
  if ((fstatSync(descriptor).mode & 0o777) !== mode) fchmodSync(descriptor, mode)
}

/** A file beside the target, locked for as long as it is open: one that is not is of a program that was killed. */
type OpenPart = { readonly part: string; readonly descriptor: number }

/** Makes an empty one with that mode; without it with a usual one. */
const openPart = (target: string, mode: number | undefined): OpenPart => {
  for (;;) {
    const part = `${target}.${randomBytes(4).toString('hex')}.part`
    const descriptor = openSync(part, 'wx', mode)
    if (mode !== undefined) setMode(descriptor, mode)
    if (lockPart(descriptor) && opened(descriptor) === fileAt(part)) return { part, descriptor }
    // Another program met it before it was locked, and takes it away.
    closeSync(descriptor)
  }
}

/** Replaces a file atomically: `write` makes it beside the target, and it is renamed once it is complete and on the disk. */
export const replaceFile = async (
  named: string,
  write: (part: string) => Promise<void>,
  { mode, before = () => {} }: Options = {},
): Promise<void> => {
  const present = statSync(named, { throwIfNoEntry: false })
  if (present?.isFile() === false) throw new Error(`${named} is not a file`)
  if (!present && lstatSync(named, { throwIfNoEntry: false }))
    throw new Error(
      `${named} is a symbolic link to a file that is not there; make that file, or remove the link`,
    )
  // A symbolic link stays: the file that it leads to is replaced.
  const target = present ? realpathSync(named) : named
  const folder = dirname(target)
  removeStaleParts(folder, basename(target))
  // A file that nobody else may read stays one.
  const { part, descriptor } = openPart(target, mode ?? (present && (present.mode & 0o777) | 0o600))
  try {
    await write(part)
    sync(part)
    before()
    renameSync(part, target)
  } catch (error) {
    removePart(part)
    throw error
  } finally {
    closeSync(descriptor)
  }
  sync(folder)
}
