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

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

const endings = ['', '-journal', '-wal', '-shm'] as const

const removePart = (part: string) => {
  for (const ending of endings) rmSync(`${part}${ending}`, { force: true })
}

const partOf = /\.(\d+)-[0-9a-f]{8}\.part(?:-journal|-wal|-shm)?$/

/** Removes the temporary files of processes that were killed while they wrote files whose names begin so. */
export const removeStaleParts = (folder: string, start: string): void => {
  for (const entry of readdirSync(folder)) {
    const [, pid] = entry.startsWith(start) ? (partOf.exec(entry) ?? []) : []
    if (pid !== undefined && !isAlive(Number(pid))) rmSync(join(folder, entry), { force: true })
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

type Options = {
  /** The mode of the file, taken from one with the same content; unless given that of the file replaced, or the usual one. */
  readonly mode?: number
  /** Called just before the rename; throws to prevent it. */
  readonly before?: () => void
}

/** Makes an empty file with that mode, whatever the umask takes off new ones; without it a usual one. */
const makePart = (part: string, mode: number | undefined): void => {
  const descriptor = openSync(part, 'wx', mode)
  try {
    // Where files have no modes of their own, they have the same already.
    if (mode !== undefined && (fstatSync(descriptor).mode & 0o777) !== mode)
      fchmodSync(descriptor, mode)
  } finally {
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
  const part = `${target}.${process.pid}-${randomBytes(4).toString('hex')}.part`
  // A file that nobody else may read stays one.
  makePart(part, mode ?? (present && (present.mode & 0o777) | 0o600))
  try {
    await write(part)
    sync(part)
    before()
    renameSync(part, target)
  } catch (error) {
    removePart(part)
    throw error
  }
  sync(folder)
}
