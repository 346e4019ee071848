import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createWorld, forAllTests } from '../world.ts'

const world = forAllTests(createWorld)

test('a user created through GraphQL is read through REST', async () => {
  const made = await world.gql(
    'mutation { createUser(input: {name: "Eve", email: "eve@example.org"}) { id } }',
  )
  const { id } = made.json.data.createUser
  const read = await world.ask(`GET /api/users/${id}`, { as: 2 })
  assert.equal(read.status, 200)
  assert.equal(read.json.id, Number(id))
  assert.equal(read.json.email, 'eve@example.org')
})
