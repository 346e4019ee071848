/** References that change or that a list is filtered by, and fields that another one resets, on each engine. */
import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { type Entity, entity } from '#model/entity.ts'
import { choice, folded, id, reference, revision, text } from '#model/field.ts'
import { forAllTests } from '../support/fixture.ts'
import { engines } from './compare.ts'
import { bySignedIn, member } from './models.ts'
import { serveWithMembers } from './serve.ts'

const rest = { list: true, one: true, writes: ['create', 'replace', 'update', 'delete'] }
const listing = { paging: 'page', limit: 5 }

const place = entity({
  fields: { id: id(), name: text({ max: 9 }), revision: revision() },
  policy: bySignedIn,
  rest: { ...rest, listing },
} as never) as unknown as Entity

/** What is with a member, at a place or nowhere; a new note is not read yet. */
const item = entity({
  fields: {
    id: id(),
    holderId: reference('member', { onDelete: 'cascade', immutable: false }),
    placeId: reference('place', { onDelete: 'cascade', immutable: false, nullable: true }),
    note: text({ max: 9, nullable: true }),
    seen: choice(['no', 'yes'], { initial: { value: 'no' }, resetBy: 'note' }),
    label: text({ max: 9, initial: { value: 'Näw' }, resetBy: 'note' }),
    labelKey: folded('label', { indexed: true }),
    revision: revision(),
  },
  policy: bySignedIn,
  rest: {
    ...rest,
    listing: { ...listing, filters: { label: { kind: 'contains', field: 'labelKey' } } },
  },
  graphql: { filters: ['holderId', 'placeId'], mutations: ['create', 'update'] },
} as never) as unknown as Entity

for (const on of engines)
  describe(`on ${on}`, () => {
    const service = forAllTests(() => serveWithMembers({ member, place, item }, on, 'Ada', 'Ben'))

    const ask = async (line: string, body?: unknown) => {
      const { status, text } = await service.ask({ line, as: 'admin', body })
      return { status, json: text === '' ? undefined : JSON.parse(text) }
    }
    const gql = async (query: string, variables?: object) =>
      (await ask('POST /graphql', { query, variables })).json

    let at = ''
    let made = 0
    beforeEach(async () => {
      made = (await ask('POST /api/items', { holderId: 1 })).json.id
      at = `/api/items/${made}`
    })

    test('a change that refers to what does not exist is not found, as a creation is', async () => {
      for (const line of ['POST /api/items', `PATCH ${at}`, `PUT ${at}`])
        for (const [body, message] of [
          [{ holderId: 99 }, 'Member 99 not found'],
          [{ holderId: 2, placeId: 98 }, 'Place 98 not found'],
        ] as const) {
          const { status, json } = await ask(line, body)
          assert.equal(status, 404, line)
          assert.equal(json.error.message, message)
        }
      const change = `mutation($input: UpdateItemInput!) { updateItem(id: ${made}, input: $input) { id } }`
      const { errors } = await gql(change, { input: { holderId: '99' } })
      assert.deepEqual(errors[0].extensions, { code: 'NOT_FOUND' })
      assert.equal(errors[0].message, 'Member 99 not found')
      assert.equal((await ask(`GET ${at}`)).json.holderId, 1)
    })

    test('a row that is not there is told before what a change refers to', async () => {
      const { json } = await ask('PATCH /api/items/1234', { holderId: 99 })
      assert.equal(json.error.message, 'Item 1234 not found')
    })

    test('a stale If-Match is told before what a change refers to', async () => {
      const headers = { 'if-match': '"stale"' }
      const body = { holderId: 99 }
      const { status } = await service.ask({ line: `PATCH ${at}`, as: 'admin', body, headers })
      assert.equal(status, 412)
    })

    test('a change may refer to another row, and to none where it need not', async () => {
      const place = (await ask('POST /api/places', { name: 'a' })).json.id
      const moved = await ask(`PATCH ${at}`, { holderId: 2, placeId: place })
      assert.deepEqual([moved.json.holderId, moved.json.placeId], [2, place])
      assert.equal((await ask(`PATCH ${at}`, { placeId: null })).json.placeId, null)
    })

    test('a field is reset where another one changes, and not where that stays null', async () => {
      const seen = async (body: object) => (await ask(`PATCH ${at}`, body)).json.seen
      await seen({ seen: 'yes' })
      assert.equal(await seen({ note: null }), 'yes')
      assert.equal(await seen({ note: 'a' }), 'no')
      await seen({ seen: 'yes' })
      assert.equal(await seen({ note: 'a' }), 'yes')
      assert.equal(await seen({ note: null }), 'no')
    })

    test('a folded copy of a field is reset with it', async () => {
      const found = async (text: string) =>
        (await ask(`GET /api/items?label=${encodeURIComponent(text)}&limit=100`)).json.data.some(
          ({ id }: { id: number }) => id === made,
        )
      await ask(`PATCH ${at}`, { label: 'Örange' })
      assert.deepEqual([await found('örange'), await found('näw')], [true, false])
      assert.equal((await ask(`PATCH ${at}`, { note: 'a' })).json.label, 'Näw')
      assert.deepEqual([await found('örange'), await found('näw')], [false, true])
    })

    test('the error for a filter names the row that is missing, as it was written', async () => {
      const told = async (query: string, variables?: object) =>
        (await gql(query, variables)).errors[0].message
      assert.equal(await told('{ items(holderId: 1, placeId: 77) { id } }'), 'Place 77 not found')
      assert.equal(await told('{ items(placeId: "x", holderId: 1) { id } }'), 'Place x not found')
      const query = 'query($a: ID, $b: ID) { items(holderId: $a, placeId: $b) { id } }'
      assert.equal(await told(query, { a: '2', b: '07' }), 'Place 07 not found')
      assert.equal(await told(query, { a: 'y', b: null }), 'Member y not found')
    })
  })
