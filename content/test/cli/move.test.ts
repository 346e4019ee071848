import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import type { Client } from 'pg'
import { mint } from '#auth/token.ts'
import { command } from '#test/commands.ts'
import { folderOf, type Settings, serve, start } from '#test/duet.ts'
import { connected } from '#test/postgres/tools/ask.ts'
import { freshDatabase, noDatabase } from '#test/postgres/tools/database.ts'
import { until } from '#test/support/wait.ts'
import { send } from '../support/sign-in.ts'
import { peopleSecret, secret } from '../world.ts'

const skip = noDatabase
const { folder, fresh } = folderOf('move')

type Asking = { readonly as?: number; readonly body?: unknown; readonly headers?: Settings }

/** Asks a service as a user; user 1 is the admin. */
const asker =
  (url: string) =>
  async (line: string, { as = 1, body, headers }: Asking = {}) => {
    const [method = '', path = ''] = line.split(' ')
    const role = as === 1 ? 'admin' : 'user'
    const token = await mint({ sub: as, role, ttl: 3600 }, secret, Date.now())
    const isBytes = body instanceof Uint8Array
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'Content-Type': isBytes ? 'image/png' : 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: isBytes ? Buffer.from(body) : JSON.stringify(body) }),
    })
    const text = Buffer.from(await response.arrayBuffer()).toString('latin1')
    const isJson = /json/.test(response.headers.get('content-type') ?? '')
    return {
      status: response.status,
      text,
      etag: response.headers.get('etag'),
      json: isJson && text !== '' ? JSON.parse(Buffer.from(text, 'latin1').toString()) : undefined,
    }
  }
type Ask = ReturnType<typeof asker>

/** The settings of a store in PostgreSQL, and a session in it. */
const database = async () => {
  const { url } = await freshDatabase()
  return { url, settings: { DUET_DATABASE_URL: url, DUET_AUTH_SECRET: secret } }
}

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
)

const order = {
  items: [
    { productId: 3, quantity: 2 },
    { productId: 5, quantity: 1 },
  ],
}
const keyed = { as: 2, body: order, headers: { 'Idempotency-Key': 'before-the-move' } }

/** Beside the demo content: users of whom the last are gone, orders in all states, a picture, and a stored response. */
const fill = async (ask: Ask): Promise<void> => {
  const made = async (line: string, asking?: Asking) => {
    const answer = await ask(line, asking)
    assert.ok(answer.status < 300, `${line}: ${answer.text}`)
  }
  for (const name of ['Eve', 'Émile 🎉', '"Q"\\'])
    await made('POST /api/users', { body: { name, email: `u${name.length}@example.org` } })
  for (const as of [2, 2, 3]) await made('POST /api/orders', { as, body: order })
  await made('POST /api/orders', keyed)
  await made('POST /api/orders/1/pay', { as: 2 })
  await made('POST /api/orders/2/cancel', { as: 2 })
  await made('POST /api/orders/3/pay', { as: 3 })
  await made('POST /api/orders/3/refund')
  await made('PUT /api/users/2/avatar', { as: 2, body: png })
  await made('PATCH /api/users/5', { body: { age: 44 } })
  await made('DELETE /api/users/6')
  await made('DELETE /api/users/7')
}

/** Stores a response that is longer than any row of the content may be. */
const storeLong = (file: string): void => {
  const database = new DatabaseSync(file)
  database
    .prepare("insert into replies values ('user 2', 'long', 'f', ?, 200, ?, null, null)")
    .run(Date.now(), 'x'.repeat(2_500_000))
  database.close()
}

const query = `query={ users { id name email age role posts { title comments { text author { name } } } } }`
const paths = [
  '/api/users',
  '/api/users/5',
  '/api/users?role=admin&sort=name',
  '/api/posts?limit=2',
  '/api/posts/3/comments',
  '/api/comments/1/likes',
  '/api/products?q=CAF%C3%89',
  '/api/products?sort=-price',
  '/api/orders',
  '/api/orders/3',
  '/api/orders/1/receipt',
  '/api/customers/1/orders',
  '/api/users/2/avatar',
  `/graphql?${encodeURI(query)}`,
]

const answers = (ask: Ask) => Promise.all(paths.map(path => ask(`GET ${path}`)))

