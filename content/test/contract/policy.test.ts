/** Who may do what: every operation of both APIs with viewers who may and viewers who may not, fields that not anyone reads, and what callers make up. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type GraphQLField, GraphQLObjectType, getNamedType } from 'graphql'
import content from '#content/duet.config.ts'
import { admin } from '#content/roles.ts'
import { deriveSchema } from '#graphql/schema.ts'
import { isSafe } from '#http/request.ts'
import type { Field } from '#model/field.ts'
import type { Model } from '#model/model.ts'
import { anyone, type Rule, signedIn } from '#model/policy.ts'
import { routesOf } from '#rest/routes.ts'
import { createWorld, forAllTests, pluck, usualModel } from '../world.ts'
import {
  type Code,
  codeOf,
  contentOf,
  graphql,
  ids,
  newEmail,
  product,
  type RestRow,
  rest,
  type Scene,
  sceneIn,
  type ViewerName,
  viewers,
} from './policy-table.ts'

const scenes = new Map<string, Promise<Scene>>()

/** One that is asked for again: for what is read, and for what is refused, which changes nothing. */
const keptScene = (...of: Parameters<typeof sceneIn>): Promise<Scene> =>
  scenes.getOrInsertComputed(of.slice(1).join(), () => sceneIn(...of))

const as = (viewer: ViewerName, scene: Scene): number | 'anonymous' => {
  if (viewer === 'anonymous') return 'anonymous'
  return viewer === 'self' || viewer === 'suspended' ? scene.user : ids[viewer]
}

const codes: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  422: 'VALIDATION_ERROR',
}

const form = { 'Content-Type': 'application/x-www-form-urlencoded' }

/** The rows of QUERY: those who may GET a list may ask for it so, and nobody else. */
const queried = Object.fromEntries(
  routesOf(usualModel)
    .filter(({ kind }) => kind === 'list' || kind === 'aggregate')
    .map(({ path }) => [
      `QUERY ${path}`,
      { ...(rest[`GET ${path}`] as RestRow), raw: '' as const, headers: form },
    ]),
)

const allRest: typeof rest = { ...rest, ...queried }

const world = forAllTests(createWorld)

describe('the table', () => {
  test('the table has a row for every operation of REST, and no other [F1, F9]', () => {
    const derived = [...routesOf(usualModel), ...content.actions].map(
      ({ method, path }) => `${method} ${path}`,
    )
    // The documents are for everybody, and about the operations.
    const routes = world.app.routes.filter(({ path }) => !path.endsWith('/openapi.json'))
    const mounted = routes
      .filter(({ path }) => /^\/api\/(?!v\d)/.test(path))
      .map(({ method, path }) => `${method} ${path.slice('/api'.length)}`)
    const operations = new Set([...derived, ...mounted])
    assert.deepEqual(Object.keys(allRest).toSorted(), [...operations].toSorted())
    const inV1 = routes.filter(({ path }) => path.startsWith('/api/v1/'))
    // Groups are of strict versions alone.
    const inAll = mounted.filter(operation => !operation.endsWith('/aggregate'))
    assert.equal(inV1.length, inAll.length)
  })
  test('the table has a row for every root field of GraphQL, and no other [F1]', () => {
    const { roots } = deriveSchema(usualModel)
    assert.deepEqual(Object.keys(graphql).toSorted(), [...roots.keys()].toSorted())
  })
  test('the table shows for every rule of the model who may, and for each that is not anyone’s who may not', () => {
    const rows = [...Object.values(rest), ...Object.values(graphql)]
    for (const [name, { policy }] of Object.entries(usualModel.entities))
      for (const [operation, rule] of Object.entries(policy) as [string, Rule][]) {
        // The items of an order are shown only in it.
        if (name === 'orderItem') continue
        // Below posts and comments anyone reads users; the fields' own rules are shown further down.
        const cases = rows
          .filter(row => row.rule === `${name}.${operation}`)
          .flatMap((row): readonly unknown[] => row.verdicts)
        const may = cases.filter(verdict => verdict === 'ok' || Number(verdict) < 300)
        assert.ok(may.length > 0, `${name}.${operation} has nobody who may`)
        if (rule.kind !== 'anyone')
          assert.ok(may.length < cases.length, `${name}.${operation} has nobody who may not`)
      }
  })
})

