/** One table of bad REST requests: each has one answer, changes nothing and shows no internals. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Rows } from '#sql/engine.ts'
import { refuses } from '../rest.ts'
import { createWorld, forAllTests, type World } from '../world.ts'
import { badRequests } from './bad-requests.ts'

let stored: string
const world = forAllTests(async () => {
  const world = await createWorld()
  stored = await everythingStored(world)
  return world
})

const tables = "select name from sqlite_schema where type = 'table'"

/** Every row of every table; the ids to come are in one of them. */
const everythingStored = async (world: World): Promise<string> => {
  const names = await world.rows(`${tables} order by 1`)
  const rows: Rows[] = []
  for (const [name] of names) rows.push(await world.rows(`select * from "${name}"`))
  return JSON.stringify([names, rows])
}

for (const { line, what, status, code, fields, challenge, ...asking } of badRequests)
  test(`${line.slice(0, 60)} with ${what} is ${status} ${code} [D12, G7]`, async () => {
    const answer = await world.ask(line, asking)
    refuses(answer, status, code, fields)
    assert.equal(answer.headers.get('www-authenticate'), challenge ?? null)
    assert.equal(answer.headers.get('api-version'), '1')
    assert.equal(Object.hasOwn(Object.prototype, 'role'), false)
  })

test('no two rows of the table are alike', () => {
  const rows = badRequests.map(row => JSON.stringify(row))
  assert.equal(new Set(rows).size, rows.length)
})

test('after all of them the store is as it was, and the process answers', async () => {
  assert.equal(await everythingStored(world), stored)
  assert.equal((await world.ask('GET /api/users/2', { as: 2 })).json.name, 'Ben')
  assert.equal((await world.ask('PATCH /api/users/2', { as: 2, body: { age: 29 } })).status, 200)
  assert.equal(world.events.filter(({ kind }) => kind === 'bug').length, 0)
})
