/** `duet files`: whether the bytes of all files of rows are there and are those that were stored; and copies of a store of files. */
import { createHash } from 'node:crypto'
import { resolve, sep } from 'node:path'
import { withOpened } from '#base/with-opened.ts'
import { readArgs, UsageError, unknownWord } from '#cli/arguments.ts'
import { explain, progress } from '#cli/terminal.ts'
import { loadConfig } from '#config.ts'
import type { Content, ContentStore } from '#content.ts'
import type { Store } from '#engines/shared/store.ts'
import { realOf } from '#engines/sqlite/backup.ts'
import { folderStore } from '#files/folder.ts'
import { checkReadable, checkStore, type FileStore } from '#files/store.ts'
import { columnName } from '#model/model.ts'
import { fileFields, type StoredFile } from '#model/stored-file.ts'
import { secretFile } from '#serve/auth.ts'
import { ask, filesOf, modelFor, placeOfFiles, withStore } from '#serve/store.ts'
import { name, sql } from '#sql/sql.ts'

export const help = `Usage: duet files verify [--sizes]

Reads the bytes of every file that a row names, in the store that DUET_FILES names, and compares
them with their SHA-256; --sizes looks only whether they are there, in their length. Each that is
missing or damaged is told with its row, and the exit code is 1 then: put it back with
duet restore --files FOLDER, or send it again. The server may run meanwhile.`

/** The store of files of the settings; throws a UsageError where no entity has a file. */
export const filesOfSettings = (content: Content): FileStore => {
  const config = loadConfig(process.env, content.settings)
  const files = filesOf(config, modelFor(config, content))
  if (!files) throw new UsageError('no entity of this content has a file')
  return files.store
}

/** What a copy from or to the store of files of the settings says, or that no entity has a file to copy. */
export const withFiles = (
  content: Content,
  copy: (files: FileStore) => Promise<string>,
): Promise<string> | string =>
  fileFields(content.entities).length > 0
    ? copy(filesOfSettings(content))
    : 'no entity of this content has a file: none are copied'

/** What is said beside `done` where a command leaves the bytes of files alone; nothing where no entity has a file, or they have a folder. */
export const withoutFiles = ({ entities }: Content, folder: string | undefined, remedy: string) =>
  folder === undefined && fileFields(entities).length > 0
    ? `, without the bytes of files: ${remedy}`
    : ''

/** A folder that is a copy of a store of files. */
export const copyIn = (folder: string): FileStore => folderStore(resolve(folder))

/** What bytes of a store are told to as they arrive elsewhere: it throws for others than those of that digest. */
export const undamaged =
  ({ label }: FileStore, digest: string) =>
  async (found: string): Promise<void> => {
    if (found !== digest)
      throw new Error(
        `the bytes of ${digest} in ${label} are damaged: find the rows that name them with duet files verify`,
      )
  }

/** Copies the bytes that the other store does not have, and says in a line what was done; each is compared with its digest, and with `repairs` those that are there too. */
export const copyFiles = async (
  from: FileStore,
  to: FileStore,
  repairs = false,
): Promise<string> => {
  // No server tidies up a copy, in which an earlier command may have been killed.
  await to.sweep(new Date(Date.now() - 86_400_000))
  // Also makes the folder of a backup without files, as a restore takes none that is not there.
  await checkStore(to)
  let [copied, there, copiedBytes] = [0, 0, 0]
  const shown = progress('copying files')
  const listed = from.list()
  const copy = async () => {
    for await (const { digest, bytes } of listed) {
      if ((await faultOf(to, { digest, bytes }, repairs)) === undefined) there++
      else {
        await to.put(await from.open(digest), { arriving: undamaged(from, digest) })
        copied++
        copiedBytes += bytes
      }
      shown.step()
    }
  }
  // One after another they would wait for a bucket most of the time.
  await Promise.all(Array.from({ length: 8 }, copy))
  shown.done()
  const [files, bytes, others] = [copied, copiedBytes, there].map(count =>
    count.toLocaleString('en'),
  )
  return `copied ${files} files, ${bytes} bytes, from ${from.label} to ${to.label}, which had ${others} already`
}

