/** Which requests wait for their turn as writes, and what has come before they wait. */
import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import type { Connections } from '#http/connections.ts'
import { createLimiter } from '#http/limit/limiter.ts'
import { noQueue, type QueuedRequest } from '#http/queue.ts'
import { type Asking, createWorld, forAllTests } from '#test/market.ts'
import { ed, keyFiles } from '#test/support/authenticator.ts'
import { setOf } from '#test/support/tokens.ts'

/** Whether those that entered the queue are writes, in order. */
const entered: boolean[] = []
/** The requests whose connections may rest after the answer. */
const paced: string[] = []
const enter = ({ run, isWrite = false }: QueuedRequest) => {
  entered.push(isWrite)
  run()
}
const mayRest: Connections['mayRest'] = ({ req }) => void paced.push(`${req.method} ${req.path}`)
const connections: Connections = { receive: () => {}, mayRest, held: () => 0, end: () => {} }
const world = forAllTests(async () => {
  const world = await createWorld({ edge: { queue: { ...noQueue, enter }, connections } })
  // A token that is not known yet has a turn of its own.
  for (const id of [1, 2]) await world.edge.authenticate(`Bearer ${await world.token(id)}`)
  return world
})
beforeEach(() => {
  entered.splice(0)
  paced.splice(0)
})

const rename = 'mutation Rename { updateUser(id: 2, input: { name: "Ben" }) { name } }'
const both = `query Read { posts(limit: 1) { id } } ${rename}`

const entries: Readonly<Record<string, readonly [boolean, () => Promise<unknown>]>> = {
  'GET in REST': [false, () => world.ask('GET /api/products/1')],
  'PATCH in REST': [true, () => world.ask('PATCH /api/users/2', { as: 2, body: { age: 30 } })],
  'DELETE without a body': [true, () => world.ask('DELETE /api/posts/999', { as: 1 })],
  'QUERY of a list': [
    false,
    () =>
      world.ask('QUERY /api/products', {
        raw: 'limit=1',
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      }),
  ],
  'a query by POST': [false, () => world.gql('{ posts(limit: 1) { id } }')],
  'a mutation': [true, () => world.gql(rename, { as: 2 })],
  'a query that only has the word in it': [
    false,
    () => world.gql('query mutation { posts(limit: 1) { mutation: id } }'),
  ],
  'the query of a document with a mutation too': [
    false,
    () => world.ask('POST /graphql', { body: { query: both, operationName: 'Read' } }),
  ],
  'the mutation of a document with a query too': [
    true,
    () => world.ask('POST /graphql', { as: 2, body: { query: both, operationName: 'Rename' } }),
  ],
  'a mutation in a body that is received in its turn, as it is long': [
    false,
    () => {
      const raw = JSON.stringify({ query: rename }).padEnd(32_769)
      const headers = { 'Content-Type': 'application/json', 'Content-Length': `${raw.length}` }
      return world.ask('POST /graphql', { as: 2, raw, headers })
    },
  ],
  'a mutation that is not valid': [false, () => world.gql('mutation { nothing }')],
  'a mutation in a body that is no JSON': [
    false,
    () =>
      world.ask('POST /graphql', {
        raw: '{"query":"mutation',
        headers: { 'Content-Type': 'application/json' },
      }),
  ],
}

for (const [what, [isWrite, send]] of Object.entries(entries))
  test(`${what} waits as a ${isWrite ? 'write' : 'read'}`, async () => {
    await send()
    assert.deepEqual(entered, [isWrite])
  })

test('a token that is not known is checked in a turn of its own, before its body is received; a lacking right is told in the turn', async () => {
  const body = { name: 'Lamp', category: 'Light', price: 5 }
  const bad = { headers: { Authorization: 'Bearer bad' }, body }
  assert.equal((await world.ask('POST /api/products', bad)).status, 401)
  assert.deepEqual(entered.splice(0), [false])
  assert.equal((await world.ask('POST /api/products', { as: 2, body })).status, 403)
  assert.deepEqual(entered, [true])
})

test('who reads may rest afterwards; who writes, and who asks for the health, is heard at once', async () => {
  await world.ask('GET /healthz')
  await world.ask('PATCH /api/users/2', { as: 2, body: { age: 30 } })
  await world.gql(rename, { as: 2 })
  assert.deepEqual(paced, [])
  await world.ask('GET /api/products/1')
  await world.gql('{ posts(limit: 1) { id } }')
  await world.ask('GET /api/posts', { headers: { Authorization: 'Bearer bad' } })
  assert.deepEqual(paced, ['GET /api/products/1', 'POST /graphql', 'GET /api/posts'])
})

test('who is above the limit is refused without waiting for a turn [H16]', async () => {
  const limiter = createLimiter({ limit: 1, now: () => 0 })
  await using limited = await createWorld({ edge: { ...world.edge, limiter } })
  const statuses = async (asking: Asking) => [
    (await limited.ask('GET /api/products/1', asking)).status,
    (await limited.ask('GET /api/products/1', asking)).status,
    (await limited.ask('PATCH /api/users/2', { ...asking, body: { age: 30 } })).status,
  ]
  assert.deepEqual(await statuses({ as: 2 }), [200, 429, 429])
  assert.deepEqual(entered.splice(0), [false])
  assert.deepEqual(await statuses({}), [200, 429, 429])
  assert.deepEqual(entered.splice(0), [false])
  // A token that is not known goes by its address as long as it is not checked.
  const unknown = { headers: { Authorization: `Bearer ${await limited.token(3)}` } }
  assert.equal((await limited.ask('GET /api/products/1', unknown)).status, 429)
  assert.deepEqual(entered, [])
  limiter.close()
})

test('a token that was accepted before counts for its viewer also where the keys are read again', async () => {
  const { withFile } = keyFiles()
  const { clock, authenticate } = withFile(setOf(ed))
  const limiter = createLimiter({ limit: 2, now: () => 0 })
  await using limited = await createWorld({ edge: { ...world.edge, authenticate, limiter } })
  const statusOf = async (token?: string) => {
    const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` }
    return (await limited.ask('GET /api/products/1', { headers })).status
  }
  const [known, unknown] = [ed.token({ sub: '2' }), ed.token({ sub: '3' })]
  assert.equal(await statusOf(known), 200)
  assert.deepEqual([await statusOf(), await statusOf(), await statusOf()], [200, 200, 429])
  clock.seconds += 5
  assert.deepEqual([await statusOf(unknown), await statusOf(known)], [429, 200])
  limiter.close()
})
