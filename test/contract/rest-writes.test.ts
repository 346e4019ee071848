/** Create, replace, update and delete: what is answered, and what is stored. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { content } from '#content/index.ts'
import { modelOf } from '#content.ts'
import { refuses } from '../rest.ts'
import { createWorld, onPostgres, type World } from '../world.ts'

let world: World
beforeEach(async () => {
  world = await createWorld()
})
afterEach(() => world.close())

type As = number | 'anonymous'
const post = (path: string, body: unknown, as: As = 1) => world.ask(`POST ${path}`, { as, body })
const put = (path: string, body: unknown, as: As = 1) => world.ask(`PUT ${path}`, { as, body })
const patch = (path: string, body: unknown, as: As = 1) => world.ask(`PATCH ${path}`, { as, body })
const remove = (path: string, as: As = 1) => world.ask(`DELETE ${path}`, { as })
const get = (path: string, as: As = 1) => world.ask(`GET ${path}`, { as })
const totalOf = async (path: string) => (await get(path)).json.pagination.total
const idsOf = async (path: string) =>
  (await get(path)).json.data.map((row: { id: number }) => row.id)

const lamp = { name: 'Lamp', category: 'lighting', price: 9.5 }

describe('creating', () => {
  test('a sign-up without a token is answered whole with 201, Location and ETag', async () => {
    const made = await post(
      '/api/users',
      { name: 'Eve', email: 'eve@example.org', age: 30 },
      'anonymous',
    )
    assert.equal(made.status, 201)
    assert.equal(made.headers.get('location'), '/api/users/5')
    assert.equal(made.headers.get('cache-control'), 'no-store')
    assert.equal(made.headers.get('content-type'), 'application/json; charset=utf-8')
    const { createdAt, ...rest } = made.json
    assert.match(createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    assert.deepEqual(rest, {
      id: 5,
      name: 'Eve',
      email: 'eve@example.org',
      age: 30,
      role: 'user',
      status: 'active',
      emailVerified: false,
      _links: {
        self: { href: '/api/users/5' },
        posts: { href: '/api/users/5/posts' },
        avatar: { href: '/api/users/5/avatar' },
        update: { href: '/api/users/5', method: 'PATCH' },
        delete: { href: '/api/users/5', method: 'DELETE' },
      },
    })
    const read = await get('/api/users/5', 2)
    assert.equal(read.text, made.text)
    assert.equal(read.headers.get('etag'), made.headers.get('etag'))
  })

  test('Location and links keep the version prefix', async () => {
    const made = await post('/api/v1/products', lamp)
    assert.equal(made.headers.get('location'), '/api/v1/products/6')
    assert.equal((await get('/api/v1/products/6')).text, made.text)
  })

  test('a product needs a name, a category and a price; stock is 0 and image null unless given', async () => {
    const made = await post('/api/products', lamp)
    assert.equal(made.status, 201)
    const { created_at: _, ...rest } = made.json
    assert.deepEqual(rest, { id: 6, ...lamp, stock: 0, image: null })
    const whole = { ...lamp, stock: 4, image: 'https://images.example.org/a.png?x=1#y' }
    const { created_at: __, ...second } = (await post('/api/products', whole)).json
    assert.deepEqual(second, { id: 7, ...whole })
  })

  test('a post is made below its author, a comment below its post by its own author', async () => {
    const made = await post('/api/users/2/posts', { title: 'T', content: 'C' }, 2)
    assert.equal(made.status, 201)
    assert.equal(made.headers.get('location'), '/api/posts/5')
    assert.equal(made.json.authorId, 2)
    assert.equal((await get('/api/posts/5')).text, made.text)
    assert.equal((await get('/api/posts/5')).headers.get('etag'), made.headers.get('etag'))
    const comment = await post('/api/posts/5/comments', { text: 'hello' }, 3)
    assert.equal(comment.status, 201)
    assert.equal(comment.headers.get('location'), '/api/comments/4')
    assert.deepEqual(
      [comment.json.postId, comment.json.authorId, comment.json.text],
      [5, 3, 'hello'],
    )
    assert.equal((await get('/api/posts/5/comments/4')).text, comment.text)
  })

  test('an admin makes a post for anybody, and comments as himself', async () => {
    assert.equal(
      (await post('/api/users/3/posts', { title: 'T', content: 'C' }, 1)).json.authorId,
      3,
    )
    assert.equal((await post('/api/posts/1/comments', { text: 'x' }, 1)).json.authorId, 1)
  })

  test('a like is 201 at first and 200 after, with the same moment; it is counted once', async () => {
    const first = await post('/api/comments/2/likes', undefined, 2)
    assert.equal(first.status, 201)
    assert.deepEqual(Object.keys(first.json), ['userId', 'commentId', 'createdAt'])
    assert.deepEqual([first.json.userId, first.json.commentId], [2, 2])
    const second = await post('/api/comments/2/likes', {}, 2)
    assert.equal(second.status, 200)
    assert.equal(second.text, first.text)
    assert.equal((await get('/api/comments/2/likes')).json.data.length, 1)
  })

  test('twenty likes of one user at once are one like', async () => {
    const all = await Promise.all(
      Array.from({ length: 20 }, () => post('/api/comments/3/likes', undefined, 3)),
    )
    const statuses = all.map(({ status }) => status).toSorted()
    assert.deepEqual(statuses, [...Array(19).fill(200), 201])
    assert.equal((await get('/api/comments/3/likes')).json.data.length, 1)
  })

  test('ids ascend and are not used again after a delete', async () => {
    for (const id of [6, 7, 8]) {
      assert.equal((await post('/api/products', lamp)).json.id, id)
      assert.equal((await remove(`/api/products/${id}`)).status, 204)
    }
    const made = await Promise.all(Array.from({ length: 10 }, () => post('/api/products', lamp)))
    const ids = made.map(({ json }) => json.id).toSorted((a, b) => a - b)
    assert.deepEqual(ids, [9, 10, 11, 12, 13, 14, 15, 16, 17, 18])
  })

  test('a refused creation uses no id up and changes no total', async () => {
    // On PostgreSQL a refused insert uses an id up; there each id is only given out once.
    const next = onPostgres ? 6 : 5
    refuses(await post('/api/users', { name: 'B', email: 'BEN@example.org' }), 409, 'EMAIL_TAKEN')
    refuses(await post('/api/users', { name: 'B' }), 422, 'VALIDATION_ERROR')
    assert.equal(await totalOf('/api/users'), 4)
    assert.equal((await post('/api/users', { name: 'B', email: 'b@example.org' })).json.id, next)
    assert.equal(await totalOf('/api/users'), 5)
  })

  test('while sign-up is closed only an admin makes users', async () => {
    const model = modelOf(content, {
      switches: { signup: false },
      currency: { code: 'USD', digits: 2 },
    })
    const closed = await createWorld({ model })
    const body = { name: 'Eve', email: 'eve@example.org' }
    refuses(await closed.ask('POST /api/users', { body }), 401, 'UNAUTHENTICATED')
    refuses(await closed.ask('POST /api/users', { body: { bad: 1 } }), 401, 'UNAUTHENTICATED')
    refuses(await closed.ask('POST /api/users', { body, as: 2 }), 403, 'FORBIDDEN')
    assert.equal((await closed.ask('POST /api/users', { body, as: 1 })).status, 201)
    await closed.close()
  })
})

describe('replacing', () => {
  test('a PUT without an age clears it, keeps role, status and moment, and carries no ETag', async () => {
    await patch('/api/users/2', { role: 'admin', status: 'active' })
    const before = (await get('/api/users/2')).json
    const answer = await put('/api/users/2', { name: 'Benjamin', email: 'ben@example.org' })
    assert.equal(answer.status, 200)
    assert.equal(answer.headers.get('etag'), null)
    assert.deepEqual(answer.json, { ...before, name: 'Benjamin', age: null })
    assert.equal((await get('/api/users/2')).text, answer.text)
  })

  test('a PUT needs name and email, and says so of both at once', async () => {
    refuses(await put('/api/users/2', {}, 2), 422, 'VALIDATION_ERROR', ['name', 'email'])
    refuses(await put('/api/users/2', { name: 'B' }, 2), 422, 'VALIDATION_ERROR', ['email'])
    assert.equal((await get('/api/users/2')).json.name, 'Ben')
  })

  test('a PUT of a product takes stock and image back to their beginning', async () => {
    const answer = await put('/api/products/5', lamp)
    assert.equal(answer.headers.get('etag'), null)
    const { created_at, ...rest } = answer.json
    assert.deepEqual(rest, { id: 5, ...lamp, stock: 0, image: null })
    assert.equal(created_at, '2026-01-01T00:18:00.000Z')
    refuses(await put('/api/products/5', {}), 422, 'VALIDATION_ERROR', [
      'name',
      'category',
      'price',
    ])
  })

  test('a PUT of a part is refused and replaces nothing; names of content codings have no case', async () => {
    const before = await get('/api/products/1')
    const send = (headers: Record<string, string>) =>
      world.ask('PUT /api/products/1', { as: 1, body: lamp, headers })
    const part = await send({ 'Content-Range': 'bytes 0-49/200' })
    refuses(part, 400, 'MALFORMED_REQUEST')
    assert.equal((await get('/api/products/1')).text, before.text)
    for (const coding of ['Identity', '', 'identity'])
      assert.equal((await send({ 'Content-Encoding': coding })).status, 200, coding)
    const refused = await send({ 'Content-Encoding': 'GZIP' })
    refuses(refused, 415, 'UNSUPPORTED_MEDIA_TYPE')
    assert.equal(refused.headers.get('accept-encoding'), 'identity')
    const long = await send({ 'Content-Encoding': 'g'.repeat(8000) })
    refuses(long, 415, 'UNSUPPORTED_MEDIA_TYPE')
    assert.ok(long.text.length < 400)
  })

  test('a PUT makes nothing where nothing is', async () => {
    refuses(await put('/api/users/5', { name: 'E', email: 'e@example.org' }), 404, 'NOT_FOUND')
    refuses(await put('/api/products/6', lamp), 404, 'NOT_FOUND')
    assert.equal(await totalOf('/api/users'), 4)
  })
})

describe('updating', () => {
  test('a PATCH changes what it names, and null clears what may be null', async () => {
    const before = (await get('/api/users/2')).json
    assert.deepEqual((await patch('/api/users/2', { name: 'B' }, 2)).json, { ...before, name: 'B' })
    assert.deepEqual((await patch('/api/users/2', { age: null }, 2)).json, {
      ...before,
      name: 'B',
      age: null,
    })
    assert.equal((await patch('/api/products/5', { image: null })).json.image, null)
    assert.equal((await patch('/api/posts/3', { title: 'T' }, 2)).json.content, 'three')
    refuses(await patch('/api/users/2', { name: null, email: null }, 2), 422, 'VALIDATION_ERROR', [
      'name',
      'email',
    ])
    const nulls = { name: null, category: null, price: null, stock: null }
    refuses(await patch('/api/products/5', nulls), 422, 'VALIDATION_ERROR', Object.keys(nulls))
  })

  test('a merge patch is read under its own media type too', async () => {
    const headers = { 'Content-Type': 'application/merge-patch+json' }
    for (const path of ['/api/users/2', '/api/posts/3', '/api/products/1']) {
      const answer = await world.ask(`PATCH ${path}`, { as: 1, headers, body: {} })
      assert.equal(answer.status, 200)
      assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8')
    }
    refuses(
      await world.ask('PUT /api/products/1', { as: 1, headers, body: lamp }),
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    )
    refuses(
      await world.ask('POST /api/products', { as: 1, headers, body: lamp }),
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    )
  })

  test('an empty PATCH changes nothing, not even the ETag', async () => {
    for (const path of ['/api/users/2', '/api/posts/3', '/api/products/1']) {
      const before = await get(path)
      const answer = await patch(path, {})
      assert.equal(answer.status, 200)
      assert.equal(answer.text, before.text)
      assert.equal(answer.headers.get('etag'), before.headers.get('etag'))
      assert.equal((await get(path)).headers.get('etag'), before.headers.get('etag'))
    }
  })

  test('a PATCH carries the new ETag, which the next read carries too', async () => {
    for (const [path, body] of [
      ['/api/users/2', { age: 3 }],
      ['/api/posts/3', { title: 'x' }],
      ['/api/products/1', { price: 1 }],
    ] as const) {
      const old = (await get(path)).headers.get('etag')
      const tag = (await patch(path, body)).headers.get('etag')
      assert.notEqual(tag, old)
      assert.equal((await get(path)).headers.get('etag'), tag)
    }
  })

  test('role and status are for an admin to give, and the filters see them at once', async () => {
    for (const body of [
      { role: 'admin' },
      { status: 'active' },
      { role: 'user', status: 'suspended' },
    ]) {
      refuses(await patch('/api/users/2', body, 2), 422, 'VALIDATION_ERROR', Object.keys(body))
      refuses(
        await put('/api/users/2', { name: 'B', email: 'b@example.org', ...body }, 2),
        422,
        'VALIDATION_ERROR',
        Object.keys(body),
      )
      const signUp = { name: 'E', email: 'e@example.org', ...body }
      refuses(
        await post('/api/users', signUp, 'anonymous'),
        422,
        'VALIDATION_ERROR',
        Object.keys(body),
      )
      refuses(await post('/api/users', signUp, 2), 422, 'VALIDATION_ERROR', Object.keys(body))
    }
    assert.equal((await patch('/api/users/3', { role: 'admin', status: 'suspended' })).status, 200)
    assert.deepEqual(await idsOf('/api/users?role=admin&status=suspended'), [3])
    assert.equal(await totalOf('/api/users?role=admin'), 2)
    assert.equal(await totalOf('/api/users?status=suspended'), 2)
    const made = await post('/api/users', {
      name: 'E',
      email: 'e@example.org',
      role: 'admin',
      status: 'suspended',
    })
    assert.deepEqual([made.json.role, made.json.status], ['admin', 'suspended'])
    assert.equal(await totalOf('/api/users?role=admin'), 3)
    const replaced = await put('/api/users/5', { name: 'E', email: 'e@example.org', role: 'user' })
    assert.deepEqual([replaced.json.role, replaced.json.status], ['user', 'suspended'])
  })

  test('a new email is not verified; the same one stays so', async () => {
    assert.equal(
      (await patch('/api/users/2', { email: 'ben@example.org', name: 'B' }, 2)).json.emailVerified,
      true,
    )
    assert.equal(
      (await put('/api/users/2', { email: 'ben@example.org', name: 'B' }, 2)).json.emailVerified,
      true,
    )
    assert.equal(
      (await patch('/api/users/2', { email: 'new@example.org' }, 2)).json.emailVerified,
      false,
    )
    assert.equal(
      (await patch('/api/users/2', { email: 'ben@example.org' }, 2)).json.emailVerified,
      false,
    )
    assert.equal(
      (await put('/api/users/1', { name: 'Ada', email: 'a@example.org' })).json.emailVerified,
      false,
    )
  })

  test('an email belongs to one user, without regard to case', async () => {
    for (const email of ['cleo@example.org', 'CLEO@EXAMPLE.ORG', ' Cleo@Example.org ']) {
      const answers = [
        await post('/api/users', { name: 'X', email }, 'anonymous'),
        await patch('/api/users/2', { email }, 2),
        await put('/api/users/2', { name: 'X', email }, 2),
      ]
      for (const answer of answers) refuses(answer, 409, 'EMAIL_TAKEN', ['email'])
    }
    assert.equal(
      (await patch('/api/users/3', { email: 'CLEO@example.org' }, 3)).json.email,
      'CLEO@example.org',
    )
    assert.equal((await remove('/api/users/3')).status, 204)
    assert.equal((await post('/api/users', { name: 'X', email: 'cleo@example.org' })).status, 201)
  })

  test('of two sign-ups with one email at once, one is made', async () => {
    const emails = ['Same@example.org', 'same@Example.org', 'SAME@example.org', 'same@example.org']
    const answers = await Promise.all(
      emails.map(email => post('/api/users', { name: 'X', email }, 'anonymous')),
    )
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [201, 409, 409, 409])
  })
})
