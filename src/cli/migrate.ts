/** `duet migrate`: brings the store to what this program needs, or drafts the next migration from the model. */
import { readArgs } from '#cli/arguments.ts'
import { kitCommands } from '#cli/kit.ts'
import { loadConfig } from '#config.ts'
import type { Content } from '#content.ts'
import { checkPictures } from '#files/sizes.ts'
import { checkSchema, fillFolded, hold, migrateStore, storeOf } from '#serve/store.ts'

export const help = `Usage: duet migrate [--draft NAME]

Applies the migrations that the store lacks; refuses a store of a newer program.
--draft NAME writes the next migration, a file for each engine, from what the model
has and the migrations do not make, for a person to read. If they make it all, and the
store was changed by hand, it writes what makes that one as it should be. It changes no
store.`

export const run = async (args: readonly string[], content: Content): Promise<void> => {
  const { values } = readArgs(args, { draft: { type: 'string' } }, 0)
  if (values.draft !== undefined) {
    const { draft } = await kitCommands()
    if (!draft) throw new Error('--draft is for authors, and their tools are not installed here')
    return (await draft.load()).run([values.draft], content)
  }
  const config = loadConfig(process.env, content.settings)
  const store = await storeOf(config, content)
  // A file needs no server, and the process that serves one has migrated it.
  if (config.store.kind === 'postgres') await hold(store, config)
  const applied = await migrateStore(store, content.entities)
  for (const note of await checkSchema(store, content.entities))
    process.stderr.write(`duet: ${note}\n`)
  const filled = await fillFolded(store, content.entities, true)
  // The start refuses this; the store can be migrated all the same.
  await checkPictures(content.entities).catch(({ message }: Error) =>
    process.stderr.write(`duet: ${message}\n`),
  )
  const done = [
    ...(applied.length > 0 ? [`applied ${applied.join(', ')}`] : []),
    ...(filled.length > 0 ? [`filled ${filled.join(', ')}`] : []),
  ]
  process.stdout.write(`${done.length === 0 ? 'the store is up to date' : done.join('; ')}\n`)
}