describe('REST', () => {
  for (const [operation, { verdicts, path, body, raw, headers }] of Object.entries(allRest))
    for (const [index, viewer] of viewers.entries()) {
      const expected = verdicts[index] ?? 0
      test(`${operation} by ${viewer} is ${expected} [F1]`, async () => {
        const [method = ''] = operation.split(' ')
        const staged = isSafe(method) || expected >= 400 ? keptScene : sceneIn
        const isPaid = /\/(refund|receipt)$/.test(operation)
        const scene = await staged(world, viewer === 'suspended', isPaid)
        const before = expected >= 400 ? await contentOf(world, scene) : []
        const answered = await world.ask(`${method} /api${path(scene)}`, {
          as: as(viewer, scene),
          ...(body && { body: body(scene) }),
          ...(raw !== undefined && { raw }),
          ...(headers && { headers }),
        })
        assert.equal(answered.status, expected, answered.text)
        if (expected < 400) return
        const code = codes[expected]
        assert.equal((answered.json.error ?? answered.json).code, code)
        const challenge = answered.headers.get('www-authenticate')
        assert.equal(challenge, expected === 401 ? 'Bearer realm="duet"' : null)
        assert.deepEqual(await contentOf(world, scene), before)
      })
    }
})

describe('GraphQL', () => {
  for (const [field, { verdicts, operation }] of Object.entries(graphql))
    for (const [index, viewer] of viewers.entries()) {
      const expected = verdicts[index]
      test(`${field} by ${viewer} is ${expected} [F1]`, async () => {
        const staged = expected === 'ok' ? sceneIn : keptScene
        const scene = await staged(world, viewer === 'suspended', false)
        const before = expected === 'ok' ? [] : await contentOf(world, scene)
        const answered = await world.gql(operation(scene), { as: as(viewer, scene) })
        assert.equal(answered.status, 200)
        assert.equal(codeOf(answered), expected, answered.text)
        if (expected === 'ok') return
        assert.ok(!answered.json.data)
        assert.deepEqual(answered.json.errors[0].path, [field])
        assert.deepEqual(await contentOf(world, scene), before)
      })
    }
})

test('the two APIs give the same verdict on the same thing [F1]', () => {
  const pairs = {
    user: 'GET /users/:id',
    users: 'GET /users',
    post: 'GET /posts/:id',
    posts: 'GET /posts',
    createUser: 'POST /users',
    updateUser: 'PATCH /users/:id',
    deleteUser: 'DELETE /users/:id',
    createPost: 'POST /users/:parentId/posts',
  }
  const codes: Record<number, Code> = { 401: 'UNAUTHENTICATED', 403: 'FORBIDDEN' }
  for (const [field, operation] of Object.entries(pairs))
    assert.deepEqual(
      graphql[field]?.verdicts,
      rest[operation]?.verdicts.map(status => codes[status] ?? 'ok'),
      field,
    )
})

test('the two APIs give the same verdict on what is not there', async () => {
  const missing = 888_888
  const post = '{title: "t", content: "c", authorId: 888888}'
  for (const [line, body, operation] of [
    [
      `PATCH /api/users/${missing}`,
      { name: 'x' },
      `mutation { updateUser(id: ${missing}, input: {name: "x"}) { id } }`,
    ],
    [
      `POST /api/users/${missing}/posts`,
      { title: 't', content: 'c' },
      `mutation { createPost(input: ${post}) { id } }`,
    ],
  ] as const)
    for (const [viewer, status, code] of [
      ['anonymous', 401, 'UNAUTHENTICATED'],
      [2, 404, 'NOT_FOUND'],
      [1, 404, 'NOT_FOUND'],
    ] as const) {
      assert.equal(
        (await world.ask(line, { as: viewer, body })).status,
        status,
        `${line} ${viewer}`,
      )
      assert.equal(
        codeOf(await world.gql(operation, { as: viewer })),
        code,
        `${operation} ${viewer}`,
      )
    }
})

