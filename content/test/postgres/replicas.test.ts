/** Replicas as callers see them: which server answers a read, when a write is visible, and the loss of a replica. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { serve } from '#test/duet.ts'
import { ask as askServer, connected } from '#test/postgres/tools/ask.ts'
import { noReplica } from '#test/postgres/tools/replica.ts'
import type { Postgres } from '#test/postgres/tools/server.ts'
import { freePort } from '#test/support/ports.ts'
import { valuesIn } from '#test/support/prometheus.ts'
import { until } from '#test/support/wait.ts'
import { createWorld } from '../world.ts'
import { type Client, clientOf } from './rounds/client.ts'
import { replicated } from './tools/replicated.ts'

const skip = noReplica
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const {
  settingsWith,
  rename,
  nameOf,
  isUsed,
  inThePast,
  whileReading,
  primary,
  replica,
  service,
  client,
} = replicated()

test('reads go to the replica: without a position they may be as old as it is', {
  skip,
}, async () => {
  const report = { type: 'users' }
  const reads: Readonly<Record<string, () => Promise<string>>> = {
    'one thing': () => client.ask('GET /api/users/2', { as: 1 }).then(({ text }) => text),
    'a list': () => client.ask('GET /api/users?search=Name', { as: 1 }).then(({ text }) => text),
    'a picture': () => client.ask('GET /api/users/2/avatar').then(({ text }) => text),
    'a report': () =>
      client
        .ask('POST /api/reports/generate', { as: 1, body: report })
        .then(({ json }) => JSON.stringify(json.totals)),
    'a query': () =>
      client.gql('{ user(id: 2) { name } users { name } }', { as: 1 }).then(({ text }) => text),
  }
  const all = async () => {
    const answers: Record<string, string> = {}
    for (const [what, read] of Object.entries(reads)) answers[what] = await read()
    return answers
  }
  const before = await all()
  await inThePast(async () => {
    await rename()
    const picture = { 'Content-Type': 'image/png' }
    const stored = await client.ask('PUT /api/users/2/avatar', {
      as: 2,
      headers: picture,
      raw: png,
    })
    assert.equal(stored.status, 204, stored.text)
    const body = { name: 'Name', email: `${Math.random()}@example.org` }
    assert.equal((await client.ask('POST /api/users', { body })).status, 201)
    assert.deepEqual(await all(), before)
  })
  const now = await all()
  for (const what of Object.keys(reads)) assert.notEqual(now[what], before[what], what)
})

test("a read that names the position of a write sees it at once, and is the replica's as soon as that shows it", {
  skip,
}, async () => {
  const seen = async ({ name, position }: { readonly name: string; readonly position: string }) => {
    const headers = { 'Duet-Position': position }
    const one = await client.ask('GET /api/users/2', { as: 1, headers })
    const query = await client.gql('{ user(id: 2) { name } }', { as: 1, headers })
    assert.equal(one.json.name, name)
    assert.equal(query.json.data.user.name, name)
  }
  const written = await inThePast(async () => {
    const one = await rename()
    await seen(one)
    assert.notEqual(await nameOf(), one.name)
    return one
  })
  await inThePast(async () => {
    await rename()
    // Old now, but not before the position: the primary was not asked.
    await seen(written)
  })
})

test('a write is seen by the very next read that names it, 200 times [A19]', { skip }, async () => {
  for (let round = 0; round < 200; round++) {
    const { name, position } = await rename()
    const headers = { 'Duet-Position': position }
    const { json } = await client.ask('GET /api/users/2', { as: 1, headers })
    assert.equal(json.name, name)
  }
})

test('every write answers with its position, in both APIs, without a body too, and again with its key', {
  skip,
}, async () => {
  const form = /^1-[0-9A-F]+\/[0-9A-F]+$/
  const key = { 'Idempotency-Key': 'one-key' }
  const email = () => `${Math.random()}@example.org`
  const post = { title: 'T', content: 'c' }
  const order = { items: [{ productId: 3, quantity: 1 }] }
  const { json: made } = await client.ask('POST /api/orders', { as: 2, body: order })
  const { json: liked } = await client.ask('GET /api/comments?limit=1', { as: 1 })
  const like = `/api/comments/${liked.data?.[0]?.id ?? 1}/likes`
  const writes: readonly (readonly [string, Parameters<Client['ask']>[1], number])[] = [
    ['POST /api/users', { body: { name: 'A', email: email() } }, 201],
    ['PUT /api/users/2', { as: 1, body: { name: 'B', email: 'ben@example.org' } }, 200],
    ['POST /api/users/2/posts', { as: 2, body: post, headers: key }, 201],
    ['POST /api/users/2/posts', { as: 2, body: post, headers: key }, 201],
    [`POST ${like}`, { as: 2 }, 0],
    [`DELETE ${like}`, { as: 2 }, 204],
    ['DELETE /api/users/2/avatar', { as: 2 }, 204],
    [`POST /api/orders/${made.id}/pay`, { as: 2 }, 200],
  ]
  for (const [line, asking, status] of writes) {
    const written = await client.ask(line, asking)
    if (status > 0) assert.equal(written.status, status, `${line} ${written.text}`)
    assert.match(written.headers.get('duet-position') ?? '', form, line)
  }
  const mutation = `mutation { createUser(input: {name: "C", email: "${email()}"}) { id } }`
  const first = await client.gql(mutation, { as: 1, headers: { 'Idempotency-Key': 'another' } })
  const again = await client.gql(mutation, { as: 1, headers: { 'Idempotency-Key': 'another' } })
  assert.deepEqual(again.json, first.json)
  assert.equal(again.headers.get('idempotency-replayed'), 'true')
  for (const { headers } of [first, again]) assert.match(headers.get('duet-position') ?? '', form)
})

const bad = [
  'x',
  '1',
  '0/',
  '1-',
  '-0/0',
  '1-1-0/0',
  'x-0/0',
  '12345678901-0/0',
  '/0',
  '0/G',
  '0/123456789',
  '0/1, 0/2',
  '-1/0',
  '0/0/0',
  "0/0'",
  '٣/٤',
]

test('what is no position is refused with 400, with replicas and without', { skip }, async () => {
  await using alone = await createWorld({ on: 'postgres' })
  for (const asked of [client, alone])
    for (const text of bad) {
      const headers = { 'Duet-Position': encoded(text) }
      const one = await asked.ask('GET /api/users/2', { as: 1, headers })
      assert.equal(one.status, 400, text)
      assert.equal(one.json.error.code, 'MALFORMED_REQUEST')
      assert.match(one.json.error.message, /Duet-Position/)
      const query = await asked.gql('{ users { id } }', {
        as: 1,
        headers: { ...headers, Accept: 'application/graphql-response+json' },
      })
      assert.equal(query.status, 400, text)
      assert.equal(query.json.errors[0].extensions.code, 'MALFORMED_REQUEST')
    }
})

test('on SQLite, which has no positions, it is passed over', async t => {
  const world = await createWorld()
  t.after(() => world.close())
  for (const text of bad) {
    const headers = { 'Duet-Position': encoded(text) }
    assert.equal((await world.ask('GET /api/users/2', { as: 1, headers })).status, 200)
    assert.equal((await world.gql('{ users { id } }', { as: 1, headers })).json.errors, undefined)
  }
})

/** Header values are bytes. */
const encoded = (text: string) => Buffer.from(text).toString('latin1')

