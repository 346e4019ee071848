/** Kinds whose values come from other values or from the time, which the table of kinds cannot show. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { defineErrors } from '#errors.ts'
import { type Entity, entity } from '#model/entity.ts'
import {
  date,
  decimal,
  id,
  int,
  json,
  list,
  reference,
  revision,
  type StandardSchema,
  slug,
  text,
  time,
  updatedAt,
} from '#model/field.ts'
import { typesOf } from '#openapi/print.ts'
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

const { SIZE_TAKEN } = defineErrors({
  SIZE_TAKEN: { status: 409, title: 'There is one of that size' },
})
const errors = { SIZE_TAKEN }

/** Sides of one to nine, kept with their sum; what libraries of schemas make of their own. */
const shape: StandardSchema<{ readonly sides: readonly number[]; readonly sum: number }> = {
  '~standard': {
    version: 1,
    validate: given => {
      const { sides } = (given ?? {}) as { sides?: unknown }
      if (!Array.isArray(sides)) return { issues: [{ message: 'must be sides' }] }
      const wrong = sides.findIndex(side => !(Number(side) >= 1 && Number(side) <= 9))
      if (wrong >= 0)
        return { issues: [{ message: 'must be 1 to 9', path: ['sides', { key: wrong }] }] }
      return { value: { sides, sum: sides.reduce((sum, side) => sum + side, 0) } }
    },
    jsonSchema: {
      input: () => ({
        type: 'object',
        properties: { sides: { type: 'array', items: { type: 'number' } } },
      }),
      output: () => ({ type: 'object', properties: { sum: { type: 'number' } } }),
    },
  },
}

const loose = { immutable: false, nullable: true, onDelete: 'set null' } as const

