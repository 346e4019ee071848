/** Files that go with rows: an export puts their bytes into a folder beside its file, and an import takes them from there. */
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, open, realpath, stat } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { isObject } from '#base/object.ts'
import { loadConfig } from '#config.ts'
import type { Content, ContentStore, InputRow } from '#content.ts'
import { ownFile, ownFolder } from '#engines/shared/files.ts'
import type { FieldFault } from '#errors.ts'
import { BeingRemoved, noteArrival } from '#files/garbage.ts'
import { pictureHead, pictureSize } from '#files/picture.ts'
import { safeName, typeOf } from '#files/type.ts'
import type { Entity } from '#model/entity.ts'
import type { FileRules } from '#model/field.ts'
import { type StoredFile, storedText } from '#model/stored-file.ts'
import { ask, filesOf } from '#serve/store.ts'
import { accepts, inBytes } from '#write/claims.ts'

/** The fields of an entity whose files go with its rows. */
const filesIn = ({ fields }: Entity): readonly (readonly [string, FileRules])[] =>
  Object.entries(fields).flatMap(([key, { file, rest }]) => (file && rest ? [[key, file]] : []))

/** Whether rows of an entity have files that go with them. */
export const hasFiles = (entity: Entity): boolean => filesIn(entity).length > 0

const storeFor = (content: Content, { model }: ContentStore) => {
  const files = filesOf(loadConfig(process.env, content.settings), model)
  if (!files) throw new Error('there is no store of files')
  return files.store
}

/** Puts the files of a row beside a file of rows, and gives the row with their paths from there. */
export const exporting = (content: Content, store: ContentStore, entity: Entity, file: string) => {
  const keys = filesIn(entity).map(([key]) => key)
  const files = keys.length > 0 ? storeFor(content, store) : undefined
  const folder = `${file.replace(/\.\w+$/, '')}.files`
  return async (row: InputRow): Promise<InputRow> => {
    const shown: Record<string, unknown> = { ...row }
    for (const key of keys) {
      if (!files || !row[key]) continue
      const { digest, name, type } = row[key] as StoredFile
      await mkdir(folder, { recursive: true, mode: ownFolder })
      const path = join(folder, digest)
      // Rows may have the same bytes, and an earlier export may have put them there.
      const there = await stat(path).catch(() => undefined)
      if (there?.size !== (row[key] as StoredFile).bytes)
        await pipeline(
          Readable.from(await files.open(digest)),
          createWriteStream(path, { mode: ownFile }),
        )
      shown[key] = { path: relative(dirname(file), path).replaceAll(sep, '/'), name, type }
    }
    return shown
  }
}

const isBelow = (folder: string, path: string): boolean => {
  const from = relative(folder, path)
  return !isAbsolute(from) && from.split(sep)[0] !== '..'
}

const headOf = async (path: string): Promise<Uint8Array> => {
  const handle = await open(path)
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(pictureHead), 0, pictureHead, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await handle.close()
  }
}

/** Takes the files that a row names by their paths, from the file of rows on and not above its folder, into the store; gives the row with them, and what is wrong with them. */
export const importing = (content: Content, store: ContentStore, entity: Entity, file: string) => {
  const fields = filesIn(entity)
  const files = fields.length > 0 ? storeFor(content, store) : undefined
  const root = resolve(dirname(file))
  /** The text that the row keeps of the file at a path, or what is wrong with it. */
  const taken = async (given: unknown, { accept, max }: FileRules): Promise<string> => {
    const { path, name, type: declared } = isObject(given) ? given : { path: given }
    if (typeof path !== 'string')
      throw new Error('must be the path of a file, from the file of rows on')
    const found = resolve(root, path)
    // A link in the folder may lead out of it.
    const real = await realpath(found).catch(() => found)
    if (!isBelow(root, found) || (real !== found && !isBelow(await realpath(root), real)))
      throw new Error(`names ${path}, which is not in the folder of the file of rows`)
    const facts = await stat(found).catch(() => undefined)
    if (!facts?.isFile()) throw new Error(`names ${path}, where no file is`)
    if (facts.size > max) throw new Error(`must be at most ${inBytes(max)}`)
    const head = await headOf(found)
    const called = safeName(typeof name === 'string' ? name : basename(path))
    const type = await typeOf(head, called, typeof declared === 'string' ? declared : undefined)
    if (!accepts(accept, type)) throw new Error(`must be ${accept.join(' or ')}, and is ${type}`)
    const stored = await files?.put(createReadStream(found), {
      arriving: async (digest, bytes) => {
        const noted = await ask(store, noteArrival(store.dialect, { digest, bytes }, Date.now()))
        if (noted.length === 0) throw new BeingRemoved()
      },
    })
    if (!stored) throw new Error('there is no store of files')
    const { digest, bytes } = stored
    return storedText({ digest, name: called, type, bytes, ...pictureSize(type, head) })
  }
  return async (row: InputRow) => {
    const made: Record<string, unknown> = { ...row }
    const faults: FieldFault[] = []
    for (const [key, rules] of fields) {
      if (row[key] === undefined || row[key] === null) continue
      try {
        made[key] = await taken(row[key], rules)
      } catch (error) {
        faults.push({ field: key, message: (error as Error).message })
      }
    }
    return { row: made, faults }
  }
}