test("a position that nobody has come to is the primary's to answer", { skip }, async () => {
  const { name } = await rename()
  const headers = { 'Duet-Position': '1-FFFFFFFF/FFFFFFFF' }
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => client.ask('GET /api/users/2', { as: 1, headers })),
  )
  for (const { json } of answers) assert.equal(json.name, name)
})

for (const mode of ['fast', 'immediate'] as const)
  test(`a replica that is stopped (${mode}) under load fails no read, and is taken back when it is there`, {
    skip,
  }, async t => {
    const reads = await whileReading(async more => {
      await more()
      await replica().stop(mode)
      await more()
      await replica().start()
      await until('it is connected to', async () => Number(await sessionsOn(replica())) > 0)
      await more()
    })
    await until('the replica is used', isUsed)
    t.diagnostic(`${reads} reads`)
  })

const sessionsOn = ({ url }: Postgres) =>
  askServer(url, "select count(*)::int from pg_stat_activity where application_name = 'duet'")

test('reads that a replica cancels for what it is sent are answered by the primary', {
  skip,
}, async t => {
  const order = { items: [{ productId: 3, quantity: 1 }] }
  assert.equal((await client.ask('POST /api/orders', { as: 2, body: order })).status, 201)
  // Enough for a report to take a while.
  await askServer(
    primary().url,
    `insert into orders (customer_id, status, amount, currency, created_at)
      select (select min(id) from customers), 'paid', 100, 'USD', n * 60000 from generate_series(1, 20000::bigint) as n`,
  )
  await replica().caughtUp()
  const session = await connected(primary().url)
  t.after(() => session.end())
  const cancelled = () =>
    askServer(
      replica().url,
      'select (sum(confl_lock) + sum(confl_snapshot))::int from pg_stat_database_conflicts',
    )
  const reads = await whileReading(() =>
    until('some are cancelled', async () => {
      await session.query('begin; lock table orders in access exclusive mode; commit')
      return Number(await cancelled()) > 3
    }),
  )
  const count = Number(await cancelled())
  t.diagnostic(`${count} of ${reads} reads were cancelled`)
})

test('a service whose replica is not there starts, says so, and reads from the primary', {
  skip,
}, async t => {
  const nowhere = `postgres://postgres@127.0.0.1:${await freePort()}/postgres`
  const alone = await serve(settingsWith(nowhere))
  t.after(() => alone.end())
  const asked = clientOf(alone)
  const { name } = await rename(asked)
  assert.equal(await nameOf({}, asked), name)
  assert.equal((await asked.ask('GET /readyz')).status, 200)
  await until('it says so', () => alone.stdout().includes('replica 1 cannot be used'))
})

describe('a replica that is far behind', { skip }, () => {
  /** The lag that the metrics have for the replica, in seconds. */
  const lag = async () => {
    const [, address = ''] = / with metrics on (\S+)/.exec(service().stderr()) ?? []
    const values = valuesIn(await (await fetch(address)).text())
    const [found] = [...values].filter(([key]) => key.startsWith('duet_replica_lag_seconds{'))
    return found?.[1] ?? Number.NaN
  }

  test('a replica that is far behind is left out until it has caught up, and both are told', async () => {
    await until('it is not behind', async () => (await lag()) === 0)
    const name = await inThePast(async () => {
      const { name } = await rename()
      assert.notEqual(await nameOf(), name)
      await until('it is left out', async () => (await nameOf()) === name)
      assert.ok((await lag()) >= 9)
      return name
    })
    assert.equal(await nameOf(), name)
    await until('the replica is used', isUsed)
    await until('it is not behind any more', async () => (await lag()) === 0)
    await until('both are told', () =>
      /"level":50,.*10 s behind.*\n.*"level":40,.*replica 1 can be used again/.test(
        service().stdout(),
      ),
    )
  })
})
