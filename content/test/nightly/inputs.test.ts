/** What callers may write into a request, in thousands of forms: SQL, members of others, and names that are nearly those of the schema. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deriveSchema } from '#graphql/schema.ts'
import { resolverOf } from '#test/fuzz/values.ts'
import { forAllTests } from '#test/support/fixture.ts'
import { usualSeed } from '#test/support/rounds.ts'
import { createWorld, usualModel } from '../world.ts'
import { foreignBodies } from './inputs/foreign.ts'
import { harmless, injections, placesIn } from './inputs/injections.ts'
import { nearMisses } from './inputs/misses.ts'
import { stateOf } from './inputs/state.ts'

const world = forAllTests(() => createWorld({ engine: { sync: 'normal' } }))

test(`${injections.length} texts of SQL as each parameter have the status of a harmless text, and change nothing [G13]`, async t => {
  const document = (await world.ask('GET /api/openapi.json')).json
  const places = placesIn(document, resolverOf(document))
  const before = await stateOf(world.rows)
  for (const { name, ask } of places) {
    const expected = new Map<number, number>()
    for (const text of injections) {
      const plain = ask(harmless(text))
      const status =
        expected.get(text.length) ?? (await world.ask(plain.line, { ...plain, as: 1 })).status
      expected.set(text.length, status)
      const { line, headers } = ask(text)
      const answer = await world.ask(line, { headers, as: 1 })
      assert.equal(answer.status, status, `${name}: ${text}: ${answer.text}`)
    }
  }
  t.diagnostic(`${places.length} parameters`)
  assert.deepEqual(await stateOf(world.rows), before)
})

test(`${injections.length} texts of SQL in each text of a body are stored as they are, and change nothing else [G13]`, async () => {
  const members = [
    ['/api/users/2', 'name', 'users'],
    ['/api/users/2', 'email', 'users'],
    ['/api/posts/1', 'title', 'posts'],
    ['/api/posts/1', 'content', 'posts'],
    ['/api/products/1', 'name', 'products'],
    ['/api/products/1', 'category', 'products'],
    ['/api/products/1', 'image', 'products'],
  ] as const
  for (const [path, member, table] of members) {
    const others = async () => {
      const state = new Map(await stateOf(world.rows))
      state.set(table, await world.rows(`select * from ${table} where id <> ${path.at(-1)}`))
      return state
    }
    const before = await others()
    const set = (text: string) => world.ask(`PATCH ${path}`, { as: 1, body: { [member]: text } })
    for (const text of injections) {
      const plain = await set(harmless(text))
      const answer = await set(text)
      assert.equal(answer.status, plain.status, `${path} ${member} ${text}: ${answer.text}`)
      if (answer.status === 200) assert.equal(answer.json[member], text)
    }
    assert.deepEqual(await others(), before, `${path} ${member}`)
  }
})

test('5,000 bodies with a member that is not the caller’s are refused, and change nothing [F3]', async t => {
  const seed = usualSeed(7)
  t.diagnostic(`DUET_SEED=${seed}`)
  const before = await stateOf(world.rows)
  for (const { line, raw } of foreignBodies(5000, seed)) {
    const headers = { 'Content-Type': 'application/json' }
    const answer = await world.ask(line, { as: 2, raw, headers })
    const isRefused =
      line === 'POST /graphql' ? answer.json.errors?.length > 0 : answer.status >= 400
    assert.ok(isRefused && answer.status < 500, `${line} ${raw}: ${answer.status} ${answer.text}`)
  }
  assert.deepEqual(await stateOf(world.rows), before)
})

test('while introspection is off, thousands of near misses have no suggestion [D11]', async t => {
  const closed = await createWorld({ introspection: false })
  t.after(() => closed.close())
  const { schema } = deriveSchema(usualModel)
  const misses = nearMisses(schema)
  t.diagnostic(`${misses.length} near misses`)
  assert.ok(misses.length >= 5000)
  for (const { query, ...asking } of misses) {
    const answer = await closed.gql(query, asking)
    assert.ok(answer.json.errors?.length > 0, query)
    assert.doesNotMatch(answer.text, /did you mean/i, query)
  }
})
