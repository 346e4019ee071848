/** A table of bad GraphQL requests: each with its code, and its status by the media type of the answer. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createWorld, type World } from '../world.ts'

type Given = {
  readonly as?: number | 'anonymous'
  readonly variables?: unknown
  readonly operationName?: string
}

/** The document, the code, what else is sent; the user is Ben (2) unless said. */
type Row = readonly [query: string, code: string, given?: Given]

const parse = 'GRAPHQL_PARSE_FAILED'
const schema = 'GRAPHQL_VALIDATION_FAILED'
const input = 'BAD_USER_INPUT'

/** A request that is not run: 400 for `application/graphql-response+json`, or as given. */
const refused: readonly Row[] = [
  // No document.
  ['{', parse],
  ['{ }', parse],
  ['{ users { } }', parse],
  ['{ users { id } ... { } }', parse],
  ['}', parse],
  ['{ users { id }', parse],
  ['{ users { id } } }', parse],
  ['query', parse],
  ['query { users { id }', parse],
  ['quer { users { id } }', parse],
  ['{ users(limit) { id } }', parse],
  ['{ users(limit:) { id } }', parse],
  ['{ users() { id } }', parse],
  ['{ users(limit: 1,, offset: ) { id } }', parse],
  ['{ users(limit: 01) { id } }', parse],
  ['{ users(limit: 1.) { id } }', parse],
  ['{ users(limit: 1a) { id } }', parse],
  ['{ users(limit: "1) { id } }', parse],
  ['{ user(id: "\\x") { id } }', parse],
  ['{ user(id: "\\uD800") { id } }', parse],
  ['{ user(id: "\\u{110000}") { id } }', parse],
  ["{ user(id: 'a') { id } }", parse],
  ['{ users { id; name } }', parse],
  ['{ users { id } } # ok\n \u0007', parse],
  ['{ üsers { id } }', parse],
  ['{ a: b: users { id } }', parse],
  ['{ ...on }', parse],
  ['{ ... on User }', parse],
  ['fragment on on User { id } { users { ...on } }', parse],
  ['query($: Int) { users { id } }', parse],
  ['query($v Int) { users { id } }', parse],
  ['query($v: Int = $w) { users(limit: $v) { id } }', parse],
  ['query() { users { id } }', parse],
  ['{ users @ { id } }', parse],
  ['<script>', parse],
  ['SELECT * FROM users', parse],
  ['%7B__typename%7D', parse],
  ['\\{ users { id } }', parse],
  // A document that does not fit the schema.
  ['{ nothing }', schema],
  ['{ Users { id } }', schema],
  ['{ users }', schema],
  ['{ users { id { x } } }', schema],
  ['{ users { __typename { x } } }', schema],
  ['{ users { posts } }', schema],
  ['{ users { role } }', schema],
  ['{ users { status } }', schema],
  ['{ users { emailVerified } }', schema],
  ['{ users { createdAt } }', schema],
  ['{ users { revision } }', schema],
  ['{ users { emailKey } }', schema],
  ['{ posts { authorId } }', schema],
  ['{ posts { comments { post { id } } } }', schema],
  ['{ posts { comments { likes { id } } } }', schema],
  ['{ posts { comments { createdAt } } }', schema],
  ['{ comments { id } }', schema],
  ['{ comment(id: 1) { id } }', schema],
  ['{ products { id } }', schema],
  ['{ orders { id } }', schema],
  ['{ user { id } }', schema],
  ['{ user(id: null) { id } }', schema],
  ['{ user(id: 1.5) { id } }', schema],
  ['{ user(id: true) { id } }', schema],
  ['{ user(id: [1]) { id } }', schema],
  ['{ user(id: {a: 1}) { id } }', schema],
  ['{ user(id: ADA) { id } }', schema],
  ['{ user(id: 1, id: 2) { id } }', schema],
  ['{ user(id: 1, name: "Ada") { id } }', schema],
  ['{ users(limit: "1") { id } }', schema],
  ['{ users(limit: 1.5) { id } }', schema],
  ['{ users(limit: 1e3) { id } }', schema],
  ['{ users(limit: true) { id } }', schema],
  ['{ users(limit: 2147483648) { id } }', schema],
  ['{ users(limit: -2147483649) { id } }', schema],
  ['{ users(first: 1) { id } }', schema],
  ['{ users(role: "admin") { id } }', schema],
  ['{ posts { id(limit: 1) } }', schema],
  ['{ posts { author(limit: 1) { id } } }', schema],
  ['{ users { a: id a: name } }', schema],
  ['{ users { id: name id } }', schema],
  ['{ a: users { id } a: posts { id } }', schema],
  ['{ users(limit: 1) { id } users(limit: 2) { id } }', schema],
  ['{ users { posts(limit: 1) { id } posts { id } } }', schema],
  [
    '{ ...A ...B } fragment A on Query { x: users { id } } fragment B on Query { x: posts { id } }',
    schema,
  ],
  ['{ users { ...F } }', schema],
  ['{ users { ...F } } fragment F on Post { id }', schema],
  ['{ users { ...F } } fragment F on Nobody { id }', schema],
  ['{ users { ...F } } fragment F on String { id }', schema],
  ['{ users { ...F } } fragment F on CreateUserInput { name }', schema],
  ['{ users { ... on Post { id } } }', schema],
  ['{ users { id } } fragment F on User { id }', schema],
  ['{ users { ...F } } fragment F on User { id } fragment F on User { name }', schema],
  ['{ users { ...F } } fragment F on User { ...F }', schema],
  ['{ users { id } } { posts { id } }', schema],
  ['{ users { id } } query A { posts { id } }', schema],
  ['query A { users { id } } query A { posts { id } }', schema, { operationName: 'A' }],
  ['subscription { users { id } }', schema],
  ['fragment F on User { id }', schema],
  ['type A { b: Int }', schema],
  ['extend type User { secret: String }', schema],
  ['{ users { id } } type A { b: Int }', schema],
  ['{ users @skip { id } }', schema],
  ['{ users @skip(if: "true") { id } }', schema],
  ['{ users @skip(if: null) { id } }', schema],
  ['{ users @skip(if: true) @skip(if: true) { id } }', schema],
  ['{ users @include(unless: true) { id } }', schema],
  ['{ users @nothing { id } }', schema],
  ['{ users @deprecated { id } }', schema],
  ['query @skip(if: true) { users { id } }', schema],
  ['{ users(limit: $n) { id } }', schema],
  ['query($n: Int) { users { id } }', schema],
  ['query($n: Int, $n: Int) { users(limit: $n) { id } }', schema],
  ['query($n: Number) { users(limit: $n) { id } }', schema],
  ['query($n: User) { users(limit: $n) { id } }', schema],
  ['query($n: String) { users(limit: $n) { id } }', schema],
  ['query($n: [Int]) { users(limit: $n) { id } }', schema],
  ['query($n: Int = "1") { users(limit: $n) { id } }', schema],
  ['query($n: Int! = null) { users(limit: $n) { id } }', schema],
  ['query($id: ID) { user(id: $id) { id } }', schema],
  ['query($b: Boolean) { users @skip(if: $b) { id } }', schema],
  [
    'query A { users(limit: $n) { id } } query B($n: Int) { users(limit: $n) { id } }',
    schema,
    { operationName: 'B' },
  ],
  ['query A { users { id } } query B { posts { id } }', schema],
  ['query A { users { id } }', schema, { operationName: 'B' }],
  ['{ users { id } }', schema, { operationName: 'A' }],
  ['mutation { createUser { id } }', schema],
  ['mutation { createUser(input: null) { id } }', schema],
  ['mutation { createUser(input: {}) { id } }', schema],
  ['mutation { createUser(input: []) { id } }', schema],
  ['mutation { createUser(input: "x") { id } }', schema],
  ['mutation { createUser(input: {name: "a", email: "a@example.org"}) }', schema],
  ['mutation { createUser(name: "a", email: "a@example.org") { id } }', schema],
  ['mutation { createUser(input: {name: "a"}) { id } }', schema],
  ['mutation { createUser(input: {name: null, email: "a@example.org"}) { id } }', schema],
  ['mutation { createUser(input: {name: 1, email: "a@example.org"}) { id } }', schema],
  ['mutation { createUser(input: {name: "a", email: "a@example.org", age: "1"}) { id } }', schema],
  ['mutation { createUser(input: {name: "a", email: "a@example.org", age: 1.5}) { id } }', schema],
  ['mutation { createUser(input: {name: "a", name: "b", email: "a@example.org"}) { id } }', schema],
  [
    'mutation { createUser(input: {name: "a", email: "a@example.org", role: "admin"}) { id } }',
    schema,
  ],
  ['mutation { createUser(input: {name: "a", email: "a@example.org", id: 9}) { id } }', schema],
  ['mutation { updateUser(id: 2) { id } }', schema],
  ['mutation { updateUser(input: {name: "x"}) { id } }', schema],
  ['mutation { updateUser(id: 2, input: {status: "active"}) { id } }', schema],
  ['mutation { updateUser(id: 2, input: {emailVerified: true}) { id } }', schema],
  ['mutation { deleteUser }', schema],
  ['mutation { deleteUser(id: 2) { id } }', schema],
  ['mutation { createPost(input: {title: "t", content: "c"}) { id } }', schema],
  [
    'mutation { createPost(input: {title: "t", content: "c", authorId: 2, createdAt: "x"}) { id } }',
    schema,
  ],
  ['mutation { updatePost(id: 1, input: {}) { id } }', schema],
  ['mutation { createComment(input: {}) { id } }', schema],
  ['mutation { users { id } }', schema],
  ['{ deleteUser(id: 2) }', schema],
  // Variables that do not fit.
  ['query($n: Int!) { users(limit: $n) { id } }', input],
  ['query($n: Int!) { users(limit: $n) { id } }', input, { variables: { n: null } }],
  ['query($n: Int) { users(limit: $n) { id } }', input, { variables: { n: '1' } }],
  ['query($n: Int) { users(limit: $n) { id } }', input, { variables: { n: 1.5 } }],
  ['query($n: Int) { users(limit: $n) { id } }', input, { variables: { n: 2_147_483_648 } }],
  ['query($n: Int) { users(limit: $n) { id } }', input, { variables: { n: true } }],
  ['query($n: Int) { users(limit: $n) { id } }', input, { variables: { n: [1] } }],
  ['query($id: ID!) { user(id: $id) { id } }', input, { variables: { id: 1.5 } }],
  ['query($id: ID!) { user(id: $id) { id } }', input, { variables: { id: true } }],
  ['query($id: ID!) { user(id: $id) { id } }', input, { variables: { id: { a: 1 } } }],
  ['query($id: ID!) { user(id: $id) { id } }', input, { variables: { ID: '1' } }],
  ['query($id: ID = "1") { user(id: $id) { id } }', input, { variables: { id: null } }],
  ['query($b: Boolean!) { users @skip(if: $b) { id } }', input, { variables: { b: 'true' } }],
  ['query($b: Boolean!) { users @skip(if: $b) { id } }', input, { variables: { b: 1 } }],
  ['query($s: String!) { __type(name: $s) { name } }', input, { variables: { s: 1 } }],
  ['mutation($i: CreateUserInput!) { createUser(input: $i) { id } }', input],
  [
    'mutation($i: CreateUserInput!) { createUser(input: $i) { id } }',
    input,
    { variables: { i: [] } },
  ],
  [
    'mutation($i: CreateUserInput!) { createUser(input: $i) { id } }',
    input,
    { variables: { i: 'x' } },
  ],
  [
    'mutation($i: CreateUserInput!) { createUser(input: $i) { id } }',
    input,
    { variables: { i: {} } },
  ],
  [
    'mutation($i: CreateUserInput!) { createUser(input: $i) { id } }',
    input,
    { variables: { i: { name: 'a', email: 'a@example.org', role: 'admin' } } },
  ],
  [
    'mutation($i: CreateUserInput!) { createUser(input: $i) { id } }',
    input,
    { variables: { i: { name: ['a'], email: 'a@example.org' } } },
  ],
  [
    'mutation($i: UpdateUserInput!) { updateUser(id: 2, input: $i) { id } }',
    input,
    { variables: { i: { id: 3 } } },
  ],
  [
    'mutation($i: UpdateUserInput!) { updateUser(id: 2, input: $i) { id } }',
    input,
    { variables: { i: { age: '3' } } },
  ],
]

