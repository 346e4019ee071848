/** `duet restore`: puts a backup in the place of the store, or restores it aside, as it would be restored and started, and says what is in it. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { withOpened } from '#base/with-opened.ts'
import { readArgs, UsageError } from '#cli/arguments.ts'
import {
  checkFiles,
  copyFiles,
  copyIn,
  filesOfSettings,
  withFiles,
  withoutFiles,
} from '#cli/files.ts'
import { loadConfig } from '#config.ts'
import type { Content } from '#content.ts'
import { historyOf } from '#engines/shared/migrations.ts'
import { restore, sumFileOf } from '#engines/sqlite/backup.ts'
import { sqliteStore } from '#engines/sqlite/store.ts'
import { columnName } from '#model/model.ts'
import { fileFields } from '#model/stored-file.ts'
import { ask, fileOf, storeOf } from '#serve/store.ts'
import { name, type Sql, sql } from '#sql/sql.ts'

const tool = 'pg_restore --clean --if-exists --single-transaction --dbname=URL FILE'

export const help = `Usage: duet restore [FILE] [--force] [--files FOLDER]
       duet restore --check FILE [--files FOLDER]

Puts the backup FILE in the place of the store that DUET_DATABASE_URL names, after it
was checked to be whole, undamaged (by FILE.sha256) and of no newer Duet. Stop the server
first. A store that has content is replaced only with --force; its content is then lost.
FILE stays as it is.

With --files the bytes of files are put back first, those that the store of DUET_FILES
lacks or has damaged, from a FOLDER of duet backup --files; without FILE nothing else is.

--check restores FILE into a temporary folder (TMPDIR names its place), brings it up to date
there, and shows its content: the rows of each entity and the newest moment. Exit code 1 says
that it cannot be restored, or that FOLDER lacks a file of its rows. The present store is not touched.
For a store in PostgreSQL use its own tools: ${tool}`

/** What a backup has, in lines. Throws with the reason if it cannot be restored. Nothing is left behind. */
const trialOf = async (source: string, content: Content, files?: string): Promise<string> => {
  const folder = mkdtempSync(join(tmpdir(), 'duet-check-'))
  try {
    const file = join(folder, 'duet.db')
    const { entities } = content
    const known = historyOf('sqlite', content)
    const tables = Object.values(entities).map(({ table }) => table)
    const { hasSum } = await restore(source, file, { force: false, tables, migrations: known })
    const sumFile = sumFileOf(source)
    const lines = [
      `${source} can be restored: it is whole and undamaged, and every reference leads to a row${withoutFiles(content, files, '--files FOLDER looks for them there')}`,
      hasSum
        ? `its bytes are those of ${sumFile}`
        : `there is no ${sumFile}: a value that was changed since the backup is not found`,
    ]
    const store = sqliteStore({ file, migrations: known })
    const applied = await store.migrate()
    if (applied.length > 0) lines.push(`a start applies what it lacks: ${applied.join(', ')}`)
    let newest = { time: Number.NEGATIVE_INFINITY, plural: '' }
    await withOpened(store.session('reading'), async session => {
      const numberIn = async (piece: Sql): Promise<number | undefined> => {
        const [[value] = []] = await ask({ session, dialect: store.dialect }, piece)
        return value == null ? undefined : Number(value)
      }
      for (const { table, plural, fields } of Object.values(entities)) {
        const count = (await numberIn(sql`select count(*) from ${name(table)}`)) ?? 0
        lines.push(`${plural.padEnd(14)} ${count.toLocaleString('en').padStart(12)}`)
        for (const [field, { scalar }] of Object.entries(fields)) {
          if (scalar !== 'time') continue
          const column = name(columnName(field))
          const time = await numberIn(sql`select max(${column}) from ${name(table)}`)
          if (time !== undefined && time > newest.time) newest = { time, plural }
        }
      }
    })
    if (files !== undefined) {
      const count = await checkFiles(store, content, copyIn(files))
      lines.push(`${'files'.padEnd(14)} ${count.toLocaleString('en').padStart(12)}`)
    }
    const found = newest.plural && `${new Date(newest.time).toISOString()}, in ${newest.plural}`
    return `${[...lines, `newest moment: ${found || 'none, it is empty'}`].join('\n')}\n`
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export const run = async (args: readonly string[], content: Content): Promise<void> => {
  const flag = { type: 'boolean' } as const
  const options = { force: flag, check: flag, files: { type: 'string' } } as const
  const { values, positionals } = readArgs(args, options, 1)
  const [file = ''] = positionals
  const { check, files } = values
  if (file === '' && (check || files === undefined))
    throw new UsageError('FILE is missing: duet restore FILE')
  if (check) return void process.stdout.write(await trialOf(resolve(file), content, files))
  if (files !== undefined) {
    const done = await withFiles(content, store => {
      // A folder that is not there would be taken for an empty one.
      readdirSync(files)
      return copyFiles(copyIn(files), store, true)
    })
    process.stdout.write(`${done}\n`)
  }
  if (file === '') return
  const config = loadConfig(process.env, content.settings)
  const store = fileOf(config, `put a copy back with ${tool}`)
  const { size } = await restore(resolve(file), store, {
    force: values.force === true,
    tables: Object.values(content.entities).map(({ table }) => table),
    migrations: historyOf('sqlite', content),
  })
  const lacks = withoutFiles(content, files, 'duet files verify looks for them')
  process.stdout.write(`restored ${file} to ${store}, ${size.toLocaleString('en')} bytes${lacks}\n`)
  if (files === undefined || fileFields(content.entities).length === 0) return
  const restored = await storeOf(config, content)
  if ((await restored.pending()).length === 0)
    return void (await checkFiles(restored, content, filesOfSettings(content)))
  process.stdout.write('duet files verify looks for its files once duet migrate has run\n')
}
