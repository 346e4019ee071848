/** How large a body may be inside, and how much of a bad one its answer repeats, in both APIs. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refuses, refusesInput } from '../rest.ts'
import { type Answered, createWorld, forAllTests, pluck } from '../world.ts'

const world = forAllTests(createWorld)

const most = 16_384
const entries = <Value>(count: number, nth: (n: number) => readonly [string, Value]) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => nth(n)))
const unknown = (count: number) => entries(count, n => [`m${n}`, 1])

const createUser = 'mutation($input: CreateUserInput!) { createUser(input: $input) { id } }'
const inGraphql = (input: unknown, headers: Record<string, string> = {}) =>
  world.gql(createUser, { as: 1, headers, variables: { input } })

const refusesInGraphql = (answer: Answered, fields: readonly string[]) => {
  assert.equal(answer.status, 200)
  assert.deepEqual(Object.keys(answer.json), ['errors'])
  const details = answer.json.errors.flatMap(
    ({ extensions }: { extensions: { code: string; details: { field: string }[] } }) => {
      assert.equal(extensions.code, 'BAD_USER_INPUT')
      return extensions.details
    },
  )
  assert.deepEqual(pluck(details, 'field'), fields)
  return answer.json.errors
}

test('a body of 1,001 members is 422 before its members are looked at, one of 1,000 has faults told', async () => {
  const over = await world.ask('POST /api/users', { as: 1, body: unknown(1001) })
  refusesInput(over, [''])
  assert.match(over.json.error.message, /more than 1000 members/)
  const at = await world.ask('POST /api/users', { as: 1, body: unknown(1000) })
  assert.equal(at.status, 422)
  assert.match(at.json.error.message, /^m0 is not a member of a user; /)
})

test('a list of 10,001 elements is 422 before they are looked at', async () => {
  const items = (count: number) => ({ items: Array(count).fill({}) })
  const over = await world.ask('POST /api/orders', { as: 2, body: items(10_001) })
  refusesInput(over, ['items'])
  assert.match(over.json.error.message, /more than 10000 elements/)
  const at = await world.ask('POST /api/orders', { as: 2, body: items(10_000) })
  assert.doesNotMatch(at.json.error.message, /elements/)
})

test('a variable of 1,001 members is BAD_USER_INPUT before it is coerced, in both media types [H12]', async () => {
  const over = await inGraphql(unknown(1001))
  const [error] = refusesInGraphql(over, ['variables.input'])
  assert.equal(error.message, 'variables.input has more than 1000 members')
  const accept = 'application/graphql-response+json'
  assert.equal((await inGraphql(unknown(1001), { Accept: accept })).status, 400)
  const [first] = (await inGraphql(unknown(1000))).json.errors
  assert.match(first.message, /^Variable "\$input" has invalid value/)
})

test('the first 20 faults of a body are told, and one more says how many follow', async () => {
  const at = await world.ask('PATCH /api/users/2', { as: 2, body: unknown(20) })
  assert.equal(at.json.error.details.length, 20)
  assert.doesNotMatch(at.json.error.message, /more fault/)
  for (const [count, said] of [
    [21, 'and 1 more fault'],
    [120, 'and 100 more faults'],
  ] as const) {
    const { details, message } = (
      await world.ask('PATCH /api/users/2', { as: 2, body: unknown(count) })
    ).json.error
    assert.equal(details.length, 21)
    assert.equal(details[19].field, 'm19')
    assert.deepEqual(details[20], { field: '', message: said })
    assert.ok(message.endsWith(said))
  }
})

test('the first 20 faults of variables are told, and one more says how many follow', async () => {
  const document = (count: number) => {
    const fields = Array.from(
      { length: count / 2 },
      (_, n) => `p${n}: posts(limit: $v${2 * n}, offset: $v${2 * n + 1}) { id }`,
    )
    return `query(${Array.from({ length: count }, (_, n) => `$v${n}: Int`)}) { ${fields} }`
  }
  const ask = async (count: number) =>
    (await world.gql(document(count), { as: 1, variables: entries(count, n => [`v${n}`, 'x']) }))
      .json.errors
  assert.equal((await ask(20)).length, 20)
  const errors = await ask(22)
  assert.equal(errors.length, 21)
  assert.equal(errors[20].message, 'And 2 more faults.')
})

test('one fault is told of variables that are long', async () => {
  const errors = refusesInGraphql(await inGraphql(unknown(900)), ['input', 'variables'])
  assert.match(errors[1].message, /^Too many errors/)
})

test('no answer to a bad body is longer than 16 KiB, whatever its members are called', async () => {
  const long = 'k'.repeat(100_000)
  const control = '\u0001'.repeat(50_000)
  const bodies: readonly unknown[] = [
    { [long]: 1 },
    { [control]: 1 },
    unknown(1000),
    entries(1000, n => [`${n}${'\u0001'.repeat(120)}`, 1]),
    entries(300, n => [`${n}${'€'.repeat(900)}`, 'x'.repeat(100)]),
    { [long]: entries(1001, n => [`m${n}`, 1]) },
    { name: long, email: control, age: long, role: control },
  ]
  for (const body of bodies) {
    const rest = await world.ask('POST /api/users', { as: 1, body })
    assert.equal(rest.status, 422)
    assert.ok(Buffer.byteLength(rest.text) <= most, `${Buffer.byteLength(rest.text)} bytes`)
    const graphql = await inGraphql(body)
    assert.equal(graphql.json.errors[0].extensions.code, 'BAD_USER_INPUT')
    assert.ok(Buffer.byteLength(graphql.text) <= most, `${Buffer.byteLength(graphql.text)} bytes`)
  }
  const twice = await world.ask('POST /api/users', {
    as: 1,
    raw: `{"${long}":1,"${long}":2}`,
    headers: { 'Content-Type': 'application/json' },
  })
  refuses(twice, 400, 'MALFORMED_REQUEST')
  assert.match(twice.json.error.message, /is given twice$/)
  assert.ok(twice.text.length <= most)
})

test('a missing thing is named in short, however long the id in a variable', async () => {
  const answer = await world.gql('query($id: ID!) { user(id: $id) { id } }', {
    as: 1,
    variables: { id: '9'.repeat(100_000) },
  })
  assert.ok(answer.text.length <= most)
  const made = await world.gql(
    'mutation($input: CreatePostInput!) { createPost(input: $input) { id } }',
    { as: 1, variables: { input: { title: 't', content: 'c', authorId: '7'.repeat(100_000) } } },
  )
  assert.match(made.json.errors[0].message, /^User 7+… not found$/)
  assert.ok(made.text.length <= most)
})
