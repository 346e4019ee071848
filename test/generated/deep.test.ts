/** Entities in long chains, rows on many levels and lists with many filters, on each engine. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Entity, entity, many, one } from '#model/entity.ts'
import { id, int, reference, revision, text } from '#model/field.ts'
import { filling } from '../stores.ts'
import { forAllTests } from '../support/fixture.ts'
import { engines } from './compare.ts'
import { allRoutes, bySignedIn, member } from './models.ts'
import { serveWithMembers } from './serve.ts'

const listing = { paging: 'page', limit: 5 }

/** Rows below rows of their own kind. */
const branch = entity({
  fields: {
    id: id(),
    upId: reference('branch', { onDelete: 'cascade', nullable: true }),
    revision: revision(),
  },
  relations: { up: one('branch', 'upId'), branches: many('branch', 'upId') },
  policy: bySignedIn,
  rest: { ...allRoutes, listing },
  counted: [],
} as never) as unknown as Entity

/** Twelve entities, each below the one before it. */
const chain = Array.from({ length: 12 }, (_, at) => [
  `link${at}`,
  entity({
    table: `links_${at}`,
    plural: `links${at}`,
    description: '',
    fields: {
      id: id(),
      name: text({ max: 9 }),
      ...(at > 0 && { upId: reference(`link${at - 1}`, { onDelete: 'cascade' }) }),
      revision: revision(),
    },
    policy: bySignedIn,
    rest: { ...allRoutes, listing },
  } as never) as unknown as Entity,
])

const names = Array.from({ length: 80 }, (_, at) => `f${at}`)

/** A list with many filters. */
const wide = entity({
  fields: {
    id: id(),
    ...Object.fromEntries(
      names.map(name => [name, int({ min: 0, max: 9, initial: { value: 1 } })]),
    ),
    revision: revision(),
  },
  policy: bySignedIn,
  rest: {
    ...allRoutes,
    listing: {
      ...listing,
      filters: Object.fromEntries(names.map(name => [name, { kind: 'equals', field: name }])),
    },
  },
  graphql: { filters: names },
} as never) as unknown as Entity

const entities = { member, branch, wide, ...Object.fromEntries(chain) }

for (const on of engines)
  describe(`on ${on}`, () => {
    const service = forAllTests(() => serveWithMembers(entities, on, 'Ada'))

    const ask = (line: string, body?: unknown) => service.ask({ line, as: 'admin', body })
    const total = async (plural: string) =>
      JSON.parse((await ask(`GET /api/${plural}`)).text).pagination.total

    /** Puts so many rows into the store, each below the one before it. */
    const grow = (levels: number) =>
      filling(service.store, async ({ session }) => {
        await session.query({ text: 'delete from branches', values: [] })
        for (let level = 1; level <= levels; level++)
          await session.query({
            text: `insert into branches (id, up_id) values (${level}, ${level > 1 ? level - 1 : null})`,
            values: [],
          })
      })

    test('a row goes with all that is below it, in however many entities', async () => {
      for (const at of chain.keys()) {
        const body = { name: 'a', ...(at > 0 && { upId: 1 }) }
        assert.equal((await ask(`POST /api/links${at}`, body)).status, 201)
      }
      assert.equal((await ask('DELETE /api/links0/1')).status, 204)
      assert.equal(await total('links11'), 0)
    })

    test('a row goes with those of its own kind below it, on hundreds of levels', async () => {
      await grow(900)
      assert.equal((await ask('DELETE /api/branches/1')).status, 204)
      assert.equal(await total('branches'), 0)
    })

    test('all filters of a list may be given at once', async () => {
      await ask('POST /api/wides', {})
      const query = names.map(name => `${name}=1`).join('&')
      const listed = await ask(`GET /api/wides?${query}`)
      assert.equal(JSON.parse(listed.text).pagination?.total, 1, listed.text)
      const given = names.map(name => `${name}: 1`).join(' ')
      const queried = await ask('POST /graphql', { query: `{ wides(${given}) { id } }` })
      assert.equal(queried.text, '{"data":{"wides":[{"id":"1"}]}}')
    })

    test('more levels than SQLite deletes are a conflict that says what to do, and stay', {
      skip: on !== 'sqlite' && 'PostgreSQL has no such limit',
    }, async () => {
      await grow(1200)
      const { status, text } = await ask('DELETE /api/branches/1')
      assert.equal(status, 409, text)
      assert.match(text, /on more than 1000 levels .* delete those on the lowest levels first/)
      assert.equal(await total('branches'), 1200)
      assert.equal((await ask('DELETE /api/branches/600')).status, 204)
      assert.equal((await ask('DELETE /api/branches/1')).status, 204)
      assert.equal(await total('branches'), 0)
    })
  })
