/** A commit that takes long, and a primary that is suspected to be replaced: whether another is looked for, and what becomes of the sessions. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPool } from '#engines/postgres/pool.ts'
import { createFinder } from '#engines/postgres/primary.ts'
import { createWriter } from '#engines/postgres/writer.ts'
import type { Job } from '#write/job.ts'
import { inTime, until } from '../support/wait.ts'
import { ask, connected } from './tools/ask.ts'
import { freshDatabase, noDatabase } from './tools/database.ts'
import { startProxy } from './tools/proxy.ts'

const slowly = `create table t (id serial primary key, v text);
  create function wait() returns trigger language plpgsql set lock_timeout = 0 as
    $$ begin if new.v = 'slow' then perform pg_advisory_xact_lock(42); end if; return null; end $$;
  create constraint trigger wait after insert on t deferrable initially deferred
    for each row execute function wait()`

const insert = (v: string): Job => ({
  steps: [{ statement: { text: `insert into t (v) values ('${v}')`, values: [] }, expect: 'any' }],
  status: 200,
  text: '',
  answer: null,
})

test('a commit that takes long, on a primary with two addresses, ends no session and holds nobody up', {
  skip: noDatabase,
}, async () => {
  const database = await freshDatabase()
  const holder = await connected(database.url)
  await holder.query(slowly)
  const { port, pathname, username, password } = new URL(database.url)
  const proxies = await Promise.all([startProxy(Number(port)), startProxy(Number(port))])
  const places = proxies.map(proxy => `127.0.0.1:${proxy.port}`).join()
  const url = `postgres://${username}:${password}@${places}${pathname}?target_session_attrs=read-write`
  const finder = createFinder(url)
  let moves = 0
  finder.onMove(() => moves++)
  await finder.find(30_000)
  let searches = 0
  const suspect = () => {
    searches++
    finder.suspect()
  }
  const options = { url, prepare: true, pool: 4, queue: 100, digits: 2 }
  const limits = { objects: 100, bytes: 1e6 }
  const writer = createWriter({ ...options, limits } as never, { ...finder, suspect })
  try {
    await holder.query('select pg_advisory_lock(42)')
    const waiting = writer.write(insert('slow'))
    await until('another primary was looked for three times', () => searches >= 3)
    assert.equal((await writer.write(insert('quick'))).kind, 'done')
    await holder.query('select pg_advisory_unlock(42)')
    assert.equal((await waiting).kind, 'done')
    assert.equal(moves, 0)
  } finally {
    await holder.end()
    await writer.close()
    finder.close()
    for (const proxy of proxies) await proxy.close()
  }
})

test('a primary on a newer timeline at the same address ends the sessions on the one before', {
  skip: noDatabase,
}, async () => {
  const { url } = await freshDatabase()
  const wished = new URL(url)
  wished.searchParams.set('target_session_attrs', 'read-write')
  const finder = createFinder(wished.href)
  const session = { prepare: true, statementTimeout: 0, lockTimeout: 0, silenceLimit: 0 }
  const pool = createPool(finder, session, { pool: 1 })
  try {
    const processOf = () => pool.use(async ({ process }) => process)
    const before = await processOf()
    assert.equal(await processOf(), before)
    await pool.use(async connection => {
      const name = wished.pathname.slice(1)
      await ask(url, `alter database ${name} set duet.earlier_timelines = 3`)
      finder.suspect()
      await inTime('the session is ended', connection.closed)
    })
    assert.notEqual(await processOf(), before)
  } finally {
    await pool.close()
    finder.close()
  }
})
