/** What callers make up gives them no right: members of bodies, paths, methods, headers. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createWorld, type World } from '../world.ts'
import { contentOf, newEmail, product, sceneIn } from './policy-scene.ts'

let world: World
before(async () => {
  world = await createWorld()
})
after(() => world.close())

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

  test('members that the caller may not set are refused by every input of GraphQL, and nothing changes', async () => {
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
    test(`${member} is set by an admin, and by nobody else`, async () => {
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
        assert.deepEqual(
          refused.json.error.details.map((d: { field: string }) => d.field),
          [member],
        )
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

test('no spelling of a path, method or header lets a user reach what is an admin’s', async () => {
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
          const hasBody = !['GET', 'HEAD', 'TRACE'].includes(method)
          if (method === 'TRACE') continue
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
  assert.ok(asked > 2000, `${asked}`)
  assert.deepEqual(await contentOf(world, scene), before)
})
