/** The history of a store: its files stay as they were applied. And the places where no store can be. */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { commandConnection, migratePostgres } from '#engines/postgres/migrate.ts'
import { checksumOf, type EngineName, type Migration } from '#engines/shared/migrations.ts'
import { migrateSqlite } from '#engines/sqlite/migrate.ts'
import { command } from '#test/commands.ts'
import { folderOf } from '#test/duet.ts'
import { historyFor } from '#test/history.ts'
import { connected } from '#test/postgres/tools/ask.ts'
import { freshDatabase, noDatabase } from '#test/postgres/tools/database.ts'

const { fresh } = folderOf('histories')

const noted = "select name || ' ' || checksum as note from migrations"

/** How a history is applied to a new store of each engine, and what it has noted of it. */
const engines = {
  sqlite: {
    skip: false,
    make: async () => {
      const file = join(mkdtempSync(join(dirname(dirname(fresh().file)), 'store-')), 'duet.db')
      return {
        migrate: async (history: readonly Migration[]) => migrateSqlite(file, history),
        notes: async () => {
          using database = new DatabaseSync(file)
          return database.prepare(noted).all()
        },
      }
    },
  },
  postgres: {
    skip: noDatabase,
    make: async () => {
      const { url } = await freshDatabase()
      return {
        migrate: (history: readonly Migration[]) =>
          migratePostgres(commandConnection(url, true), history),
        notes: async () => {
          const client = await connected(url)
          const { rows } = await client.query(noted)
          await client.end()
          return rows
        },
      }
    },
  },
}

for (const [name, { skip, make }] of Object.entries(engines)) {
  const history = historyFor(name as EngineName)
  describe(`a migrated store on ${name}`, { skip }, () => {
    test('has the checksums of its migrations, and none to apply', async () => {
      const { migrate, notes } = await make()
      assert.deepEqual(
        await migrate(history),
        history.map(({ name }) => name),
      )
      const found = (await notes()).map(({ note }) => note).sort()
      assert.deepEqual(found, history.map(one => `${one.name} ${checksumOf(one)}`).sort())
      assert.deepEqual(await migrate(history), [])
    })

    test('is not migrated over an applied migration whose text was changed since', async () => {
      const { migrate, notes } = await make()
      await migrate(history)
      const before = await notes()
      const changed = history.map(migration =>
        migration.name === '0002-orders'
          ? { ...migration, text: `${migration.text}-- one more thought\n` }
          : migration,
      )
      const more = { name: '0999-more', text: 'create table more (a integer);' }
      await assert.rejects(migrate([...changed, more]), {
        message:
          'the migration 0002-orders was changed after this store had applied it: put the file back as it was, and write the change as a new migration',
      })
      assert.deepEqual(await notes(), before)
    })

    test('takes the same text with other line ends for unchanged', async () => {
      const { migrate } = await make()
      await migrate(history)
      const onWindows = history.map(migration => ({
        ...migration,
        text: migration.text.replaceAll('\n', '\r\n'),
      }))
      assert.deepEqual(await migrate(onWindows), [])
    })
  })
}

test('where no store can be, a sentence gives the reason and no secret is left beside it', async () => {
  const folder = mkdtempSync(join(dirname(dirname(fresh().file)), 'foreign-'))
  const file = join(folder, 'notes.txt')
  writeFileSync(file, 'Not a database.\n')
  const cases = [
    [
      file,
      /the store .*notes\.txt cannot be opened, it is not a SQLite database; name another path/,
    ],
    [folder, /the store .* cannot be opened, it is a folder; name a file in DUET_DATABASE_URL/],
    [
      '/proc/duet/duet.db',
      /the store \/proc\/duet\/duet\.db cannot be written, \/proc accepts no files/,
    ],
    ['/dev/null', /the store \/dev\/null cannot be opened, it is not a file; name another path/],
  ] as const
  for (const [place, reason] of cases)
    for (const name of ['serve', 'migrate', 'token']) {
      const args = name === 'token' ? ['token', '--user', '1'] : [name]
      const settings = { DUET_DATABASE_URL: `sqlite:${place}`, DUET_PORT: '0' }
      const { code, stderr } = await command(args, settings)
      assert.equal(code, 1, `${name} ${place} ${stderr}`)
      assert.match(stderr, reason)
      assert.equal(stderr.trim().split('\n').length, 1, stderr)
    }
  assert.deepEqual(readdirSync(folder), ['notes.txt'])
})
