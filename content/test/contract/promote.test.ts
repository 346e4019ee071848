/** Making somebody an admin. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { versions } from '#content/versions.ts'
import { refuses, refusesInput } from '../rest.ts'
import { createWorld, forAllTests, pluck } from '../world.ts'

const world = forAllTests(createWorld)

const promote = (id: unknown, as?: number, asking: object = {}) =>
  world.ask(`POST /api/users/${id}/actions/promote-to-admin`, {
    ...(as !== undefined && { as }),
    ...asking,
  })

test('an admin promotes a user once; the second time changes nothing', async () => {
  const before = await world.ask('GET /api/users/2', { as: 1 })
  const first = await promote(2, 1)
  assert.equal(first.status, 200)
  assert.deepEqual(first.json, { ...before.json, role: 'admin' })
  assert.notEqual(first.headers.get('etag'), before.headers.get('etag'))
  const second = await promote(2, 1)
  assert.equal(second.status, 200)
  assert.equal(second.text, first.text)
  assert.equal(second.headers.get('etag'), first.headers.get('etag'))
  const admins = await world.ask('GET /api/users?role=admin', { as: 1 })
  assert.deepEqual(pluck(admins.json.data, 'id'), [1, 2])
  assert.equal(admins.json.pagination.total, 2)
})

test('who is no admin promotes nobody, himself least of all', async () => {
  refuses(await promote(3), 401, 'UNAUTHENTICATED')
  refuses(await promote(3, 3), 403, 'FORBIDDEN')
  refuses(await promote(999, 3), 403, 'FORBIDDEN')
  assert.equal((await world.ask('GET /api/users/3', { as: 1 })).json.role, 'user')
})

test('a user that is not there is not found, before what is wrong with the body', async () => {
  for (const id of [999, 'x', 0])
    refuses(await promote(id, 1, { body: { a: 1 } }), 404, 'NOT_FOUND')
  refusesInput(await promote(3, 1, { body: { a: 1 } }), ['a'])
})

test('an empty object is as good as no body, and a key replays the answer', async () => {
  const asking = { body: {}, headers: { 'Idempotency-Key': 'promote' } }
  const first = await promote(3, 1, asking)
  assert.equal(first.status, 200)
  const second = await promote(3, 1, asking)
  assert.equal(second.text, first.text)
  assert.equal(second.headers.get('idempotency-replayed'), 'true')
})

test('both actions are there in every version of the path', async () => {
  for (const prefix of versions.all.map(version => `/api/v${version}`)) {
    const asked = await world.ask(`POST ${prefix}/users/2/actions/promote-to-admin`, { as: 1 })
    assert.equal(asked.status, 200)
    assert.equal(asked.json._links.self.href, `${prefix}/users/2`)
    assert.equal((await world.ask(`POST ${prefix}/users/2/verify-email`, { as: 1 })).status, 200)
  }
})
