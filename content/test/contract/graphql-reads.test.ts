/** Queries of GraphQL: what is read, and that one response shows one moment. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { stripIgnoredCharacters } from 'graphql'
import { longest } from '#test/support/wait.ts'
import { codeOf, dataOf, errorOf, scene } from '../graphql.ts'
import { createWorld, pluck } from '../world.ts'

describe('queries', () => {
  const { ask } = scene()

  test('user is one user, ids are strings', async () => {
    const data = dataOf(await ask('{ user(id: "2") { id name email age } }'))
    assert.deepEqual(data.user, { id: '2', name: 'Ben', email: 'ben@example.org', age: 28 })
  })
  test('an id may be given as a number, by literal and variable', async () => {
    const answered = await ask(
      'query($id: ID!) { a: user(id: 2) { id } b: user(id: $id) { id } }',
      {
        variables: { id: 3 },
      },
    )
    assert.deepEqual(dataOf(answered), { a: { id: '2' }, b: { id: '3' } })
  })
  for (const id of [
    'abc',
    '0',
    '-1',
    '1.5',
    '007',
    ' 2',
    '2 ',
    '+2',
    '0x2',
    '1e0',
    '',
    '٣',
    '9007199254740992',
    '99999999999999999999',
    '42',
  ])
    test(`the id ${JSON.stringify(id)} names nothing: null, or NOT_FOUND where a list hangs on it`, async () => {
      const nulls = await ask('query($id: ID!) { user(id: $id) { id } post(id: $id) { id } }', {
        variables: { id },
      })
      assert.deepEqual(dataOf(nulls), { user: null, post: null })
      const list = await ask('query($id: ID) { users { id } posts(authorId: $id) { id } }', {
        variables: { id },
      })
      assert.equal(codeOf(list), 'NOT_FOUND')
      assert.equal(errorOf(list).message, `User ${id} not found`)
      assert.deepEqual(errorOf(list).path, ['posts'])
      assert.equal(list.json.data, null)
    })
  test('users are by id ascending, ten of them; posts and comments newest first, whole', async () => {
    const data = dataOf(
      await ask('{ users { id } posts { id comments { id } } user(id: 2) { posts { id } } }'),
    )
    assert.deepEqual(pluck(data.users, 'id'), ['1', '2', '3', '4'])
    assert.deepEqual(pluck(data.posts, 'id'), ['4', '3', '2', '1'])
    assert.deepEqual(data.posts[3].comments, [{ id: '2' }, { id: '1' }])
    assert.deepEqual(data.user.posts, [{ id: '3' }, { id: '2' }, { id: '1' }])
  })
  test('limit and offset page every list, below a parent too', async () => {
    const data = dataOf(
      await ask(
        '{ users(limit: 2, offset: 1) { id posts(limit: 1, offset: 1) { id } } posts(limit: 2, offset: 1) { id } }',
      ),
    )
    assert.deepEqual(data, {
      users: [
        { id: '2', posts: [{ id: '2' }] },
        { id: '3', posts: [] },
      ],
      posts: [{ id: '3' }, { id: '2' }],
    })
  })
  test('a limit below 1 is 1, an offset below 0 is 0, null is as if absent', async () => {
    const { a, b, c } = dataOf(
      await ask(
        '{ a: users(limit: 0, offset: -9) { id } b: users(limit: -2147483648) { id } c: users(limit: null, offset: null) { id } }',
      ),
    )
    assert.deepEqual([a, b, c.length], [[{ id: '1' }], [{ id: '1' }], 4])
  })
  test('posts may be those of one author; authorId null is as if absent', async () => {
    const { a, b } = dataOf(
      await ask('{ a: posts(authorId: "3") { id } b: posts(authorId: null) { id } }'),
    )
    assert.deepEqual([a, b.length], [[{ id: '4' }], 4])
  })
  test('an author without posts has an empty list', async () => {
    assert.deepEqual(dataOf(await ask('{ posts(authorId: "1") { id } }')).posts, [])
  })
  test('timestamps are ISO 8601 in UTC with milliseconds', async () => {
    const { post } = dataOf(await ask('{ post(id: 1) { createdAt } }'))
    assert.equal(post.createdAt, '2026-01-01T00:05:00.000Z')
  })
  test('members come in the order of the document, merged fields at their first place', async () => {
    const { text } = await ask(
      '{ user(id: 2) { name id } __typename user(id: 2) { age name ...F } } fragment F on User { t: __typename email }',
    )
    assert.equal(
      text,
      '{"data":{"user":{"name":"Ben","id":"2","age":28,"t":"User","email":"ben@example.org"},"__typename":"Query"}}',
    )
  })
  test('__typename stands at every level', async () => {
    const { text } = await ask(
      '{ __typename post(id: 1) { __typename author { __typename posts(limit: 1) { __typename } } comments(limit: 1) { __typename author { __typename } } } }',
    )
    assert.equal(
      text,
      '{"data":{"__typename":"Query","post":{"__typename":"Post","author":{"__typename":"User","posts":[{"__typename":"Post"}]},"comments":[{"__typename":"Comment","author":{"__typename":"User"}}]}}}',
    )
  })
  test('@skip and @include hold for fields, fragments and inline fragments, by literal and variable', async () => {
    const query = `query($yes: Boolean!, $no: Boolean = false) {
      a: __typename @include(if: $yes) b: __typename @skip(if: $yes)
      ... @include(if: $no) { c: __typename } ...F @skip(if: $no)
      d: __typename @include(if: true) @skip(if: false)
    } fragment F on Query { e: __typename @include(if: true) }`
    const { text } = await ask(query, { variables: { yes: true } })
    assert.equal(text, '{"data":{"a":"Query","e":"Query","d":"Query"}}')
    const other = await ask(query, { variables: { yes: false, no: true } })
    assert.equal(other.text, '{"data":{"b":"Query","c":"Query","d":"Query"}}')
  })
  test('an operation that selects nothing in the end is an empty object', async () => {
    assert.equal((await ask('{ users @skip(if: true) { id } }')).text, '{"data":{}}')
    assert.equal((await ask('{ user(id: 2) { id @skip(if: true) } }')).text, '{"data":{"user":{}}}')
  })
  test('operationName chooses among several operations', async () => {
    const query =
      'query A { user(id: 1) { name } } query B($n: Int! = 1) { users(limit: $n) { id } }'
    assert.deepEqual(dataOf(await ask(query, { operationName: 'A' })), { user: { name: 'Ada' } })
    assert.deepEqual(dataOf(await ask(query, { operationName: 'B' })), { users: [{ id: '1' }] })
  })
  test('a variable that is absent takes its default, one that is null is null', async () => {
    const query = 'query($n: Int = 2) { users(limit: $n) { id } }'
    assert.equal(dataOf(await ask(query)).users.length, 2)
    assert.equal(dataOf(await ask(query, { variables: { n: null } })).users.length, 4)
  })
  test('texts keep every letter', async () => {
    const content = 'a"b\\c\n\t\u2028\u2029\u0001 😀 </script> é\u0301 \ufeff %00 日本'
    const { createPost } = dataOf(
      await ask(
        'mutation($c: String!) { createPost(input: {title: "x", content: $c, authorId: 1}) { id content } }',
        { variables: { c: content } },
      ),
    )
    assert.equal(createPost.content, content)
    const again = dataOf(await ask(`{ post(id: ${createPost.id}) { content } }`))
    assert.equal(again.post.content, content)
  })
})

describe('one response', () => {
  test('one response is read at one moment: parts of it never contradict each other while writes go on', async () => {
    await using world = await createWorld()
    const query = `{
      a: user(id: 2) { name age posts { id author { name age } } }
      b: posts { author { name age } }
      c: users(limit: 100) { name age posts { id } }
    }`
    let going = true
    const write = async () => {
      for (let n = 0; going; n++) {
        // Name and age are written together, so they are seen together.
        await world.gql(
          `mutation { updateUser(id: 2, input: {name: "${n % 97}", age: ${n % 97}}) { id } }`,
          { as: 1 },
        )
        await world.gql(
          `mutation { createPost(input: {title: "t", content: "c", authorId: 2}) { id } }`,
          { as: 1 },
        )
      }
    }
    const writers = [write(), write()]
    const seen = new Set<string>()
    // On a busy machine the writers may be slow: the reads go on until they have seen changes.
    const deadline = performance.now() + longest
    for (let n = 0; n < 250 || (seen.size <= 10 && performance.now() < deadline); n++) {
      const { a, b, c } = dataOf(await world.gql(query, { as: 2 }))
      const stateOf = ({ name, age }: { name: string; age: number }) => `${name} ${age}`
      const state = stateOf(a)
      seen.add(`${state} ${a.posts.length}`)
      if (n > 0 && a.name !== 'Ben') assert.equal(a.name, String(a.age))
      for (const { author } of a.posts) assert.equal(stateOf(author), state)
      assert.equal(
        b.filter(
          ({ author }: { author: { name: string; age: number } }) => stateOf(author) === state,
        ).length >= a.posts.length,
        true,
      )
      assert.deepEqual(
        c[1].posts,
        a.posts.map(({ id }: { id: string }) => ({ id })),
      )
      assert.equal(stateOf(c[1]), state)
      assert.equal(b.length, c.flatMap(({ posts }: { posts: unknown[] }) => posts).length)
      await new Promise(resolve => setImmediate(resolve))
    }
    going = false
    await Promise.all(writers)
    assert.ok(seen.size > 10, `the reads saw ${seen.size} states`)
  })
  test('one response of a mutation is read in its own transaction', async () => {
    await using world = await createWorld()
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        world.gql(
          `mutation { updateUser(id: 2, input: {name: "${n}", age: ${n}}) { name age posts { author { name } } } }`,
          { as: 1 },
        ),
      ),
    )
    for (const [n, answered] of answers.entries()) {
      const { updateUser } = dataOf(answered)
      assert.equal(updateUser.name, String(n))
      assert.equal(updateUser.age, n)
      for (const { author } of updateUser.posts) assert.equal(author.name, String(n))
    }
  })
})

test('a document without needless letters is answered as the written one', async () => {
  await using world = await createWorld()
  const written = '# all\n{ users(limit: 2) { id, name } \t posts { id } }'
  const short = stripIgnoredCharacters(written)
  assert.equal((await world.gql(written, { as: 2 })).text, (await world.gql(short, { as: 2 })).text)
})
