/** Creating rows of one's own, where the owner is the viewer unless the input says otherwise. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { demo } from '../support/library/demo.ts'
import { library } from '../support/library/index.ts'
import { createWorld, type World } from '../world.ts'

describe('a row that belongs to the viewer by itself', () => {
  let world: World
  before(async () => {
    world = await createWorld({ content: library, rows: demo })
  })
  after(() => world.close())

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
