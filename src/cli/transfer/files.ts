/** Files that go with rows: an export puts their bytes into a folder beside its file, and an import takes them from there. */
import { createReadStream } from 'node:fs'
import { mkdir, realpath, rename, stat } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { isObject, own } from '#base/object.ts'
import { undamaged } from '#cli/files.ts'
import { explain } from '#cli/terminal.ts'
import { embeddedIn } from '#cli/transfer/kinds.ts'
import type { ContentStore, InputRow, TransferKind } from '#content.ts'
import { ownFolder } from '#engines/shared/files.ts'
import type { FieldFault } from '#errors.ts'
import { BeingRemoved, noteArrival } from '#files/garbage.ts'
import { type FileStore, puttingBy } from '#files/store.ts'
import { checkSize, takeFile } from '#files/take.ts'
import type { Entity } from '#model/entity.ts'
import type { FileRules } from '#model/field.ts'
import { entityOf, type Model } from '#model/model.ts'
import { fileFields, type StoredFile, storedText } from '#model/stored-file.ts'
import { ask } from '#serve/store.ts'

/** Whether rows of a kind have files that go with them, or rows that are embedded in them do. */
export const hasFiles = (model: Model, kind: TransferKind): boolean => {
  const of = entityOf(model, kind.entity)
  const embedded = Object.keys(embeddedIn(kind, of)).map(name => of.relations[name]?.to)
  return fileFields(model.entities).some(
    ({ entityName, entity, key }) =>
      [kind.entity, ...embedded].includes(entityName) && entity.fields[key]?.rest,
  )
}

/** A row with what `work` makes of each of its files, and of those of the rows that are embedded in it. */
const withEach = async (
  model: Model,
  { fields, rest, relations }: Entity,
  row: InputRow,
  work: (value: unknown, rules: FileRules, field: string) => Promise<unknown>,
  place = '',
): Promise<InputRow> => {
  const made: Record<string, unknown> = { ...row }
  for (const [member, value] of Object.entries(row)) {
    const field = own(fields, member)
    const at = `${place}${member}`
    if (field?.file && field.rest && value !== null)
      made[member] = await work(value, field.file, at)
    if (!Object.hasOwn(rest.embedded, member) || !Array.isArray(value)) continue
    const embedded = entityOf(model, relations[member]?.to ?? member)
    made[member] = await Array.fromAsync(value.entries(), ([index, one]) =>
      isObject(one) ? withEach(model, embedded, one, work, `${at}.${index}.`) : one,
    )
  }
  return made
}

/** Puts the files of a row beside a file of rows, and gives the row with their paths from there. */
export const exporting = (
  files: FileStore | undefined,
  model: Model,
  entity: Entity,
  file: string,
) => {
  const folder = `${file.replace(/\.\w+$/, '')}.files`
  const put = puttingBy(
    folder,
    () => mkdir(folder, { recursive: true, mode: ownFolder }),
    (path, name) => rename(path, join(folder, name)),
  )
  return async (row: InputRow): Promise<InputRow> =>
    files
      ? withEach(model, entity, row, async value => {
          const { digest, name, type, bytes } = value as StoredFile
          const path = join(folder, digest)
          // Rows may have the same bytes, and an earlier export may have put them there.
          const there = await stat(path).catch(() => undefined)
          if (there?.size !== bytes)
            await put(await files.open(digest), { arriving: undamaged(files, digest) })
          return { path: relative(dirname(file), path).replaceAll(sep, '/'), name, type }
        })
      : row
}

const isBelow = (folder: string, path: string): boolean => {
  const from = relative(folder, path)
  return !isAbsolute(from) && from.split(sep)[0] !== '..'
}

/** Takes the files that a row names by their paths, from the file of rows on and not above its folder, into the store, each once; gives the row with them, and what is wrong with them. */
export const importing = (
  files: FileStore | undefined,
  store: ContentStore,
  entity: Entity,
  file: string,
) => {
  const root = resolve(dirname(file))
  /** The text that the row keeps of the file at a path, or what is wrong with it. */
  const taken = async (into: FileStore, given: unknown, rules: FileRules): Promise<string> => {
    const { path, name, type } = isObject(given) ? given : { path: given }
    if (typeof path !== 'string')
      throw new Error('must be the path of a file, from the file of rows on')
    const found = resolve(root, path)
    // A link in the folder may lead out of it.
    const real = await realpath(found).catch(() => found)
    if (!isBelow(root, found) || (real !== found && !isBelow(await realpath(root), real)))
      throw new Error(`names ${path}, which is not in the folder of the file of rows`)
    const facts = await stat(found).catch(() => undefined)
    if (!facts?.isFile()) throw new Error(`names ${path}, where no file is`)
    const incoming = {
      // What it fails of is told to who reads it, which may be later.
      stream: createReadStream(found).on('error', () => {}),
      name: typeof name === 'string' ? name : basename(path),
      type: typeof type === 'string' ? type : undefined,
    }
    let text = ''
    const check = (bytes: number) => checkSize(bytes, rules)
    await takeFile(into, incoming, rules, check, async kept => {
      const noted = await ask(store, noteArrival(store.dialect, kept, Date.now()))
      if (noted.length === 0) throw new BeingRemoved()
      text = storedText(kept)
    })
    return text
  }
  const known = new Map<string, Promise<string>>()
  return async (row: InputRow) => {
    const faults: FieldFault[] = []
    if (!files) return { row, faults }
    const made = await withEach(store.model, entity, row, async (value, rules, field) => {
      try {
        const named = JSON.stringify([field, value])
        return await known.getOrInsertComputed(named, () => taken(files, value, rules))
      } catch (error) {
        faults.push({ field, message: explain(error).replace(/^The (?:file|picture) /, '') })
        return value
      }
    })
    return { row: made, faults }
  }
}
