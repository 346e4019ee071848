import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mint } from '#auth/token.ts'
import { rounds } from '#test/support/rounds.ts'
import { until } from '#test/support/wait.ts'
import { purge, startPurging, storedFor } from '#write/idempotency.ts'
import { codeOf } from '../graphql.ts'
import { refuses, refusesInput } from '../rest.ts'
import { checkInvariants } from '../store/invariants.ts'
import { createWorld, forAllTests, secret } from '../world.ts'

let now = Date.now()
const world = forAllTests(async () => {
  const world = await createWorld({ now: () => now })
  await world.change('update products set stock = 100000 where id = 3 returning id')
  return world
})

let keys = 0
const freshKey = () => `key-${++keys}`
/** A token made now, since the clock moves by days here. */
const headersOf = async (as: number, key?: string) => ({
  Authorization: `Bearer ${await mint({ sub: as, role: 'user', ttl: 3600 }, secret, now)}`,
  ...(key !== undefined && { 'Idempotency-Key': key }),
})
const place = async (as: number, key?: string, quantity = 1) =>
  world.ask('POST /api/orders', {
    body: { items: [{ productId: 3, quantity }] },
    headers: await headersOf(as, key),
  })
const pay = async (as: number, id: number, key?: string, body?: unknown) =>
  world.ask(`POST /api/orders/${id}/pay`, {
    ...(body !== undefined && { body }),
    headers: await headersOf(as, key),
  })
const countIn = async (table: string) =>
  Number((await world.rows(`select count(*) from ${table}`))[0]?.[0])
const kept = () => countIn('replies')

test('a pay whose answer was lost is answered again byte for byte, also when the order moved on since [C4]', async t => {
  const lost = rounds(17, 5000)
  for (let round = 0; round < lost; round++) {
    const { id } = (await place(2)).json
    const key = freshKey()
    const first = await pay(2, id, key)
    if (round % 2 === 0) await world.ask(`POST /api/orders/${id}/refund`, { as: 2 })
    const again = await pay(2, id, key)
    assert.equal(again.status, 200)
    assert.equal(again.text, first.text)
    assert.equal(again.headers.get('idempotency-replayed'), 'true')
    assert.equal(again.headers.get('etag'), first.headers.get('etag'))
  }
  await checkInvariants(world.rows)
  t.diagnostic(`${lost} answers`)
})

test('a key with another body, path or method is refused, does nothing, and keeps its first answer [C5]', async () => {
  const key = freshKey()
  const first = await place(2, key)
  const orders = await countIn('orders')
  refuses(await place(2, key, 2), 422, 'IDEMPOTENCY_KEY_REUSED')
  refuses(await pay(2, first.json.id, key), 422, 'IDEMPOTENCY_KEY_REUSED')
  const user = { name: 'K', email: 'k@example.org' }
  const headers = { 'Idempotency-Key': key }
  refuses(
    await world.ask('POST /api/users', { as: 1, body: user }).then(() =>
      world.ask('POST /api/orders', {
        as: 2,
        body: { items: [{ productId: 4, quantity: 1 }] },
        headers,
      }),
    ),
    422,
    'IDEMPOTENCY_KEY_REUSED',
  )
  assert.equal(await countIn('orders'), orders)
  assert.equal((await place(2, key)).text, first.text)
})

test('twenty requests with one key at the same moment have one effect and one answer [C6]', async t => {
  const keys = rounds(9, 1000)
  for (let round = 0; round < keys; round++) {
    const before = await countIn('orders')
    const key = freshKey()
    const answers = await Promise.all(Array.from({ length: 20 }, () => place(2, key)))
    assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
    assert.ok(answers.every(({ status }) => status === 201))
    const first = answers.filter(({ headers }) => headers.get('idempotency-replayed') === null)
    assert.equal(first.length, 1)
    assert.equal(await countIn('orders'), before + 1)
  }
  t.diagnostic(`${keys} times`)
})

