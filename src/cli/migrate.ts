/** `duet migrate`: brings the store to what this program needs, or drafts the next migration from the model. */

import { storeOf } from '#cli/store.ts'
import { type CliCommand, readArgs } from '#cli/usage.ts'
import { loadConfig } from '#config.ts'
import { draftMigration } from '#engines/sqlite/draft.ts'
import { entities } from '#resources/index.ts'

const help = `Usage: duet migrate [--draft NAME]

Applies the migrations that the store lacks; refuses a store of a newer program.
--draft NAME writes the next migration from what the model has and the migrations
do not make, for a person to read. It changes no store.`

const run = async (args: readonly string[]): Promise<void> => {
  const { values } = readArgs(args, { draft: { type: 'string' } }, 0)
  if (values.draft !== undefined) {
    const file = draftMigration(entities, values.draft)
    process.stdout.write(
      file === null
        ? 'the migrations make all that the model has\n'
        : `wrote ${file}; read it before you commit it\n`,
    )
    return
  }
  const store = await storeOf(loadConfig(process.env))
  const applied = await store.migrate()
  process.stdout.write(
    applied.length === 0 ? 'the store is up to date\n' : `applied ${applied.join(', ')}\n`,
  )
}

export const migrate: CliCommand = {
  name: 'migrate',
  about: 'bring the store up to date',
  help,
  run,
}
