import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { promisify } from 'node:util'
import content from '#content/duet.config.ts'
import { contentMigrations, machineMigrations } from '#engines/shared/migrations.ts'
import { NewerStoreError } from '#engines/shared/store.ts'
import { migrateSqlite, pendingMigrations } from '#engines/sqlite/migrate.ts'
import { sqliteStore } from '#engines/sqlite/store.ts'
import { pluck } from '#test/asking.ts'
import { command } from '#test/commands.ts'
import { folderOf, serve } from '#test/duet.ts'
import { historyFor } from '#test/history.ts'

const run = promisify(execFile)
const { fresh } = folderOf('migrate')
const known = historyFor('sqlite')
const names = known.map(({ name }) => name)
const engines = ['sqlite', 'postgres'] as const

const hashOf = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex')

const query = (file: string, text: string) => {
  using database = new DatabaseSync(file, { readOnly: true })
  const rows = database.prepare(text).all()
  return rows
}

const appliedIn = (file: string) =>
  query(file, 'select name from migrations order by rowid').map(({ name }) => name)

/** Marks the store as one that a later program has migrated. */
const makeNewer = (file: string) => {
  using database = new DatabaseSync(file)
  database.exec("insert into migrations (name, applied_at) values ('9999-from-the-future', 1)")
}

test('the migrations of each history are numbered without gaps over both engines, and a number has one name', () => {
  const ofContent = engines.flatMap(engine => contentMigrations(engine, content.migrations))
  const machine = engines.flatMap(machineMigrations)
  for (const { name } of ofContent) assert.match(name, /^\d{4}-[a-z0-9-]+$/)
  for (const { name } of machine) assert.match(name, /^duet\/\d{4}-[a-z0-9-]+$/)
  for (const history of [ofContent, machine]) {
    const distinct = [...new Set(history.map(({ name }) => name))].sort()
    assert.deepEqual(
      distinct.map(name => Number.parseInt(name.replace('duet/', ''), 10)),
      distinct.map((_, index) => index + 1),
    )
  }
})

test('a store that is not there is made with its folder, and all migrations are noted', t => {
  const { file } = fresh()
  t.mock.timers.enable({ apis: ['Date'], now: 1234 })
  assert.deepEqual(migrateSqlite(file, known), names)
  assert.deepEqual(appliedIn(file), names)
  assert.deepEqual(
    pluck(query(file, 'select distinct applied_at from migrations'), 'applied_at'),
    [1234],
  )
  assert.deepEqual(pendingMigrations(file, known), [])
})

test('a store is brought from any of its earlier states to the newest, with its rows', () => {
  const { file } = fresh()
  migrateSqlite(file, known)
  const database = new DatabaseSync(file)
  database.exec(
    "insert into products (name, category, price, created_at, name_key) values ('A', 'b', 1, 1, 'a')",
  )
  database.close()
  const more = { name: '0999-more', text: 'create table more (a text) strict;' }
  assert.deepEqual(migrateSqlite(file, [...known, more]), ['0999-more'])
  assert.deepEqual(appliedIn(file), [...names, '0999-more'])
  assert.equal(query(file, 'select count(*) as n from products')[0]?.n, 1)
})

test('a migration that fails leaves nothing of itself and nothing of those before it [A20]', () => {
  const { file } = fresh()
  migrateSqlite(file, known)
  const before = hashOf(file)
  const good = { name: '0998-good', text: 'create table good (a text) strict;' }
  const bad = { name: '0999-bad', text: 'create table half (a text) strict; nonsense;' }
  assert.throws(
    () => migrateSqlite(file, [...known, good, bad]),
    /^Error: the migration 0999-bad failed: .*nonsense/,
  )
  assert.deepEqual(appliedIn(file), names)
  assert.equal(hashOf(file), before)
})