/** A mutation that is run and fails: 200 for either type, beside `data: null`. */
const failed: readonly Row[] = [
  ['mutation { createUser(input: {name: "", email: "a@example.org"}) { id } }', input],
  ['mutation { createUser(input: {name: "a", email: "a"}) { id } }', input],
  ['mutation { createUser(input: {name: "a", email: "a@example.org", age: 151}) { id } }', input],
  ['mutation { createUser(input: {name: "a", email: "a@example.org", age: -1}) { id } }', input],
  ['mutation { createUser(input: {name: "a", email: "ADA@EXAMPLE.ORG"}) { id } }', 'EMAIL_TAKEN'],
  [
    'mutation { createUser(input: {name: "a", email: "a@example.org"}) { id } }',
    'FORBIDDEN',
    { as: 4 },
  ],
  ['mutation { updateUser(id: 2, input: {name: null}) { id } }', input],
  ['mutation { updateUser(id: 2, input: {email: null}) { id } }', input],
  ['mutation { updateUser(id: 2, input: {email: "nobody"}) { id } }', input],
  ['mutation { updateUser(id: 2, input: {email: "ada@example.org"}) { id } }', 'EMAIL_TAKEN'],
  ['mutation { updateUser(id: 99, input: {name: "a"}) { id } }', 'NOT_FOUND'],
  ['mutation { updateUser(id: "x", input: {name: "a"}) { id } }', 'NOT_FOUND'],
  ['mutation { updateUser(id: 3, input: {name: "a"}) { id } }', 'FORBIDDEN'],
  ['mutation { updateUser(id: 4, input: {name: "a"}) { id } }', 'FORBIDDEN', { as: 4 }],
  ['mutation { deleteUser(id: 3) }', 'FORBIDDEN'],
  ['mutation { createPost(input: {title: "", content: "c", authorId: 2}) { id } }', input],
  ['mutation { createPost(input: {title: "t", content: "", authorId: 2}) { id } }', input],
  ['mutation { createPost(input: {title: "t", content: "c", authorId: 3}) { id } }', 'FORBIDDEN'],
  [
    'mutation { createPost(input: {title: "t", content: "c", authorId: 99}) { id } }',
    'NOT_FOUND',
    { as: 1 },
  ],
  ['mutation { createPost(input: {title: "t", content: "c", authorId: "x"}) { id } }', 'NOT_FOUND'],
]

