/** Values as callers write them, in both APIs: what is taken, what is refused, and what of them is found again. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { notebook } from '#test/support/notebook.ts'
import { createWorld, type World } from '#test/world.ts'

let world: World
before(async () => {
  world = await createWorld({ content: notebook })
})
after(() => world.close())

const raw = (line: string, text: string) =>
  world.ask(line, { raw: text, headers: { 'Content-Type': 'application/json' } })

let made = 0
const note = async (body: object = {}) => {
  const answer = await world.ask('POST /api/notes', { body: { name: `Note ${++made}`, ...body } })
  assert.equal(answer.status, 201, answer.text)
  return answer.json
}

const faultsOf = ({ json }: { json: { errors?: object[]; error?: { details: object[] } } }) =>
  json.errors ?? json.error?.details

describe('a number of JSON that would be read as another one', () => {
  const changed = ['9007199254740993', '1e400', '-1e400', '1e-400', '0.1000000000000000000001']
  const kept = ['9007199254740991', '1.50', '1e2', '-0.0', '0e999', '0.1', '1e-7', '5e-324']

  test('is refused by its path, wherever in a body it stands', async () => {
    for (const number of changed) {
      const answer = await raw('POST /api/notes', `{"name":"a","meta":{"b":[1,{"c":${number}}]}}`)
      assert.equal(answer.status, 422, number)
      assert.deepEqual(faultsOf(answer), [
        {
          field: 'meta.b.1.c',
          message: `is ${number}, which would be read as ${Number(number)}: send fewer digits, or a text if the field is one`,
        },
      ])
    }
    const several = await raw(
      'POST /api/notes',
      '{"name":"a","rank":9007199254740990.9,"price":1e-400}',
    )
    assert.deepEqual(
      faultsOf(several)?.map(fault => 'field' in fault && fault.field),
      ['rank', 'price'],
    )
  })

  test('is refused in GraphQL as a variable and as a literal', async () => {
    const create = 'mutation ($input: CreateNoteInput!) { createNote(input: $input) { id } }'
    const fields = { rank: '9007199254740990.9', price: '1e-400', ratio: '0.5000000000000000001' }
    const inJson = changed.map(one => ['meta', `{"a": [${one}]}`] as const)
    for (const [field, value] of [...Object.entries(fields), ...inJson]) {
      const body = `{"query":${JSON.stringify(create)},"variables":{"input":{"name":"a","${field}":${value}}}}`
      const { json } = await raw('POST /graphql', body)
      assert.equal(json.errors[0].extensions.code, 'BAD_USER_INPUT', field)
      const literal = `mutation { createNote(input: { name: "a", ${field}: ${value.replaceAll('"', '')} }) { id } }`
      const answer = await world.gql(literal)
      const [error] = answer.json.errors
      assert.equal(error.extensions.code, 'BAD_USER_INPUT', answer.text)
      assert.equal(
        error.extensions.details[0].field,
        field === 'meta' ? 'input.meta.a' : `input.${field}`,
      )
      assert.match(error.message, /^The number is .*, which would be read as /)
    }
  })

  test('has neighbours that are kept', async () => {
    for (const number of kept) {
      const answer = await raw('POST /api/notes', `{"name":"a","meta":[${number}]}`)
      assert.equal(answer.status, 201, answer.text)
      assert.equal(answer.json.meta[0], Number(JSON.stringify(Number(number))))
      const literal = await world.gql(
        `mutation { createNote(input: { name: "a", meta: [${number}] }) { meta } }`,
      )
      assert.deepEqual(literal.json.data?.createNote.meta, answer.json.meta, literal.text)
    }
    // Ids are texts in GraphQL, and one beyond all numbers names nothing.
    const none = await world.gql('{ note(id: 99999999999999999999) { id } }')
    assert.deepEqual(none.json, { data: { note: null } })
  })

  test('is refused in a condition as JSON, and compared exactly in one as a parameter', async () => {
    const cents = await note({ price: 0, ratio: 0.5 })
    const { status, json } = await world.ask('GET /api/notes?where={"price":{"gte":1e-400}}')
    assert.equal(status, 422)
    assert.equal(json.errors[0].field, 'where.price.gte')
    const found = async (query: string) => {
      const { json } = await world.ask(`GET /api/notes?id=${cents.id}&${query}`)
      return json.data?.length
    }
    assert.equal(await found('price[gte]=1e-400'), 0)
    assert.equal(await found('price[gt]=-1e-400'), 1)
    assert.equal(await found('price=1e-400'), 0)
    assert.equal(await found('ratio[lt]=0.50000000000000000000001'), 1)
    assert.equal(await found('ratio=0.50000000000000000000001'), 0)
    assert.equal(await found('ratio=0.5000000000000000000000'), 1)
  })

  test('is never made of an enum value of GraphQL', async () => {
    for (const meta of ['[RED]', '{ a: RED }', '{ a: [{ b: RED }] }']) {
      const { json } = await world.gql(
        `mutation { createNote(input: { name: "a", meta: ${meta} }) { id } }`,
      )
      assert.equal(json.errors[0].extensions.code, 'BAD_USER_INPUT')
      assert.match(json.errors[0].message, /enum value RED, and JSON has none: write "RED"/)
    }
    const { json } = await world.gql(
      'mutation { createNote(input: { name: "a", meta: { a: "RED", b: true, c: null } }) { meta } }',
    )
    assert.deepEqual(json.data.createNote.meta, { a: 'RED', b: true, c: null })
  })
})