const entities = {
  member,
  place: open('places', { name: text({ max: 9 }) }),
  note: open('notes', {
    name: text({ max: 9 }),
    placeId: reference('place', loose),
    updatedAt: updatedAt(),
  }),
  page: open(
    'pages',
    {
      title: text({ max: 40, trimmed: true }),
      slug: slug({ from: 'title' }),
      code: text({
        max: 3,
        nullable: true,
        pattern: /^[A-Z]+$/,
        message: 'must be capital letters',
      }),
      size: int({
        min: 0,
        max: 99,
        nullable: true,
        check: {
          'must be even': size => size % 2 === 0,
          'must not be 13 twice': size => size !== 26,
        },
      }),
      tags: list(text({ max: 5, trimmed: true }), { min: 1, max: 3, nullable: true }),
      prices: list(decimal({ scale: 2, min: 0, max: 9 }), { max: 3, initial: { value: '[]' } }),
      days: list(date(), { max: 2, nullable: true }),
      moments: list(time(), { max: 2, nullable: true }),
      shape: json(shape, { nullable: true, max: 60 }),
    },
    { sets: [{ fields: ['code', 'size'], error: errors.SIZE_TAKEN }] },
  ),
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

    const page = (body: object) => ask('POST /api/pages', { title: 'x', ...body })
    const faultOf = async (body: object) => {
      const { status, body: answer } = await page(body)
      assert.equal(status, 422, JSON.stringify(answer))
      return answer.error.message
    }

    test('a slug is made of its text, told apart from those that are there, and kept', async () => {
      const first = await made('pages', { title: 'Crème Brûlée, für 2!' })
      assert.equal(first.slug, 'creme-brulee-fur-2')
      const second = await made('pages', { title: 'creme brulee fur 2' })
      assert.equal(second.slug, `creme-brulee-fur-2-${second.id}`)
      const renamed = await ask(`PATCH /api/pages/${first.id}`, { title: 'Pudding' })
      assert.equal(renamed.body.slug, 'creme-brulee-fur-2')
      assert.equal((await page({ slug: 'mine' })).body.slug, 'mine')
      const taken = await page({ slug: 'mine' })
      assert.deepEqual([taken.status, taken.body.error.details[0].field], [409, 'slug'])
      assert.match(await faultOf({ slug: 'Not This' }), /small letters/)
      assert.match(await faultOf({ title: '?!' }), /slug is required, as title has neither/)
      assert.equal((await made('pages', { title: '日本 語' })).slug, '日本-語')
    })

    test('a pattern and checks tell their own messages', async () => {
      assert.match(await faultOf({ code: 'ab' }), /^code must be capital letters$/)
      assert.match(await faultOf({ size: 3 }), /^size must be even$/)
      assert.match(await faultOf({ size: 26 }), /^size must not be 13 twice$/)
      assert.equal((await page({ code: 'AB', size: 4 })).status, 201)
    })

    test('a second row with the values of a set gets the error of the set', async () => {
      const { status, body } = await page({ code: 'AB', size: 4 })
      assert.deepEqual([status, body.error.code], [409, 'SIZE_TAKEN'])
    })

    test('a list has items of its kind, and comes back as it was given', async () => {
      const given = {
        tags: [' a', 'é"\\'],
        prices: [1.5, 0, 9],
        days: ['2024-02-29'],
        moments: ['2026-01-02T03:04:05Z'],
      }
      const row = await made('pages', { title: 'lists', ...given })
      assert.deepEqual(
        [row.tags, row.prices, row.days],
        [['a', 'é"\\'], [1.5, 0, 9], ['2024-02-29']],
      )
      assert.deepEqual(row.moments, ['2026-01-02T03:04:05.000Z'])
      const query = `{ page(id: ${row.id}) { tags prices days moments } }`
      const { tags, prices, days, moments } = row
      assert.deepEqual((await ask('POST /graphql', { query })).body.data.page, {
        tags,
        prices,
        days,
        moments,
      })
      assert.match(await faultOf({ tags: [] }), /^tags must be a list of 1 to 3$/)
      assert.match(await faultOf({ tags: 'a' }), /must be a list/)
      assert.match(
        await faultOf({ tags: ['a', null] }),
        /^tags has an item, number 2, that must be a string$/,
      )
      assert.match(
        await faultOf({ prices: [0.125] }),
        /^prices has an item that must have at most 2 decimals$/,
      )
    })

    test('JSON is kept as its schema gives it, and refused with what the schema says', async () => {
      const row = await made('pages', { title: 'json', shape: { sides: [1, 2], other: true } })
      assert.deepEqual(row.shape, { sides: [1, 2], sum: 3 })
      assert.match(await faultOf({ shape: {} }), /^shape does not fit: must be sides$/)
      assert.match(
        await faultOf({ shape: { sides: [1, 12] } }),
        /^shape does not fit: sides.1: must be 1 to 9$/,
      )
      assert.match(
        await faultOf({ shape: { sides: Array(30).fill(1) } }),
        /at most 60 characters as JSON$/,
      )
      const query =
        'mutation M($s: JSON) { a: createPage(input: { title: "a", shape: { sides: [4] } }) { shape } b: createPage(input: { title: "b", shape: $s }) { shape } }'
      const { body } = await ask('POST /graphql', { query, variables: { s: { sides: [5, 6] } } })
      assert.deepEqual(body.data, {
        a: { shape: { sides: [4], sum: 4 } },
        b: { shape: { sides: [5, 6], sum: 11 } },
      })
    })

    test('the OpenAPI document and its types tell patterns, lists and schemas', async () => {
      const { body } = await ask('GET /openapi.json')
      const { Page, PageCreate } = body.components.schemas
      assert.equal(Page.properties.code.pattern, '^[A-Z]+$')
      assert.deepEqual(Page.properties.days, {
        type: ['array', 'null'],
        items: { type: 'string', format: 'date' },
        maxItems: 2,
      })
      const [given] = PageCreate.properties.shape.anyOf
      const [kept] = Page.properties.shape.anyOf
      assert.deepEqual(
        [Object.keys(given.properties), Object.keys(kept.properties)],
        [['sides'], ['sum']],
      )
      assert.deepEqual(PageCreate.required, ['title'])
      const types = typesOf(body)
      assert.match(types, /shape: \(\{\s+sum\?: number;\s+\}\) \| \(null\)/)
      assert.match(types, /tags: \(string\)\[\] \| null/)
    })
  })
