/** Rate limits: the headers, the refusal above the limit, and which requests count together. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createAuthenticator } from '#auth/authenticate.ts'
import content from '#content/duet.config.ts'
import { createLimiter, type LimiterOptions } from '#http/limit/limiter.ts'
import { serveApp } from '#test/support/served.ts'
import { refuses } from '../rest.ts'
import { type Answered, createWorld, secret, type World } from '../world.ts'

/** A world in which each caller has so many requests a minute; a minute begins with it. */
const limited = async (limit: number, options: Partial<LimiterOptions> = {}) => {
  const clock = { now: Date.UTC(2026, 5, 1) }
  const now = () => clock.now
  const { superuser } = content.viewers.roles
  const limiter = createLimiter({ limit, now, superuser, ...options })
  const world = await createWorld({ edge: { limiter }, now, people: {} })
  after(world.close)
  return { world, clock }
}

const rateOf = ({ headers }: Answered) => headers.get('ratelimit')

const left = (answer: Answered) =>
  Number(/^"default";r=(\d+);t=\d+$/.exec(rateOf(answer) ?? '')?.[1])

const useUp = async (world: World, times: number, as?: number) => {
  for (let n = 0; n < times; n++) await world.ask('GET /api/posts', as === undefined ? {} : { as })
}

/** Asserts that this is the refusal of the REST API, with so many seconds to wait. */
const isRefused = (answer: Answered, limit: number, seconds: number) => {
  refuses(answer, 429, 'RATE_LIMITED')
  assert.equal(answer.headers.get('retry-after'), String(seconds))
  assert.equal(answer.headers.get('ratelimit-policy'), `"default";q=${limit};w=60`)
  assert.equal(rateOf(answer), `"default";r=0;t=${seconds}`)
}

test('every answer of both APIs says the limit, what is left and when it ends', async () => {
  const { world, clock } = await limited(6000)
  const { etag } = Object.fromEntries((await world.ask('GET /api/posts/1')).headers)
  const lines: [string, number, object?][] = [
    ['GET /api/posts', 200],
    ['HEAD /api/posts', 200],
    ['GET /api/posts/1', 304, { headers: { 'If-None-Match': etag } }],
    ['GET /api/posts/99', 404],
    ['GET /api/nothing', 404],
    ['PUT /api/posts', 405],
    ['GET /api/posts?limit=x', 422],
    ['GET /api/users', 401],
    ['GET /api/posts', 401, { headers: { Authorization: 'Bearer a.b.c' } }],
    ['GET /api/posts/%ff', 400],
    [`GET /api/posts?x=${'x'.repeat(5000)}`, 414],
    ['GET /graphql?query={posts{id}}', 200],
    ['POST /graphql', 200, { body: { query: '{nothing}' } }],
    ['POST /graphql', 400, { body: {} }],
    ['PUT /graphql', 405],
  ]
  let rest = 5999
  for (const [line, status, asking] of lines) {
    clock.now += 1000
    const answer = await world.ask(line, asking)
    assert.equal(answer.status, status, line)
    assert.equal(answer.headers.get('ratelimit-policy'), '"default";q=6000;w=60', line)
    rest--
    const seconds = 60 - (5999 - rest)
    assert.equal(rateOf(answer), `"default";r=${rest};t=${seconds}`, line)
  }
})

test('the last request within the limit is served and the next is refused, until the minute is over', async () => {
  const { world, clock } = await limited(3)
  const answers = []
  for (let n = 0; n < 3; n++) answers.push(await world.ask('GET /api/posts'))
  assert.deepEqual(answers.map(left), [2, 1, 0])
  assert.ok(answers.every(({ status, headers }) => status === 200 && !headers.has('retry-after')))
  isRefused(await world.ask('GET /api/posts'), 3, 60)
  clock.now += 59_999
  isRefused(await world.ask('GET /api/posts'), 3, 1)
  clock.now += 1
  const next = await world.ask('GET /api/posts')
  assert.equal(next.status, 200)
  assert.equal(rateOf(next), '"default";r=2;t=60')
})

test('in GraphQL the refusal is 429 with its code in extensions, whatever is accepted', async () => {
  const { world } = await limited(1)
  await useUp(world, 1)
  for (const accept of ['application/json', 'application/graphql-response+json', '*/*']) {
    const answer = await world.gql('{ posts { id } }', { headers: { Accept: accept } })
    assert.equal(answer.status, 429)
    assert.deepEqual(Object.keys(answer.json), ['errors'])
    assert.equal(answer.json.errors[0].extensions.code, 'RATE_LIMITED')
    assert.equal(answer.headers.get('retry-after'), '60')
    assert.equal(rateOf(answer), '"default";r=0;t=60')
  }
})