/** What is wrong with the bytes of a digest; undefined if nothing is. */
const faultOf = async (
  store: FileStore,
  { digest, bytes }: Pick<StoredFile, 'digest' | 'bytes'>,
  readsAll: boolean,
): Promise<string | undefined> => {
  const size = await store.size(digest)
  if (size === undefined) return 'its bytes are missing'
  if (size !== bytes) return `it has ${size} bytes in place of ${bytes}`
  if (!readsAll) return undefined
  const hash = createHash('sha256')
  try {
    for await (const chunk of await store.open(digest)) hash.update(chunk)
  } catch (error) {
    return `its bytes cannot be read: ${explain(error)}`
  }
  return hash.digest('hex') === digest ? undefined : 'its bytes are damaged'
}

const page = 500

/** Looks for the bytes of each file that a row names; gives how many files rows have, and a line for each at fault. */
export const verifyFiles = async (
  { session, dialect, model }: Pick<ContentStore, 'session' | 'dialect' | 'model'>,
  store: FileStore,
  readsAll: boolean,
  onFile: () => void = () => {},
): Promise<{ readonly count: number; readonly faults: readonly string[] }> => {
  const known = new Map<string, string | undefined>()
  const faults: string[] = []
  let count = 0
  for (const { entityName, entity, key } of fileFields(model.entities)) {
    const column = name(columnName(key))
    for (let last: number | undefined = 0; last !== undefined; ) {
      const rows = await ask(
        { session, dialect },
        sql`select id, ${column} from ${name(entity.table)} where id > ${last} and ${column} is not null order by id limit ${page}`,
      )
      for (const [id, text] of rows) {
        const file = JSON.parse(String(text)) as StoredFile
        if (!known.has(file.digest)) known.set(file.digest, await faultOf(store, file, readsAll))
        const fault = known.get(file.digest)
        if (fault !== undefined) faults.push(`${entityName} ${id}, ${key} "${file.name}": ${fault}`)
        count++
        onFile()
      }
      const [id] = rows.at(-1) ?? []
      last = id === undefined ? undefined : Number(id)
    }
  }
  return { count, faults }
}

/** Gives how many files the rows of a store have; throws with the first that a store of files lacks. */
export const checkFiles = async (
  { session, dialect }: Store,
  content: Content,
  files: FileStore,
): Promise<number> => {
  const model = modelFor(loadConfig(process.env, content.settings), content)
  const { count, faults } = await withOpened(session('reading'), open =>
    verifyFiles({ session: open, dialect, model }, files, false),
  )
  const lacks = `${files.label} lacks ${faults.length} of ${count} files of rows, such as these:`
  if (faults.length > 0) throw new Error([lacks, ...faults.slice(0, 20)].join('\n'))
  return count
}

/** Throws where a command would write over a store or its secrets, or among its files. */
export const refuseOwn = (content: Content, target: string): void => {
  const config = loadConfig(process.env, content.settings)
  const { store } = config
  const own = ['secret', 'people-secret'].map(name => secretFile(config, name))
  if (store.kind === 'sqlite') own.push(store.file)
  // The place alone: a bucket whose keys are not here keeps nobody from a copy without files.
  if (fileFields(content.entities).length > 0) own.push(placeOfFiles(config))
  const at = realOf(resolve(target)) + sep
  if (own.some(path => at.startsWith(realOf(resolve(path)) + sep)))
    throw new Error(`${target} is the store itself, its secret or among its files: name another`)
}

export const run = async (args: readonly string[], content: Content): Promise<void> => {
  const { values, positionals } = readArgs(args, { sizes: { type: 'boolean' } }, 1)
  const [what = ''] = positionals
  if (what !== 'verify')
    throw what === ''
      ? new UsageError('say what to do: duet files verify')
      : unknownWord('command duet files', what, ['verify'])
  const store = filesOfSettings(content)
  await checkReadable(store)
  await withStore(content, 'reading', async open => {
    const shown = progress('verifying files')
    const { count, faults } = await verifyFiles(open, store, values.sizes !== true, shown.step)
    shown.done()
    for (const fault of faults) process.stdout.write(`${fault}\n`)
    const files = count.toLocaleString('en')
    if (faults.length === 0)
      return void process.stdout.write(`${files} files of rows are whole in ${store.label}\n`)
    process.exitCode = 1
    process.stdout.write(
      `${faults.length.toLocaleString('en')} of ${files} files of rows are not whole in ${store.label}\n`,
    )
  })
}
