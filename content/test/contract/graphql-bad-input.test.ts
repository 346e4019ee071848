/** Bad GraphQL requests: each has its code, and its status by the media type of the answer. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createWorld, forAllTests } from '../world.ts'
import { failed, forbidden, input, type Row, refused } from './bad-documents.ts'

const world = forAllTests(createWorld)

const everything = async () =>
  (await world.gql('{ users(limit: 100) { id name email age } posts { id title } }', { as: 1 }))
    .text

const check = (rows: readonly Row[], statusOf: (row: Row) => number, hasData: boolean) => {
  for (const row of rows) {
    const [query, code, given = {}] = row
    const sent = [query, given.variables && JSON.stringify(given.variables), given.operationName]
    test(`${sent.filter(Boolean).join(' · ').slice(0, 200)} is ${code}`, async () => {
      const before = await everything()
      for (const [accept, status] of [
        ['application/json', 200],
        ['application/graphql-response+json', statusOf(row)],
      ] as const) {
        const answered = await world.gql(query, { as: 2, ...given, headers: { Accept: accept } })
        assert.equal(answered.status, status, answered.text)
        for (const error of answered.json.errors) {
          assert.equal(error.extensions.code, code, answered.text)
          assert.ok(error.message.length > 0)
        }
        assert.ok(answered.json.errors.length > 0)
        assert.equal('data' in answered.json, hasData)
        if (hasData) assert.equal(answered.json.data, null)
        if (code === input)
          for (const { extensions } of answered.json.errors)
            for (const { field, message } of extensions.details) assert.ok(field && message)
      }
      assert.equal(await everything(), before)
    })
  }
}

check(refused, () => 400, false)
check(failed, () => 200, true)
check(
  forbidden.map(([query, code, given]): Row => (given ? [query, code, given] : [query, code])),
  ([query]) => forbidden.find(([other]) => other === query)?.[3] ?? 0,
  false,
)

test('details name the member at fault by its path, and say what is wrong with it alone', async () => {
  const detailsOf = async (query: string, variables?: object) => {
    const { json } = await world.gql(query, { as: 1, ...(variables && { variables }) })
    return json.errors.flatMap(
      (error: { extensions: { details: object } }) => error.extensions.details,
    )
  }
  const one = 'mutation($input: CreateUserInput!) { createUser(input: $input) { id } }'
  assert.deepEqual(
    await detailsOf(one, { input: { name: 'Ada', email: 'ada@example.org', age: 'x' } }),
    [{ field: 'input.age', message: 'Int cannot represent non-integer value: "x"' }],
  )
  const users = 'query($w: UserWhere) { users(where: $w) { id } }'
  assert.deepEqual(await detailsOf(users, { w: { or: [{}, { age: { gte: 'x' } }] } }), [
    { field: 'w.or.1.age.gte', message: 'Int cannot represent non-integer value: "x"' },
  ])
  const posts = '{ posts(where: { createdAt: { gte: "now" } }) { id } }'
  assert.deepEqual(await detailsOf(posts), [
    {
      field: 'where.createdAt.gte',
      message: 'must be an ISO 8601 time with Z or its offset, such as 2026-01-31T09:30:00.000Z',
    },
  ])
  assert.deepEqual(await detailsOf('{ usersAggregate { age } }'), [
    { field: 'age', message: 'is selected, and nothing is grouped by it: add it to groupBy.' },
  ])
})

test('the table has no row twice', () => {
  const rows = [...refused, ...failed, ...forbidden].map(row => JSON.stringify(row))
  assert.equal(new Set(rows).size, rows.length)
})
