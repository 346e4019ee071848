/** Migrations of a PostgreSQL store: what they make, who may run them at once, and what goes wrong with them. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import content, { entities } from '#content/duet.config.ts'
import { commandConnection, secretsOn } from '#engines/postgres/migrate.ts'
import { ddl } from '#engines/postgres/schema.ts'
import { openSession } from '#engines/postgres/store.ts'
import { historyOf, machineMigrations } from '#engines/shared/migrations.ts'
import { definitionsOf } from '#engines/shared/schema.ts'
import { lackOf, migrationsFor } from '#kit/draft/draft.ts'
import { postgresDrafting } from '#kit/draft/postgres.ts'
import { text } from '#model/field.ts'
import { defineModel, type Entities } from '#model/model.ts'
import { command } from '#test/commands.ts'
import { duet, type Settings, serve } from '#test/duet.ts'
import { catalogOf } from '#test/postgres/catalog.ts'
import { ask, connected } from '#test/postgres/tools/ask.ts'
import { databaseWith, freshDatabase, noDatabase } from '#test/postgres/tools/database.ts'
import {
  appliedIn,
  known,
  migrate,
  migrated,
  names,
  rowsOf,
} from '#test/postgres/tools/migrating.ts'
import type { Told } from '#test/support/command-host.ts'
import { inTime } from '#test/support/wait.ts'
import { secret } from '../world.ts'

const settingsOf = (url: string): Settings => ({
  DUET_DATABASE_URL: url,
  DUET_AUTH_SECRET: secret,
  DUET_ENV: 'production',
  DUET_HOST: '127.0.0.1',
})

/** A database made of what the model itself defines. */
const defined = async (model: Entities): Promise<string> => {
  const { url } = await freshDatabase()
  const client = await connected(url)
  const people = historyOf('postgres', content).filter(({ name }) => name.endsWith('-people'))
  for (const { text } of [
    ...machineMigrations('postgres'),
    ...definitionsOf(ddl, model),
    ...people,
  ])
    await client.query(text)
  await client.end()
  return url
}

const isRefused = ({ code, stderr, stdout }: Told, message: RegExp) => {
  assert.match(stderr, message)
  assert.equal(code, 1)
  assert.equal(stdout, '')
}

const more = defineModel({
  ...entities,
  product: {
    ...entities.product,
    fields: {
      ...entities.product.fields,
      shelf: text({ max: 20, initial: { value: 'A' } }),
      label: text({ max: 20, nullable: true }),
    },
    indexes: [...entities.product.indexes, ['shelf', '-price']],
    counted: ['category', 'stock', 'shelf'],
  },
  post: { ...entities.post, counted: [] },
})

const drafted = migrationsFor(lackOf(postgresDrafting, more, known), 9998, 'draft')

const folder = mkdtempSync(join(tmpdir(), 'duet-migrate-'))
after(() => rmSync(folder, { recursive: true, force: true }))

