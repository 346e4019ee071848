/** The log of a service that is sent secrets wherever one may stand, and that fails in many ways. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { mint } from '#auth/token.ts'
import { sqliteStore } from '#engines/sqlite/store.ts'
import { folderOf, type Service, serve } from '#test/duet.ts'
import { historyFor } from '#test/history.ts'
import { mailServer } from '#test/mail-server.ts'
import { changeIn, type Look, onPostgres, postgresOf } from '#test/stores.ts'
import { until } from '#test/support/wait.ts'
import { secret } from '../world.ts'

/** Marks of what must be in no line: addresses, and what stands in bodies, queries, cookies, keys and settings. */
const mark = 'mark7Qx'
const address = (n: number | string) => `ada${n}@${mark}.example.org`

const { freshStore } = folderOf('log')
let service: Service
let change: Look
let mail: Awaited<ReturnType<typeof mailServer>>
const tokens: Record<string, string> = {}
before(async () => {
  mail = await mailServer({ refuse: { code: 550, times: 1000 } })
  const store = await freshStore()
  const url = store.settings.DUET_DATABASE_URL
  change = changeIn(
    onPostgres
      ? postgresOf(url)
      : sqliteStore({ file: store.file, migrations: historyFor('sqlite') }),
  )
  service = await serve(
    {
      ...store.settings,
      DUET_ENV: 'production',
      DUET_HOST: '127.0.0.1',
      DUET_LOG: 'info',
      DUET_SLOW: '0ms',
      DUET_PUBLIC_URL: 'https://duet.example.org',
      DUET_SMTP_URL: mail.url,
      DUET_MAIL_FROM: `duet@${mark}.example.org`,
      DUET_SIGNUP_RATE: '50',
    },
    ...(onPostgres ? ['--migrate'] : []),
  )
  const now = Date.now()
  tokens.user = await mint({ sub: 1, role: 'user', ttl: 3600 }, secret, now)
  tokens.admin = await mint({ sub: 1, role: 'admin', ttl: 3600 }, secret, now)
  tokens.old = await mint({ sub: 1, role: 'admin', ttl: 60 }, secret, now - 3_600_000)
  tokens.foreign = await mint({ sub: 1, role: 'admin', ttl: 60 }, secret.toLowerCase(), now)
})
after(async () => {
  await service?.end()
  await mail.close()
})

