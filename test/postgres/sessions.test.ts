/** The sessions of commands on PostgreSQL: how long they last, and what they say where a connection is lost. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { before, describe, test } from 'node:test'
import { serversIn } from '#base/database-url.ts'
import { dialect } from '#engines/postgres/dialect.ts'
import { createFinder } from '#engines/postgres/primary.ts'
import { queryOf, queryWith } from '#sql/engine.ts'
import { sql } from '#sql/sql.ts'
import { postgresOf } from '../stores.ts'
import { ask, connected } from './tools/ask.ts'
import { databaseWith, freshDatabase, noDatabase } from './tools/database.ts'
import { startProxy } from './tools/proxy.ts'

describe('a session of a command', { skip: noDatabase }, () => {
  let url = ''
  before(async () => {
    url = (await freshDatabase()).url
    await postgresOf(url).migrate()
  })

  test('a session that reads lasts however long its reader pauses, one that writes is ended with its locks', async () => {
    const limit = queryWith("select current_setting('idle_in_transaction_session_timeout')")
    const limits: unknown[] = []
    for (const purpose of ['reading', 'filling'] as const) {
      const session = await postgresOf(url).session(purpose)
      limits.push((await session.transaction(() => session.query(limit)))[0]?.[0])
      await session.close()
    }
    assert.deepEqual(limits, ['0', '10s'])
  })

  test('a session finds a primary that is slow to answer, beside a server that is away', async () => {
    const { port, pathname, username, password } = new URL(url)
    const proxy = await startProxy(Number(port))
    // Its own port refuses connections for as long as it is open.
    const away = connect(proxy.port, '127.0.0.1')
    await once(away, 'connect')
    proxy.faults.delay(200)
    const places = `127.0.0.1:${away.localPort},127.0.0.1:${proxy.port}`
    const slow = `postgres://${username}:${password}@${places}${pathname}?target_session_attrs=read-write`
    const session = await postgresOf(slow).session('filling')
    assert.deepEqual(await session.query(queryWith('select 1')), [[1]])
    await session.close()
    const finder = createFinder(slow)
    await finder.find(30_000)
    finder.close()
    assert.equal(serversIn(slow)[1], finder.current())
    away.destroy()
  })

  test('a session has no time limits, whatever those of the database are', async () => {
    const limited = await databaseWith("statement_timeout = '50ms'", "lock_timeout = '50ms'")
    const session = await postgresOf(limited).session('filling')
    const limits = queryWith(
      "select current_setting('statement_timeout'), current_setting('lock_timeout')",
    )
    assert.deepEqual(await session.query(limits), [['0', '0']])
    await session.close()
  })

  test('a session has the options of its URL, and those of its own whatever the database has', async () => {
    const strict = await databaseWith("default_transaction_isolation = 'serializable'")
    const wished = new URL(strict)
    wished.searchParams.set('options', '-c search_path=elsewhere -c jit=on')
    const session = await postgresOf(wished.href).session('filling')
    const settings = queryWith(
      "select current_setting('transaction_isolation'), current_setting('search_path'), current_setting('jit')",
    )
    assert.deepEqual(await session.query(settings), [['read committed', 'elsewhere', 'off']])
    await session.close()
    // As libpq, it takes those of the environment where the URL has none.
    process.env.PGOPTIONS = '-c search_path=nowhere -c jit=on'
    try {
      for (const [url, path] of [
        [strict, 'nowhere'],
        [wished.href, 'elsewhere'],
      ] as const) {
        const session = await postgresOf(url).session('filling')
        assert.deepEqual(await session.query(settings), [['read committed', path, 'off']])
        await session.close()
      }
    } finally {
      delete process.env.PGOPTIONS
    }
  })

  test('a session is in the database of its URL, whatever signs its name has', async () => {
    const { pathname } = new URL(url)
    const name = `${pathname.slice(1)}/a?b#ü %25`
    await ask(url, `create database "${name}"`)
    try {
      const wished = url.replace(pathname, `/${encodeURIComponent(name)}`)
      const session = await postgresOf(wished).session('filling')
      assert.deepEqual(await session.query(queryWith('select current_database()')), [[name]])
      await session.close()
    } finally {
      await ask(url, `drop database "${name}" with (force)`)
    }
  })

  test('a session that lost the reply to its commit says that the rows may be there, as they are', async () => {
    const { through, faults } = await startProxy(Number(new URL(url).port))
    const session = await postgresOf(through(url)).session('filling')
    const filled = session.transaction(async () => {
      await session.query(queryWith("insert into secrets values ('one', 'x')"))
      faults.loseCommitReplies()
    })
    await assert.rejects(filled, {
      message:
        'the connection to the database was lost during the commit, so it is unknown whether this was written; see what is there before you run the command again',
    })
    await session.close()
    assert.equal(faults.lost(), 1)
    assert.equal(await ask(url, "select count(*)::int from secrets where name = 'one'"), 1)
  })

  test('a session that is cut before its commit tells what failed first, and writes nothing', async () => {
    const { through, faults } = await startProxy(Number(new URL(url).port))
    const session = await postgresOf(through(url)).session('filling')
    const failed = session.transaction(async () => {
      await session.query(queryWith("insert into secrets values ('two', 'x')"))
      faults.cut()
      throw new Error('the file ends in the middle of a row')
    })
    await assert.rejects(failed, { message: 'the file ends in the middle of a row' })
    await session.close()
    assert.equal(await ask(url, "select count(*)::int from secrets where name = 'two'"), 0)
  })

  test('days before the year 0 and after 9999 are in the order of their signs, whatever the database orders texts by', async () => {
    const day = dialect.calendar(sql`0::bigint`, 'day')
    const { text, values } = queryOf(sql`select pg_collation_for(${day})`, dialect)
    const client = await connected(url)
    assert.equal((await client.query(text, [...values])).rows[0].pg_collation_for, '"C"')
    await client.end()
  })

  test('texts are found by any sign, whatever the database takes a backslash for', async () => {
    const client = await connected(await databaseWith('standard_conforming_strings = off'))
    const finds = async (needle: string, text: string) => {
      const found = dialect.contains('texts', 'key', sql`${needle}::text`)
      const { text: query, values } = queryOf(
        sql`select ${found} as found from (values (${text}::text)) as "t" ("key")`,
        dialect,
      )
      return (await client.query(query, [...values])).rows[0].found
    }
    for (const sign of ['%', '_', '\\', "'"]) {
      assert.equal(await finds(sign, `a${sign}b`), true, sign)
      assert.equal(await finds(sign, 'ab'), false, sign)
    }
    await client.end()
  })
})