test('each user has a limit of their own, with all tokens together, and anonymous another [H5]', async () => {
  const { world } = await limited(2)
  await useUp(world, 2, 2)
  isRefused(await world.ask('GET /api/posts', { as: 2 }), 2, 60)
  const asAdmin = { headers: { Authorization: `Bearer ${await world.token(2, 'admin')}` } }
  isRefused(await world.ask('GET /api/posts', asAdmin), 2, 60)
  assert.equal(left(await world.ask('GET /api/posts', { as: 3 })), 1)
  assert.equal(left(await world.ask('GET /api/posts')), 1)
})

test('a bad token counts for the address, and is refused with it [E15]', async () => {
  const { world } = await limited(2)
  const bad = { headers: { Authorization: 'Bearer a.b.c' } }
  assert.equal((await world.ask('GET /api/posts', bad)).status, 401)
  assert.equal(left(await world.ask('GET /api/posts')), 0)
  isRefused(await world.ask('GET /api/posts', bad), 2, 60)
})

test('probes, pages and preflights are not counted and say nothing of limits', async () => {
  const { world } = await limited(1)
  const html = { headers: { Accept: 'text/html' } }
  await useUp(world, 2)
  const lines: [string, number, object?][] = [
    ['GET /healthz', 200],
    ['GET /readyz', 200],
    ['GET /', 200, html],
    ['GET /graphql', 200, html],
    ['OPTIONS /api/posts', 204],
    ['OPTIONS /graphql', 204],
    ['GET /apis', 404],
  ]
  for (const [line, status, asking] of lines) {
    const answer = await world.ask(line, asking)
    assert.equal(answer.status, status, line)
    assert.equal(rateOf(answer), null, line)
    assert.equal(answer.headers.get('ratelimit-policy'), null, line)
  }
})

test('what sign-in and the admin ask for is counted with the rest [H5, E15]', async () => {
  const { world } = await limited(1)
  await useUp(world, 1)
  for (const line of ['GET /auth/get-session', 'GET /auth/jwks', 'GET /admin/model.json'])
    assert.equal((await world.ask(line)).status, 429, line)
})

test('a refused write does nothing, is not read, and leaves its Idempotency-Key free [C9]', async () => {
  const { world, clock } = await limited(1)
  const headers = { 'Idempotency-Key': 'once' }
  const body = { title: 'New', content: 'new' }
  await useUp(world, 1, 2)
  isRefused(await world.ask('POST /api/users/2/posts', { as: 2, headers, body }), 1, 60)
  isRefused(await world.ask('POST /api/users/2/posts', { as: 2, raw: '{' }), 1, 60)
  clock.now += 60_000
  const made = await world.ask('POST /api/users/2/posts', { as: 2, headers, body })
  assert.equal(made.status, 201)
  assert.equal(made.headers.get('idempotency-replayed'), null)
  assert.equal(made.json.id, 5)
})

test('without a limit there are no such headers', async () => {
  const world = await createWorld()
  after(world.close)
  const answer = await world.ask('GET /api/posts')
  assert.equal(rateOf(answer), null)
  assert.equal(answer.headers.get('ratelimit-policy'), null)
})

test('near the limit a process waits for the total of all processes', async () => {
  const { world } = await limited(10, {
    rateCounts: async (_, seen) => new Map([...seen].map(([key, n]) => [key, n + 8])),
  })
  await useUp(world, 1)
  assert.equal(left(await world.ask('GET /api/posts')), 1)
})

test('over a socket the address counts, and X-Forwarded-For from trusted proxies alone [H15]', async () => {
  for (const [proxies, expected] of [
    [[], [4, 3, 2, 1]],
    [['127.0.0.1'], [4, 4, 3, 3]],
  ] as const) {
    const { world } = await limited(5, { proxies })
    const { server, origin } = await serveApp(world.app.fetch)
    const rests = []
    for (const forwarded of [
      '203.0.113.1',
      '203.0.113.2',
      '1.1.1.1, ::ffff:203.0.113.1',
      '9.9.9.9,203.0.113.2',
    ]) {
      const response = await fetch(`${origin}/api/posts/1`, {
        headers: { 'X-Forwarded-For': forwarded },
      })
      await response.arrayBuffer()
      rests.push(Number(/r=(\d+)/.exec(response.headers.get('ratelimit') ?? '')?.[1]))
    }
    assert.deepEqual(rests, expected)
    await new Promise(resolve => server.close(resolve))
  }
})

const mutations = (count: number) =>
  `mutation { ${Array.from({ length: count }, (_, n) => `m${n}: updateUser(id: 2, input: { age: ${n} }) { id }`).join(' ')} }`
