/** Who may do what: every operation of both APIs, with viewers who may and viewers who may not. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { content } from '#content/index.ts'
import { deriveSchema } from '#graphql/schema.ts'
import { isSafe } from '#http/safe.ts'
import type { Rule } from '#model/policy.ts'
import { routesOf } from '#rest/routes.ts'
import { createWorld, usualModel, type World } from '../world.ts'
import {
  type Code,
  codeOf,
  contentOf,
  ids,
  newEmail,
  type Scene,
  sceneIn,
  type ViewerName,
  viewers,
} from './policy-scene.ts'
import { graphql, type RestRow, rest } from './policy-table.ts'

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
    .filter(({ kind }) => kind === 'list')
    .map(({ path }) => [
      `QUERY ${path}`,
      { ...(rest[`GET ${path}`] as RestRow), raw: '' as const, headers: form },
    ]),
)

const allRest: typeof rest = { ...rest, ...queried }

let world: World
before(async () => {
  world = await createWorld()
})
after(() => world.close())

describe('the table', () => {
  test('the table has a row for every operation of REST, and no other', () => {
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
    assert.equal(inV1.length, mounted.length)
  })
  test('the table has a row for every root field of GraphQL, and no other', () => {
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
      test(`${operation} by ${viewer} is ${expected}`, async () => {
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
        assert.equal(answered.json.error.code, code)
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
      test(`${field} by ${viewer} is ${expected}`, async () => {
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

test('the two APIs give the same verdict on the same thing', () => {
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
    assert.deepEqual(
      json.data.map(({ userId }: { userId: number }) => userId),
      [3],
    )
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

test('while sign-up is closed only an admin makes users, in both APIs', async t => {
  const closed = await createWorld({
    model: { ...usualModel, settings: { ...usualModel.settings, switches: { signup: false } } },
  })
  t.after(() => closed.close())
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
