/** Where the bytes of files are: a store knows them by their SHA-256, and nothing of rows, names or rights. */
import { createHash, randomUUID } from 'node:crypto'
import { open, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { ApiError, Failure } from '#errors.ts'
import type { Chunks } from '#http/reply.ts'

/** So many of the first bytes show what a file is. */
export const headBytes = 4100

export type Limit = {
  /** Told how many bytes came, with each chunk; what it throws ends the transfer. */
  readonly check?: (bytes: number) => void
  /** Awaited with the first bytes, `headBytes` of them at least or all, before more are taken; what it throws ends the transfer. */
  readonly begins?: (head: Uint8Array) => Promise<void>
  /**
   * Awaited once all bytes are on a disk and their digest is known, before they get their place: a record that is made here keeps
   * the collector of garbage from taking bytes that were there already. `path` is where they wait.
   */
  readonly arriving?: (digest: string, bytes: number, path: string) => Promise<void>
  /** Told of the file in which they wait once all came; whether it put another one in its place. */
  readonly through?: (path: string) => Promise<boolean>
  /** The name to keep them under in place of their digest: that of their source, a dot, and what they are of it. */
  readonly as?: string
}

/** What is stored: its SHA-256 in hexadecimal, and its length. */
type StoredBytes = { readonly digest: string; readonly bytes: number }

/** The first and the last byte that are wanted, counted from 0. */
export type ByteRange = { readonly first: number; readonly last: number }

/** A store of bytes. A digest may also be a name of something kept beside its source, `<digest>.<what>`. */
export type FileStore = {
  /** What it is and where, for people. */
  readonly label: string
  /** Takes bytes as they come. They are on the disk, or with the provider, when it answers; what fails leaves nothing. */
  readonly put: (stream: Chunks, limit?: Limit) => Promise<StoredBytes>
  /** The bytes; rejects before the first one if they are not there. */
  readonly open: (digest: string, range?: ByteRange) => Promise<Chunks>
  /** Their length; undefined where they are not there. */
  readonly size: (digest: string) => Promise<number | undefined>
  /** Removes bytes and all that is kept beside them; what is not there is removed already. */
  readonly remove: (digest: string) => Promise<void>
  /** All that is stored, without what is kept beside. */
  readonly list: () => AsyncIterable<StoredBytes & { readonly changed: Date }>
  /** Removes what transfers left that were killed before this time. */
  readonly sweep: (before: Date) => Promise<void>
}

const nameForm = /^([0-9a-f]{2})([0-9a-f]{2})[0-9a-f]{60}(?:\.[0-9a-z]+)*$/

/** Whether a text is a digest, and no name of something beside one. */
export const isDigest = (text: string): boolean => /^[0-9a-f]{64}$/.test(text)

/** The place of bytes below the root of a store: two levels of folders, so that none has millions of entries. */
export const placeOf = (name: string): string => {
  const [, first, second] = nameForm.exec(name) ?? []
  if (first === undefined) throw new Error(`${JSON.stringify(name)} is no digest of a file`)
  return `${first}/${second}/${name}`
}

/** The error for bytes that a row names and the store does not have. */
export const missing = (label: string, digest: string): Error =>
  new Error(
    `${label} has no bytes of ${digest}: find all such files with duet files verify, and restore them from a backup`,
  )

/** Writes a stream to a path, and counts and hashes it meanwhile. Nothing that is refused is flushed. */
const receive = async (
  path: string,
  stream: Chunks,
  { check, begins, through }: Limit = {},
): Promise<StoredBytes> => {
  await using file = await byStore(path, open(path, 'w', 0o600))
  const hash = createHash('sha256')
  let bytes = 0
  let head: Uint8Array | undefined = begins && Buffer.alloc(0)
  for await (const chunk of stream) {
    bytes += chunk.length
    check?.(bytes)
    if (head) {
      head = Buffer.concat([head, chunk.subarray(0, headBytes)])
      if (bytes >= headBytes) {
        await begins?.(head)
        head = undefined
      }
    }
    const written = byStore(path, file.writeFile(chunk))
    // Hashed while the disk is busy.
    hash.update(chunk)
    await written
    stream.spent?.(chunk)
  }
  if (head) await begins?.(head)
  if (through && (await byStore(path, through(path)))) return byStore(path, flushed(path))
  await byStore(path, file.sync())
  return { digest: hash.digest('hex'), bytes }
}

/** Flushes a file that was made on this disk; gives its digest and length. */
const flushed = async (path: string): Promise<StoredBytes> => {
  await using file = await open(path, 'r+')
  const hash = createHash('sha256')
  for await (const chunk of file.createReadStream({ autoClose: false })) hash.update(chunk)
  // Who made it may have let others read it.
  await file.chmod(0o600)
  await file.sync()
  return { digest: hash.digest('hex'), bytes: (await file.stat()).size }
}

/** The `put` of a store: bytes wait in a folder until they are whole and told of, then `place` takes them from their path to their name. */
export const puttingBy =
  (
    folder: string,
    prepare: () => Promise<unknown>,
    place: (path: string, name: string, stored: StoredBytes) => Promise<void>,
  ): FileStore['put'] =>
  async (stream, limit = {}) => {
    await byStore(folder, prepare())
    const path = join(folder, `${randomUUID()}.part`)
    try {
      const stored = await receive(path, stream, limit)
      const { digest, bytes } = stored
      await limit.arriving?.(digest, bytes, path)
      await byStore(path, place(path, limit.as ?? digest, stored))
      return stored
    } finally {
      await rm(path, { force: true })
    }
  }

/** Throws where the files of a store cannot be found: a bucket that is not there seems to have none. */
export const checkReadable = async ({ list }: FileStore): Promise<void> => {
  for await (const _ of list()) break
}

/** Throws where files cannot be found or stored: one without bytes is written, flushed and removed. */
export const checkStore = async (store: FileStore): Promise<void> => {
  const enough = new Error('it could be stored')
  const arriving = () => Promise.reject(enough)
  await store.put(Readable.from([]), { arriving }).catch(error => {
    if (error !== enough) throw error
  })
  await checkReadable(store)
}

/** The entries of a folder; none where there is no such folder. */
export const entriesOf = async (folder: string): Promise<string[]> => {
  try {
    return (await readdir(folder)).sort()
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

/** Whether something failed as a file or a folder is not there. */
export const isMissing = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException)?.code === 'ENOENT'

/** Removes what `receive` left in a folder when it was killed before this time. */
export const sweepParts = async (folder: string, before: Date): Promise<void> => {
  for (const entry of await entriesOf(folder)) {
    const part = join(folder, entry)
    const found = await stat(part).catch(() => undefined)
    if (found && found.mtime < before) await rm(part, { force: true })
  }
}

const fullCodes: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG'])

/** Of a folder that is somebody else's, of a disk that is only read, or of no folder, nor a place for one. */
const deniedCodes: ReadonlySet<unknown> = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'ENOENT'])

/** The error for a caller where the disk is full or takes nothing at a path; any other as it is. */
const asRefused = (error: unknown, at: string): unknown => {
  const { code, message: said, path } = (error ?? {}) as NodeJS.ErrnoException
  // Node names it only where it opens it.
  const why = path === undefined ? `${said} '${at}'` : said
  const cause = new Failure(`a file cannot be stored: ${why}`, { cause: error })
  if (deniedCodes.has(code))
    return new ApiError('UNAVAILABLE', 'Files cannot be stored now; tell the operator', { cause })
  if (!fullCodes.has(code)) return error
  const message = 'There is no room for this file; try a smaller one, or tell the operator'
  return new ApiError('STORAGE_FULL', message, { cause })
}

/** A step of the store itself, which fails with the error for a caller: what its source or its limits throw is not its fault. */
const byStore = <Result>(path: string, step: Promise<Result>): Promise<Result> =>
  step.catch(error => {
    throw asRefused(error, path)
  })