describe('a store in PostgreSQL', { skip: noDatabase }, () => {
  test('a store in PostgreSQL that is migrated has exactly what the model’s own definitions make', async () => {
    const made = await catalogOf(await migrated())
    assert.ok(made.length > 200, String(made.length))
    assert.deepEqual(made, await catalogOf(await defined(entities)))
  })

  test('a store in PostgreSQL that a draft was applied to has exactly what the longer model’s definitions make', async () => {
    const url = await migrated()
    assert.deepEqual(await migrate(url, [...known, ...drafted]), [
      '9998-draft',
      '9999-draft-indexes',
    ])
    assert.deepEqual(await catalogOf(url), await catalogOf(await defined(more)))
  })

  test('a store in PostgreSQL counts by a field that is counted from now on what is there and what comes', async () => {
    const url = await migrated()
    const put = (id: number, stock: number) =>
      `insert into products (name, category, price, stock, created_at, name_key) values ('p${id}', 'c', ${id}, ${stock}, 1, 'p')`
    for (const [id, stock] of [5, 5, 7].entries()) await ask(url, put(id, stock))
    await ask(
      url,
      "insert into users (name, email, email_key, created_at) values ('a', 'a', 'a', 1)",
    )
    await ask(
      url,
      "insert into posts (title, content, author_id, created_at) values ('a', 'b', 1, 1)",
    )
    await migrate(url, [...known, ...drafted])
    await ask(url, put(4, 5))
    await ask(url, 'update products set stock = 8 where id = 1')
    await ask(url, 'delete from products where id = 3')
    await ask(
      url,
      "insert into posts (title, content, author_id, created_at) values ('a', 'b', 1, 1)",
    )
    assert.deepEqual(
      await rowsOf(
        url,
        `select entity || ' ' || field || ' ' || value || ' ' || sum(n) from counts
          where entity <> 'users' group by entity, field, value having sum(n) <> 0 order by 1`,
      ),
      [
        'posts   2',
        'products   3',
        'products category c 3',
        'products shelf A 3',
        'products stock 5 2',
        'products stock 8 1',
      ],
    )
  })

  test('a store in PostgreSQL that is empty is migrated once by four processes that start at once [A20]', async () => {
    const { url } = await freshDatabase()
    const settings = settingsOf(url)
    const serving = Array.from({ length: 2 }, () => serve(settings, '--migrate'))
    const runs = Array.from({ length: 2 }, () => duet(['migrate'], settings))
    for (const { code, stderr } of await Promise.all(runs)) {
      assert.equal(stderr, '')
      assert.equal(code, 0)
    }
    for (const service of await Promise.all(serving))
      assert.equal((await fetch(`${service.url}/api/posts`)).status, 200)
    for (const service of await Promise.all(serving)) assert.equal((await service.end()).code, 0)
    assert.deepEqual(await appliedIn(url), names)
    assert.deepEqual(await rowsOf(url, 'select name from secrets order by name'), [
      'currency',
      'cursor',
      'folded',
      'mail',
    ])
  })

  test('a store in PostgreSQL that a newer Duet has migrated is refused by name, and not changed', async () => {
    const url = await migrated()
    await ask(url, "insert into migrations (name, applied_at) values ('9999-from-the-future', 1)")
    const before = await catalogOf(url)
    const settings = settingsOf(url)
    const file = join(folder, 'users.ndjson')
    writeFileSync(file, '{"name":"A","email":"a@example.org"}\n')
    const message =
      /^duet: the store has the migration 9999-from-the-future, which this program does not know[^\n]*\n$/
    const runs = [
      ['serve'],
      ['serve', '--migrate'],
      ['migrate'],
      ['import', 'users', file],
      ['seed', '--users', '1'],
    ].map(args => command(args, { ...settings, DUET_PORT: '0' }))
    for (const run of await Promise.all(runs)) isRefused(run, message)
    assert.deepEqual(await appliedIn(url), [...names, '9999-from-the-future'])
    assert.deepEqual(await catalogOf(url), before)
    assert.equal(await ask(url, 'select count(*)::int from users'), 0)
  })

  test('a store in PostgreSQL that is empty or outdated is not served, and the remedy is named', async () => {
    const { url: empty } = await freshDatabase()
    const { url: old } = await freshDatabase()
    await migrate(old, known.slice(0, 1))
    const remedy = 'run duet migrate first, or duet serve --migrate'
    for (const [url, missing] of [
      [empty, names],
      [old, names.slice(1)],
    ] as const)
      isRefused(
        await command(['serve'], { ...settingsOf(url), DUET_PORT: '0' }),
        new RegExp(`^duet: the store lacks the migration ${missing.join(', ')}; ${remedy}\n$`),
      )
    assert.deepEqual(
      await catalogOf(empty).then(lines => lines.filter(line => !/^extension/.test(line))),
      [],
    )
  })

  test('a database that cannot hold all characters is not made a store', async () => {
    for (const encoding of ['LATIN1', 'SQL_ASCII']) {
      const { url } = await freshDatabase({ encoding })
      const message = new RegExp(`the encoding ${encoding}, and texts need UTF8: name one in DUET`)
      isRefused(await command(['migrate'], settingsOf(url)), message)
      assert.deepEqual(await rowsOf(url, "select to_regclass('migrations')::text"), [null])
    }
  })

  test('a database in which transactions are serializable unless they say otherwise is migrated and filled', async () => {
    const url = await databaseWith("default_transaction_isolation = 'serializable'")
    await inTime('it is migrated', migrate(url))
    assert.equal((await command(['seed', '--users', '3'], settingsOf(url))).code, 0)
  })

  test('a store in PostgreSQL that takes no writes is served for reading', async () => {
    const url = await migrated()
    const name = new URL(url).pathname.slice(1)
    await ask(url, `alter database ${name} set default_transaction_read_only = on`)
    const service = await serve(settingsOf(url))
    assert.equal((await fetch(`${service.url}/api/posts`)).status, 200)
    assert.equal((await service.end()).code, 0)
  })

  test('the keys of a store are read as they are from a server that writes bytes in its older form', async () => {
    const url = await databaseWith("bytea_output = 'escape'")
    await migrate(url)
    const stored = await ask(url, "select encode(value, 'hex') from secrets where name = 'cursor'")
    const { cursor: read } = await secretsOn(commandConnection(url, true))
    assert.equal(Buffer.from(read).toString('hex'), stored)
  })

  test('a store in PostgreSQL is brought from any of its earlier states to the newest, with its rows', async () => {
    const { url } = await freshDatabase()
    const own = machineMigrations('postgres').length
    await migrate(url, known.slice(0, own))
    for (const [index, name] of names.entries()) {
      if (index < own) continue
      assert.deepEqual(await migrate(url, known.slice(0, index + 1)), [name])
      await ask(
        url,
        `insert into users (name, email, email_key, created_at) values ('a', 'a', '${name}', 1)`,
      )
    }
    assert.equal(await ask(url, 'select count(*)::int from users'), names.length - own)
    assert.deepEqual(await migrate(url), [])
  })

  test('a store in PostgreSQL keeps nothing of a migration that fails, which is named, and what was before it', async () => {
    const url = await migrated()
    const good = { name: '0998-good', text: 'create table good (a int);' }
    const bad = { name: '0999-bad', text: 'create table half (a int);\nselect 1 from nowhere;' }
    await assert.rejects(migrate(url, [...known, good, bad]), {
      message: 'the migration 0999-bad failed: relation "nowhere" does not exist',
    })
    assert.deepEqual(await appliedIn(url), [...names, good.name])
    assert.equal(await ask(url, "select to_regclass('half') is null"), true)
    const mended = { ...bad, text: 'create table half (a int);' }
    assert.deepEqual(await migrate(url, [...known, good, mended]), [bad.name])
  })

  test('a store in PostgreSQL keeps its keys when it is migrated again', async () => {
    const { url } = await freshDatabase()
    await migrate(url, known.slice(0, 1))
    const keys = () => rowsOf(url, "select name || encode(value, 'hex') from secrets order by name")
    const before = await keys()
    await migrate(url)
    assert.deepEqual(await keys(), before)
    assert.equal(before.length, 2)
  })
})

