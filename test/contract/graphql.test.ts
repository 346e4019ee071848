/** The GraphQL API, contract section 3: queries, mutations, errors, snapshots, introspection. Limits have a file of their own. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  buildClientSchema,
  getIntrospectionQuery,
  isObjectType,
  parse,
  print,
  printSchema,
  stripIgnoredCharacters,
  visit,
} from 'graphql'
import { deriveSchema } from '#graphql/schema.ts'
import { longest } from '../support/wait.ts'
import { type Answered, type Asking, createWorld, usualModel, type World } from '../world.ts'

/** The specification's tables as SDL; the optional `limit` and `offset` are the contract's additions. */
const specified = `
type Query {
  user(id: ID!): User
  users(limit: Int, offset: Int): [User!]!
  post(id: ID!): Post
  posts(authorId: ID, limit: Int, offset: Int): [Post!]!
}
type User { id: ID! name: String! email: String! age: Int posts(limit: Int, offset: Int): [Post!]! }
type Post { id: ID! title: String! content: String! createdAt: String! author: User! comments(limit: Int, offset: Int): [Comment!]! }
type Comment { id: ID! text: String! author: User! }
type Mutation {
  createUser(input: CreateUserInput!): User!
  updateUser(id: ID!, input: UpdateUserInput!): User!
  deleteUser(id: ID!): Boolean!
  createPost(input: CreatePostInput!): Post!
}
input CreateUserInput { name: String! email: String! age: Int }
input UpdateUserInput { name: String email: String age: Int }
input CreatePostInput { title: String! content: String! authorId: ID! }
`

/** An SDL without descriptions and directives' definitions, its definitions by name. */
const bare = (sdl: string): string =>
  visit(parse(sdl), {
    enter: node => ('description' in node ? { ...node, description: undefined } : undefined),
  })
    .definitions.map(definition => print(definition))
    .toSorted()
    .join('\n')

const errorOf = ({ json }: Answered) => json.errors[0]
const codeOf = (answered: Answered): string | undefined => answered.json.errors?.[0].extensions.code
const dataOf = (answered: Answered) => {
  assert.equal(answered.json.errors, undefined, answered.text)
  return answered.json.data
}

const scene = () => {
  const scene = { world: undefined as unknown as World }
  before(async () => {
    scene.world = await createWorld()
  })
  after(() => scene.world.close())
  const ask = (query: string, asking: Parameters<World['gql']>[1] = {}) =>
    scene.world.gql(query, { as: 1, ...asking })
  /** Everything that can be read, to see that nothing was written. */
  const all = async () =>
    (
      await ask(
        '{ users(limit: 100) { id name email age posts { id title content comments { id text } } } }',
      )
    ).text
  return { scene, ask, all }
}

test('the schema is the specification’s, type for type, with limit and offset', () => {
  assert.equal(bare(printSchema(deriveSchema(usualModel).schema)), bare(specified))
})

