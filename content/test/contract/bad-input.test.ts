/** One table of bad REST requests: each has one answer, changes nothing and shows no internals. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Rows } from '#sql/engine.ts'
import { refuses } from '../rest.ts'
import { createWorld, onPostgres, type World } from '../world.ts'
import { badBodies } from './bad-bodies.ts'
import { badCallers } from './bad-callers.ts'
import { badRequests } from './bad-requests.ts'

const table = [...badRequests, ...badCallers, ...badBodies]

let world: World
let stored: string
before(async () => {
  world = await createWorld()
  stored = await everythingStored()
})
after(() => world.close())

const tables = onPostgres
  ? "select relname from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'"
  : "select name from sqlite_schema where type = 'table'"

/**
 * Every row of every table; on SQLite the ids to come are in one of them, on PostgreSQL a refused write may use one up. On which
 * timeline a PostgreSQL is, the process writes down by itself, some time after its start: that table is left out.
 */
const everythingStored = async (): Promise<string> => {
  const names = await world.rows(`${tables} order by 1`)
  const rows: Rows[] = []
  for (const [name] of names)
    if (name !== 'timelines') rows.push(await world.rows(`select * from "${name}"`))
  return JSON.stringify([names, rows])
}

const inside =
  /sqlite|postgres|SQLSTATE|\bselect\b.+\bfrom\b|insert into|\bwhere\b.+=|savepoint|^\s+at |node:|node_modules|file:\/\/|\/work\/|\/tmp\/|src\/|\.ts\b|TypeError|RangeError|Maximum call/im

for (const { line, what, status, code, fields, challenge, ...asking } of table)
  test(`${line.slice(0, 60)} with ${what} is ${status} ${code} [D12, G7]`, async () => {
    const answer = await world.ask(line, asking)
    refuses(answer, status, code, fields)
    assert.equal(answer.headers.get('www-authenticate'), challenge ?? null)
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff')
    const namesNewest = /version=2|"API-Version":"2"|vnd\.duet\.v2/.test(
      line + JSON.stringify(asking),
    )
    assert.equal(answer.headers.get('api-version'), namesNewest ? '2' : '1')
    assert.doesNotMatch(answer.text, inside)
    assert.equal(Object.hasOwn(Object.prototype, 'role'), false)
  })

test('the table has at least 150 rows, no two alike', () => {
  const rows = table.map(row => JSON.stringify(row))
  assert.ok(rows.length >= 150)
  assert.equal(new Set(rows).size, rows.length)
})

test('after all of them the store is as it was, and the process answers', async () => {
  assert.equal(await everythingStored(), stored)
  assert.equal((await world.ask('GET /api/users/2', { as: 2 })).json.name, 'Ben')
  assert.equal((await world.ask('PATCH /api/users/2', { as: 2, body: { age: 29 } })).status, 200)
  assert.equal(world.events.filter(({ kind }) => kind === 'bug').length, 0)
})
