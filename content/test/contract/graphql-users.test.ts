/** The mutations of users: what they make and change, and what they refuse. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { pluck } from '#test/asking.ts'
import { codeOf, dataOf, errorOf, scene } from '../graphql.ts'

describe('createUser', () => {
  const { scene: here, ask, all } = scene()
  const create =
    'mutation($i: CreateUserInput!) { createUser(input: $i) { id name email age posts { id } } }'

  test('createUser makes a user, whom REST knows by the same id', async () => {
    const { createUser } = dataOf(
      await ask(create, {
        as: 'anonymous',
        variables: { i: { name: ' Eve  ', email: ' Eve@example.org ', age: 7 } },
      }),
    )
    const { id, ...rest } = createUser
    assert.deepEqual(rest, { name: 'Eve', email: 'Eve@example.org', age: 7, posts: [] })
    const { json } = await here.world.ask(`GET /api/users/${id}`, { as: 2 })
    assert.deepEqual(
      [json.id, json.role, json.status, json.emailVerified],
      [Number(id), 'user', 'active', false],
    )
  })
  test('createUser takes values at their limits, and an absent age and a null age alike', async () => {
    for (const [n, age] of [undefined, null, 0, 150].entries()) {
      const i = { name: '😀'.repeat(200), email: `n${n}@example.org`, age }
      const { createUser } = dataOf(await ask(create, { variables: { i } }))
      assert.deepEqual([createUser.name, createUser.age], [i.name, age ?? null])
    }
  })
  test('lets anonymous select the whole of what it made and nothing else', async () => {
    const input = '{name: "Fay", email: "fay@example.org"}'
    const query = `mutation { createUser(input: ${input}) { email age posts { title author { email } } } }`
    assert.deepEqual(dataOf(await ask(query, { as: 'anonymous' })).createUser, {
      email: 'fay@example.org',
      age: null,
      posts: [],
    })
    const later = await ask('{ posts { author { email } } }', { as: 'anonymous' })
    assert.equal(codeOf(later), 'UNAUTHENTICATED')
  })
  test('createUser refuses an email that is in use, whatever its case', async () => {
    const before = await all()
    const answered = await ask(create, {
      variables: { i: { name: 'X', email: 'BEN@example.ORG' } },
    })
    assert.equal(codeOf(answered), 'EMAIL_TAKEN')
    assert.equal(answered.status, 200)
    assert.equal(answered.json.data, null)
    assert.deepEqual(errorOf(answered).extensions.details, [
      { field: 'email', message: 'is in use already' },
    ])
    assert.equal(await all(), before)
  })
  test('reports all faults of an input at once, by field', async () => {
    const answered = await ask(create, { variables: { i: { name: ' ', email: 'no', age: 151 } } })
    const { message, locations, path, extensions } = errorOf(answered)
    assert.equal(extensions.code, 'BAD_USER_INPUT')
    assert.deepEqual(pluck(extensions.details, 'field'), ['name', 'email', 'age'])
    assert.match(message, /name .*email .*age /)
    assert.deepEqual(path, ['createUser'])
    assert.deepEqual(locations, [{ line: 1, column: 34 }])
    assert.equal(answered.json.data, null)
  })
})

describe('updateUser', () => {
  const { scene: here, ask, all } = scene()
  const update =
    'mutation($id: ID!, $i: UpdateUserInput!) { updateUser(id: $id, input: $i) { id name email age } }'

  test('changes what is given and leaves the rest', async () => {
    const answered = await ask(update, { as: 2, variables: { id: 2, i: { name: 'Benno' } } })
    assert.deepEqual(dataOf(answered).updateUser, {
      id: '2',
      name: 'Benno',
      email: 'ben@example.org',
      age: 28,
    })
  })
  test('updateUser clears the age with null', async () => {
    const answered = await ask(update, { as: 2, variables: { id: 2, i: { age: null } } })
    assert.equal(dataOf(answered).updateUser.age, null)
    const literal =
      'mutation { a: updateUser(id: 2, input: {age: 9}) { age } b: updateUser(id: 2, input: {age: null}) { age } }'
    assert.deepEqual(dataOf(await ask(literal)), { a: { age: 9 }, b: { age: null } })
  })
  test('updateUser leaves a field whose variable is absent', async () => {
    const query =
      'mutation($n: String, $a: Int) { updateUser(id: 2, input: {name: $n, age: $a}) { name age } }'
    const answered = await ask(query, { variables: { a: 30 } })
    assert.deepEqual(dataOf(answered).updateUser, { name: 'Benno', age: 30 })
  })
  test('updateUser refuses name null and email null as BAD_USER_INPUT', async () => {
    const before = await all()
    const answered = await ask(update, {
      variables: { id: 2, i: { name: null, email: null, age: 1 } },
    })
    assert.equal(codeOf(answered), 'BAD_USER_INPUT')
    assert.deepEqual(errorOf(answered).extensions.details, [
      { field: 'name', message: 'must not be null' },
      { field: 'email', message: 'must not be null' },
    ])
    assert.equal(await all(), before)
  })
  test('updateUser of nothing changes nothing, not even the ETag', async () => {
    const tag = async () =>
      (await here.world.ask('GET /api/users/2', { as: 2 })).headers.get('etag')
    const before = await tag()
    dataOf(await ask(update, { variables: { id: 2, i: {} } }))
    assert.equal(await tag(), before)
  })
  for (const id of ['999', 'abc', '0', '99999999999999999999'])
    test(`updateUser of the unknown id ${id} is NOT_FOUND, for a user and an admin`, async () => {
      for (const as of [1, 2]) {
        const answered = await ask(update, { as, variables: { id, i: { name: 'x' } } })
        assert.equal(codeOf(answered), 'NOT_FOUND')
        assert.equal(errorOf(answered).message, `User ${id} not found`)
        assert.equal(answered.json.data, null)
      }
    })
  test('updateUser takes one’s own email in another case, and none of somebody else', async () => {
    const own = await ask(update, { as: 2, variables: { id: 2, i: { email: 'BEN@Example.org' } } })
    assert.equal(dataOf(own).updateUser.email, 'BEN@Example.org')
    const taken = await ask(update, {
      as: 2,
      variables: { id: 2, i: { email: 'ADA@example.org' } },
    })
    assert.equal(codeOf(taken), 'EMAIL_TAKEN')
  })
  test('updateUser of the email takes back its proof', async () => {
    await ask(update, { as: 2, variables: { id: 2, i: { email: 'new@example.org' } } })
    const { json } = await here.world.ask('GET /api/users/2', { as: 2 })
    assert.equal(json.emailVerified, false)
  })
})

describe('deleteUser', () => {
  const { scene: here, ask } = scene()
  const remove = 'mutation($id: ID!) { deleteUser(id: $id) }'

  test('deleteUser of an unknown id is false', async () => {
    for (const id of ['999', 'abc', '0', '-1'])
      for (const as of [1, 2])
        assert.deepEqual(dataOf(await ask(remove, { as, variables: { id } })), {
          deleteUser: false,
        })
  })
  test('deletes the user’s posts, comments, likes, and the comments on those posts', async () => {
    assert.deepEqual(dataOf(await ask(remove, { as: 2, variables: { id: 2 } })), {
      deleteUser: true,
    })
    const data = dataOf(
      await ask('{ user(id: 2) { id } posts { id comments { id } } post(id: 1) { id } }'),
    )
    assert.deepEqual(data, { user: null, posts: [{ id: '4', comments: [] }], post: null })
    for (const path of ['/users/2', '/posts/1', '/comments/1', '/comments/3'])
      assert.equal((await here.world.ask(`GET /api${path}`, { as: 1 })).status, 404)
    assert.deepEqual(dataOf(await ask(remove, { variables: { id: 2 } })), { deleteUser: false })
  })
  test('deleteUser never gives an id out again', async () => {
    const create = async (n: number) =>
      dataOf(
        await ask(`mutation { createUser(input: {name: "N", email: "n${n}@example.org"}) { id } }`),
      ).createUser.id
    const first = await create(1)
    await ask(remove, { variables: { id: first } })
    assert.equal(Number(await create(2)), Number(first) + 1)
  })
})
