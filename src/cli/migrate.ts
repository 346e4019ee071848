/** `duet migrate`: brings the store to what this program needs, or drafts the next migration from the model. */
import { existsSync } from 'node:fs'
import { relative } from 'node:path'
import { readArgs } from '#cli/arguments.ts'
import { type Config, loadConfig } from '#config.ts'
import type { Content } from '#content.ts'
import type { MadeObjects } from '#engines/shared/catalogue.ts'
import { checkSchema, fillFolded, hold, migrateStore, storeOf } from '#serve/store.ts'

export const help = `Usage: duet migrate [--draft NAME]

Applies the migrations that the store lacks; refuses a store of a newer program.
--draft NAME writes the next migration, a file for each engine, from what the model
has and the migrations do not make, for a person to read. If they make it all, and the
store was changed by hand, it writes what makes that one as it should be. It changes no
store.`

/** Both engines' parts of a draft; loaded only for one, so that a plain migration starts faster. */
export const draftings = async () => {
  const { postgresDrafting } = await import('#engines/postgres/schema.ts')
  const { sqliteDrafting } = await import('#engines/sqlite/schema.ts')
  return [sqliteDrafting, postgresDrafting]
}

/** What the store of the settings has, if it has all migrations; undefined if there is none, or it does not answer, which is said. */
const madeIn = async (config: Config, content: Content): Promise<MadeObjects | undefined> => {
  if (config.store.kind === 'sqlite' && !existsSync(config.store.file)) return undefined
  const store = await storeOf(config, content.migrations)
  try {
    return (await store.pending()).length === 0 ? await store.made() : undefined
  } catch (error) {
    process.stderr.write(`duet: ${store.label} was not looked at: ${(error as Error).message}\n`)
    return undefined
  }
}

const draft = async (name: string, content: Content): Promise<void> => {
  const { draftMigrations } = await import('#engines/shared/draft.ts')
  const engines = await draftings()
  const { entities, migrations } = content
  let files = draftMigrations(engines, entities, name, migrations)
  if (files.length === 0) {
    const config = loadConfig(process.env, content.settings)
    const own = engines.filter(({ engine }) => engine === config.store.kind)
    const made = await madeIn(config, content)
    if (made) files = draftMigrations(own, entities, name, migrations, made)
  }
  process.stdout.write(
    files.length === 0
      ? 'the migrations make all that the model has\n'
      : `wrote ${files.map(file => relative('', file)).join(', ')}; read what they say before you commit them\n`,
  )
}

export const run = async (args: readonly string[], content: Content): Promise<void> => {
  const { values } = readArgs(args, { draft: { type: 'string' } }, 0)
  if (values.draft !== undefined) return draft(values.draft, content)
  const config = loadConfig(process.env, content.settings)
  const store = await storeOf(config, content.migrations)
  // A file needs no server, and the process that serves one has migrated it.
  if (config.store.kind === 'postgres') await hold(store, config)
  const applied = await migrateStore(store, content.entities)
  for (const note of await checkSchema(store, content.entities))
    process.stderr.write(`duet: ${note}\n`)
  const filled = await fillFolded(store, content.entities, true)
  const done = [
    ...(applied.length > 0 ? [`applied ${applied.join(', ')}`] : []),
    ...(filled.length > 0 ? [`filled ${filled.join(', ')}`] : []),
  ]
  process.stdout.write(`${done.length === 0 ? 'the store is up to date' : done.join('; ')}\n`)
}
