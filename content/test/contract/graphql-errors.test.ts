/** Errors of GraphQL: their codes, paths and places, and nothing from inside. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { codeOf, errorOf, scene } from '../graphql.ts'
import { createWorld, pluck } from '../world.ts'

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
    assert.deepEqual(pluck(answered.json.errors, 'locations'), [
      [{ line: 1, column: 3 }],
      [{ line: 1, column: 22 }],
    ])
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
  test('errors of a store that is broken show no SQL, path, stack or table, in either API [D12, F10]', async () => {
    await using world = await createWorld()
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
  test('errors of the server hide their reason, give the request id, and are observed [D12, H13]', async t => {
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
  for (const [name, [variable, query]] of Object.entries({
    'of a root': ['id', 'query($id: ID = "1") { user(id: $id) { id } }'],
    'of @skip': ['b', 'query($b: Boolean = true) { users { id @skip(if: $b) } }'],
    'of @include on a root': ['b', 'query($b: Boolean = true) { users @include(if: $b) { id } }'],
    'of the root of introspection': [
      'n',
      'query($n: String = "User") { posts { id } __type(name: $n) { name } }',
    ],
    'of @include below the root of introspection': [
      'b',
      'query($b: Boolean = true) { __schema { queryType @include(if: $b) { name } } }',
    ],
    'of an argument of every type of the schema': [
      'b',
      'query($b: Boolean = true) { __schema { types { fields(includeDeprecated: $b) { name } } } }',
    ],
    'of an input': [
      'n',
      'mutation($n: String = "x") { createUser(input: {name: $n, email: "q@example.org"}) { id } }',
    ],
    'of a later mutation': [
      'id',
      'mutation($id: ID = "1") { a: createUser(input: {name: "A", email: "a1@example.org"}) { id } b: deleteUser(id: $id) }',
    ],
  } satisfies Record<string, readonly [variable: string, query: string]>))
    test(`${name} is BAD_USER_INPUT, and nothing is done`, async () => {
      const before = await all()
      const answered = await ask(query, { variables: { [variable]: null } })
      assert.equal(codeOf(answered), 'BAD_USER_INPUT')
      assert.equal(answered.json.errors.length, 1)
      assert.equal(errorOf(answered).extensions.details[0].field, variable)
      assert.ok(!('data' in answered.json))
      assert.equal(await all(), before)
    })
})
