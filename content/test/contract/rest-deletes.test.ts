/** Deletes with their dependent rows; and each API at once reads the writes of the other. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { refuses, requestsTo } from '../rest.ts'
import { createWorld, forEachTest, pluck } from '../world.ts'

const world = forEachTest(createWorld)

const { post, patch, remove, get } = requestsTo(world)
const totalOf = async (path: string) => (await get(path)).json.pagination.total
const idsOf = async (path: string) => pluck((await get(path)).json.data, 'id')

describe('deleting', () => {
  test('a delete is 204 without a body, and 404 the second time', async () => {
    for (const path of [
      '/api/products/1',
      '/api/posts/1/comments/1',
      '/api/posts/1',
      '/api/users/4',
    ]) {
      const gone = await remove(path)
      assert.equal(gone.status, 204)
      assert.equal(gone.text, '')
      assert.equal(gone.headers.get('content-type'), null)
      assert.equal(gone.headers.get('api-version'), '1')
      refuses(await remove(path), 404, 'NOT_FOUND')
      refuses(await get(path), 404, 'NOT_FOUND')
    }
  })

  test('an unlike is 204 any number of times, and 404 where there is no comment', async () => {
    for (let time = 0; time < 3; time++)
      assert.equal((await remove('/api/comments/1/likes', 2)).status, 204)
    const { data } = (await get('/api/comments/1/likes')).json
    assert.deepEqual(pluck(data, 'userId'), [3])
    refuses(await remove('/api/comments/99/likes', 2), 404, 'NOT_FOUND')
    refuses(await post('/api/comments/99/likes', undefined, 2), 404, 'NOT_FOUND')
  })

  test('with a user go the posts, the comments on them, the own comments and the likes', async () => {
    await post('/api/comments/2/likes', undefined, 3)
    await post('/api/comments/2/likes', undefined, 2)
    await post('/api/comments/3/likes', undefined, 3)
    // Cleo wrote post 4 (with Ben's comment 3) and comment 1 on Ben's post 1.
    assert.equal((await remove('/api/users/3', 3)).status, 204)
    for (const path of ['/api/users/3', '/api/posts/4', '/api/comments/1', '/api/comments/3'])
      refuses(await get(path), 404, 'NOT_FOUND')
    assert.deepEqual(await idsOf('/api/posts'), [3, 2, 1])
    assert.deepEqual(await idsOf('/api/posts/1/comments'), [2])
    const likes = (await get('/api/comments/2/likes')).json.data
    assert.deepEqual(pluck(likes, 'userId'), [2])
  })

  test('totals stay right, by role and by status too', async () => {
    await remove('/api/users/4')
    assert.equal(await totalOf('/api/users'), 3)
    assert.equal(await totalOf('/api/users?status=suspended'), 0)
    assert.equal(await totalOf('/api/users?role=user'), 2)
    await remove('/api/products/2')
    await patch('/api/products/1', { category: 'office' })
    assert.equal(await totalOf('/api/products'), 4)
    assert.equal(await totalOf('/api/products?category=lighting'), 0)
    assert.equal(await totalOf('/api/products?category=office'), 2)
  })

  test('with a comment go its likes, with a post its comments', async () => {
    assert.equal((await remove('/api/posts/1/comments/1', 2)).status, 204)
    refuses(await get('/api/comments/1/likes'), 404, 'NOT_FOUND')
    assert.equal((await remove('/api/posts/1', 2)).status, 204)
    refuses(await get('/api/comments/2'), 404, 'NOT_FOUND')
  })
})

describe('both APIs', () => {
  test('what one API writes the other reads at once, fifty times over [A19]', async () => {
    for (let n = 0; n < 50; n++) {
      await patch('/api/posts/1', { title: `rest ${n}` }, 2)
      const read = await world.gql('{ post(id: "1") { title } }')
      assert.equal(read.json.data.post.title, `rest ${n}`)
      await world.gql(`mutation { updateUser(id: 2, input: {name: "graphql ${n}"}) { id } }`, {
        as: 2,
      })
      assert.equal((await get('/api/users/2')).json.name, `graphql ${n}`)
    }
  })

  test('a post made by GraphQL is the first of the REST list, and REST deletes it for GraphQL', async () => {
    const input = '{title: "G", content: "g", authorId: "3"}'
    const made = await world.gql(`mutation { createPost(input: ${input}) { id } }`, { as: 3 })
    const id = Number(made.json.data.createPost.id)
    assert.equal((await idsOf('/api/posts'))[0], id)
    assert.equal((await remove(`/api/posts/${id}`, 3)).status, 204)
    assert.equal((await world.gql(`{ post(id: "${id}") { id } }`)).json.data.post, null)
    assert.equal(
      (await post('/api/users/3/posts', { title: 'a', content: 'b' }, 3)).json.id,
      id + 1,
    )
  })

  test('a user deleted by GraphQL is 404 in REST, with an ETag that matches nothing any more', async () => {
    const tag = (await get('/api/users/3')).headers.get('etag') ?? ''
    await world.gql('mutation { deleteUser(id: 3) }', { as: 1 })
    const headers = { 'If-Match': tag }
    refuses(await world.ask('PATCH /api/users/3', { as: 1, headers, body: {} }), 404, 'NOT_FOUND')
  })

  test('a change by GraphQL makes the ETag of REST stale', async () => {
    const tag = (await get('/api/users/2')).headers.get('etag') ?? ''
    await world.gql('mutation { updateUser(id: 2, input: {name: "B"}) { id } }', { as: 2 })
    const stale = await world.ask('PATCH /api/users/2', {
      as: 2,
      headers: { 'If-Match': tag },
      body: { age: 1 },
    })
    refuses(stale, 412, 'PRECONDITION_FAILED')
  })
})
