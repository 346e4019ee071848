/** Writes files atomically: beside the target, synced, and then renamed. */
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fchmodSync,
  fchownSync,
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

/** Removes the temporary files of programs that were killed while they wrote a file; `isOwn` tells its name. */
export const removeStaleParts = (folder: string, isOwn: (name: string) => boolean): void => {
  for (const entry of readdirSync(folder))
    if (nameOfPart.test(entry) && isOwn(entry.replace(nameOfPart, '')))
      removeIfStale(join(folder, entry))
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

/** Whose a file is. */
export type Owner = { readonly uid: number; readonly gid: number }

type ReplaceOptions = {
  /** The mode of the file, taken from one with the same content; unless given that of the file replaced, or the usual one. */
  readonly mode?: number
  /** Whose it is where root writes it; unless given the owner of the file replaced, or root. */
  readonly owner?: Owner | undefined
  /** Called just before the rename; throws to prevent it. */
  readonly before?: () => void
}

/** Gives an open file that mode, whatever the umask takes off new ones. */
const setMode = (descriptor: number, mode: number): void => {
  // Where files have no modes of their own, they have the same already.
  if ((fstatSync(descriptor).mode & 0o777) !== mode) fchmodSync(descriptor, mode)
}

/** Gives an open file that owner where root has made it: another program could not open one of root's. */
const setOwner = (descriptor: number, { uid, gid }: Owner, target: string): void => {
  const present = fstatSync(descriptor)
  if (process.geteuid?.() !== 0 || (present.uid === uid && present.gid === gid)) return
  try {
    fchownSync(descriptor, uid, gid)
  } catch (cause) {
    throw new Error(
      `${target} is to belong to uid ${uid}, to which root may give no files here; run this command as that one`,
      { cause },
    )
  }
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
  { mode, owner, before = () => {} }: ReplaceOptions = {},
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
  removeStaleParts(folder, name => name === basename(target))
  // A file that nobody else may read stays one.
  const wanted = mode ?? (present && (present.mode & 0o777) | 0o600)
  const { part, descriptor } = openPart(target, wanted)
  const whose = owner ?? present
  try {
    await write(part)
    // What was written as a copy of another file may have the mode of that one.
    if (wanted !== undefined) setMode(descriptor, wanted)
    if (whose) setOwner(descriptor, whose, target)
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
