/** The two histories of a store: one that was made before they were apart, and one whose files were changed. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { mint } from '#auth/token.ts'
import { commandConnection, migratePostgres } from '#engines/postgres/migrate.ts'
import { checksumOf, contentMigrations, type EngineName } from '#engines/shared/migrations.ts'
import { migrateSqlite } from '#engines/sqlite/migrate.ts'
import { command } from '#test/commands.ts'
import { folderOf, type Service, serve } from '#test/duet.ts'
import { historyFor } from '#test/history.ts'
import { connected } from '#test/postgres/tools/ask.ts'
import { freshDatabase, noDatabase } from '#test/postgres/tools/database.ts'
import { until } from '#test/support/wait.ts'
import { pluck, secret } from '../world.ts'

/** The history as it was when the content's files made the machine's tables too, before checksums were noted. */
const first = new URL('fixtures/first-history/', import.meta.url)

const { fresh } = folderOf('histories')

const picture = `insert into avatars (user_id, type, digest, created_at, bytes) values (1, 'image/gif', 'a digest', 1,`

const rows = `insert into users (name, email, email_key, created_at) values ('Ada', 'ada@example.org', 'ada@example.org', 1);
  insert into products (name, category, price, stock, created_at, name_key)
    values ('Cup', 'kitchen', 100, 3, 1, 'cup'), ('Pot', 'kitchen', 200, 2, 1, 'pot');
  insert into posts (title, content, author_id, created_at) values ('Hello', 'there', 1, 1);
  insert into replies values ('a scope', 'a key', 'a fingerprint', 1, 201, 'a body', 1, 1)`

const notes = (names: readonly string[]) =>
  `insert into migrations (name, applied_at) values ${names.map(name => `('${name}', 1)`).join(', ')}`

const key = Buffer.alloc(32, 7).toString('hex')

const oldFile = async (): Promise<string> => {
  const { file } = fresh()
  mkdirSync(dirname(file), { recursive: true })
  const sql = async (text: string) => {
    using database = new DatabaseSync(file)
    database.exec(text)
  }
  const history = contentMigrations('sqlite', first)
  await sql('create table migrations (name text primary key, applied_at integer not null) strict')
  for (const { text } of history) await sql(text)
  await sql(notes(history.map(({ name }) => name)))
  await sql(`insert into secrets values ('cursor', x'${key}'), ('mail', x'${key}')`)
  await sql(rows)
  await sql(`${picture} x'${Buffer.from('GIF89a.').toString('hex')}')`)
  return `sqlite:${file}`
}

const oldDatabase = async (): Promise<string> => {
  const { url } = await freshDatabase()
  const sql = async (text: string) => {
    const client = await connected(url)
    await client.query(text)
    await client.end()
  }
  const history = contentMigrations('postgres', first)
  await sql('create table migrations (name text primary key, applied_at bigint not null)')
  for (const { text } of history) await sql(text)
  await sql(notes(history.map(({ name }) => name)))
  await sql(`insert into secrets values ('cursor', '\\x${key}'), ('mail', '\\x${key}')`)
  await sql(rows)
  await sql(`${picture} '\\x${Buffer.from('GIF89a.').toString('hex')}')`)
  return url
}

const settingsOf = (url: string) => ({
  DUET_DATABASE_URL: url,
  DUET_AUTH_SECRET: secret,
  DUET_ENV: 'production',
  DUET_HOST: '127.0.0.1',
})

const send = async ({ url }: Service, line: string, body?: object, headers = {}) => {
  const [method = '', path = ''] = line.split(' ')
  const token = await mint({ sub: 1, role: 'admin', ttl: 600 }, secret, Date.now())
  const response = await fetch(url + path, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, json: JSON.parse(text) }
}

/** Where each engine's stores come from, and how a history is applied to one. */
const engines: Readonly<
  Record<
    EngineName,
    {
      readonly skip: string | false
      readonly old: () => Promise<string>
      readonly migrate: (
        url: string,
        history?: ReturnType<typeof historyFor>,
      ) => Promise<readonly string[]>
      readonly look: (url: string, text: string) => Promise<readonly unknown[]>
    }
  >