/** Rights that no row decides: refused before anything is read or written, with their own statuses. */
const forbidden: readonly (readonly [...Row, status: number])[] = [
  ['{ users { id } }', 'UNAUTHENTICATED', { as: 'anonymous' }, 401],
  ['{ user(id: 1) { id } }', 'UNAUTHENTICATED', { as: 'anonymous' }, 401],
  ['{ posts { author { email } } }', 'UNAUTHENTICATED', { as: 'anonymous' }, 401],
  ['{ posts { comments { author { age } } } }', 'UNAUTHENTICATED', { as: 'anonymous' }, 401],
  ['{ posts { id } users { id } }', 'UNAUTHENTICATED', { as: 'anonymous' }, 401],
  ['mutation { updateUser(id: 2, input: {}) { id } }', 'UNAUTHENTICATED', { as: 'anonymous' }, 401],
  ['mutation { deleteUser(id: 2) }', 'UNAUTHENTICATED', { as: 'anonymous' }, 401],
  [
    'mutation { createPost(input: {title: "t", content: "c", authorId: 2}) { id } }',
    'UNAUTHENTICATED',
    { as: 'anonymous' },
    401,
  ],
  [
    'mutation { a: updateUser(id: 2, input: {}) { id } b: deleteUser(id: 3) }',
    'FORBIDDEN',
    { as: 2 },
    403,
  ],
]

let world: World
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const everything = async () =>
  (await world.gql('{ users(limit: 100) { id name email age } posts { id title } }', { as: 1 }))
    .text

const check = (rows: readonly Row[], statusOf: (row: Row) => number, hasData: boolean) => {
  for (const row of rows) {
    const [query, code, given = {}] = row
    const sent = [query, given.variables && JSON.stringify(given.variables), given.operationName]
    test(`${sent.filter(Boolean).join(' · ')} is ${code}`, async () => {
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

test('the table has no row twice', () => {
  const rows = [...refused, ...failed, ...forbidden].map(row => JSON.stringify(row))
  assert.equal(new Set(rows).size, rows.length)
})
