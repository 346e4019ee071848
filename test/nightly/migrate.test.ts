/** A migration that is killed leaves the store as it was or as it is to be, and the next one ends it. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { waitForOthers } from '#engines/postgres/migrate.ts'
import { secrets } from '#engines/shared/store.ts'
import { connect } from '#engines/sqlite/connection.ts'
import { migrateSqlite } from '#engines/sqlite/migrate.ts'
import { folderOf, start } from '../duet.ts'
import { historyFor } from '../history.ts'
import { catalogOf } from '../postgres/catalog.ts'
import { ask, connected } from '../postgres/tools/ask.ts'
import { freshDatabase, noDatabase } from '../postgres/tools/database.ts'
import { postgresOf } from '../stores.ts'
import { inTime, pause } from '../support/wait.ts'

const rounds = Number(process.env.DUET_TEST_ROUNDS ?? 200)
const program = fileURLToPath(new URL('migrating.ts', import.meta.url))
const { fresh } = folderOf('migrate-kills')
const namesOf = (engine: 'sqlite' | 'postgres') => historyFor(engine).map(({ name }) => name)

/** Lets a program migrate, and kills it so many milliseconds after it has begun; gives how long it took where it had ended by then. */
const migrating = async (store: string, killedAfter?: number): Promise<number | undefined> => {
  const { child, closed, stdout } = start([store], {}, program)
  await inTime('the migration begins', once(child.stdout, 'data'))
  if (killedAfter !== undefined) {
    await pause(killedAfter)
    child.kill('SIGKILL')
  }
  await inTime('the migration ends', closed)
  const took = /ended (\S+)/.exec(stdout())?.[1]
  return took === undefined ? undefined : Number(took)
}

/** Kills so many, each at a random moment of the time that one takes; `look` judges what is left and mends it. */
const killed = async (
  t: TestContext,
  count: number,
  make: () => Promise<string>,
  look: (store: string) => Promise<readonly string[]>,
) => {
  const usual = [await migrating(await make()), await migrating(await make())]
  const shortest = Math.min(...usual.map(Number))
  const left = new Map<string, number>()
  for (let round = 0; round < count; round++) {
    const store = await make()
    const took = await migrating(store, Math.random() * shortest)
    const applied = await look(store)
    const what = took !== undefined ? 'ended before' : `${applied.length} applied`
    left.set(what, (left.get(what) ?? 0) + 1)
  }
  t.diagnostic(JSON.stringify(Object.fromEntries(left)))
  assert.ok([...left.keys()].some(what => what !== 'ended before'))
}

const rowsOf = (file: string, text: string): readonly string[] => {
  const connection = connect(file)
  try {
    return connection.query({ text, values: [] }).map(([value]) => String(value))
  } finally {
    connection.close()
  }
}

const tables = "select sql from sqlite_schema where name not like 'sqlite_%' order by name"
const keys = 'select name from secrets where length(value) = 32 order by name'
const recorded = "select count(*) from sqlite_schema where name = 'migrations'"

test(`${rounds} migrations of a file that are ended by kill -9 leave all of it or nothing, and the next one ends it [A20]`, async t => {
  const whole = fresh().file
  migrateSqlite(whole, historyFor('sqlite'))
  const names = namesOf('sqlite')
  const make = async () => {
    const { file } = fresh()
    return file
  }
  await killed(t, rounds, make, async file => {
    const isMade = existsSync(file) && rowsOf(file, recorded).join() === '1'
    const applied = isMade ? rowsOf(file, 'select name from migrations order by rowid') : []
    assert.deepEqual(applied, isMade ? names : [])
    if (!isMade && existsSync(file)) assert.deepEqual(rowsOf(file, tables), [])
    assert.deepEqual(migrateSqlite(file, historyFor('sqlite')), isMade ? [] : names)
    assert.deepEqual(rowsOf(file, tables), rowsOf(whole, tables))
    assert.deepEqual(rowsOf(file, keys), [...secrets].sort())
    assert.deepEqual(rowsOf(file, 'pragma integrity_check'), ['ok'])
    return applied
  })
})

const keysOf = "select string_agg(name, ',' order by name) from secrets where length(value) = 32"
const fewer = Math.ceil(rounds / 4)
test(`${fewer} migrations of a database that are ended by kill -9 leave whole migrations, and the next one ends it [A20]`, {
  skip: noDatabase,
}, async t => {
  const whole = (await freshDatabase()).url
  await postgresOf(whole).migrate()
  const names = namesOf('postgres')
  const drops = new Map<string, () => Promise<void>>()
  const make = async () => {
    const { url, drop } = await freshDatabase()
    drops.set(url, drop)
    return url
  }
  const expected = await catalogOf(whole)
  await killed(t, fewer, make, async url => {
    const applied = await appliedIn(url)
    assert.deepEqual(applied, names.slice(0, applied.length))
    assert.deepEqual(await postgresOf(url).migrate(), names.slice(applied.length))
    assert.deepEqual(await catalogOf(url), expected)
    assert.equal(await ask(url, keysOf), [...secrets].sort().join())
    await drops.get(url)?.()
    return applied
  })
})

/** The migrations that a database has noted, once nobody else is at work in it. */
const appliedIn = async (url: string): Promise<readonly string[]> => {
  const client = await connected(url)
  try {
    await client.query(waitForOthers)
    const there = await client.query("select to_regclass('migrations') as name")
    if (there.rows[0]?.name === null) return []
    const { rows } = await client.query('select name from migrations')
    return rows.map(({ name }) => String(name)).sort((a, b) => namesAt(a) - namesAt(b))
  } finally {
    await client.end()
  }
}

const namesAt = (name: string) => namesOf('postgres').indexOf(name)
