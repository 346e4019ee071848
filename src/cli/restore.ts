/** `duet restore`: puts a backup in the place of the store. */
import { resolve } from 'node:path'
import { readArgs, UsageError } from '#cli/arguments.ts'
import { trialOf } from '#cli/trial.ts'
import { loadConfig } from '#config.ts'
import type { Content } from '#content.ts'
import { historyOf } from '#engines/shared/migrations.ts'
import { restore as restoreStore } from '#engines/sqlite/backup.ts'
import { fileOf } from '#serve/store.ts'

const tool = 'pg_restore --clean --if-exists --single-transaction --dbname=URL FILE'

export const help = `Usage: duet restore FILE [--force]
       duet restore --check FILE

Puts the backup FILE in the place of the store that DUET_DATABASE_URL names, after it
was checked: whole, undamaged as FILE.sha256 tells, and of no newer Duet. Stop the server first. A store that
has content is replaced only with --force; what it has is then lost. FILE stays as it is.

--check restores FILE into a temporary folder (TMPDIR names its place), brings it up to date
there, and says what it has: the rows of each entity and the newest moment. Exit code 1 says
that it cannot be restored. The present store is not touched.
For a store in PostgreSQL use its own tools: ${tool}`

export const run = async (args: readonly string[], content: Content): Promise<void> => {
  const { values, positionals } = readArgs(
    args,
    { force: { type: 'boolean' }, check: { type: 'boolean' } },
    1,
  )
  const [file = ''] = positionals
  if (file === '') throw new UsageError('FILE is missing: duet restore FILE')
  if (values.check) return void process.stdout.write(await trialOf(resolve(file), content))
  const store = fileOf(loadConfig(process.env, content.settings), `put a copy back with ${tool}`)
  const { size } = await restoreStore(resolve(file), store, {
    force: values.force === true,
    tables: Object.values(content.entities).map(({ table }) => table),
    migrations: historyOf('sqlite', content.migrations),
  })
  process.stdout.write(`restored ${file} to ${store}, ${size.toLocaleString('en')} bytes\n`)
}
