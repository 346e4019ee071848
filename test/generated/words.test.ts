/** Names that are words of a database, and filters of wrong values, on both engines. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Entity, entity, many, one } from '#model/entity.ts'
import { isReserved } from '#model/faults/names.ts'
import { id, int, reference, revision, text } from '#model/field.ts'
import { self, signedIn } from '#model/policy.ts'
import { forAllTests } from '../support/fixture.ts'
import { compareModel, drawn, each, engines } from './compare.ts'
import { allRoutes, bySignedIn, member } from './models.ts'
import { destroy } from './requests.ts'
import { serveModel, serveWithMembers } from './serve.ts'
import { thing } from './thing.ts'

// Words that one of the databases gives a meaning, but not such a one that no column may have it.
const words =
  'abort action after before begin by cascade conflict current database day each end exclude explain filter first following generated glob groups hour ignore indexed instead key last match materialized no nulls of others partition plan pragma preceding query range recursive regexp reindex release rename replace restrict row rows savepoint second temp ties trigger unbounded vacuum value view virtual without year name type level role state status text time date number position timestamp overlay raise substring trim coalesce least greatest nullif none operator character bit boolean interval'.split(
    ' ',
  )

/** An entity whose rows stand above others of their kind, and below those of another one. */
const linkedTo = (table: string, other: string): Entity =>
  entity({
    table,
    plural: `${table}s`,
    description: '',
    fields: {
      id: id(),
      name: text({ max: 9 }),
      ownerId: reference('member', { onDelete: 'cascade', nullable: true }),
      upId: reference(table, { nullable: true }),
      otherId: reference(other, { nullable: true }),
      revision: revision(),
    },
    relations: {
      up: one(table, 'upId'),
      other: one(other, 'otherId'),
      downs: many(table, 'upId'),
    },
    policy: {
      read: self('ownerId', 'up.up.ownerId'),
      create: signedIn,
      update: signedIn,
      delete: signedIn,
    },
    rest: {
      ...allRoutes,
      listing: { paging: 'page', limit: 5 },
    },
    graphql: { paged: true, mutations: ['create', 'update'] },
  } as never) as unknown as Entity

test('a column that is counted and sorted by may be called as a word or a variable of triggers', async () => {
  const words = ['begin', 'by', 'declare', 'execute', 'found', 'new', 'old', 'strict', 'tgOp']
  const fields = Object.fromEntries(words.map(word => [word, int({ min: 0, max: 9 })]))
  const counting = entity({
    table: 'countings',
    plural: 'countings',
    description: '',
    fields: { id: id(), ...fields, revision: revision() },
    policy: bySignedIn,
    rest: {
      ...allRoutes,
      listing: {
        paging: 'page',
        limit: 5,
        sort: { style: 'field and order', fields: words },
        filters: Object.fromEntries(words.map(word => [word, { kind: 'equals', field: word }])),
      },
    },
    graphql: { paged: true, filters: words, mutations: ['create', 'update'] },
    counted: words,
  } as never) as unknown as Entity
  const steps = [...each(['counting']), [destroy, 'counting'] as const, ...each(['counting'])]
  await compareModel({ member, counting }, drawn(1), steps, engines)
})

test('a table may be called as the rows of a statement might be', async () => {
  const tables = ['t', 't1', 'k', 'l0', 'l1', 'l2', 'found']
  const entities = tables.map((table, at) => [table, linkedTo(table, tables[at - 1] ?? 'member')])
  const model = { member, ...Object.fromEntries(entities) }
  await compareModel(model, drawn(1), [...each(tables), ...each(tables)], engines)
})

for (const on of engines)
  describe(`on ${on}`, () => {
    const service = forAllTests(() => serveWithMembers({ thing, member }, on, 'Ada'))

    test('a word of SQL is refused as a name or a table can be made with it', async () => {
      const fields = Object.fromEntries(
        words
          .filter(word => !isReserved(word))
          .map(word => [word, int({ min: 0, max: 9, nullable: true })]),
      )
      const worded = { ...thing, fields: { ...thing.fields, ...fields } }
      const { close, ask } = await serveModel({ member, thing: worded }, on)
      assert.equal((await ask({ line: 'GET /api/things', as: 'user' })).status, 200)
      await close()
    })

    test('a filter of a value that its field never has is refused by name', async () => {
      for (const [query, status] of [
        ['featured=true', 200],
        ['featured=false', 200],
        ['featured=1', 422],
        ['from=today', 422],
        ['from=2026-01-31T09:30:00.000Z', 200],
      ] as const)
        assert.equal(
          (await service.ask({ line: `GET /api/things?${query}`, as: 'user' })).status,
          status,
          query,
        )
      const query = '{ things(at: "today") { id } }'
      const { text } = await service.ask({ line: 'POST /graphql', as: 'user', body: { query } })
      assert.match(text, /Argument \\"at\\" must be an ISO 8601 time/)
      assert.match(text, /"code":"BAD_USER_INPUT"/)
    })

    test('two rows with what is unique together are a conflict that names the fields', async () => {
      const body = { featured: true, at: '2026-01-31T09:30:00.000Z' }
      const ask = () => service.ask({ line: 'POST /api/things', as: 'user', body })
      assert.equal((await ask()).status, 201)
      const { status, text } = await ask()
      assert.equal(status, 409)
      assert.match(text, /"message":"This featured is in use already together with at"/)
      const { details } = JSON.parse(text).error
      assert.deepEqual(
        details.map(({ field }: { field: string }) => field),
        ['featured', 'at'],
      )
    })

    test('what is null has no link and no type that says otherwise', async () => {
      const { text } = await service.ask({ line: 'POST /api/things', as: 'user', body: {} })
      assert.deepEqual(JSON.parse(text)._links, {
        self: { href: `/api/things/${JSON.parse(text).id}` },
      })
      const query =
        '{ things { owner { id } } __type(name: "Thing") { fields { name type { kind } } } }'
      const answer = await service.ask({ line: 'POST /graphql', as: 'user', body: { query } })
      const { data } = JSON.parse(answer.text)
      assert.equal(data.things[0].owner, null)
      const owner = data.__type.fields.find(({ name }: { name: string }) => name === 'owner')
      assert.equal(owner.type.kind, 'OBJECT')
    })
  })