test('a store of a newer program is refused by name, and not a byte of it is touched', async () => {
  const { file, settings } = fresh()
  migrateSqlite(file, known)
  const ofDuet = known.filter(({ name }) => !name.startsWith('duet/0002'))
  assert.throws(
    () => migrateSqlite(file, ofDuet),
    /duet\/0002.* it is of a newer Duet; start that one/,
  )
  makeNewer(file)
  const before = hashOf(file)
  assert.throws(() => migrateSqlite(file, known), NewerStoreError)
  assert.throws(() => pendingMigrations(file, known), NewerStoreError)
  const runs = await Promise.all([
    command(['migrate'], settings),
    command(['seed', '--users', '1'], settings),
    command(['serve'], { ...settings, DUET_PORT: '0' }),
  ])
  for (const { code, stderr, stdout } of runs) {
    assert.equal(code, 1)
    assert.equal(stdout, '')
    assert.match(
      stderr,
      /^duet: the store has the migration 9999-from-the-future, which this program does not know: it is of a newer release of the content or another branch; start that one, or go back to a backup from before 1970-01-01T00:00:00\.001Z; in development .+\n$/,
    )
  }
  assert.equal(hashOf(file), before)
})

test('a file that is no store is refused by name and left as it is', async () => {
  const { file, settings } = fresh()
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, 'Dear diary, this is no database at all. '.repeat(50))
  const before = hashOf(file)
  const { code, stderr } = await command(['migrate'], settings)
  assert.equal(code, 1)
  assert.match(stderr, /^duet: [^\n]*\n$/)
  assert.ok(stderr.includes(file), stderr)
  assert.equal(hashOf(file), before)
})

test('duet migrate prints what it applied, and then that there is nothing to do', async () => {
  const { file, settings } = fresh()
  assert.deepEqual((await command(['migrate'], settings)).stdout, `applied ${names.join(', ')}\n`)
  assert.deepEqual((await command(['migrate'], settings)).stdout, 'the store is up to date\n')
  assert.deepEqual(appliedIn(file), names)
})

test('a draft where the migrations make all that the model has writes no file', async () => {
  const { file, settings } = fresh()
  const { code, stdout } = await command(['migrate', '--draft', 'nothing'], settings)
  assert.equal(code, 0)
  assert.equal(stdout, 'the migrations make all that the model has\n')
  assert.equal(existsSync(file), false)
})

test('serve migrates by itself, fills an empty development store, and only that', async () => {
  const { file, settings } = fresh()
  const first = await serve(settings)
  assert.equal((await first.end()).code, 0)
  assert.deepEqual(appliedIn(file), names)
  const [{ n } = { n: 0 }] = query(file, 'select count(*) as n from users')
  assert.ok(Number(n) > 0)
  await (await serve(settings)).end()
  assert.equal(query(file, 'select count(*) as n from users')[0]?.n, n)
  const production = fresh()
  const served = { ...production.settings, DUET_ENV: 'production', DUET_HOST: '127.0.0.1' }
  // It says what is done anyway, and is taken as on PostgreSQL.
  const plain = await serve(served, '--migrate')
  assert.equal((await plain.end()).code, 0)
  assert.deepEqual(appliedIn(production.file), names)
  assert.equal(query(production.file, 'select count(*) as n from users')[0]?.n, 0)
})

test('what a store lacks can be asked without a change to it, and none is made by asking', async () => {
  const { file } = fresh()
  const store = sqliteStore({ file, migrations: known })
  const message = `there is no store ${file}; name it in DUET_DATABASE_URL`
  await assert.rejects(store.pending(), { message })
  await assert.rejects(store.secrets(), { message })
  assert.equal(existsSync(file), false)
  await sqliteStore({ file, migrations: known.slice(0, 1) }).migrate()
  const before = hashOf(file)
  assert.deepEqual(await store.pending(), names.slice(1))
  await assert.rejects(sqliteStore({ file, migrations: [] }).pending(), NewerStoreError)
  assert.equal(hashOf(file), before)
})

test('of two that migrate one store at once, one applies and the other finds it done [A20]', async () => {
  const { file } = fresh()
  const code = `import { migrateSqlite } from '#engines/sqlite/migrate.ts'
    import { historyFor } from './test/history.ts'
    console.log(migrateSqlite(process.argv[1], historyFor('sqlite')).length)`
  const cwd = new URL('../../..', import.meta.url)
  const runs = await Promise.all(
    Array.from({ length: 2 }, async () => {
      const args = ['--input-type=module', '-e', code, file]
      return Number((await run(process.execPath, args, { cwd })).stdout)
    }),
  )
  assert.deepEqual(runs.sort(), [0, known.length])
  assert.deepEqual(appliedIn(file), names)
})