test('a key is its caller’s own: with another’s key one gets an effect of one’s own [C7]', async () => {
  for (let round = 0; round < 20; round++) {
    const key = freshKey()
    const [ben, cleo] = await Promise.all([place(2, key), place(3, key)])
    assert.notEqual(ben.json.id, cleo.json.id)
    assert.notEqual(ben.json.customerId, cleo.json.customerId)
    assert.equal(cleo.headers.get('idempotency-replayed'), null)
    refuses(await pay(3, ben.json.id, key), 422, 'IDEMPOTENCY_KEY_REUSED')
    refuses(await pay(3, ben.json.id, freshKey()), 404, 'NOT_FOUND')
  }
})

test('a key of another form than 1 to 255 visible ASCII characters is refused and keeps nothing [C8]', async () => {
  const before = await kept()
  const bad = [
    '""',
    'a b',
    'a'.repeat(256),
    'schlüssel',
    'a\tb',
    '"a b"',
    `"${'a'.repeat(256)}"`,
    'a, b',
  ]
  for (const key of bad) refuses(await place(2, key), 400, 'MALFORMED_REQUEST')
  assert.equal(await kept(), before)
  for (const key of ['a', '"a"', '~!#$%&', 'b'.repeat(255)])
    assert.equal((await place(2, key)).status, 201, key)
})

test('a request that did nothing does not use its key up [C9]', async () => {
  const { id } = (await place(2)).json
  const key = freshKey()
  const headers = { 'Idempotency-Key': key }
  const path = `POST /api/orders/${id}/pay`
  const json = { 'Content-Type': 'application/json' }
  const before = await kept()
  refuses(
    await world.ask(path, { as: 2, raw: '{', headers: { ...headers, ...json } }),
    400,
    'MALFORMED_REQUEST',
  )
  refuses(await world.ask(path, { headers }), 401, 'UNAUTHENTICATED')
  refuses(await pay(4, id, key), 403, 'FORBIDDEN')
  refuses(await pay(3, id, key), 404, 'NOT_FOUND')
  refusesInput(await pay(2, id, key, { odd: 1 }))
  refuses(
    await world.ask(`POST /api/orders/${id}/refund`, { as: 2, headers }),
    409,
    'INVALID_STATE',
  )
  assert.equal(await kept(), before)
  const paid = await pay(2, id, key)
  assert.equal(paid.status, 200)
  assert.equal(paid.headers.get('idempotency-replayed'), null)
})

test('a stored response is not shown to a token of the same caller with another role', async () => {
  const { id } = (await place(3)).json
  const key = freshKey()
  const headers = { 'Idempotency-Key': freshKey() }
  const pays = (role: string) =>
    world.ask(`POST /api/orders/${id}/pay`, { as: 2, role, headers: { 'Idempotency-Key': key } })
  const writes = (role: string) =>
    world.gql('mutation { updateUser(id: 3, input: { age: 40 }) { email } }', {
      as: 2,
      role,
      headers,
    })
  const [paid, changed] = [await pays('admin'), await writes('admin')]
  assert.deepEqual([paid.status, changed.json.errors], [200, undefined])
  refuses(await pays('user'), 422, 'IDEMPOTENCY_KEY_REUSED')
  assert.equal((await writes('user')).json.errors[0].extensions.code, 'IDEMPOTENCY_KEY_REUSED')
  assert.deepEqual(
    [(await pays('admin')).text, (await writes('admin')).text],
    [paid.text, changed.text],
  )
})

const createPost = (as: number, key: string) =>
  world.gql('mutation { createPost(input: { title: "t", content: "c", authorId: 2 }) { id } }', {
    as,
    headers: { 'Idempotency-Key': key },
  })

test('a suspended user gets 403 and not the stored response, in both APIs; active again the user gets it', async () => {
  const key = freshKey()
  const posts = await countIn('posts')
  const placed = await place(2, key)
  const posted = await createPost(2, key)
  const suspend = (status: string) =>
    world.change(`update users set status = '${status}' where id = 2 returning id`)
  await suspend('suspended')
  refuses(await place(2, key), 403, 'FORBIDDEN')
  refuses(await place(2, key, 2), 403, 'FORBIDDEN')
  assert.equal((await createPost(2, key)).json.errors[0].extensions.code, 'FORBIDDEN')
  await suspend('active')
  assert.equal((await place(2, key)).text, placed.text)
  const again = await createPost(2, key)
  assert.equal(again.text, posted.text)
  assert.equal(again.headers.get('idempotency-replayed'), 'true')
  assert.equal(await countIn('posts'), posts + 1)
  await checkInvariants(world.rows)
})