test('all of a store is on PostgreSQL after a move, and earlier ids, cursors, tags, tokens and sessions stay valid', {
  skip,
}, async () => {
  const source = fresh()
  const target = await database()
  const people = { DUET_PEOPLE_SECRET: peopleSecret, DUET_PUBLIC_URL: 'http://localhost:3000' }
  const before = await serve({ ...source.settings, ...people })
  const ask = asker(before.url)
  await fill(ask)
  const { email } = (await ask('GET /api/users/2')).json
  const added = await command(['people', 'add', '--email', email], source.settings)
  const body = { token: /#link=(\S+)/.exec(added.stdout)?.[1] }
  const { session } = await send(before.url, 'POST /auth/sign-in/link', { body })
  const tokenOf = async (url: string) =>
    (await send(url, 'GET /auth/token', { bearer: session })).json.token
  const token = await tokenOf(before.url)
  const told = await answers(ask)
  const cursor = told[3]?.json.nextCursor
  const restOfPosts = await ask(`GET /api/posts?limit=2&cursor=${cursor}`)
  const kept = await ask('POST /api/orders', keyed)
  await before.end()
  storeLong(source.file)

  const secretive = new URL(target.url)
  secretive.password = 'not-to-be-told'
  const moved = await command(['move', '--to', secretive.href], source.settings)
  assert.equal(moved.code, 0, moved.stderr)
  const lines = moved.stdout.trimEnd().split('\n')
  const last = lines.pop()
  for (const line of lines.slice(1)) assert.match(line, /^\w+ +[\d,]+ {2}[0-9a-f]{12} {2}ok$/)
  assert.match(moved.stdout, /^users +5 /m)
  assert.match(moved.stdout, /^replies +2 /m)
  assert.match(last ?? '', /^moved .*duet\.db to postgres:\/\/[^@]+; set DUET_DATABASE_URL to /)
  assert.match(moved.stderr, /^moving users 5$/m)
  assert.doesNotMatch(moved.stdout + moved.stderr, /not-to-be-told/)

  const files = { DUET_FILES: join(dirname(source.file), 'files') }
  const after = await serve({ ...target.settings, ...people, ...files })
  const there = asker(after.url)
  const now = await answers(there)
  for (const [index, path] of paths.entries()) {
    assert.equal(told[index]?.status, 200, `${path}: ${told[index]?.text}`)
    assert.deepEqual(now[index], told[index], path)
    const etag = told[index]?.etag
    if (!etag) continue
    const again = await there(`GET ${path}`, { headers: { 'If-None-Match': etag } })
    assert.equal(again.status, 304, path)
  }
  assert.equal(typeof cursor, 'string')
  assert.deepEqual(await there(`GET /api/posts?limit=2&cursor=${cursor}`), restOfPosts)
  assert.deepEqual(await there('POST /api/orders', keyed), kept)
  for (const bearer of [token, await tokenOf(after.url)]) {
    const renamed = await send(after.url, 'PATCH /api/users/2', { bearer, body: { name: 'Moved' } })
    assert.equal(renamed.status, 200)
  }
  const ids = async (path: string, asking: Asking) => (await there(`POST ${path}`, asking)).json.id
  // 6 and 7 were given out, and their users are gone.
  assert.equal(await ids('/api/users', { body: { name: 'New', email: 'new@example.org' } }), 8)
  assert.equal(await ids('/api/orders', { as: 3, body: order }), 5)
  await after.end()

  const place = `${folder}/others`
  const again = await command(['move', '--to', target.url, '--files', place], source.settings)
  assert.ok(again.code === 1 && !existsSync(place))
  assert.match(
    again.stderr,
    /^duet: the target has content already \(users\): name an empty database/,
  )
})

const countOf = async (client: Client, table: string): Promise<number> =>
  Number((await client.query(`select count(*) from ${table}`)).rows[0].count)

/** How many others are connected to the database. */
const othersIn = (client: Client): Promise<number> =>
  countOf(client, 'pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()')

const sizes = ['--users', '40', '--posts', '300', '--comments', '6000', '--products', '60']

test('a move that is cut off, or finds a difference, leaves nothing and is done whole by another one', {
  skip,
}, async () => {
  const source = fresh()
  const target = await database()
  const move = ['move', '--to', target.url]
  const made = await Promise.all([
    command(['seed', ...sizes], source.settings),
    command(['migrate'], target.settings),
  ])
  assert.deepEqual(
    made.map(({ code }) => code),
    [0, 0],
  )
  const client = await connected(target.url)
  const isEmpty = async () =>
    (await countOf(client, 'users')) + (await countOf(client, 'posts')) === 0
  const trigger = (table: string, when: string, text: string) =>
    client.query(`create or replace function odd() returns trigger language plpgsql as $$ begin ${text} end $$;
      create trigger odd ${when} insert on ${table} for each row execute function odd()`)

  await trigger('comments', 'after', 'perform pg_sleep(0.01); return null;')
  const running = start(move, source.settings)
  await until('others have come', () => running.stderr().includes('moving posts 300\n'))
  running.child.kill('SIGKILL')
  await running.closed
  await until('its session is gone', async () => (await othersIn(client)) === 0)
  assert.ok(await isEmpty())

  await client.query('drop trigger odd on comments')
  await trigger('users', 'before', 'if new.id = 7 then new.age = 149; end if; return new;')
  const different = await command(move, source.settings)
  assert.equal(different.code, 1)
  assert.match(different.stdout, /^users +40 {2}\w+ {2}differs: 40 rows, \w+ in the target$/m)
  assert.match(different.stdout, /^comments +6,000 {2}\w+ {2}ok$/m)
  assert.match(different.stderr, /^duet: users not the same in the target: nothing was moved$/m)
  assert.ok(await isEmpty())

  await client.query('drop trigger odd on users; alter table users add check (id <> 40)')
  const clashing = await command(move, source.settings)
  assert.equal(clashing.code, 1)
  assert.match(
    clashing.stderr,
    /\nduet: users cannot be moved \(.*users_id_check.*\): nothing was; /,
  )

  await client.query('alter table users drop constraint users_id_check1')
  const whole = await command(move, source.settings)
  assert.equal(whole.code, 0, whole.stderr)
  assert.match(whole.stderr, /^moving users 40$/m)
  assert.deepEqual((await client.query("select sum(n) from counts where field = ''")).rows, [
    { sum: '100' },
  ])
  await client.end()
})

test('a move is refused while either side is served, into what has content, and in any other direction, and changes neither side then', {
  skip,
}, async () => {
  const source = fresh()
  const target = await database()
  const move = ['move', '--to', target.url]
  const serving = await serve(source.settings)
  const served = await command(move, source.settings)
  assert.equal(served.code, 1)
  assert.match(served.stderr, /^duet: a server serves \S+: stop the server first, then move\n$/)
  await serving.end()
  const earlier = "drop table admin_views; delete from migrations where name like '%0007-views'"
  const file = new DatabaseSync(source.file)
  file.exec(earlier)

  const production = { ...target.settings, DUET_ENV: 'production', DUET_HOST: '127.0.0.1' }
  const there = await serve(production, '--migrate')
  const toServed = await command(move, source.settings)
  assert.match(toServed.stderr, /^duet: another Duet is connected to the target: stop it first/)
  await there.end()

  const client = await connected(target.url)
  await client.query(earlier)
  const nowhere = await command([...move, '--files', `${source.file}/files`], source.settings)
  assert.match(nowhere.stderr, /leads through a file/)
  await client.query(
    "insert into users (name, email, email_key, created_at) values ('Ada', 'a@x', 'a@x', 0)",
  )
  await client.end()
  const toUsed = await command(move, source.settings)
  assert.match(
    toUsed.stderr,
    /^duet: the target has content already \(users\): name an empty database\n$/,
  )
  const views = "select 1 from migrations where name like '%views'"
  const after = await connected(target.url)
  assert.deepEqual((await after.query(views)).rows, [])
  await after.end()
  assert.deepEqual(file.prepare(views).all(), [])
  file.close()

  const usage = await Promise.all([
    command(['move'], source.settings),
    command(['move', '--to', 'postgres://u:word@host'], source.settings),
  ])
  for (const { code, stderr } of usage) {
    assert.equal(code, 2)
    assert.match(stderr, /^duet: --to (is missing|must be postgres:\/\/USER)/)
    assert.doesNotMatch(stderr, /word@/)
  }
  const back = await command(move, target.settings)
  assert.equal(back.code, 1)
  assert.match(back.stderr, /^duet: the store is a PostgreSQL database: duet move goes from SQLite/)
})
