/** The history of a store: SQL files for each engine, applied in the order of their names. */
import { readdirSync, readFileSync } from 'node:fs'
import { NewerStoreError } from '#engines/store.ts'

export type Migration = { readonly name: string; readonly text: string }

/** The engines that have a history of their own, each in a folder of that name. */
export type EngineName = 'sqlite' | 'postgres'

/** Where the histories of all engines are. */
export const migrationsFolder = new URL('../../migrations/', import.meta.url)

/** The migrations that this program knows for an engine, in order. */
export const migrationsOf = (
  engine: EngineName,
  within: URL = migrationsFolder,
): readonly Migration[] => {
  const folder = new URL(`${engine}/`, within)
  return readdirSync(folder)
    .filter(file => file.endsWith('.sql'))
    .sort()
    .map(file => ({
      name: file.slice(0, -'.sql'.length),
      text: readFileSync(new URL(file, folder), 'utf8'),
    }))
}

/** Those that are not applied yet; throws NewerStoreError where some are applied that this program does not know. */
export const missingOf = (
  known: readonly Migration[],
  applied: readonly string[],
): readonly Migration[] => {
  const unknown = applied.filter(name => !known.some(migration => migration.name === name))
  if (unknown.length > 0)
    throw new NewerStoreError(
      `the store has the migration ${unknown.join(', ')}, which this program does not know: it is of a newer Duet; use that one, or restore an older backup`,
    )
  return known.filter(({ name }) => !applied.includes(name))
}

/** What a migration failed with, and which one it was. */
export const failed = ({ name }: Migration, cause: unknown): Error =>
  new Error(`the migration ${name} failed: ${cause instanceof Error ? cause.message : cause}`, {
    cause,
  })

/**
 * What a migration begins with whose statements run one by one and in no transaction, where PostgreSQL does not do
 * them in one. Each must be one that can be run again, since a break leaves those before it done.
 */
export const outsideMark = '-- outside a transaction\n'
