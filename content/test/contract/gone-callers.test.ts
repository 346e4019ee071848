/** Tokens that name nobody: of a user who was deleted, with an id that never was one, and of services. */
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { mint } from '#auth/token.ts'
import { refuses } from '../rest.ts'
import { createWorld, forAllTests, secret } from '../world.ts'

const world = forAllTests(createWorld)

const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** A token with any subject, which `mint` would refuse. */
const bearer = (sub: string, role: 'user' | 'admin') => {
  const now = Math.floor(Date.now() / 1000)
  const head = base64url({ alg: 'HS256', typ: 'JWT' })
  const signed = `${head}.${base64url({ sub, role, iat: now, exp: now + 600 })}`
  const signature = createHmac('sha256', secret).update(signed).digest('base64url')
  return { Authorization: `Bearer ${signed}.${signature}` }
}

/** A user who is deleted again; gives the id and the headers of a token of theirs, made before. */
const deletedUser = async (role: 'user' | 'admin') => {
  const email = `gone-${role}-${Math.random()}@example.org`
  const { id } = (await world.ask('POST /api/users', { as: 1, body: { name: 'Gone', email } })).json
  const token = await mint({ sub: id, role, ttl: 600 }, secret, Date.now())
  assert.equal((await world.ask(`DELETE /api/users/${id}`, { as: 1 })).status, 204)
  return { id, headers: { Authorization: `Bearer ${token}` } }
}

const picture = new Uint8Array(Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1'))
const writes: readonly (readonly [line: string, body?: unknown])[] = [
  ['POST /api/users', { name: 'x', email: 'x@example.org' }],
  ['PUT /api/users/2', { name: 'x', email: 'x@example.org' }],
  ['PATCH /api/users/2', { age: 1 }],
  ['DELETE /api/users/2'],
  ['POST /api/users/2/posts', { title: 't', content: 'c' }],
  ['PATCH /api/posts/1', { title: 'x' }],
  ['DELETE /api/posts/1'],
  ['POST /api/posts/1/comments', { text: 't' }],
  ['DELETE /api/posts/1/comments/1'],
  ['POST /api/comments/1/likes'],
  ['DELETE /api/comments/1/likes'],
  ['POST /api/products', { name: 'p', category: 'c', price: 1 }],
  ['PATCH /api/products/1', { stock: 1 }],
  ['DELETE /api/products/1'],
  ['POST /api/orders', { items: [{ productId: 1, quantity: 1 }] }],
  ['POST /api/orders/1/pay'],
  ['POST /api/users/2/actions/promote-to-admin'],
  ['POST /api/users/2/verify-email'],
  ['DELETE /api/users/2/avatar'],
]
const mutations = [
  'createUser(input: { name: "x", email: "x@example.org" }) { id }',
  'updateUser(id: 2, input: { age: 1 }) { id }',
  'deleteUser(id: 2)',
  'createPost(input: { title: "t", content: "c", authorId: 2 }) { id }',
]

test('with a token of a deleted user every write is 403, also an admin’s and in both APIs, and changes nothing [E6]', async () => {
  const { id: order } = (
    await world.ask('POST /api/orders', { as: 2, body: { items: [{ productId: 1, quantity: 1 }] } })
  ).json
  assert.equal(order, 1)
  const { headers } = await deletedUser('admin')
  for (const [line, body] of writes) {
    const answer = await world.ask(line, { headers, ...(body !== undefined && { body }) })
    refuses(answer, 403, 'FORBIDDEN')
    assert.match(answer.json.error.message, /does not exist \(any more\)/, line)
  }
  refuses(await world.ask('PUT /api/users/2/avatar', { headers, raw: picture }), 403, 'FORBIDDEN')
  for (const mutation of mutations) {
    const [error] = (await world.gql(`mutation { ${mutation} }`, { headers })).json.errors
    assert.equal(error.extensions.code, 'FORBIDDEN', mutation)
  }
  assert.equal((await world.ask('GET /api/users/2', { as: 1 })).json.name, 'Ben')
})

test('with a token of a deleted user one reads as before, as a user or as an admin', async () => {
  const user = await deletedUser('user')
  assert.equal((await world.ask('GET /api/users', { headers: user.headers })).status, 200)
  refuses(await world.ask('GET /api/orders/1', { headers: user.headers }), 404, 'NOT_FOUND')
  const { headers } = await deletedUser('admin')
  assert.equal((await world.ask('GET /api/orders/1', { headers })).status, 200)
  const report = { headers, body: { type: 'users' } }
  assert.equal((await world.ask('POST /api/reports/generate', report)).status, 200)
})

test('an id that was never given out holds by itself, from the next one on', async () => {
  const { id, headers: gone } = await deletedUser('admin')
  const product = { name: 'p', category: 'c', price: 1 }
  refuses(await world.ask('POST /api/products', { headers: gone, body: product }), 403, 'FORBIDDEN')
  const next = bearer(String(id + 1), 'admin')
  assert.equal(
    (await world.ask('POST /api/products', { headers: next, body: product })).status,
    201,
  )
  refuses(await world.ask('POST /api/comments/1/likes', { headers: next }), 403, 'FORBIDDEN')
})

test('a service’s token, whose subject is no id, does what its role may and nothing as itself', async () => {
  const product = { name: 'p', category: 'c', price: 1 }
  for (const sub of ['billing', '007', '0', '-1', `${2 ** 53}`, 'ß'.repeat(1000)]) {
    const headers = bearer(sub, 'admin')
    assert.equal((await world.ask('GET /api/users', { headers: bearer(sub, 'user') })).status, 200)
    assert.equal((await world.ask('GET /api/orders/1', { headers })).status, 200)
    assert.equal((await world.ask('POST /api/products', { headers, body: product })).status, 201)
    refuses(
      await world.ask('POST /api/products', { headers: bearer(sub, 'user'), body: product }),
      403,
      'FORBIDDEN',
    )
    const liked = await world.ask('POST /api/comments/1/likes', { headers })
    refuses(liked, 403, 'FORBIDDEN')
    assert.match(liked.json.error.message, /names no user/)
    const body = { items: [{ productId: 1, quantity: 1 }] }
    refuses(await world.ask('POST /api/orders', { headers, body }), 403, 'FORBIDDEN')
    const [error] = (
      await world.gql('mutation { updateUser(id: 2, input: { age: 1 }) { id } }', {
        headers: bearer(sub, 'user'),
      })
    ).json.errors
    assert.equal(error.extensions.code, 'FORBIDDEN')
  }
  const paid = await world.ask('POST /api/orders/1/pay', { headers: bearer('billing', 'admin') })
  assert.equal(paid.status, 200)
})

test('each service has idempotency keys of its own, apart from callers without a token [C7]', async () => {
  const make = async (sub: string, name: string) => {
    const headers = { ...bearer(sub, 'admin'), 'Idempotency-Key': 'one' }
    const body = { name, category: 'c', price: 1 }
    return (await world.ask('POST /api/products', { headers, body })).json
  }
  const first = await make('billing', 'p')
  assert.deepEqual(await make('billing', 'p'), first)
  assert.notEqual((await make('shipping', 'p')).id, first.id)
  const headers = { 'Idempotency-Key': 'one' }
  const body = { name: 'Nobody', email: 'nobody@example.org' }
  assert.equal((await world.ask('POST /api/users', { headers, body })).status, 201)
})