> = {
  sqlite: {
    skip: false,
    old: oldFile,
    migrate: async (url, history = historyFor('sqlite')) =>
      migrateSqlite(url.slice('sqlite:'.length), history),
    look: async (url, text) => {
      const database = new DatabaseSync(url.slice('sqlite:'.length))
      const found = database.prepare(text).all()
      database.close()
      return found.map(row => ({ ...row }))
    },
  },
  postgres: {
    skip: noDatabase,
    old: oldDatabase,
    migrate: (url, history = historyFor('postgres')) =>
      migratePostgres(commandConnection(url, true), history),
    look: async (url, text) => {
      const client = await connected(url)
      const { rows } = await client.query(text)
      await client.end()
      return rows.map(row =>
        Object.fromEntries(
          Object.entries(row).map(([name, value]) => [
            name,
            typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value,
          ]),
        ),
      )
    },
  },
}

const checksumsOf = (engine: EngineName) =>
  historyFor(engine)
    .map(migration => `${migration.name} ${checksumOf(migration)}`)
    .sort()

/** The migrations that came after the first history: the machine's own, and whatever the content has added since. */
const newer = (engine: EngineName): readonly string[] => {
  const old = contentMigrations(engine, first).map(({ name }) => name)
  return historyFor(engine).flatMap(({ name }) => (old.includes(name) ? [] : [name]))
}

const noted = async (engine: EngineName, url: string) => {
  const found = await engines[engine].look(
    url,
    "select name || ' ' || checksum as note from migrations",
  )
  return found.map(row => (row as { readonly note: string }).note).sort()
}

for (const [name, { skip, old, migrate, look }] of Object.entries(engines)) {
  const engine = name as EngineName
  describe(`a store of the first history on ${engine}`, { skip }, () => {
    test('is migrated, and reads, writes, counts and stored responses hold', async () => {
      const url = await old()
      const service = await serve(settingsOf(url), '--migrate')
      assert.ok(service.stderr().startsWith(`duet: applied ${newer(engine).join(', ')}\n`))
      const post = { title: 'New', content: 'post' }
      const once = { 'Idempotency-Key': 'k1' }
      const made = await send(service, 'POST /api/users/1/posts', post, once)
      assert.equal(made.status, 201)
      const again = await send(service, 'POST /api/users/1/posts', post, once)
      assert.equal(again.headers.get('idempotency-replayed'), 'true')
      assert.deepEqual(again.json, made.json)
      const shown = async () => {
        const picture = await fetch(`${service.url}/api/users/1/avatar`)
        const bytes = Buffer.from(await picture.arrayBuffer())
        return [picture.headers.get('content-type'), bytes.toString('latin1')]
      }
      assert.deepEqual(await shown(), ['image/gif', 'GIF89a.'])
      if (engine === 'sqlite') {
        const left = 'select id from avatars'
        await until('its picture is moved', async () => (await look(url, left)).length === 0)
        assert.deepEqual(await shown(), ['image/gif', 'GIF89a.'])
      }
      const products = await send(service, 'GET /api/products?category=kitchen&search=cup')
      assert.deepEqual(pluck(products.json.data, 'name'), ['Cup'])
      const all = await send(service, 'GET /api/products?category=kitchen')
      assert.equal(all.json.pagination.total, 2)
      assert.equal((await service.end()).code, 0)
    })

    test('keeps its keys, and gets the checksums of what it has', async () => {
      const url = await old()
      assert.deepEqual(await migrate(url), newer(engine))
      assert.deepEqual(await noted(engine, url), checksumsOf(engine))
      assert.deepEqual(await migrate(url), [])
      const kept = await look(
        url,
        'select count(distinct value) as keys, (select count(*) from replies) as stored from secrets',
      )
      assert.deepEqual(kept, [{ keys: 1, stored: 1 }])
    })

    test('is not migrated over an applied migration whose text was changed since', async () => {
      const url = await old()
      await migrate(url)
      const changed = historyFor(engine).map(migration =>
        migration.name === '0002-orders'
          ? { ...migration, text: `${migration.text}-- one more thought\n` }
          : migration,
      )
      const more = { name: '0999-more', text: 'create table more (a integer);' }
      await assert.rejects(migrate(url, [...changed, more]), {
        message:
          'the migration 0002-orders was changed after this store had applied it: put the file back as it was, and write the change as a new migration',
      })
      assert.deepEqual(await noted(engine, url), checksumsOf(engine))
    })

    test('takes the same text with other line ends for unchanged', async () => {
      const url = await old()
      await migrate(url)
      const onWindows = historyFor(engine).map(migration => ({
        ...migration,
        text: migration.text.replaceAll('\n', '\r\n'),
      }))
      assert.deepEqual(await migrate(url, onWindows), [])
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
