/** Which file a path leads to, locks on open files, and files that are written atomically: beside the target, synced, and then renamed. */
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'

/** Which file a path leads to, by device and inode; undefined if it leads to none. */
export const fileAt = (path: string): string | undefined => {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats && `${stats.dev} ${stats.ino}`
}

/** Which file is open, as `fileAt` tells it. */
export const opened = (descriptor: number): string => {
  const { dev, ino } = fstatSync(descriptor)
  return `${dev} ${ino}`
}

/** The modes of what only the user of this program may read: a file with content or keys, and its folder. */
export const ownFile = 0o600
export const ownFolder = 0o700

/** Makes an empty file that only this user may read, if there is none, with its folder; SQLite gives its mode to all that it makes beside it. */
export const makeOwnFile = (file: string): void => {
  mkdirSync(dirname(file), { recursive: true, mode: ownFolder })
  closeSync(openSync(file, 'a', ownFile))
}

/** A sentence with the remedy if more than its owner may read or write a file; undefined if not, or if there is none. */
export const widerNote = (file: string): string | undefined => {
  // Files of Windows have no such modes.
  if (process.platform === 'win32') return undefined
  const mode = (statSync(file, { throwIfNoEntry: false })?.mode ?? 0) & 0o777
  return (mode & 0o077) === 0
    ? undefined
    : `${file} is open to others than its owner (mode ${mode.toString(8)}): chmod 600 ${file}`
}

const require = createRequire(import.meta.url)

/** The native part of the package, which throws where somebody else has the bytes. */
type Native = {
  readonly tryLock: (fd: number, offset: number, length: number, isAlone: boolean) => void
}

// Loaded when it is needed, as most commands do without it, and by its path: the package looks for it with fourteen modules.
const tryLock = (descriptor: number, offset: number, length: number, isAlone: boolean): boolean => {
  const folder = join(dirname(require.resolve('fs-native-extensions')), 'prebuilds')
  const file = join(folder, `${process.platform}-${process.arch}`, 'fs-native-extensions.node')
  const native: Native = require(file)
  try {
    native.tryLock(descriptor, offset, length, isAlone)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return false
    throw error
  }
}

/** The byte that is locked: above every byte of a database, since SQLite locks some of those for itself. */
const lockedByte = 2 ** 52

/** Locks an open file until it is closed or the process ends, however it ends; false if another process has locked it. */
export const lock = (descriptor: number): boolean => tryLock(descriptor, lockedByte, 1, true)

/** Locks bytes of an open file as one of many; false if a program has locked one of them alone. */
export const lockShared = (descriptor: number, offset: number, length: number): boolean =>
  tryLock(descriptor, offset, length, false)

/** What SQLite adds to the name of a file for those that it makes beside it. */
export const companions = ['-journal', '-wal', '-shm'] as const

const removePart = (part: string) => {
  for (const ending of [...companions, '']) rmSync(`${part}${ending}`, { force: true })
}

const nameOfPart = /\.[0-9a-f]{8}\.part$/

/** Removes the temporary files of programs that were killed while they wrote a file; `isOwn` tells its name. */
export const removeStaleParts = (folder: string, isOwn: (name: string) => boolean): void => {
  for (const entry of readdirSync(folder)) {
    if (!nameOfPart.test(entry) || !isOwn(entry.replace(nameOfPart, ''))) continue
    let descriptor: number | undefined
    try {
      descriptor = openSync(join(folder, entry), 'r+')
      if (lock(descriptor)) removePart(join(folder, entry))
    } catch {
      // If there are no locks, or it is somebody else's file, it stays: nobody knows whether it is still being written.
    } finally {
      if (descriptor !== undefined) closeSync(descriptor)
    }
  }
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

type ReplaceOptions = {
  /** The mode of the file, taken from one with the same content; unless given that of the file replaced, or the usual one. */
  readonly mode?: number
  /** Whose it is if root writes it; unless given the owner of the file replaced, or root. */
  readonly owner?: { readonly uid: number; readonly gid: number } | undefined
  /** Called just before the rename; throws to prevent it. */
  readonly before?: () => void
}

/** Gives an open file that mode, whatever the umask takes off new ones. */
const setMode = (descriptor: number, mode: number): void => {
  // If files have no modes of their own, they have the same already.
  if ((fstatSync(descriptor).mode & 0o777) !== mode) fchmodSync(descriptor, mode)
}

/** Makes an empty file beside the target, with that mode or the usual one, locked: one that is not is of a program that was killed. */
const openPart = (target: string, mode: number | undefined) => {
  for (;;) {
    const part = `${target}.${randomBytes(4).toString('hex')}.part`
    const descriptor = openSync(part, 'wx', mode)
    if (mode !== undefined) setMode(descriptor, mode)
    let isLocked: boolean
    try {
      isLocked = lock(descriptor)
    } catch {
      // A file system without locks: nobody else has one either.
      isLocked = true
    }
    if (isLocked && opened(descriptor) === fileAt(part)) return { part, descriptor }
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
    // Another program could not open a file of root's.
    const made = fstatSync(descriptor)
    if (whose && process.geteuid?.() === 0 && (made.uid !== whose.uid || made.gid !== whose.gid))
      try {
        fchownSync(descriptor, whose.uid, whose.gid)
      } catch (cause) {
        throw new Error(
          `${target} is to belong to uid ${whose.uid}, to which root may give no files here; run this command as that one`,
          { cause },
        )
      }
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
