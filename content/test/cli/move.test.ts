import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import type { Client } from 'pg'
import { mint } from '#auth/token.ts'
import { command } from '#test/commands.ts'
import { duet, folderOf, type Settings, serve, start } from '#test/duet.ts'
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

  const again = await command(['move', '--to', target.url], source.settings)
  assert.equal(again.code, 1)
  assert.match(
    again.stderr,
    /^duet: the target has content already \(replies\) that is not of an unfinished move/,
  )
})

/** Makes each batch of comments that comes in last so long, so that a move can be cut there. */
const slow = (client: Client, seconds: number) =>
  client.query(`create or replace function slow() returns trigger language plpgsql as
    $$ begin perform pg_sleep(${seconds}); return null; end $$;
    create or replace trigger slow after insert on comments for each statement execute function slow()`)

const countOf = async (client: Client, table: string): Promise<number> =>
  Number((await client.query(`select count(*) from ${table}`)).rows[0].count)

/** How many others are connected to the database. */
const othersIn = (client: Client): Promise<number> =>
  countOf(client, 'pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()')

const sizes = ['--users', '40', '--posts', '300', '--comments', '6000', '--products', '60']

test('a move that is killed continues; until it has ended nothing else uses the target, and differences are found', {
  skip,
}, async () => {
  const source = fresh()
  const target = await database()
  const move = ['move', '--to', target.url]
  const other = fresh()
  const made = await Promise.all([
    command(['seed', ...sizes], source.settings),
    command(['migrate'], target.settings),
    command(['migrate'], other.settings),
  ])
  assert.deepEqual(
    made.map(({ code }) => code),
    [0, 0, 0],
  )
  const client = await connected(target.url)
  await slow(client, 0.5)

  let here = 0
  for (let kill = 0; kill < 3; kill++) {
    const running = start(move, source.settings)
    await until('some have come', async () => (await countOf(client, 'comments')) > here)
    running.child.kill('SIGKILL')
    await running.closed
    await until('its session is gone', async () => (await othersIn(client)) === 0)
    const now = await countOf(client, 'comments')
    assert.ok(now > here && now < 6000, `${now} comments`)
    here = now
  }

  const rows = join(folder, 'users.ndjson')
  writeFileSync(rows, '{"name":"A","email":"a@example.org"}\n')
  const refused = await Promise.all([
    duet(['serve'], { ...target.settings, DUET_PORT: '0' }),
    command(['import', 'users', rows], target.settings),
    command(['seed'], target.settings),
  ])
  for (const { code, stderr } of refused) {
    assert.equal(code, 1)
    assert.match(stderr, /^duet: a move into this database is unfinished: run the same/)
  }
  const mixed = await command(move, other.settings)
  assert.equal(mixed.code, 1)
  assert.match(mixed.stderr, /^duet: a move of another store into the target is unfinished/)

  await slow(client, 0)
  await client.query('update users set age = 149 where id = 7')
  const different = await command(move, source.settings)
  assert.equal(different.code, 1)
  assert.match(different.stdout, /^users +40 {2}\w+ {2}differs: 40 rows, \w+ in the target$/m)
  assert.match(different.stdout, /^comments +6,000 {2}\w+ {2}ok$/m)
  assert.match(different.stderr, /^moving users 0$/m)
  assert.match(different.stderr, /^duet: users not the same: .* --restart\n$/m)

  // As if the address had changed from user 40 to user 41 between two runs.
  const taken =
    'insert into users (name, email, email_key, created_at, id) select name, email, email_key, 1, 41'
  await client.query(`create temp table gone as select * from users where id = 40;
    delete from users where id = 40; update moves set last = '[39]' where name = 'users';
    ${taken} from gone`)
  const clashing = await command(move, source.settings)
  assert.equal(clashing.code, 1)
  assert.match(clashing.stderr, /\nduet: users cannot be moved \(.*email_key.*\): .* --restart\n$/)

  const whole = await command([...move, '--restart'], source.settings)
  assert.equal(whole.code, 0, whole.stderr)
  assert.match(whole.stderr, /^moving users 40$/m)
  assert.equal(await countOf(client, 'moves'), 0)
  assert.deepEqual((await client.query("select sum(n) from counts where field = ''")).rows, [
    { sum: '100' },
  ])
  await client.end()
})

test('a move is refused while either side is served, and in any other direction', {
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

  const production = { ...target.settings, DUET_ENV: 'production', DUET_HOST: '127.0.0.1' }
  const there = await serve(production, '--migrate')
  const toServed = await command(move, source.settings)
  assert.equal(toServed.code, 1)
  assert.match(toServed.stderr, /^duet: another Duet is connected to the target: stop it first/)
  await there.end()

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
