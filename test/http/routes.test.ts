/** The routes of whole services are taken by Hono's fast router, with those for groups, bulk and by hand beside things by id. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createWorld } from '#test/market.ts'

test('no route of the market moves all others to a slower router', async () => {
  await using world = await createWorld()
  const written = world.app.routes.map(({ path }) => path)
  assert.ok(written.some(path => path.endsWith('/aggregate')))
  await world.app.request('/api/users/1')
  assert.equal(world.app.router.name, 'SmartRouter + RegExpRouter')
})