describe('the extension that searches use', { skip: noDatabase }, () => {
  test('the extension that searches use is for a superuser to make where the user of Duet may not', async () => {
    const { url, drop } = await freshDatabase()
    const role = `duet_plain_${process.pid}`
    await ask(url, `create role ${role} login password 'plain'`)
    try {
      await ask(url, `grant all on schema public to ${role}`)
      const asRole = Object.assign(new URL(url), { username: role, password: 'plain' }).href
      isRefused(
        await command(['migrate'], settingsOf(asRole)),
        /^duet: the migration duet\/0001-store failed: this user may not create the extension pg_trgm: let a superuser run `create extension pg_trgm` in this database, then run duet migrate again\n$/,
      )
      await ask(url, 'create extension pg_trgm')
      assert.deepEqual(await command(['migrate'], settingsOf(asRole)), {
        code: 0,
        stdout: `applied ${names.join(', ')}\n`,
        stderr: '',
      })
    } finally {
      await drop()
      const { url: other } = await freshDatabase()
      await ask(other, `drop role ${role}`)
    }
  })

  test('a session fills what its user may only insert into', async () => {
    const url = await migrated()
    const role = `duet_insert_${process.pid}`
    await ask(url, `create role ${role} login password 'plain'`)
    await ask(url, `grant insert, update (stock) on products to ${role}`)
    await ask(url, `grant all on counts to ${role}`)
    const asRole = Object.assign(new URL(url), { username: role, password: 'plain' }).href
    const session = await openSession(commandConnection(asRole, true), 'filling')
    try {
      await session.transaction(() => session.query({ text: 'select 1', values: [] }))
    } finally {
      await session.close()
      await ask(url, `drop owned by ${role}`)
      await ask(url, `drop role ${role}`)
    }
  })

  test('the extension that searches use is for the operator to install where the server lacks it', async () => {
    const { url } = await freshDatabase()
    const strange = { name: '0001-strange', text: 'create extension if not exists of_no_one;' }
    await assert.rejects(migrate(url, [strange]), {
      message:
        'the migration 0001-strange failed: this PostgreSQL has no extension of_no_one: install the package that has it (postgresql-contrib), then run duet migrate again',
    })
  })
})
