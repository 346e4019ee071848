/** Migrations outside a transaction: what one that was broken off leaves, and how it is run again. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Migration, outsideMark } from '#engines/shared/migrations.ts'
import { ask, connected } from '#test/postgres/tools/ask.ts'
import { noDatabase } from '#test/postgres/tools/database.ts'
import {
  appliedIn,
  known,
  migrate,
  migrated,
  names,
  rowsOf,
} from '#test/postgres/tools/migrating.ts'
import { until } from '#test/support/wait.ts'

describe('a migration outside a transaction', { skip: noDatabase }, () => {
  const statement = (name: string, of: string) =>
    `create index concurrently if not exists ${name} on ${of} (created_at desc);\n`
  const commented = statement('posts_late', 'posts').replace(' ', '/* one */')
  const indexes: Migration = {
    name: '0999-indexes',
    text: `${outsideMark}/* PostgreSQL /* nests */ these. */${statement('users_late', 'users')}${commented}`,
  }
  const all = [...known, indexes]
  const valid = (url: string) =>
    rowsOf(
      url,
      "select indexrelid::regclass || ' ' || indisvalid from pg_index where indexrelid::regclass::text ~ '_late' order by 1",
    )

  /** A transaction that has a row of posts, so that an index on them has to wait. */
  const held = async (url: string) => {
    const holder = await connected(url)
    await holder.query('begin; lock table posts in row exclusive mode')
    return holder
  }

  test('a migration outside a transaction runs statement by statement, once, also where two programs begin at once', async () => {
    const url = await migrated()
    const holder = await held(url)
    const runs = Promise.all([migrate(url, all), migrate(url, all)])
    await until('both indexes are begun', async () => (await valid(url)).length === 2)
    await holder.end()
    assert.deepEqual((await runs).flat(), [indexes.name])
    assert.deepEqual(await valid(url), ['posts_late true', 'users_late true'])
    assert.deepEqual(await appliedIn(url), [...names, indexes.name])
  })

  test('a migration outside a transaction that was broken off is run again, and what it left half done is made anew [A20]', async () => {
    const url = await migrated()
    const holder = await held(url)
    const run = migrate(url, all)
    const refused = assert.rejects(run, /^Error: the migration 0999-indexes failed: /)
    await until('both indexes are begun', async () => (await valid(url)).length === 2)
    await ask(
      url,
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query ~ '^create index concurrently'",
    )
    await refused
    await holder.end()
    assert.deepEqual(await valid(url), ['posts_late false', 'users_late true'])
    assert.deepEqual(await appliedIn(url), names)
    assert.deepEqual(await migrate(url, all), [indexes.name])
    assert.deepEqual(await valid(url), ['posts_late true', 'users_late true'])
  })

  for (const table of ['users', 'posts'])
    test(`an index that the server still makes for a program that is gone is waited for, after one on ${table}`, async () => {
      const url = await migrated()
      const first = statement(`${table}_first_late`, table)
      const second = statement('posts_late', 'posts')
      await ask(url, first)
      const holder = await held(url)
      const killed = await connected(url)
      killed.on('error', () => {})
      killed.query(second).catch(() => {})
      await until('its index is begun', async () => (await valid(url)).length === 2)
      killed.connection.stream.destroy()
      const run = migrate(url, [...known, { ...indexes, text: outsideMark + first + second }])
      await until('the next one came to that index', async () => {
        const [others] = await rowsOf(
          url,
          "select count(*)::int from pg_stat_activity where datname = current_database() and query ~ '^(drop|create) index|pg_stat_progress_create_index' and pid <> pg_backend_pid()",
        )
        return Number(others) > 1
      })
      await holder.end()
      assert.deepEqual(await run, [indexes.name])
      assert.deepEqual(await valid(url), [`${table}_first_late true`, 'posts_late true'].sort())
    })

  test('a migration outside a transaction fills rows in batches, each committed by itself, and stops where all are filled', async () => {
    const url = await migrated()
    await ask(
      url,
      "insert into users (name, email, email_key, created_at) select 'u', 'u', n::text, 1 from generate_series(1, 2500) n",
    )
    const add = { name: '0998-add', text: 'alter table users add column nick text;' }
    const fill = {
      name: '0999-fill',
      text: `${outsideMark}do $$
begin
  loop
    update users set nick = name || txid_current()
      where id in (select id from users where nick is null limit 1000);
    exit when not found;
    commit;
  end loop;
end
$$;
`,
    }
    assert.deepEqual(await migrate(url, [...known, add, fill]), [add.name, fill.name])
    assert.deepEqual(
      await rowsOf(url, 'select count(*)::int from users group by nick order by 1'),
      [500, 1000, 1000],
    )
  })
})
