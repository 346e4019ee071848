/** `duet backup`: a copy of the store, made while it is served. */
import { resolve } from 'node:path'
import { progress } from '#cli/progress.ts'
import { fileOf } from '#cli/store.ts'
import { readArgs, UsageError } from '#cli/usage.ts'
import { loadConfig } from '#config.ts'
import type { CliCommand, Content } from '#content.ts'
import { backUp } from '#engines/sqlite/backup.ts'

const dump = 'pg_dump --format=custom --file=FILE URL'

const help = `Usage: duet backup FILE [--force]

Copies the whole store to FILE as it is at one moment; the server may run meanwhile.
The copy is checked and on the disk before it gets its name, so FILE is there whole
or not at all. A FILE that is there is replaced only with --force. It has everything
the store has, email addresses too: keep it where nobody else can read it.
For a store in PostgreSQL use its own tools: ${dump}`

const run = async (args: readonly string[], content: Content): Promise<void> => {
  const { values, positionals } = readArgs(args, { force: { type: 'boolean' } }, 1)
  const [file = ''] = positionals
  if (file === '') throw new UsageError('FILE is missing: duet backup FILE')
  const store = fileOf(loadConfig(process.env, content.settings), `copy it with ${dump}`)
  const shown = progress('copying pages')
  let done = 0
  const size = await backUp(store, resolve(file), {
    force: values.force === true,
    onPages: copied => {
      shown.step(copied - done)
      done = copied
    },
  })
  process.stdout.write(`backed up to ${file}, ${size.toLocaleString('en')} bytes\n`)
}

export const backup: CliCommand = { help, run }