test('a bad token is refused by every operation of both APIs, public reads too', async () => {
  const scene = await sceneIn(world, false)
  const good = await world.token(1)
  for (const Authorization of ['Bearer x.y.z', `Bearer ${good}x`, `Basic ${good}`, good]) {
    for (const [operation, { path, body }] of Object.entries(rest)) {
      const [method] = operation.split(' ')
      const asking = { headers: { Authorization }, ...(body && { body: body(scene) }) }
      const answered = await world.ask(`${method} /api${path(scene)}`, asking)
      assert.equal(answered.status, 401, operation)
      assert.match(answered.headers.get('www-authenticate') ?? '', /error="invalid_token"/)
    }
    for (const { operation } of Object.values(graphql)) {
      const answered = await world.gql(operation(scene), { headers: { Authorization } })
      assert.equal(codeOf(answered), 'UNAUTHENTICATED')
      assert.ok(!answered.json.data)
    }
  }
})

describe('whose comment, like and post it is', () => {
  test('a comment is deleted by its author and by the author of its post', async () => {
    for (const who of ['author', 'post author'] as const) {
      const scene = await sceneIn(world, false)
      const made = await world.ask(`POST /api/posts/${scene.post}/comments`, {
        as: 2,
        body: { text: 'x' },
      })
      const path = `DELETE /api/posts/${scene.post}/comments/${made.json.id}`
      assert.equal((await world.ask(path, { as: 3 })).status, 403)
      assert.equal((await world.ask(path, { as: who === 'author' ? 2 : scene.user })).status, 204)
    }
  })
  test('a comment and a like are always one’s own', async () => {
    const scene = await sceneIn(world, false)
    const comment = await world.ask(`POST /api/posts/${scene.post}/comments`, {
      as: 3,
      body: { text: 'x' },
    })
    assert.equal(comment.json.authorId, 3)
    const forged = { text: 'x', authorId: scene.user }
    assert.equal(
      (await world.ask(`POST /api/posts/${scene.post}/comments`, { as: 3, body: forged })).status,
      422,
    )
    const like = await world.ask(`POST /api/comments/${scene.comment}/likes`, { as: 3 })
    assert.equal(like.json.userId, 3)
    await world.ask(`DELETE /api/comments/${scene.comment}/likes`, { as: 2 })
    const { json } = await world.ask(`GET /api/comments/${scene.comment}/likes`)
    assert.deepEqual(pluck(json.data, 'userId'), [3])
  })
  test('a user that is gone makes no post in its own name', async () => {
    const path = `POST /api/users/${ids.ghost}/posts`
    assert.equal(
      (await world.ask(path, { as: ids.ghost, body: { title: 't', content: 'c' } })).status,
      403,
    )
    const query = `mutation { createPost(input: {title: "t", content: "c", authorId: ${ids.ghost}}) { id } }`
    assert.equal(codeOf(await world.gql(query, { as: ids.ghost })), 'FORBIDDEN')
  })
})

test('while sign-up is closed only an admin makes users, in both APIs', async () => {
  await using closed = await createWorld({
    model: { ...usualModel, settings: { ...usualModel.settings, switches: { signup: false } } },
  })
  assert.equal((await closed.ask('POST /api/users', { body: { bad: 1 } })).status, 401)
  for (const [viewer, status, code] of [
    ['anonymous', 401, 'UNAUTHENTICATED'],
    [2, 403, 'FORBIDDEN'],
    [1, 201, 'ok'],
  ] as const) {
    const body = { name: 'n', email: newEmail() }
    assert.equal((await closed.ask('POST /api/users', { as: viewer, body })).status, status)
    const query = `mutation { createUser(input: {name: "n", email: "${newEmail()}"}) { id } }`
    assert.equal(codeOf(await closed.gql(query, { as: viewer })), code)
  }
})

