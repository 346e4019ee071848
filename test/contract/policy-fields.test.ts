/** Fields that not anyone reads: by every path of the schema, and with other rules. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type GraphQLField, GraphQLObjectType, getNamedType } from 'graphql'
import { admin } from '#content/roles.ts'
import { deriveSchema } from '#graphql/schema.ts'
import type { Field } from '#model/field.ts'
import type { Model } from '#model/model.ts'
import { anyone, type Rule, signedIn } from '#model/policy.ts'
import { createWorld, usualModel, type World } from '../world.ts'
import { codeOf, ids } from './policy-scene.ts'

let world: World
before(async () => {
  world = await createWorld()
})
after(() => world.close())

// ---- The rules of fields.

const isClosed = ({ readableBy }: Field) => readableBy.kind !== 'anyone'

const closedFields = Object.entries(usualModel.entities).flatMap(([name, { fields }]) =>
  Object.entries(fields).flatMap(([key, field]) => (isClosed(field) ? [`${name}.${key}`] : [])),
)

test('the fields that not anyone reads are these', () => {
  assert.deepEqual(closedFields.toSorted(), [
    'user.age',
    'user.createdAt',
    'user.email',
    'user.emailVerified',
    'user.role',
    'user.status',
  ])
})

/** Every path in the schema from a root to an object, of at most so many levels. */
const pathsOf = (type: GraphQLObjectType, levels: number): readonly (readonly string[])[] => {
  if (levels === 0) return [[]]
  const relations = Object.values(type.getFields()).filter(
    (field: GraphQLField<unknown, unknown>) =>
      getNamedType(field.type) instanceof GraphQLObjectType,
  )
  return [
    [],
    ...relations.flatMap(field =>
      pathsOf(getNamedType(field.type) as GraphQLObjectType, levels - 1).map(path => [
        field.name,
        ...path,
      ]),
    ),
  ]
}

describe('every path of the schema', () => {
  const { schema } = deriveSchema(usualModel)
  const rootArguments: Record<string, string> = {
    user: '(id: 2)',
    post: '(id: 1)',
    users: '(limit: 3)',
    posts: '(limit: 4)',
  }
  const queryType = schema.getQueryType() as GraphQLObjectType
  const paths = pathsOf(queryType, 7).filter(path => path.length > 0)

  const typeAt = (path: readonly string[]): GraphQLObjectType =>
    path.reduce<GraphQLObjectType>(
      (type, name) => getNamedType(type.getFields()[name]?.type) as unknown as GraphQLObjectType,
      queryType,
    )
  const queryOf = (path: readonly string[], field: string) => {
    const [root = '', ...rest] = path
    const below = rest.map(name => ` { ${name}`).join('')
    return `{ ${root}${rootArguments[root]}${below} { ${field} ${'} '.repeat(path.length)}}`
  }
  const toUsers = paths.filter(path => typeAt(path).name === 'User')

  test('every path of the schema is walked: there are many, and some are seven levels long', () => {
    assert.ok(toUsers.length > 30, `${toUsers.length}`)
    assert.ok(toUsers.some(path => path.length === 7))
  })
  for (const field of ['email', 'age'])
    test(`every path of the schema to a user’s ${field} is closed to anonymous and open to any token`, async () => {
      for (const path of toUsers) {
        const query = queryOf(path, field)
        const refused = await world.gql(query)
        assert.equal(codeOf(refused), 'UNAUTHENTICATED', query)
        assert.ok(!('data' in refused.json))
        const isEntered = path[0] === 'user' || path[0] === 'users'
        const place = isEntered ? path.slice(0, 1) : [...path, field]
        assert.deepEqual(refused.json.errors[0].path, place)
        for (const viewer of [2, 4, ids.ghost]) {
          const answered = await world.gql(query, { as: viewer })
          assert.equal(codeOf(answered), 'ok', `${query} ${answered.text}`)
        }
      }
    })
  test('from a post to what is public of users, posts and comments is open to anonymous', async () => {
    for (const path of paths.filter(([root]) => root === 'post' || root === 'posts')) {
      const type = typeAt(path)
      const leaves = Object.values(type.getFields())
        .filter(field => !(getNamedType(field.type) instanceof GraphQLObjectType))
        .map(({ name }) => name)
        .filter(name => !closedFields.includes(`${type.name.toLowerCase()}.${name}`))
      const answered = await world.gql(queryOf(path, leaves.join(' ')))
      assert.equal(codeOf(answered), 'ok', answered.text)
    }
  })
  test('in fragments, under aliases, merged and conditional, shows anonymous no closed field', async () => {
    for (const query of [
      '{ posts { author { id: email } } }',
      '{ posts { ...P } } fragment P on Post { author { ...U } } fragment U on User { email }',
      '{ posts { author { name } author { ... { age } } } }',
      '{ posts { author { ... on User @include(if: true) { email } } } }',
      'query($b: Boolean = true) { posts { author { email @include(if: $b) } } }',
      '{ post(id: 999) { author { email } } }',
      '{ posts(authorId: 1) { author { email } } }',
    ]) {
      const answered = await world.gql(query)
      assert.equal(codeOf(answered), 'UNAUTHENTICATED', query)
      assert.doesNotMatch(answered.text, /@example|"age":/)
    }
  })
  test('every path of the schema with a closed field that is left out by @skip or @include is open', async () => {
    for (const query of [
      '{ posts { author { name email @skip(if: true) } } }',
      '{ posts { author { name ... @include(if: false) { email age } } } }',
    ])
      assert.equal(codeOf(await world.gql(query)), 'ok')
  })
  test('every path of the schema is judged anew for each who asks, though the document is known', async () => {
    const query = '{ posts { author { email } comments { author { age } } } }'
    for (const viewer of [2, 'anonymous', 1, 'anonymous', ids.ghost, 'anonymous'] as const)
      assert.equal(
        codeOf(await world.gql(query, { as: viewer })),
        viewer === 'anonymous' ? 'UNAUTHENTICATED' : 'ok',
      )
  })
})

