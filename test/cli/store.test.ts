import assert from 'node:assert/strict'
import { existsSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { loadConfig } from '#config.ts'
import { dialect } from '#engines/sqlite/dialect.ts'
import { text } from '#model/field.ts'
import { checkSchema, openFor, storeOf } from '#serve/store.ts'
import { ConstraintError } from '#sql/engine.ts'
import { command, folderOf, secret } from '#test/market.ts'
import { notMade } from '#test/stores.ts'
import content from '#test/support/market/duet.config.ts'

const { folder, fresh, freshStore } = folderOf('store')
const postgres = 'postgres://duet:hunter2@db.invalid:5432/content'

const named = (url: string) => storeOf(loadConfig({ DUET_DATABASE_URL: url }), content)
const count = { text: 'select count(*) from users', values: [] }
const person = (id: number) => ({
  text: `insert into users (id, name, email, created_at, email_key) values (${id}, 'A', '${id}', 1, '${id}') returning id`,
  values: [],
})
const users = { text: 'select id from users order by id', values: [] }

test('the URL chooses the store, which is called by its file, or by its place without user and password', async () => {
  const { file, settings } = fresh()
  const sqlite = await named(settings.DUET_DATABASE_URL)
  assert.deepEqual([sqlite.label, sqlite.dialect], [file, dialect])
  const other = await named(postgres)
  assert.equal(other.dialect.name, 'postgres')
  assert.ok(other.label.includes('db.invalid') && other.label.includes('content'), other.label)
  assert.doesNotMatch(other.label, /hunter2|duet:/)
})

test('a store that is to be read must be there, where one may look for it, and up to date; one that is to be filled is made', async () => {
  const { file, settings } = await freshStore({ bare: true })
  const store = await named(settings.DUET_DATABASE_URL)
  await assert.rejects(openFor('reading', store), notMade)
  assert.equal(existsSync(file), false)
  symlinkSync('loop', join(folder, 'loop'))
  await assert.rejects(openFor('reading', await named(`sqlite:${folder}/loop`)), { code: 'ELOOP' })
  const filling = await openFor('filling', store)
  await filling.session.close()
  const { session } = await openFor('reading', store)
  assert.deepEqual(await session.query(count), [[0]])
  await assert.rejects(
    session.query(person(1)),
    /readonly|read-only|attempt to write|can only be read/,
  )
  await session.close()
})

test('a store that lacks a key, as one does whose migration was killed at its end, gets it by the next', async () => {
  const { settings, change, rows } = await freshStore()
  const store = await named(settings.DUET_DATABASE_URL)
  await store.migrate()
  const { cursor } = await store.secrets()
  await change("delete from secrets where name = 'mail'")
  assert.deepEqual(await store.pending(), [])
  await assert.rejects(store.secrets(), {
    message: 'the store has no mail key; run `duet migrate`',
  })
  assert.equal((await command(['migrate'], settings)).stdout, 'the store is up to date\n')
  const made = await store.secrets()
  assert.deepEqual([made.mail.length, made.cursor], [32, cursor])
  assert.deepEqual(await rows('select name from secrets order by name'), [
    ['cursor'],
    ['folded'],
    ['mail'],
  ])
})

test('a store without the column of a field is told with the field and the remedy', async () => {
  const store = await named((await freshStore()).settings.DUET_DATABASE_URL)
  await store.migrate()
  await checkSchema(store, content.entities)
  const { post } = content.entities
  assert.ok(post)
  const fields = { ...post.fields, probeText: text({ max: 200, nullable: true }) }
  const nullable = { ...post.fields, title: text({ max: 200, nullable: true }) }
  await assert.rejects(
    checkSchema(store, { ...content.entities, post: { ...post, fields: nullable } }),
    {
      message:
        'post.title may be null in the model, and its column may not: run duet migrate --draft NAME, read what it writes, and start again, or take nullable back',
    },
  )
  await assert.rejects(checkSchema(store, { ...content.entities, post: { ...post, fields } }), {
    message:
      'post.probeText is in the model, and no migration makes its column: run duet migrate --draft NAME, read what it writes, and start again',
  })
})

test('of a transaction that throws nothing stays, of an attempt in it only what was done before', async () => {
  const store = await named((await freshStore()).settings.DUET_DATABASE_URL)
  const { session } = await openFor('filling', store)
  const gone = session.transaction(async () => {
    await session.query(person(1))
    throw new Error('enough')
  })
  await assert.rejects(gone, /enough/)
  assert.deepEqual(await session.query(users), [])
  const kept = await session.transaction(async () => {
    await session.query(person(1))
    const failed = session.attempt(async () => {
      await session.query(person(2))
      await session.query(person(1))
    })
    await assert.rejects(failed, ConstraintError)
    await session.attempt(() => session.query(person(3)))
    return 'kept'
  })
  assert.equal(kept, 'kept')
  assert.deepEqual(await session.query(users), [[1], [3]])
  await session.close()
})

test('backup and restore leave a PostgreSQL store to its own tools, which they name, and never show its password', async () => {
  const settings = { DUET_DATABASE_URL: postgres, DUET_AUTH_SECRET: secret }
  const file = join(folder, 'copy.db')
  for (const [name, tool] of [
    ['backup', 'pg_dump'],
    ['restore', 'pg_restore'],
  ] as const) {
    const { code, stdout, stderr } = await command([name, file], settings)
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(
      stderr,
      new RegExp(`^duet: the store is a PostgreSQL database: [^\\n]+ with ${tool} [^\\n]+\\n$`),
    )
    assert.doesNotMatch(stderr, /hunter2/)
    assert.equal(existsSync(file), false)
  }
})
