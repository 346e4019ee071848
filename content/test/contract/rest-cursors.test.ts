/** Lists with cursors: walked from end to end, and cursors that are not this list's. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { refusesInput } from '../rest.ts'
import { createWorld, forAllTests } from '../world.ts'

const user = Array.from({ length: 45 }, (_, n) => ({
  name: `U${n}`,
  email: `u${n}@example.org`,
  role: n === 0 ? 'admin' : 'user',
}))
const post = Array.from({ length: 45 }, (_, n) => ({
  authorId: (n % 2) + 1,
  title: `P${n}`,
  content: 'text',
}))
const comment = Array.from({ length: 45 }, (_, n) => ({
  postId: (n % 2) + 1,
  authorId: 1,
  text: `C${n}`,
}))
const like = Array.from({ length: 45 }, (_, n) => ({ userId: n + 1, commentId: 1 }))

const world = forAllTests(() => createWorld({ rows: { user, post, comment, like } }))

const get = (path: string) => world.ask(`GET ${path}`)
const downFrom = (first: number, step = 1) =>
  Array.from({ length: Math.ceil(first / step) }, (_, n) => first - n * step)

const lists = {
  '/api/posts': downFrom(45),
  '/api/users/1/posts': downFrom(45, 2),
  '/api/users/2/posts': downFrom(44, 2),
  '/api/posts/1/comments': downFrom(45, 2),
  '/api/comments/1/likes': downFrom(45),
}
const key = (row: { id?: number; userId: number }) => row.id ?? row.userId

for (const [path, expected] of Object.entries(lists)) {
  test(`${path} walked by nextCursor shows each item once, newest first`, async () => {
    for (const limit of [1, 7, 15, 44, 45, 100]) {
      const seen: number[] = []
      let cursor: string | null = ''
      while (cursor !== null) {
        const { status, json } = await get(`${path}?limit=${limit}${cursor && `&cursor=${cursor}`}`)
        assert.equal(status, 200)
        assert.deepEqual(Object.keys(json), ['data', 'nextCursor'])
        assert.ok(json.data.length > 0, 'nextCursor promises more')
        seen.push(...json.data.map(key))
        cursor = json.nextCursor
      }
      assert.deepEqual(seen, expected)
    }
  })
  test(`${path} shows twenty where no limit is given, and at most a hundred`, async () => {
    assert.deepEqual((await get(path)).json.data.map(key), expected.slice(0, 20))
    assert.deepEqual((await get(`${path}?limit=1000`)).json.data.map(key), expected)
    assert.equal((await get(`${path}?limit=0`)).json.data.length, 1)
  })
  test(`${path} takes no cursor of another list [G10]`, async () => {
    for (const other of Object.keys(lists).filter(other => other !== path)) {
      const { nextCursor } = (await get(`${other}?limit=3`)).json
      refusesInput(await get(`${path}?cursor=${nextCursor}`), ['cursor'])
    }
  })
  test(`${path} links to its first and its next page, and the links lead there`, async () => {
    const answer = await get(`${path}?limit=15&x=1`)
    const { nextCursor } = answer.json
    assert.equal(
      answer.headers.get('link'),
      `<${path}?limit=15&x=1>; rel="first", <${path}?limit=15&x=1&cursor=${nextCursor}>; rel="next"`,
    )
    const second = await get(`${path}?limit=15&x=1&cursor=${nextCursor}`)
    assert.deepEqual(second.json.data.map(key), expected.slice(15, 30))
    const all = await get(`${path}?limit=100`)
    assert.equal(all.headers.get('link'), `<${path}?limit=100>; rel="first"`)
  })
}

test('a cursor holds for another limit and below the other prefix of its version', async () => {
  const { nextCursor } = (await get('/api/posts?limit=5')).json
  const { data } = (await get(`/api/v1/posts?limit=2&cursor=${nextCursor}`)).json
  assert.deepEqual(data.map(key), [40, 39])
})

test('a cursor is opaque: neither the id nor its base64 stands for one', async () => {
  for (const cursor of [
    '',
    '5',
    '0',
    '-1',
    'abc',
    'NQ',
    'NQ==',
    'eyJpZCI6NX0',
    'null',
    '%00',
    '🙂',
    'A'.repeat(2000),
  ])
    refusesInput(await get(`/api/posts?cursor=${cursor}`))
  const { nextCursor } = (await get('/api/posts?limit=5')).json
  assert.match(nextCursor, /^[\w-]+$/)
})

test('a cursor given twice is 422', async () => {
  const { nextCursor } = (await get('/api/posts?limit=5')).json
  const twice = `cursor=${nextCursor}&cursor=${nextCursor}`
  refusesInput(await get(`/api/posts?${twice}`), ['cursor'])
})

test('no change of a cursor makes another cursor', async () => {
  const { nextCursor } = (await get('/api/posts?limit=5')).json as { nextCursor: string }
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const changed = fc.oneof(
    fc
      .tuple(fc.nat(nextCursor.length - 1), fc.constantFrom(...alphabet))
      .map(([at, letter]) => nextCursor.slice(0, at) + letter + nextCursor.slice(at + 1)),
    fc.nat(nextCursor.length - 1).map(length => nextCursor.slice(0, length)),
    fc.constantFrom(...alphabet, '=', '==', '%20', '.').map(letter => nextCursor + letter),
    fc.constantFrom(...alphabet, '%20').map(letter => letter + nextCursor),
  )
  await fc.assert(
    fc.asyncProperty(
      changed.filter(cursor => cursor !== nextCursor),
      async cursor => refusesInput(await get(`/api/posts?cursor=${cursor}`), ['cursor']),
    ),
    { numRuns: 500 },
  )
})

test('a cursor of one store is nothing to another', async () => {
  const other = await createWorld({ rows: { user, post } })
  const { nextCursor } = (await other.ask('GET /api/posts?limit=5')).json
  await other.close()
  refusesInput(await get(`/api/posts?cursor=${nextCursor}`), ['cursor'])
})

test('a walk goes on after the item its cursor was made of is gone, and shows nothing new', async () => {
  await using own = await createWorld({ rows: { user, post } })
  const first = (await own.ask('GET /api/posts?limit=5')).json
  assert.equal(first.data.at(-1).id, 41)
  assert.equal((await own.ask('DELETE /api/posts/41', { as: 1 })).status, 204)
  assert.equal((await own.ask('DELETE /api/posts/40', { as: 1 })).status, 204)
  const body = { title: 'New', content: 'new' }
  assert.equal((await own.ask('POST /api/users/1/posts', { as: 1, body })).status, 201)
  const second = (await own.ask(`GET /api/posts?limit=5&cursor=${first.nextCursor}`)).json
  assert.deepEqual(second.data.map(key), [39, 38, 37, 36, 35])
})
