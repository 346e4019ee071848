/** Files in a folder: `ab/cd/<digest>`, flushed with their folders before anybody is told of them. */
import { mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import {
  type ByteRange,
  entriesOf,
  type FileStore,
  isDigest,
  isMissing,
  missing,
  placeOf,
  puttingBy,
  sweepParts,
} from '#files/store.ts'
import type { Chunks } from '#http/reply.ts'

const flush = async (folder: string): Promise<void> => {
  await using handle = await open(folder, 'r')
  await handle.sync().catch(error => {
    // Windows flushes no folder.
    if (error.code !== 'EPERM') throw error
  })
}

/** Read at once: more than Node's usual, as each read is a turn of the thread pool, and below 128 KiB, from which on glibc as `npm start` sets it maps and clears memory anew for who tells of none that is spent. */
const readBytes = 122_880

/** The bytes of a file in this range, in memory that is used again and again: what each chunk takes for itself is cleared before and collected after it, which costs more than reading it. */
const chunksOf = (path: string, { first, last }: ByteRange): Chunks => {
  const free: Uint8Array[] = []
  const read = async function* () {
    // Opened with the first read, so that an answer which nobody takes leaves no open file.
    await using handle = await open(path)
    for (let at = first; at <= last; ) {
      const wanted = Math.min(readBytes, last - at + 1)
      const memory = free.pop() ?? Buffer.allocUnsafeSlow(wanted)
      const { bytesRead } = await handle.read(memory, 0, wanted, at)
      if (bytesRead === 0) return
      at += bytesRead
      yield memory.subarray(0, bytesRead)
    }
  }
  return Object.assign(read(), {
    spent: ({ buffer }: Uint8Array) => void free.push(new Uint8Array(buffer)),
  })
}

/** Makes a folder and those above it, and flushes where each is an entry. Node's own recursion never ends where none can be made, as below `/proc`. */
const make = async (folder: string): Promise<void> => {
  const alone = () => mkdir(folder, { mode: 0o700 })
  try {
    await alone().catch(async error => {
      if (!isMissing(error)) throw error
      await make(dirname(folder))
      await alone()
    })
    await flush(dirname(folder))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/** The store of a folder, which is made with the first file. */
export const folderStore = (root: string): FileStore => {
  const label = `the folder ${root}`
  const parts = join(root, 'parts')
  const pathOf = (name: string) => join(root, placeOf(name))
  const place = async (path: string, name: string): Promise<void> => {
    const target = pathOf(name)
    // A rename also gives bytes that were there already a new time, from which garbage is counted.
    const moved = () => rename(path, target)
    await moved().catch(async error => {
      if (!isMissing(error)) throw error
      await make(dirname(target))
      await moved()
    })
    await flush(dirname(target))
  }
  /** What is known of the file of a name; undefined where it is not there. */
  const statOf = (name: string) =>
    stat(pathOf(name)).catch(error => {
      if (!isMissing(error)) throw error
    })
  const sizeOf = async (name: string) => (await statOf(name))?.size
  return {
    label,
    put: puttingBy(parts, () => make(parts), place),
    open: async (name, range) => {
      const path = pathOf(name)
      const size = await sizeOf(name)
      if (size === undefined) throw missing(label, name)
      return chunksOf(path, range ?? { first: 0, last: size - 1 })
    },
    size: sizeOf,
    remove: async name => {
      const folder = dirname(pathOf(name))
      // What is kept beside it first, which nobody would find without it.
      for (const entry of (await entriesOf(folder)).reverse())
        if (entry === name || entry.startsWith(`${name}.`))
          await rm(join(folder, entry), { force: true })
    },
    list: async function* () {
      const isLevel = (entry: string) => /^[0-9a-f]{2}$/.test(entry)
      for (const first of (await entriesOf(root)).filter(isLevel))
        for (const second of (await entriesOf(join(root, first))).filter(isLevel))
          for (const digest of (await entriesOf(join(root, first, second))).filter(isDigest)) {
            const found = await statOf(digest)
            // It may have been removed meanwhile.
            if (found) yield { digest, bytes: found.size, changed: found.mtime }
          }
    },
    sweep: before => sweepParts(parts, before),
  }
}
