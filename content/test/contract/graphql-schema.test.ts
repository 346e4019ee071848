/** The schema: the one of the specification, its descriptions, and introspection of it. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  buildClientSchema,
  getIntrospectionQuery,
  isObjectType,
  parse,
  print,
  printSchema,
  visit,
} from 'graphql'
import { deriveSchema } from '#graphql/schema.ts'
import { codeOf, dataOf, errorOf } from '../graphql.ts'
import { type Asking, createWorld, pluck, usualModel } from '../world.ts'

/** The specification's tables as SDL; the optional `limit` and `offset`, and the revision with what expects it, are the contract's additions. */
const specified = `
type Query {
  user(id: ID!): User
  users(limit: Int, offset: Int): [User!]!
  post(id: ID!): Post
  posts(authorId: ID, limit: Int, offset: Int): [Post!]!
}
type User { id: ID! name: String! email: String! age: Int revision: Int! posts(limit: Int, offset: Int): [Post!]! }
type Post { id: ID! title: String! content: String! createdAt: String! author: User! comments(limit: Int, offset: Int): [Comment!]! }
type Comment { id: ID! text: String! author: User! }
type Mutation {
  createUser(input: CreateUserInput!): User!
  updateUser(id: ID!, input: UpdateUserInput!, expectedRevision: Int): User!
  deleteUser(id: ID!, expectedRevision: Int): Boolean!
  createPost(input: CreatePostInput!): Post!
}
input CreateUserInput { name: String! email: String! age: Int }
input UpdateUserInput { name: String email: String age: Int }
input CreatePostInput { title: String! content: String! authorId: ID! }
`

/** What every content has beside it: orders of its lists, conditions, connections, and groups of rows. */
const added = new Set([
  'orderBy',
  'where',
  'SortDirection',
  'PageInfo',
  'usersConnection',
  'postsConnection',
  ...['UserConnection', 'UserEdge', 'UserOrder'],
  ...['PostConnection', 'PostEdge', 'PostOrder'],
  ...['commentsConnection', 'CommentConnection', 'CommentEdge', 'CommentOrder'],
  ...['User', 'Post', 'Comment'].flatMap(type => [`${type}Where`, `${type}Match`]),
  ...['ID', 'String', 'Int', 'StringRange', 'StringSearch'].map(type => `${type}Condition`),
  ...['usersAggregate', 'postsAggregate', 'ExactNumber'],
  ...['IntCompared', 'FloatCompared', 'StringCompared'],
  ...['User', 'Post'].flatMap(type =>
    ['', 'Key', 'Having', 'Order', 'Range', 'RangeHaving', 'RangeOrder']
      .concat(type === 'User' ? ['Numbers', 'NumbersHaving', 'NumbersOrder'] : [])
      .map(part => `${type}Aggregate${part}`),
  ),
])

/** An SDL without descriptions and directives' definitions, its definitions by name. */
const bare = (sdl: string): string =>
  visit(parse(sdl), {
    enter: node => {
      if ('name' in node && added.has(node.name?.value ?? '') && node.kind !== 'NamedType')
        return null
      return 'description' in node ? { ...node, description: undefined } : undefined
    },
  })
    .definitions.map(definition => print(definition))
    .toSorted()
    .join('\n')

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
  assert.equal(query.posts?.description, 'The posts, newest first. May be done by anybody.')
  assert.match(query.user?.description ?? '', /May be done by callers with a token\.$/)
  assert.match(
    mutation.deleteUser?.description ?? '',
    /May be done by whoever has that id, or an admin\.$/,
  )
  assert.match(email?.description ?? '', /May be read by callers with a token\.$/)
  assert.doesNotMatch(name?.description ?? '', /May be/)
})

describe('introspection', () => {
  test('introspection answers the whole schema while it is on', async () => {
    await using world = await createWorld()
    const answered = await world.gql(
      '{ __schema { types { name } } __type(name: "User") { fields { name } } t: __typename }',
    )
    const { __schema, __type } = dataOf(answered)
    assert.ok(__schema.types.some(({ name }: { name: string }) => name === 'CreatePostInput'))
    assert.deepEqual(pluck(__type.fields, 'name'), [
      'id',
      'name',
      'email',
      'age',
      'revision',
      'posts',
      'postsConnection',
    ])
    assert.match(errorOf(await world.gql('{ usrs { id } }')).message, /Did you mean "users"/)
  })
  test('introspection is refused while it is off, at any place; __typename is served [D11]', async () => {
    await using world = await createWorld({ introspection: false })
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
  test('the text of the schema is served while it is on, once to a caller who keeps it', async () => {
    await using world = await createWorld()
    const answered = await world.ask('GET /graphql/schema.graphql')
    assert.equal(answered.status, 200)
    assert.equal(answered.headers.get('content-type'), 'application/graphql; charset=utf-8')
    const introspected = buildClientSchema(
      dataOf(await world.gql(getIntrospectionQuery({ oneOf: true }))),
    )
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
  test('the text of the schema is 404 while it is off, and says what turns it on', async () => {
    await using world = await createWorld({ introspection: false })
    const answered = await world.ask('GET /graphql/schema.graphql')
    assert.equal(answered.status, 404)
    assert.equal(codeOf(answered), 'NOT_FOUND')
    assert.match(errorOf(answered).message, /not found.*DUET_INTROSPECTION=on/)
  })
  test('being off hides every name: near misses are reported without a suggestion [D11]', async () => {
    await using world = await createWorld({ introspection: false })
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
  test('deeper than graphql-js allows is refused even while it is on [D11]', async () => {
    await using world = await createWorld()
    const deep =
      '{ __schema { types { fields { type { fields { type { fields { name } } } } } } } }'
    assert.equal(codeOf(await world.gql(deep)), 'GRAPHQL_VALIDATION_FAILED')
  })
})
