/** Kinds whose values come from other values or from the time, which the table of kinds cannot show. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Entity, entity } from '#model/entity.ts'
import { id, reference, revision, text, updatedAt } from '#model/field.ts'
import { engines } from './compare.ts'
import { allRoutes, bySignedIn, member } from './models.ts'
import { clock, now, type Service, serveWithMembers } from './serve.ts'

/** An entity with these fields, which callers with a token may read and write in each way. */
const open = (table: string, fields: Entity['fields'], more: object = {}): Entity =>
  entity({
    table,
    plural: table,
    description: '',
    fields: { id: id(), ...fields, revision: revision() },
    policy: bySignedIn,
    rest: { ...allRoutes, listing: { paging: 'page', limit: 5 } },
    graphql: { mutations: ['create', 'update', 'delete'] },
    ...more,
  } as never) as unknown as Entity

const loose = { immutable: false, nullable: true, onDelete: 'set null' } as const

const entities = {
  member,
  place: open('places', { name: text({ max: 9 }) }),
  note: open('notes', {
    name: text({ max: 9 }),
    placeId: reference('place', loose),
    updatedAt: updatedAt(),
  }),
}

for (const on of engines)
  describe(`on ${on}`, () => {
    let service: Service
    before(async () => {
      service = await serveWithMembers(entities, on, 'Ada', 'Ben')
    })
    after(async () => {
      clock.now = now
      await service.close()
    })

    /** The answer of a request of the user, and its status. */
    const ask = async (line: string, body?: unknown) => {
      const { status, text } = await service.ask({
        line,
        as: 'user',
        ...(body !== undefined && { body }),
      })
      return { status, body: text === '' ? null : JSON.parse(text) }
    }
    const made = async (line: string, body: unknown) => {
      const { status, body: row } = await ask(`POST /api/${line}`, body)
      assert.equal(status, 201, JSON.stringify(row))
      return row
    }

    test('updatedAt is when the row was made or last changed, also by the delete of what it refers to', async () => {
      const place = await made('places', { name: 'p' })
      const note = await made('notes', { name: 'n', placeId: place.id })
      const at = (milliseconds: number) => new Date(milliseconds).toISOString()
      assert.equal(note.updatedAt, at(now))
      clock.now = now + 1000
      const changed = await ask(`PATCH /api/notes/${note.id}`, { name: 'm' })
      assert.equal(changed.body.updatedAt, at(now + 1000))
      clock.now = now + 2000
      // A change of nothing is none.
      await ask(`PATCH /api/notes/${note.id}`, {})
      assert.equal((await ask(`GET /api/notes/${note.id}`)).body.updatedAt, at(now + 1000))
      await ask(`DELETE /api/places/${place.id}`)
      const cut = await ask(`GET /api/notes/${note.id}`)
      assert.deepEqual([cut.body.placeId, cut.body.updatedAt], [null, at(now + 2000)])
      const given = await ask(`PATCH /api/notes/${note.id}`, { updatedAt: at(now) })
      assert.equal(given.status, 422)
    })
  })
