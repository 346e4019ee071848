/** The library's roles, its action that answers nothing, and creating rows of one's own, where the owner is the viewer unless the input says otherwise. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { bodyIfAny } from '#kit/check/bodies.ts'
import type { RowsReference } from '#kit/check/reference.ts'
import { rowCount } from '#kit/check/rows.ts'
import { type Entity, entity } from '#model/entity.ts'
import { fixed, id, reference } from '#model/field.ts'
import { defineModel } from '#model/model.ts'
import { anyone, role, signedIn } from '#model/policy.ts'
import { member } from '../generated/models.ts'
import { modelFor } from '../generated/serve.ts'
import { thing } from '../generated/thing.ts'
import { refuses } from '../rest.ts'
import { forAllTests } from '../support/fixture.ts'
import { demo } from '../support/library/demo.ts'
import { library } from '../support/library/index.ts'
import { createWorld } from '../world.ts'

describe('the roles of the library', () => {
  const world = forAllTests(() => createWorld({ content: library, rows: demo }))
  const change = (role: string, body: object) =>
    world.ask('PATCH /api/books/1', { as: 2, role, body })

  test('are those that its rules name, and no others: who may change a book and who may not', async () => {
    assert.equal((await change('reader', { pages: 542 })).status, 403)
    assert.equal((await change('shelver', { pages: 542 })).status, 200)
    assert.equal((await change('librarian', { pages: 543 })).status, 200)
    const { json } = await change('shelver', { lendable: false })
    assert.equal(json.error.message, 'lendable may be given by a librarian only')
    refuses(await change('admin', {}), 401, 'UNAUTHENTICATED')
  })

  test('let an action that answers nothing be done once, however often it is sent with its key', async () => {
    const moveUp = (key: string, id = 2, more = {}) => {
      const headers = { 'Idempotency-Key': key, ...more }
      return world.ask(`POST /api/v2/books/${id}/move-up`, { as: 2, role: 'shelver', headers })
    }
    const shelf = async () => (await world.ask('GET /api/v2/books/2')).json.shelf
    const before = await shelf()
    const first = await moveUp('up')
    const second = await moveUp('up')
    assert.deepEqual([first.status, first.text, second.status, second.text], [204, '', 204, ''])
    assert.equal(first.headers.get('idempotency-replayed'), null)
    assert.equal(second.headers.get('idempotency-replayed'), 'true')
    assert.equal(await shelf(), before + 1)
    refuses(await moveUp('up', 1), 422, 'IDEMPOTENCY_KEY_REUSED')
    await moveUp('up-again')
    assert.equal(await shelf(), before + 2)
    // There is nothing in its answer to compare one with.
    for (const name of ['If-Match', 'If-None-Match'])
      refuses(await moveUp('up-if', 2, { [name]: '"a"' }), 412, 'PRECONDITION_FAILED')
    assert.equal(await shelf(), before + 2)
  })
})

describe('a row that belongs to the viewer by itself', () => {
  const world = forAllTests(() => createWorld({ content: library, rows: demo }))

  test('with a bad input is refused for the input, and not as somebody else’s', async () => {
    const { status, json } = await world.ask('POST /api/books/1/loans', {
      as: 2,
      body: { note: 5 },
    })
    assert.equal(status, 422)
    assert.deepEqual(
      json.error.details.map(({ field }: { field: string }) => field),
      ['note'],
    )
  })

  test('is created twice in one mutation', async () => {
    const { json } = await world.gql(
      'mutation { a: createLoan(input: {bookId: 1}) { id } b: createLoan(input: {bookId: 2}) { id } }',
      { as: 2 },
    )
    assert.equal(json.errors, undefined)
    assert.notEqual(json.data.a.id, json.data.b.id)
  })
})

test('a row of the viewer unless the input names another is made for that by a program, which has none', async () => {
  const { loan } = library.entities as { loan: Entity }
  const memberId = { ...loan.fields.memberId, settableBy: role('librarian') }
  const entities = { ...library.entities, loan: { ...loan, fields: { ...loan.fields, memberId } } }
  const content = { ...library, entities } as typeof library
  await using world = await createWorld({ content, rows: demo })
  const lend = (body: object) =>
    world.ask('POST /api/books/1/loans', { as: 50, role: 'librarian', body })
  const { status, json } = await lend({ memberId: 2 })
  assert.deepEqual([status, json.memberId], [201, 2])
  refuses(await lend({ memberId: 99 }), 404, 'NOT_FOUND')
  for (const body of [{ memberId: 50 }, {}]) refuses(await lend(body), 403, 'FORBIDDEN')
})

const review: Entity = entity({
  fields: {
    id: id(),
    thingId: reference('thing', { onDelete: 'cascade' }),
    authorId: reference('member', { onDelete: 'cascade', ...fixed, initial: 'viewer' }),
  },
  sets: [['thingId', 'authorId']],
  policy: { read: anyone, create: signedIn },
  rest: { list: true, one: true, listing: { paging: 'page', limit: 10 }, writes: ['create'] },
})

test('a body leaves out what the viewer has with others already, though it does not name the viewer', () => {
  const model = modelFor(defineModel({ member, thing, review } as never))
  const viewer = { id: 3, role: 'user' }
  const reviewed = Array.from({ length: rowCount - 3 }, (_, n) => ({ thingId: n + 1, authorId: 3 }))
  const rows = { rowsIn: () => reviewed } as unknown as RowsReference
  const given = { model, entity: 'review', version: undefined, mode: 'create', viewer } as const
  for (let n = 0; n < rowCount; n++)
    assert.deepEqual(bodyIfAny({ ...given, reference: rows, n }), { thingId: rowCount - 2 })
})