// ---- Fields that not anyone reads.

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
    usersConnection: '(first: 3)',
    postsConnection: '(last: 4)',
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

  test('every path of the schema is walked: there are many, and some are seven levels long [D19]', () => {
    assert.ok(toUsers.length > 30, `${toUsers.length}`)
    assert.ok(toUsers.some(path => path.length === 7))
  })
  for (const field of ['email', 'age'])
    test(`every path of the schema to a user’s ${field} is closed to anonymous and open to any token [D19]`, async () => {
      for (const path of toUsers) {
        const query = queryOf(path, field)
        const refused = await world.gql(query)
        assert.equal(codeOf(refused), 'UNAUTHENTICATED', query)
        assert.ok(!('data' in refused.json))
        const isEntered = /^users?(Connection)?$/.test(path[0] ?? '')
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
  test('in fragments, under aliases, merged and conditional, shows anonymous no closed field [D19]', async () => {
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
  test('every path of the schema is judged anew for each who asks, though the document is known [G22]', async () => {
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

test('a list of what anyone reads, below what not anyone reads, is private', async () => {
  const { user } = usualModel.entities
  if (!user) throw new Error('there are users')
  const closed = { ...user, policy: { ...user.policy, read: signedIn } }
  const entities = { ...usualModel.entities, user: closed }
  await using world = await createWorld({ model: { ...usualModel, entities } })
  assert.equal((await world.ask('GET /api/users/2/posts')).status, 401)
  const { status, headers } = await world.ask('GET /api/users/2/posts', { as: 2 })
  assert.deepEqual([status, headers.get('cache-control')], [200, 'private, no-cache'])
  assert.match(headers.get('vary') ?? '', /Authorization/)
})

describe('a field that the viewer may not read', () => {
  const keys = closedFields.map(name => name.slice('user.'.length))
  const open = forAllTests(() => createWorld({ model: modelWith({}) }))
  const adminsOnly = forAllTests(() =>
    createWorld({ model: modelWith(Object.fromEntries(keys.map(key => [key, admin]))) }),
  )

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

// ---- What callers make up.

describe('members that the caller may not set', () => {
  const foreign = [
    'role',
    'status',
    'id',
    'emailVerified',
    'createdAt',
    'revision',
    'emailKey',
    'ownerId',
    'authorId',
    'price',
    'isAdmin',
    'admin',
    'passwordHash',
    'posts',
    '_links',
    '__proto__',
    'constructor',
    'toString',
    'Name',
    'name ',
  ]
  const values = ['admin', 'active', 1, true, null, { x: 1 }, [1]]

  test('members that the caller may not set are refused by every input of GraphQL, and nothing changes [F3]', async () => {
    const scene = await sceneIn(world, false)
    const inputs: Record<string, readonly [string, Record<string, unknown>]> = {
      createUser: [
        'mutation($i: CreateUserInput!) { createUser(input: $i) { id } }',
        { name: 'n', email: newEmail() },
      ],
      updateUser: [
        `mutation($i: UpdateUserInput!) { updateUser(id: ${scene.user}, input: $i) { id } }`,
        { name: 'n' },
      ],
      createPost: [
        'mutation($i: CreatePostInput!) { createPost(input: $i) { id } }',
        { title: 't', content: 'c', authorId: scene.user },
      ],
    }
    const before = await contentOf(world, scene)
    for (const [name, [query, good]] of Object.entries(inputs))
      for (const member of foreign.filter(member => !(member in good) || member === 'constructor'))
        for (const value of values) {
          const input = `${JSON.stringify(good).slice(0, -1)},${JSON.stringify(member)}:${JSON.stringify(value)}}`
          const answered = await world.ask('POST /graphql', {
            as: scene.user,
            raw: `{"query":${JSON.stringify(query)},"variables":{"i":${input}}}`,
            headers: { 'Content-Type': 'application/json' },
          })
          assert.equal(
            answered.json.errors?.[0].extensions.code,
            'BAD_USER_INPUT',
            `${name} ${member} ${value}`,
          )
        }
    assert.deepEqual(await contentOf(world, scene), before)
  })
  for (const [member, value] of [
    ['role', 'admin'],
    ['status', 'suspended'],
  ] as const)
    test(`${member} is set by an admin, and by nobody else [F3]`, async () => {
      const scene = await sceneIn(world, false)
      const path = `/api/users/${scene.user}`
      for (const viewer of ['anonymous', scene.user] as const) {
        const body = { name: 'n', email: newEmail(), [member]: value }
        assert.equal((await world.ask('POST /api/users', { as: viewer, body })).status, 422)
      }
      for (const method of ['PATCH', 'PUT']) {
        const body = { name: 'n', email: newEmail(), [member]: value }
        const refused = await world.ask(`${method} ${path}`, { as: scene.user, body })
        assert.equal(refused.status, 422)
        assert.deepEqual(pluck(refused.json.error.details, 'field'), [member])
      }
      const made = await world.ask('POST /api/users', {
        as: 1,
        body: { name: 'n', email: newEmail(), [member]: value },
      })
      assert.equal(made.json[member], value)
      const changed = await world.ask(`PATCH ${path}`, { as: 1, body: { [member]: value } })
      assert.equal(changed.json[member], value)
    })
  test('members that the service sets are set by no admin either', async () => {
    const scene = await sceneIn(world, false)
    for (const [member, value] of Object.entries({
      id: 5,
      emailVerified: true,
      createdAt: '2026-01-01T00:00:00.000Z',
      revision: 9,
      emailKey: 'x',
    })) {
      const answered = await world.ask(`PATCH /api/users/${scene.user}`, {
        as: 1,
        body: { [member]: value },
      })
      assert.equal(answered.status, 422, member)
    }
  })
})

test('no spelling of a path, method or header lets a user reach what is an admin’s [F5, G16]', async () => {
  const scene = await sceneIn(world, false)
  const before = await contentOf(world, scene)
  const path = `/api/products/${scene.product}`
  const paths = [
    path,
    `${path}/`,
    `/api//products/${scene.product}`,
    `//api/products/${scene.product}`,
    `/API/products/${scene.product}`,
    `/api/Products/${scene.product}`,
    `/api/v1/products/${scene.product}`,
    `/api/%70roducts/${scene.product}`,
    `/api/products/%3${String(scene.product)[0]}${String(scene.product).slice(1)}`,
    `/api/./products/${scene.product}`,
    `/api/users/../products/${scene.product}`,
    `/api/users/%2e%2e/products/${scene.product}`,
    `/api/products;a=b/${scene.product}`,
    `${path};a=b`,
    `${path}?_method=DELETE`,
    `${path}?version=1`,
    `${path}%00`,
    `${path}%2f`,
    `${path}.json`,
    '/api/products',
    '/api/products/',
  ]
  const overrides: readonly Record<string, string>[] = [
    {},
    { 'X-HTTP-Method-Override': 'DELETE' },
    { 'X-HTTP-Method': 'PUT' },
    { 'X-Method-Override': 'PATCH' },
    { 'X-Original-URL': path },
    { 'X-Forwarded-For': '127.0.0.1', 'X-Role': 'admin', 'X-User-Id': '1' },
  ]
  let asked = 0
  for (const target of paths)
    for (const method of [
      'GET',
      'HEAD',
      'OPTIONS',
      'POST',
      'PUT',
      'PATCH',
      'DELETE',
      'TRACE',
      'delete',
      'PROPFIND',
    ])
      for (const headers of overrides)
        for (const viewer of ['anonymous', scene.user] as const) {
          // What a header would have done instead comes as a GET or a POST.
          const isInstead = Object.keys(headers).length === 1
          if (method === 'TRACE' || (isInstead && !['GET', 'POST'].includes(method))) continue
          const hasBody = !['GET', 'HEAD'].includes(method)
          const answered = await world.ask(`${method} ${target}`, {
            as: viewer,
            headers,
            ...(hasBody && { body: product() }),
          })
          asked++
          assert.ok(answered.status < 500, `${method} ${target} ${answered.text}`)
          if (!['GET', 'HEAD', 'OPTIONS'].includes(method))
            assert.ok(answered.status >= 400, `${method} ${target} ${answered.status}`)
        }
  assert.ok(asked > 1000, `${asked}`)
  assert.deepEqual(await contentOf(world, scene), before)
})
