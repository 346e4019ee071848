/** Creations: what is answered, and what is stored. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { refuses, refusesInput, requestsTo } from '../rest.ts'
import { createWorld, forEachTest, onPostgres } from '../world.ts'

const world = forEachTest(createWorld)

const { post, remove, get } = requestsTo(world)
const totalOf = async (path: string) => (await get(path)).json.pagination.total

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

  test('a like takes no members', async () => {
    const before = (await get('/api/comments/3/likes')).text
    const refused = await post('/api/comments/3/likes', { createdAt: 1, x: 1 }, 2)
    refusesInput(refused, ['createdAt', 'x'])
    assert.equal((await get('/api/comments/3/likes')).text, before)
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
    refusesInput(await post('/api/users', { name: 'B' }))
    assert.equal(await totalOf('/api/users'), 4)
    assert.equal((await post('/api/users', { name: 'B', email: 'b@example.org' })).json.id, next)
    assert.equal(await totalOf('/api/users'), 5)
  })
})