/** The usual model with users as a root for anyone, and some fields' rules changed: so the fields' rules alone decide. */
const modelWith = (readableBy: Readonly<Record<string, Rule>>): Model => {
  const { user } = usualModel.entities
  if (!user) throw new Error('there are users')
  const fields = Object.fromEntries(
    Object.entries(user.fields).map(([key, field]) => [
      key,
      { ...field, readableBy: readableBy[key] ?? field.readableBy },
    ]),
  )
  const changed = { ...user, fields, policy: { ...user.policy, enter: anyone } }
  return { ...usualModel, entities: { ...usualModel.entities, user: changed } }
}

test('a list of what anyone reads, below what not anyone reads, is private', async t => {
  const { user } = usualModel.entities
  if (!user) throw new Error('there are users')
  const closed = { ...user, policy: { ...user.policy, read: signedIn } }
  const entities = { ...usualModel.entities, user: closed }
  const world = await createWorld({ model: { ...usualModel, entities } })
  t.after(() => world.close())
  assert.equal((await world.ask('GET /api/users/2/posts')).status, 401)
  const { status, headers } = await world.ask('GET /api/users/2/posts', { as: 2 })
  assert.deepEqual([status, headers.get('cache-control')], [200, 'private, no-cache'])
  assert.match(headers.get('vary') ?? '', /Authorization/)
})

describe('a field that the viewer may not read', () => {
  let open: World
  let adminsOnly: World
  const keys = closedFields.map(name => name.slice('user.'.length))
  before(async () => {
    open = await createWorld({ model: modelWith({}) })
    adminsOnly = await createWorld({
      model: modelWith(Object.fromEntries(keys.map(key => [key, admin]))),
    })
  })
  after(async () => {
    await open.close()
    await adminsOnly.close()
  })

  test('a field that the viewer may not read is not in the way of those he may', async () => {
    for (const path of ['/users?fields=id,name&sort=name', '/users/2?fields=name,_links']) {
      assert.equal((await open.ask(`GET /api${path}`)).status, 200)
      assert.equal((await adminsOnly.ask(`GET /api${path}`, { as: 2 })).status, 200)
    }
  })
  const uses = (key: string) => [
    `/users?fields=${key}`,
    `/users?fields=id,${key}`,
    `/users/2?fields=${key}`,
    ...(key === 'emailVerified'
      ? []
      : [`/users?fields=id&sort=${key}`, `/users?fields=id&sort=${key}&order=desc`]),
    ...(key === 'role' || key === 'status'
      ? [`/users?fields=id&${key}=admin`, `/users?fields=id&${key}=suspended&sort=id`]
      : []),
  ]
  for (const key of keys)
    test(`a field that the viewer may not read is not chosen, sorted by or filtered by: ${key}`, async () => {
      for (const path of uses(key)) {
        const line = `GET /api${path}`
        assert.equal((await open.ask(line)).status, 401, line)
        assert.equal((await open.ask(line, { as: 2 })).status, 200, line)
        assert.equal((await adminsOnly.ask(line, { as: 2 })).status, 403, line)
        assert.equal((await adminsOnly.ask(line, { as: 1 })).status, 200, line)
      }
    })
  test('a field that not anyone reads makes a list private that it sorts or filters', async () => {
    const audience = async (path: string) =>
      (await open.ask(`GET /api${path}`, { as: 2 })).headers.get('cache-control')
    for (const path of keys.flatMap(uses).filter(path => /&(sort|role|status)=/.test(path)))
      assert.equal(await audience(path), 'private, no-cache', path)
    assert.equal(await audience('/users?fields=id&sort=name'), 'public, no-cache')
  })
  test('a field that the viewer may not read closes the whole object, which has it', async () => {
    for (const path of ['/users', '/users/2']) {
      assert.equal((await open.ask(`GET /api${path}`)).status, 401)
      assert.equal((await adminsOnly.ask(`GET /api${path}`, { as: 2 })).status, 403)
    }
  })
  test('a field that the viewer may not read is FORBIDDEN to a token without the right, below a post and as what a mutation answers', async () => {
    for (const query of [
      '{ users { email } }',
      '{ posts { comments { author { email } } } }',
      'mutation { updateUser(id: 2, input: {name: "No"}) { email } }',
      'mutation { createUser(input: {name: "No", email: "no@example.org"}) { age } }',
    ])
      assert.equal(codeOf(await adminsOnly.gql(query, { as: 2 })), 'FORBIDDEN', query)
    const { text } = await adminsOnly.gql('{ users { name } }')
    assert.doesNotMatch(text, /No/)
  })
})