const ageOf = async (world: World) =>
  (await world.rows('select age from users where id = 2'))[0]?.[0]

test('an operation with n mutations counts n, and is refused before the first where that is above the limit [C16, D20]', async () => {
  const { world } = await limited(10)
  const first = await world.gql(mutations(6), { as: 2 })
  assert.equal(first.status, 200)
  assert.equal(left(first), 4)
  assert.equal(Number(await ageOf(world)), 5)
  const refused = await world.gql(mutations(5), { as: 2 })
  assert.equal(refused.status, 429)
  assert.equal(refused.json.errors[0].extensions.code, 'RATE_LIMITED')
  assert.ok(Number(refused.headers.get('retry-after')) >= 1)
  assert.equal(Number(await ageOf(world)), 5)
  const fitting = await world.gql(mutations(3), { as: 2 })
  assert.equal(fitting.status, 200)
  assert.equal(left(fitting), 0)
  assert.equal((await world.gql('{ posts { id } }', { as: 2 })).status, 429)
})

test('above the limit of its address a token is refused before its signature is checked [E15]', async () => {
  const authenticate = createAuthenticator({ secret }, content.viewers, Date.now)
  let checks = 0
  const limiter = createLimiter({ limit: 3, now: () => Date.UTC(2026, 5, 1) })
  const world = await createWorld({
    edge: {
      limiter,
      authenticate: (authorization, beforeCheck) =>
        authenticate(authorization, () => {
          beforeCheck?.(false)
          checks++
        }),
    },
  })
  after(world.close)
  const ask = async (as: number, changed = '') =>
    world.ask('GET /api/posts', {
      headers: { Authorization: `Bearer ${await world.token(as)}${changed}` },
    })
  assert.equal((await ask(2)).status, 200)
  for (let n = 0; n < 3; n++) assert.equal((await ask(1, `${n}AAA`)).status, 401)
  assert.equal(checks, 4)
  isRefused(await ask(1, 'BAAA'), 3, 60)
  isRefused(await ask(3), 3, 60)
  assert.equal(checks, 4)
  // A token that was checked before is not new.
  assert.equal((await ask(2)).status, 200)
})

test('the sign-ups of one caller are limited, each one of an operation too, and those of an admin not [D20, F6]', async () => {
  const { world, clock } = await limited(1000, {
    creations: content.creationRates({ DUET_SIGNUP_RATE: 5 }),
  })
  let count = 0
  const body = () => ({ name: 'New', email: `new${++count}@example.org` })
  const signUp = (as?: number) => world.ask('POST /api/users', { body: body(), ...(as && { as }) })
  const many = (n: number) =>
    world.gql(
      `mutation { ${Array.from({ length: n }, (_, at) => `m${at}: createUser(input: { name: "New", email: "${body().email}" }) { id }`).join(' ')} }`,
    )
  assert.equal((await signUp()).status, 201)
  assert.equal((await many(3)).json.errors, undefined)
  const users = async () => Number((await world.rows('select count(*) from users'))[0]?.[0])
  const before = await users()
  const over = await many(2)
  assert.equal(over.json.errors[0].extensions.code, 'RATE_LIMITED')
  assert.equal(over.status, 429)
  assert.equal(await users(), before)
  const refused = await signUp()
  refuses(refused, 429, 'RATE_LIMITED')
  assert.equal(refused.headers.get('retry-after'), '60')
  assert.equal((await signUp(1)).status, 201)
  // A user is a caller too, and has as many.
  for (let n = 0; n < 5; n++) assert.equal((await signUp(2)).status, 201)
  refuses(await signUp(2), 429, 'RATE_LIMITED')
  assert.equal((await world.ask('GET /api/posts')).status, 200)
  clock.now += 60_000
  for (let n = 0; n < 5; n++) assert.equal((await signUp()).status, 201)
  assert.equal((await signUp()).status, 429)
})

test('a sign-up that is refused or repeated counts as one too', async () => {
  const { world } = await limited(1000, {
    creations: content.creationRates({ DUET_SIGNUP_RATE: 3 }),
  })
  const body = { name: 'New', email: 'new@example.org' }
  const keyed = { body, headers: { 'Idempotency-Key': 'once' } }
  assert.equal((await world.ask('POST /api/users', keyed)).status, 201)
  assert.equal((await world.ask('POST /api/users', keyed)).status, 201)
  refuses(await world.ask('POST /api/users', { body }), 409, 'EMAIL_TAKEN')
  refuses(await world.ask('POST /api/users', { body: {} }), 429, 'RATE_LIMITED')
})
