/** Stores in schemas of their own: several services in one database. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import content from '#content/duet.config.ts'
import { checkSchema } from '#serve/store.ts'
import { command } from '#test/commands.ts'
import { ask } from '#test/postgres/tools/ask.ts'
import { freshDatabase, noDatabase } from '#test/postgres/tools/database.ts'
import { known, migrate, names, rowsOf } from '#test/postgres/tools/migrating.ts'
import { postgresOf } from '#test/stores.ts'
import { longest } from '#test/support/wait.ts'
import { secret } from '../world.ts'

/** The URL of a schema of a database. */
const within = (url: string, schema: string): string =>
  `${url}${url.includes('?') ? '&' : '?'}options=-c%20search_path%3D${schema}`

const settingsOf = (url: string) => ({ DUET_DATABASE_URL: url, DUET_AUTH_SECRET: secret })

describe('a schema of its own', { skip: noDatabase }, () => {
  for (const extension of ['public', 'shop', 'tools'])
    test(`holds a store beside another, with the extension in ${extension}`, async () => {
      const { url } = await freshDatabase()
      // One has a name that is quoted wherever it stands.
      for (const schema of ['shop', '"My Blog"', 'tools']) await ask(url, `create schema ${schema}`)
      await ask(url, `create extension pg_trgm schema ${extension}`)
      const urls = ['shop', encodeURIComponent('"My\\ Blog"')].map(schema => within(url, schema))
      // At once: neither waits for the other, and each makes all.
      for (const made of await Promise.all(urls.map(one => migrate(one))))
        assert.deepEqual(made, names)
      for (const [index, one] of urls.entries()) {
        const store = postgresOf(one)
        assert.deepEqual(await checkSchema(store, content.entities), [])
        assert.deepEqual(await store.pending(), [])
        const seeded = await command(['seed', '--users', String(index + 2)], settingsOf(one))
        assert.equal(seeded.code, 0, seeded.stderr)
        assert.equal(await ask(one, 'select count(*)::int from users'), index + 2)
      }
      assert.deepEqual(
        await rowsOf(
          url,
          "select table_schema from information_schema.tables where table_name = 'users' order by 1",
        ),
        ['My Blog', 'shop'],
      )
    })

  test('is waited for by those that migrate it alone', async () => {
    const { url } = await freshDatabase()
    for (const schema of ['shop', 'blog']) await ask(url, `create schema ${schema}`)
    await ask(url, 'create extension pg_trgm')
    // Runs until the other one is done.
    const waiting = {
      name: '0000-waits',
      text: `do $$ begin
        while not exists (select from pg_class where relname = 'secrets' and relnamespace = 'blog'::regnamespace) loop
          if clock_timestamp() > now() + interval '${longest} milliseconds' then raise 'blog waits'; end if;
          perform pg_sleep(0.01);
        end loop;
      end $$;`,
    }
    const [first] = await Promise.all([
      migrate(within(url, 'shop'), [waiting, ...known]),
      migrate(within(url, 'blog')),
    ])
    assert.deepEqual(first, ['0000-waits', ...names])
  })

  test('that is not there is told, and what makes it', async () => {
    const { url } = await freshDatabase()
    const told = await command(['migrate'], settingsOf(within(url, 'shop')))
    assert.equal(
      told.stderr,
      'duet: the search_path shop names no schema that is there: make one (create schema NAME) that this user may use, or correct the search_path\n',
    )
    assert.equal(told.code, 1)
  })

  test('keeps nothing of a first start that fails, at whichever migration', async () => {
    const { url } = await freshDatabase()
    const bad = { name: '9999-bad', text: 'select 1 from nowhere;' }
    await assert.rejects(migrate(url, [...known, bad]), {
      message: 'the migration 9999-bad failed: relation "nowhere" does not exist',
    })
    assert.deepEqual(
      await rowsOf(url, "select relname from pg_class where relnamespace = 'public'::regnamespace"),
      [],
    )
    assert.deepEqual(await migrate(url), names)
  })
})