type Sent = {
  readonly line: string
  readonly by?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

const send = async ({ line, by, headers = {}, body }: Sent): Promise<number> => {
  const [method = '', path = ''] = line.split(' ')
  const authorization = by === undefined ? undefined : (tokens[by] ?? by)
  const response = await fetch(service.url + path, {
    method,
    headers: {
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...(authorization && { Authorization: `Bearer ${authorization}` }),
      Cookie: `session=${mark}`,
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  await response.text()
  return response.status
}

const signUp = (n: number | string): Sent => ({
  line: 'POST /api/users',
  headers: { 'Idempotency-Key': `${mark}-${n}` },
  body: { name: `Ada ${mark}`, email: address(n) },
})
const operation = (query: string, variables: unknown = {}, by?: string): Sent => ({
  line: 'POST /graphql',
  ...(by !== undefined && { by }),
  body: { query, variables },
})
const created = `mutation M($input: CreateUserInput!) { createUser(input: $input) { id email } }`

/** Requests that hold a secret somewhere, good ones and those that are refused for every reason. */
const table = (): readonly Sent[] => [
  signUp(1),
  signUp(1),
  { ...signUp(1), headers: {} },
  { ...signUp(2), body: { name: mark, email: `${mark} no address` } },
  { ...signUp(3), body: `{"email":"${address(3)}"` },
  { ...signUp(4), headers: { 'Content-Type': `text/${mark}` } },
  { ...signUp(5), body: { name: mark.repeat(200_000), email: address(5) } },
  operation(created, { input: { name: mark, email: address(6) } }),
  operation(created, { input: { name: mark, email: address(1) } }),
  operation(created, { input: { name: mark, email: mark, [mark]: 1 } }),
  operation(`mutation { createUser(input: {name: "${mark}", email: "${address(7)}"}) { id } }`),
  operation(`{ users { id } "${address(8)}`),
  operation(`{ posts(authorId: "${address(9)}") { id } }`, {}, 'user'),
  { line: `GET /graphql?query={user(id:1){email}}&x=${mark}`, by: 'user' },
  ...['user', 'admin', 'old', 'foreign', `x.${mark}.y`, mark].map(
    (by): Sent => ({ line: `GET /api/users?search=${mark}&email=${address(1)}`, by }),
  ),
  { line: `GET /api/users?access_token=${tokens.admin}` },
  { line: 'GET /api/users', headers: { Authorization: `Basic ${btoa(`${address(1)}:${mark}`)}` } },
  { line: `GET /api/products?search=${mark}&sort=${mark}&min_price=${mark}` },
  { line: `GET /api/v2/products?${mark}=1` },
  { line: 'GET /api/users/1', by: 'user', headers: { 'X-Request-Id': `${mark} no id` } },
  { line: `GET /api/users/${address(1)}`, by: 'admin' },
  { line: `GET /api/users/${encodeURIComponent(address(1))}`, by: 'admin' },
  { line: `GET /api/${address(1)}/posts` },
  { line: `DELETE /api/users/${tokens.admin}`, by: 'admin' },
  { line: `GET /verify-email?token=${tokens.admin}` },
  { line: 'POST /api/users/1/verify-email', by: 'user', body: { token: mark } },
  { line: 'POST /api/users/1/verify-email', by: 'user' },
  { line: 'PATCH /api/users/1', by: 'user', body: { email: address(10) } },
  { line: 'POST /api/users/1/posts', by: 'user', body: { title: mark, content: mark } },
  { line: 'PUT /api/users/1/avatar', by: 'user', body: mark },
  { line: 'POST /api/orders', by: 'user', body: { items: mark } },
  { line: 'POST /api/products', by: 'user', body: { name: mark } },
]

/** What is sent is no request, or its client goes before the end. */
const raw = async (bytes: string) => {
  const socket = connect(service.port, '127.0.0.1')
  socket.end(bytes)
  await text(socket).catch(() => '')
}

/** Errors of the store that no constraint of the model explains; PostgreSQL tells the row in some of its own. */
const raising = [
  `create function refuse() returns trigger language plpgsql as
    'begin raise exception ''never'' using detail = new.content; end'`,
  'create trigger refuse before insert on posts for each row execute function refuse()',
]
const raisingOnSqlite =
  "create trigger refuse before insert on posts begin select json('never'); end"

const lines = () =>
  service
    .stdout()
    .split('\n')
    .filter(line => line !== '')

/** A sign of each kind that a terminal or a viewer obeys and does not show. */
const signs = [
  '\u007f',
  '\u009b',
  '\u00ad',
  '\u200b',
  '\u202e',
  '\u2028',
  '\u2029',
  '\u2066',
  '\ufeff',
  '\u{e0041}',
]

test('a path with signs that a terminal obeys is logged with all of them escaped, and can be read back [E16]', async () => {
  const path = `/api/x${signs.join('x')}é✓`
  await send({ line: `GET ${encodeURI(path)}` })
  await until('it is logged', () => lines().some(line => line.includes('/api/x')))
  const line = lines().find(line => line.includes('/api/x')) ?? ''
  for (const sign of signs) assert.ok(!line.includes(sign), JSON.stringify(sign))
  assert.match(line, /\\u202e.*\\udb40\\udc41é✓/)
  assert.equal(JSON.parse(line).path, path)
})

test('a slow request is logged with 100 characters of the name of its operation at most [E16]', async () => {
  const [name, short] = ['N'.repeat(15_000), 'N'.repeat(90)]
  for (const one of [name, short]) await send(operation(`query ${one} { posts(limit: 1) { id } }`))
  const named = () =>
    lines().flatMap(line => /"operation":{"name":"(N[^"]*)"/.exec(line)?.slice(1) ?? [])
  await until('both are logged', () => named().length === 2)
  assert.deepEqual(named(), [`${'N'.repeat(97)}…`, short])
})

test('no line of the log has a token, an address, a body, a query, a cookie, a key or a secret [E14]', async () => {
  const sent = table()
  const statuses = new Set<number>()
  for (const one of sent) statuses.add(await send(one))
  for (const status of [200, 201, 400, 401, 403, 404, 409, 413, 415, 422])
    assert.ok(statuses.has(status), `none was answered with ${status}`)
  const head = `Host: a\r\nAuthorization: Bearer ${tokens.admin}\r\nContent-Type: application/json`
  await raw(`GET /api/users/${mark} HTTP/9.9\r\n${head}\r\n\r\n`)
  await raw(`GET /api/users HTTP/1.1\r\n${head}\r\n${mark}\r\n\r\n`)
  await raw(
    `POST /api/users HTTP/1.1\r\n${head}\r\nContent-Length: 900\r\n\r\n{"email":"${address(11)}"`,
  )
  // From now on the store refuses what the model allows, which is a fault of the service.
  await change('alter table comments rename to lost_comments')
  for (const statement of onPostgres ? raising : [raisingOnSqlite]) await change(statement)
  const broken = [
    { line: 'GET /api/posts/1/comments', by: 'user' },
    { line: 'POST /api/posts/1/comments', by: 'user', body: { text: mark } },
    { line: 'POST /api/users/1/posts', by: 'user', body: { title: mark, content: address(1) } },
    operation(
      'mutation M($input: CreatePostInput!) { createPost(input: $input) { id } }',
      { input: { title: mark, content: mark, authorId: 1 } },
      'user',
    ),
  ]
  for (const one of broken) await send(one)
  await until('mail was given up', () => lines().some(line => /mail not sent/.test(line)))
  const { code } = await service.end()
  assert.equal(code, 0)
  const all = lines().map(line => JSON.parse(line))
  const count = (level: number) => all.filter(line => line.level === level).length
  assert.ok(all.filter(({ msg }) => msg === 'request').length >= sent.length + broken.length - 1)
  assert.ok(all.filter(({ msg }) => msg === 'slow').length > 0)
  assert.ok(count(40) > 0)
  assert.ok(count(50) >= broken.length)
  const everything = `${service.stdout()}${service.stderr()}`
  const forbidden = [mark, secret, 'eyJ', ...Object.values(tokens)]
  for (const one of forbidden)
    for (const line of everything.split('\n'))
      assert.ok(!line.toLowerCase().includes(one.toLowerCase()), `${one} is in: ${line}`)
})

test('a process that ends on an error has said all before, in order', () => {
  const program = `
    import { logging } from '#serve/log.ts'
    const { observe } = logging('info')
    const request = { kind: 'request', requestId: 'first', method: 'GET', path: '/', status: 200, milliseconds: 1, viewer: null }
    observe(request)
    observe({ kind: 'notice', message: 'second' })
    observe({ ...request, requestId: 'third' })
    process.exit(0)`
  const args = ['--input-type=module', '--eval', program]
  const lines = execFileSync(process.execPath, args, { encoding: 'utf8' }).trim().split('\n')
  assert.deepEqual(
    lines.map(line => JSON.parse(line)).map(({ requestId, msg }) => requestId ?? msg),
    ['first', 'second', 'third'],
  )
})