test('the descriptions of the schema say who may do what, by the rules of the model', () => {
  const { schema } = deriveSchema(usualModel)
  const query = schema.getQueryType()?.getFields() ?? {}
  const mutation = schema.getMutationType()?.getFields() ?? {}
  const user = schema.getType('User')
  assert.ok(isObjectType(user))
  const { name, email } = user.getFields()
  assert.equal(query.posts?.description, 'The posts, newest first. May be done by: anonymous.')
  assert.match(query.user?.description ?? '', /May be done by: user\.$/)
  assert.match(mutation.deleteUser?.description ?? '', /May be done by: self \(id\), admin\.$/)
  assert.match(email?.description ?? '', /May be read by: user\.$/)
  assert.doesNotMatch(name?.description ?? '', /May be/)
})

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
    assert.deepEqual(
      data.users.map((u: { id: string }) => u.id),
      ['1', '2', '3', '4'],
    )
    assert.deepEqual(
      data.posts.map((p: { id: string }) => p.id),
      ['4', '3', '2', '1'],
    )
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
  test('createUser takes an absent age and a null age alike', async () => {
    for (const [n, age] of [
      [1, undefined],
      [2, null],
    ] as const) {
      const { createUser } = dataOf(
        await ask(create, { variables: { i: { name: 'N', email: `n${n}@example.org`, age } } }),
      )
      assert.equal(createUser.age, null)
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
    assert.deepEqual(
      extensions.details.map((d: { field: string }) => d.field),
      ['name', 'email', 'age'],
    )
    assert.match(message, /name .*email .*age /)
    assert.deepEqual(path, ['createUser'])
    assert.deepEqual(locations, [{ line: 1, column: 34 }])
    assert.equal(answered.json.data, null)
  })
  const emoji = '😀'
  for (const [name, input, isGood] of [
    ['a name of 200 characters', { name: 'n'.repeat(200) }, true],
    ['a name of 200 emoji', { name: emoji.repeat(200) }, true],
    ['a name of 201 characters', { name: 'n'.repeat(201) }, false],
    ['a name of white space', { name: ' \t\n' }, false],
    ['a name with NUL', { name: 'a\0b' }, false],
    ['a name with a lone surrogate', { name: 'a\ud800' }, false],
    ['age 0', { age: 0 }, true],
    ['age 150', { age: 150 }, true],
    ['age -1', { age: -1 }, false],
    ['age 151', { age: 151 }, false],
    [
      'an email of 254 characters',
      {
        email: `${'a'.repeat(60)}@${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}.${'e'.repeat(6)}.org`,
      },
      true,
    ],
    [
      'an email of 255 characters',
      {
        email: `${'a'.repeat(60)}@${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}.${'e'.repeat(7)}.org`,
      },
      false,
    ],
    ['an email without @', { email: 'nobody' }, false],
    ['an email with two @', { email: 'a@b@c.org' }, false],
    ['an email with a space', { email: 'a b@c.org' }, false],
  ] as const)
    test(`${isGood ? 'takes' : 'refuses'} ${name}`, async () => {
      const i = {
        name: 'Lim',
        email: `lim${name.length}.${name.replaceAll(/\W/g, '')}@example.org`,
        ...input,
      }
      const answered = await ask(create, { variables: { i } })
      assert.equal(codeOf(answered), isGood ? undefined : 'BAD_USER_INPUT', answered.text)
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
  test('updateUser of somebody else is refused before the input is checked', async () => {
    const answered = await ask(update, { as: 2, variables: { id: 3, i: { name: '' } } })
    assert.equal(codeOf(answered), 'FORBIDDEN')
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

describe('createPost', () => {
  const { ask, all } = scene()
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
  test('createPost for somebody else is refused, before what is wrong with the input', async () => {
    for (const title of ['x', '']) {
      const i = { title, content: 'x', authorId: '3' }
      assert.equal(codeOf(await ask(create, { as: 2, variables: { i } })), 'FORBIDDEN')
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
  test('createPost by the token of a user that is gone is refused', async () => {
    const i = { title: 'x', content: 'x', authorId: '77' }
    assert.equal(codeOf(await ask(create, { as: 77, variables: { i } })), 'FORBIDDEN')
  })
  for (const [name, input, isGood] of [
    ['a title of 200 characters', { title: 't'.repeat(200) }, true],
    ['a title of 201 characters', { title: 't'.repeat(201) }, false],
    ['an empty title', { title: '' }, false],
    ['a content of 100,000 characters', { content: 'c'.repeat(100_000) }, true],
    ['a content of 100,000 emoji', { content: '😀'.repeat(100_000) }, true],
    ['a content of 100,001 characters', { content: 'c'.repeat(100_001) }, false],
    ['an empty content', { content: '' }, false],
    ['a content of white space', { content: ' ' }, true],
    ['a content with NUL', { content: '\0' }, false],
    ['a content with a lone surrogate', { content: '\udc00' }, false],
  ] as const)
    test(`${isGood ? 'takes' : 'refuses'} ${name}`, async () => {
      const before = isGood ? '' : await all()
      const i = { title: 'x', content: 'x', authorId: 1, ...input }
      const answered = await ask(create, { variables: { i } })
      assert.equal(codeOf(answered), isGood ? undefined : 'BAD_USER_INPUT')
      if (!isGood) assert.equal(await all(), before)
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
  const names = async () =>
    dataOf(await ask('{ users(limit: 100) { name } }')).users.map(
      (user: { name: string }) => user.name,
    )

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
  test('stop at the one that fails, and keep what is done', async () => {
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

describe('errors', () => {
  const { scene: here, ask } = scene()

  test('errors of rights name the path and place of the member, at any depth', async () => {
    const query = `{
  posts {
    comments { author { mail: email } }
  }
}`
    const answered = await ask(query, { as: 'anonymous' })
    assert.deepEqual(answered.json, {
      errors: [
        {
          message: 'A token is needed to read the email of a user',
          locations: [{ line: 3, column: 25 }],
          path: ['posts', 'comments', 'author', 'mail'],
          extensions: { code: 'UNAUTHENTICATED' },
        },
      ],
    })
  })
  test('errors of a schema name every fault with its location', async () => {
    const answered = await ask('{ nothing users { id nix } posts { id } }')
    assert.deepEqual(
      answered.json.errors.map((e: { locations: unknown }) => e.locations),
      [[{ line: 1, column: 3 }], [{ line: 1, column: 22 }]],
    )
    for (const error of answered.json.errors)
      assert.deepEqual(error.extensions, { code: 'GRAPHQL_VALIDATION_FAILED' })
  })
  test('errors of a schema are at most eleven', async () => {
    const answered = await ask(`{ ${Array.from({ length: 300 }, (_, n) => `f${n}`).join(' ')} }`)
    assert.equal(answered.json.errors.length, 11)
  })
  test('errors of variables name the variable and its member', async () => {
    const query = 'mutation($i: CreateUserInput!) { createUser(input: $i) { id } }'
    const answered = await ask(query, { variables: { i: { name: 1, nix: true } } })
    assert.equal(answered.json.errors.length, 3)
    for (const { extensions } of answered.json.errors) {
      assert.equal(extensions.code, 'BAD_USER_INPUT')
      assert.equal(extensions.details.length, 1)
    }
    assert.ok(!('data' in answered.json))
  })
  test('errors of a store that is broken show no SQL, path, stack or table, in either API', async t => {
    const world = await createWorld()
    t.after(() => world.close())
    await world.change('alter table comments rename to lost_rows')
    const body = { text: 'x' }
    const answers = [
      await world.ask('GET /api/posts/1/comments', { as: 1 }),
      await world.ask('POST /api/posts/1/comments', { as: 1, body }),
      await world.gql('{ posts { comments { id } } }', { as: 1 }),
      await world.gql(
        'mutation { createPost(input: {authorId: 1, title: "A", content: "B"}) { comments { id } } }',
        { as: 1 },
      ),
    ]
    for (const { text } of answers) {
      assert.match(text, /"code":"INTERNAL"/)
      assert.doesNotMatch(text, /select |delete |insert |sqlite|postgres|no such|relation/i)
      assert.doesNotMatch(text, /lost_rows|_id\b|node_modules|\.ts\b|\bat \w+ \(/)
    }
    const bugs = world.events.flatMap(event => (event.kind === 'bug' ? [String(event.error)] : []))
    assert.equal(bugs.length, answers.length)
    for (const bug of bugs) assert.match(bug, /comments/)
  })
  test('errors of the server hide their reason, give the request id, and are observed', async t => {
    const { reader } = here.world.core
    t.after(() => Object.assign(here.world.core, { reader }))
    const broken = () => {
      throw new Error('SQLITE_CORRUPT: /secret/duet.db')
    }
    Object.assign(here.world.core, { reader: { query: broken, snapshot: broken } })
    for (const accept of ['application/json', 'application/graphql-response+json']) {
      const answered = await ask('{ users { id } }', {
        headers: { 'X-Request-Id': 'r-1', Accept: accept },
      })
      assert.doesNotMatch(answered.text, /CORRUPT|secret/)
      assert.deepEqual(errorOf(answered).extensions, { code: 'INTERNAL', requestId: 'r-1' })
      assert.equal(answered.status, accept === 'application/json' ? 200 : 500)
    }
    const bug = here.world.events.find(event => event.kind === 'bug')
    assert.match(String(bug?.kind === 'bug' && bug.error), /CORRUPT/)
  })
})

describe('a variable that is null where its argument may not be', () => {
  const { ask, all } = scene()
  for (const [name, query, variables, field] of [
    ['of a root', 'query($id: ID = "1") { user(id: $id) { id } }', { id: null }, 'id'],
    ['of @skip', 'query($b: Boolean = true) { users { id @skip(if: $b) } }', { b: null }, 'b'],
    [
      'of @include on a root',
      'query($b: Boolean = true) { users @include(if: $b) { id } }',
      { b: null },
      'b',
    ],
    [
      'of an input',
      'mutation($n: String = "x") { createUser(input: {name: $n, email: "q@example.org"}) { id } }',
      { n: null },
      'n',
    ],
    [
      'of a later mutation',
      'mutation($id: ID = "1") { a: createUser(input: {name: "A", email: "a1@example.org"}) { id } b: deleteUser(id: $id) }',
      { id: null },
      'id',
    ],
  ] as const)
    test(`${name} is BAD_USER_INPUT, and nothing is done`, async () => {
      const before = await all()
      const answered = await ask(query, { variables })
      assert.equal(codeOf(answered), 'BAD_USER_INPUT')
      assert.equal(errorOf(answered).extensions.details[0].field, field)
      assert.ok(!('data' in answered.json))
      assert.equal(await all(), before)
    })
})

describe('introspection', () => {
  test('introspection answers the whole schema while it is on', async t => {
    const world = await createWorld()
    t.after(() => world.close())
    const answered = await world.gql(
      '{ __schema { types { name } } __type(name: "User") { fields { name } } t: __typename }',
    )
    const { __schema, __type } = dataOf(answered)
    assert.ok(__schema.types.some(({ name }: { name: string }) => name === 'CreatePostInput'))
    assert.deepEqual(
      __type.fields.map((f: { name: string }) => f.name),
      ['id', 'name', 'email', 'age', 'posts'],
    )
    const hint = await world.gql('{ usrs { id } }')
    assert.match(errorOf(hint).message, /Did you mean "users"/)
  })
  test('introspection is refused while it is off, at any place; __typename is served', async t => {
    const world = await createWorld({ introspection: false })
    t.after(() => world.close())
    for (const query of [
      '{ __schema { types { name } } }',
      '{ __type(name: "User") { name } }',
      '{ a: __type(name: "User") { name } }',
      '{ ...F } fragment F on Query { __schema { queryType { name } } }',
      '{ ... { __schema { queryType { name } } } }',
      '{ posts { id } __schema @include(if: true) { queryType { name } } }',
    ]) {
      const answered = await world.gql(query)
      assert.equal(codeOf(answered), 'GRAPHQL_VALIDATION_FAILED', query)
      assert.ok(!('data' in answered.json))
    }
    assert.equal((await world.gql('{ __typename }')).text, '{"data":{"__typename":"Query"}}')
  })
  test('the text of the schema is served while it is on, once to a caller who keeps it', async t => {
    const world = await createWorld()
    t.after(() => world.close())
    const answered = await world.ask('GET /graphql/schema.graphql')
    assert.equal(answered.status, 200)
    assert.equal(answered.headers.get('content-type'), 'application/graphql; charset=utf-8')
    const introspected = buildClientSchema(dataOf(await world.gql(getIntrospectionQuery())))
    assert.equal(answered.text, `${printSchema(introspected)}\n`)
    const etag = answered.headers.get('etag') ?? ''
    const headers = { Accept: 'text/html,*/*;q=0.8' }
    const shown = await world.ask('GET /graphql/schema.graphql', { headers })
    assert.equal(shown.headers.get('content-type'), 'text/plain; charset=utf-8', 'for a browser')
    assert.equal(shown.text, answered.text)
    const again = await world.ask('GET /graphql/schema.graphql', {
      headers: { 'If-None-Match': etag },
    })
    assert.deepEqual([again.status, again.text, again.headers.get('etag')], [304, '', etag])
    const bad = await world.ask('GET /graphql/schema.graphql', {
      headers: { Authorization: 'Bearer x' },
    })
    assert.deepEqual([bad.status, codeOf(bad)], [401, 'UNAUTHENTICATED'])
    assert.equal((await world.ask('POST /graphql/schema.graphql')).status, 405)
  })
  test('the text of the schema is 404 while it is off, and says what turns it on', async t => {
    const world = await createWorld({ introspection: false })
    t.after(() => world.close())
    const answered = await world.ask('GET /graphql/schema.graphql')
    assert.equal(answered.status, 404)
    assert.equal(codeOf(answered), 'NOT_FOUND')
    assert.match(errorOf(answered).message, /not found.*DUET_INTROSPECTION=on/)
  })
  test('being off hides every name: near misses are reported without a suggestion', async t => {
    const world = await createWorld({ introspection: false })
    t.after(() => world.close())
    const names = [
      'user',
      'users',
      'post',
      'posts',
      'name',
      'email',
      'age',
      'title',
      'content',
      'createdAt',
      'author',
      'comments',
      'text',
      'limit',
      'offset',
      'authorId',
      'input',
      'createUser',
      'updateUser',
      'deleteUser',
      'createPost',
      'CreateUserInput',
      'UpdateUserInput',
      'CreatePostInput',
      'User',
      'Post',
      'Comment',
    ]
    const misses = names.flatMap(name => [
      `${name}s`,
      `${name}x`,
      name.slice(0, -1),
      `${name[0]}${name}`,
    ])
    const forms: readonly ((miss: string) => Asking & { query: string; variables?: unknown })[] = [
      miss => ({ query: `{ ${miss}1 { id } }` }),
      miss => ({ query: `{ posts { ${miss}1 } }` }),
      miss => ({ query: `{ posts { author { ${miss}1 } } }` }),
      miss => ({ query: `{ posts(${miss}1: 1) { id } }` }),
      miss => ({ query: `{ ... on ${miss}1 { id } }` }),
      miss => ({ query: `query($v: ${miss}1) { posts { id } }` }),
      miss => ({ query: `mutation { ${miss}1(input: {}) { id } }` }),
      miss => ({ query: `mutation { createUser(input: {${miss}1: 1}) { id } }` }),
      miss => ({ query: `mutation { updateUser(id: 1, ${miss}1: 1) { id } }` }),
      miss => ({ query: `{ posts { id @${miss}1 } }` }),
      miss => ({
        query: 'mutation($i: CreateUserInput!) { createUser(input: $i) { id } }',
        variables: { i: { [`${miss}1`]: 1 } },
      }),
    ]
    for (const form of forms)
      for (const miss of misses) {
        const { query, ...asking } = form(miss)
        const answered = await world.gql(query, asking)
        assert.ok(answered.json.errors.length > 0)
        assert.doesNotMatch(answered.text, /did you mean/i, `${query}\n${answered.text}`)
      }
  })
  test('deeper than graphql-js allows is refused even while it is on', async t => {
    const world = await createWorld()
    t.after(() => world.close())
    const deep =
      '{ __schema { types { fields { type { fields { type { fields { name } } } } } } } }'
    assert.equal(codeOf(await world.gql(deep)), 'GRAPHQL_VALIDATION_FAILED')
  })
})

describe('one response', () => {
  test('one response is read at one moment: parts of it never contradict each other while writes go on', async t => {
    const world = await createWorld()
    t.after(() => world.close())
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
  test('one response of a mutation is read in its own transaction', async t => {
    const world = await createWorld()
    t.after(() => world.close())
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

test('a document without needless letters is answered as the written one', async t => {
  const world = await createWorld()
  t.after(() => world.close())
  const written = '# all\n{ users(limit: 2) { id, name } \t posts { id } }'
  const short = stripIgnoredCharacters(written)
  assert.equal((await world.gql(written, { as: 2 })).text, (await world.gql(short, { as: 2 })).text)
})
