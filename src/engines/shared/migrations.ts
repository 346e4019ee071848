/** The migrations of a store, the machine's own and then the content's: SQL files, applied in the order of their names. */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { NewerStoreError } from '#engines/shared/store.ts'

export type Migration = { readonly name: string; readonly text: string }

/** The engines that have migrations, each in a folder of that name. */
export type EngineName = 'sqlite' | 'postgres'

const migrationsIn = (folder: URL, prefix = ''): readonly Migration[] =>
  readdirSync(folder)
    .filter(file => file.endsWith('.sql'))
    .sort()
    .map(file => ({
      name: `${prefix}${file.slice(0, -'.sql'.length)}`,
      text: readFileSync(new URL(file, folder), 'utf8'),
    }))

/** The migrations of the machine's own tables. Their names begin with `duet/`, which no file name of the content can. */
export const machineMigrations = (engine: EngineName): readonly Migration[] =>
  migrationsIn(new URL(`../${engine}/migrations/`, import.meta.url), 'duet/')

/** The migrations of the content: those of `folder` for an engine; none where there is no such folder. */
export const contentMigrations = (engine: EngineName, folder: URL): readonly Migration[] => {
  const own = new URL(`${engine}/`, folder)
  return existsSync(own) ? migrationsIn(own) : []
}

/** All migrations of a store with this content, in the order in which they are applied. */
export const historyOf = (engine: EngineName, folder: URL): readonly Migration[] => [
  ...machineMigrations(engine),
  ...contentMigrations(engine, folder),
]

/** A migration as a store has recorded it; stores of older programs have no checksums. */
export type Applied = { readonly name: string; readonly checksum: string | null }

/** The checksum of a migration's text, the same for LF and CRLF. */
export const checksumOf = ({ text }: Migration): string =>
  createHash('sha256').update(text.replaceAll('\r\n', '\n')).digest('hex')

/**
 * The migrations that a store lacks. Throws NewerStoreError where it has some that this program does not know, and an
 * error where the text of an applied one was changed.
 */
export const missingOf = (
  known: readonly Migration[],
  applied: readonly Applied[],
): readonly Migration[] => {
  const unknown = applied.filter(({ name }) => !known.some(migration => migration.name === name))
  if (unknown.length > 0)
    throw new NewerStoreError(
      `the store has the migration ${unknown.map(({ name }) => name).join(', ')}, which this program does not know: it is of a newer Duet; use that one, or restore an older backup`,
    )
  const checksums = new Map(applied.map(({ name, checksum }) => [name, checksum]))
  for (const migration of known) {
    const checksum = checksums.get(migration.name)
    if (checksum != null && checksum !== checksumOf(migration))
      throw new Error(
        `the migration ${migration.name} was changed after this store had applied it: put the file back as it was, and write the change as a new migration`,
      )
  }
  return known.filter(({ name }) => !checksums.has(name))
}

/** The error of a failed migration, with its name and its cause. */
export const failed = ({ name }: Migration, cause: unknown): Error =>
  new Error(`the migration ${name} failed: ${cause instanceof Error ? cause.message : cause}`, {
    cause,
  })

/**
 * The first line of a migration whose statements run one by one, because PostgreSQL does not allow them in a
 * transaction. Each must be safe to run again, since a failure leaves those before it done.
 */
export const outsideMark = '-- outside a transaction\n'