test('REST and GraphQL know one key as two [C5]', async () => {
  const key = freshKey()
  assert.equal((await createPost(2, key)).status, 200)
  const placed = await place(2, `${key}#createPost`)
  assert.equal(placed.status, 201)
  assert.equal(placed.headers.get('idempotency-replayed'), null)
  const scopes = await world.rows(
    `select scope from replies where key = '${key}#createPost' order by 1`,
  )
  assert.deepEqual(
    scopes.map(([scope]) => scope),
    // REST has the scope that it had before GraphQL had one of its own: older responses are still replayed.
    ['graphql user 2', 'user 2'],
  )
})

test('an answer of millions of bytes is stored under a key, and replayed byte for byte; a longer one is refused and does nothing', async () => {
  const content = '😀'.repeat(100_000) // 4 bytes each
  const create = `mutation Long($content: String!) {
    createPost(input: { title: "Long", content: $content, authorId: 3 }) { author { posts { content } } }
  }`
  const headers = await headersOf(3, freshKey())
  const fill = async () => {
    for (let n = 0; n < 5; n++)
      await world.ask('POST /api/users/3/posts', { as: 3, body: { title: 'Long', content } })
  }
  await fill()
  const long = () => world.gql(create, { headers, variables: { content } })
  const first = await long()
  assert.ok(Buffer.byteLength(first.text) > 2_400_000, first.text.slice(0, 500))
  const again = await long()
  assert.equal(again.headers.get('idempotency-replayed'), 'true')
  assert.ok(again.text === first.text)
  await fill()
  const posts = await world.rows('select count(*) from posts')
  const longer = { headers: await headersOf(3, freshKey()), variables: { content } }
  assert.equal(codeOf(await world.gql(create, longer)), 'RESPONSE_TOO_LARGE')
  assert.deepEqual(await world.rows('select count(*) from posts'), posts)
})

test('after a day a key counts no more and is dropped in small batches, and a paid order stays paid once [C10]', async () => {
  const { id } = (await place(2)).json
  const key = freshKey()
  assert.equal((await pay(2, id, key)).status, 200)
  now += storedFor - 1000
  assert.equal((await pay(2, id, key)).headers.get('idempotency-replayed'), 'true')
  now += 2000
  refuses(await pay(2, id, key), 409, 'INVALID_STATE')
  const young = freshKey()
  assert.equal((await place(2, young)).status, 201)
  const insert = (count: number) => ({
    steps: [
      {
        statement: {
          text: `with recursive n (i) as (select 1 union all select i + 1 from n where i < ${count})
            insert into replies (scope, key, fingerprint, made_at, status, body)
            select 'user 2', 'old ' || i, 'f', 1, 200, '' from n returning status`,
          values: [],
        },
        expect: 'any' as const,
      },
    ],
    status: 200,
    answer: null,
  })
  await world.engine.write(insert(3500))
  const sizes: number[] = []
  const writer = {
    write: async (job: Parameters<typeof world.engine.write>[0]) => {
      const outcome = await world.engine.write(job)
      if (outcome.kind === 'done') sizes.push(outcome.rows[0]?.length ?? 0)
      return outcome
    },
  }
  const old = (await kept()) - 1
  assert.equal(await purge({ writer, dialect: world.core.dialect, now: () => now }), old)
  assert.ok(Math.max(...sizes) <= 1000)
  assert.equal(await kept(), 1)
  assert.equal((await place(2, young)).headers.get('idempotency-replayed'), 'true')
})

test('a service drops old responses at its start and then periodically, until it ends [C10]', async () => {
  await place(2, freshKey())
  const { engine, core } = world
  const end = startPurging({ writer: engine, dialect: core.dialect, now: () => now, every: 20 })
  const areDropped = () => until('old answers are dropped', async () => (await kept()) === 0)
  assert.notEqual(await kept(), 0)
  now += storedFor + 1
  await areDropped()
  await place(2, freshKey())
  now += storedFor + 1
  await areDropped()
  end()
})
