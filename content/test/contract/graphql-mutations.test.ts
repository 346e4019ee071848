/** Mutations of posts, what a mutation answers, and several in one operation. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { pluck } from '#test/asking.ts'
import { codeOf, dataOf, errorOf, scene } from '../graphql.ts'

describe('createPost', () => {
  const { ask } = scene()
  const create =
    'mutation($i: CreatePostInput!) { createPost(input: $i) { id title content author { id name } comments { id } } }'

  test('createPost makes a post of oneself, and an admin one of anybody', async () => {
    for (const as of [2, 1]) {
      const i = { title: ' New ', content: ' kept ', authorId: as === 2 ? '2' : 3 }
      const { createPost } = dataOf(await ask(create, { as, variables: { i } }))
      const { id, ...rest } = createPost
      assert.match(id, /^\d+$/)
      const author = as === 2 ? { id: '2', name: 'Ben' } : { id: '3', name: 'Cleo' }
      assert.deepEqual(rest, { title: 'New', content: ' kept ', author, comments: [] })
    }
  })
  test('a mutation that is sent again shows what its variables include this time, in each of its fields', async () => {
    const create = 'createPost(input: $i) { author { id name @include(if: $b) } }'
    const document = `mutation($i: CreatePostInput!, $b: Boolean!) { a: ${create} b: ${create} }`
    for (const [as, b] of [
      [1, true],
      [2, false],
      [2, true],
      [1, false],
      [1, true],
    ] as const) {
      const i = { title: 'x', content: 'x', authorId: as }
      const own = { id: String(as), ...(b && { name: as === 1 ? 'Ada' : 'Ben' }) }
      const data = dataOf(await ask(document, { as, variables: { i, b } }))
      assert.deepEqual(data, { a: { author: own }, b: { author: own } })
    }
  })
  for (const authorId of ['999', 'abc', '0', '1.5'])
    test(`createPost for the unknown author ${authorId} is NOT_FOUND, for a user and an admin`, async () => {
      for (const as of [1, 2])
        for (const title of ['x', '']) {
          const answered = await ask(create, {
            as,
            variables: { i: { title, content: 'x', authorId } },
          })
          assert.equal(codeOf(answered), 'NOT_FOUND')
          assert.equal(errorOf(answered).message, `User ${authorId} not found`)
        }
    })
})

describe('what a mutation answers', () => {
  const { ask } = scene()
  for (const selection of [
    '{ id name email age }',
    '{ __typename posts { id title comments { id text author { name age } } } }',
    '{ posts(limit: $n, offset: 1) { id author { posts(limit: $n) { id } } } ...F @include(if: $b) }',
    '{ a: posts(limit: 1) { x: __typename ... { id } } a: posts(limit: 1) { content } name @skip(if: $b) }',
  ])
    test(`what a mutation answers is what a query answers: ${selection}`, async () => {
      const fragment = selection.includes('...F')
        ? 'fragment F on User { email all: posts { createdAt } }'
        : ''
      const head = selection.includes('$') ? '($n: Int = 2, $b: Boolean!)' : ''
      const used =
        head === ''
          ? ''
          : ` x: __typename @include(if: $b) ... on Query @skip(if: true) { posts(limit: $n) { id } }`
      const asking = { variables: { b: true } }
      const query = await ask(
        `query${head} { user(id: 2) ${selection}${used} } ${fragment}`,
        asking,
      )
      const inMutation = used.replace(
        '... on Query @skip(if: true) { posts(limit: $n) { id } }',
        '... @skip(if: true) { updateUser(id: 3, input: {}) { posts(limit: $n) { id } } }',
      )
      const mutation = await ask(
        `mutation${head} { user: updateUser(id: 2, input: {}) ${selection}${inMutation} } ${fragment}`,
        asking,
      )
      assert.equal(query.json.errors, undefined, query.text)
      assert.equal(mutation.text.replace('"Mutation"', '"Query"'), query.text)
    })
})

describe('several mutations in one operation', () => {
  const { ask, all } = scene()
  const names = async () => pluck(dataOf(await ask('{ users(limit: 100) { name } }')).users, 'name')

  test('run in order, each seeing what the ones before made', async () => {
    const query = `mutation {
      a: updateUser(id: 3, input: {name: "C1"}) { name posts { author { name } } }
      b: updateUser(id: 3, input: {name: "C2"}) { name }
      c: createPost(input: {title: "t", content: "c", authorId: 3}) { author { name } }
    }`
    assert.deepEqual(dataOf(await ask(query)), {
      a: { name: 'C1', posts: [{ author: { name: 'C1' } }] },
      b: { name: 'C2' },
      c: { author: { name: 'C2' } },
    })
  })
  test('stop at the one that fails, and keep what is done [C16]', async () => {
    const query = `mutation {
      a: createUser(input: {name: "Done", email: "done@example.org"}) { id }
      b: createUser(input: {name: "Taken", email: "ada@example.org"}) { id }
      c: createUser(input: {name: "Never", email: "never@example.org"}) { id }
    }`
    const answered = await ask(query)
    assert.equal(answered.json.data, null)
    assert.equal(answered.json.errors.length, 1)
    assert.equal(codeOf(answered), 'EMAIL_TAKEN')
    assert.deepEqual(errorOf(answered).path, ['b'])
    const after = await names()
    assert.ok(after.includes('Done') && !after.includes('Never') && !after.includes('Taken'))
  })
  test('fields that merge are run once', async () => {
    const input = '{name: "Once", email: "once@example.org"}'
    const query = `mutation { createUser(input: ${input}) { id } createUser(input: ${input}) { name } ...F } fragment F on Mutation { createUser(input: ${input}) { age } }`
    assert.deepEqual(Object.keys(dataOf(await ask(query)).createUser), ['id', 'name', 'age'])
    assert.equal((await names()).filter((name: string) => name === 'Once').length, 1)
  })
  test('a skipped field is not run', async () => {
    const query =
      'mutation($no: Boolean!) { a: deleteUser(id: 4) @include(if: $no) b: deleteUser(id: 4) @skip(if: true) t: __typename }'
    assert.equal((await ask(query, { variables: { no: false } })).text, '{"data":{"t":"Mutation"}}')
    assert.ok((await names()).includes('Dan'))
  })
  const allowed = 'a: createPost(input: {title: "t", content: "c", authorId: "2"}) { id }'
  for (const [name, refused, as, code] of [
    [
      'another’s user is changed',
      'b: updateUser(id: "3", input: {name: "x"}) { id }',
      2,
      'FORBIDDEN',
    ],
    ['another’s user is deleted', 'b: deleteUser(id: "3")', 2, 'FORBIDDEN'],
    [
      'a post is made for another',
      'b: createPost(input: {title: "t", content: "c", authorId: "3"}) { id }',
      2,
      'FORBIDDEN',
    ],
    [
      'another’s user is changed in a fragment',
      '...F } fragment F on Mutation { b: deleteUser(id: "1")',
      2,
      'FORBIDDEN',
    ],
  ] as const)
    test(`write nothing where ${name} by a later field`, async () => {
      const before = await all()
      const answered = await ask(`mutation { ${allowed} ${refused} }`, { as })
      assert.equal(codeOf(answered), code)
      assert.deepEqual(errorOf(answered).path, ['b'])
      assert.equal(await all(), before)
    })
  test('write nothing where anonymous may do the first and not the second', async () => {
    const before = await all()
    const first = 'a: createUser(input: {name: "An", email: "an@example.org"}) { id }'
    for (const second of [
      'b: deleteUser(id: 2)',
      'b: updateUser(id: 2, input: {}) { id }',
      allowed.replace('a:', 'b:'),
    ]) {
      const answered = await ask(`mutation { ${first} ${second} }`, { as: 'anonymous' })
      assert.equal(codeOf(answered), 'UNAUTHENTICATED')
      assert.deepEqual(errorOf(answered).path, ['b'])
      assert.equal(answered.status, 200)
    }
    assert.equal(await all(), before)
  })
  test('write nothing where a user that is gone makes a post by a later field', async () => {
    const before = await all()
    const query = `mutation {
      a: createUser(input: {name: "An", email: "an@example.org"}) { id }
      b: createPost(input: {title: "t", content: "c", authorId: "77"}) { id }
    }`
    assert.equal(codeOf(await ask(query, { as: 77 })), 'FORBIDDEN')
    assert.equal(await all(), before)
  })
})

describe('the expected revision', () => {
  const { ask, all } = scene()
  const update =
    'mutation($r: Int) { updateUser(id: 2, input: { age: 33 }, expectedRevision: $r) { revision } }'

  test('lets an update and a delete through that know the row as it is, and no others', async () => {
    const { user } = dataOf(await ask('{ user(id: 2) { revision } }'))
    const first = dataOf(await ask(update, { variables: { r: user.revision } }))
    assert.equal(first.updateUser.revision, user.revision + 1)
    const before = await all()
    const stale = await ask(update, { variables: { r: user.revision } })
    assert.equal(codeOf(stale), 'PRECONDITION_FAILED')
    const drop = (r: number) => `mutation { deleteUser(id: 2, expectedRevision: ${r}) }`
    assert.equal(codeOf(await ask(drop(user.revision))), 'PRECONDITION_FAILED')
    assert.equal(await all(), before)
    assert.equal(dataOf(await ask(update)).updateUser.revision, user.revision + 2)
    assert.equal(dataOf(await ask(drop(user.revision + 2))).deleteUser, true)
    assert.equal(dataOf(await ask(drop(1))).deleteUser, false)
  })
})
