/** Reads of one thing and the forms of lists: members, envelopes, parents, ids that name nothing. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noIds, refuses, refusesInput } from '../rest.ts'
import { createWorld, forAllTests, pluck } from '../world.ts'

const world = forAllTests(createWorld)

const ben = (prefix = '/api') => ({
  id: 2,
  name: 'Ben',
  email: 'ben@example.org',
  age: 28,
  role: 'user',
  status: 'active',
  emailVerified: true,
  createdAt: '2026-01-01T00:02:00.000Z',
  _links: {
    self: { href: `${prefix}/users/2` },
    posts: { href: `${prefix}/users/2/posts` },
    avatar: { href: `${prefix}/users/2/avatar` },
    update: { href: `${prefix}/users/2`, method: 'PATCH' },
    delete: { href: `${prefix}/users/2`, method: 'DELETE' },
  },
})

const third = {
  id: 3,
  title: 'Third',
  content: 'three',
  authorId: 2,
  createdAt: '2026-01-01T00:07:00.000Z',
  _links: {
    self: { href: '/api/posts/3' },
    author: { href: '/api/users/2' },
    comments: { href: '/api/posts/3/comments' },
  },
}

const commentC = {
  id: 3,
  text: 'c',
  postId: 4,
  authorId: 2,
  createdAt: '2026-01-01T00:11:00.000Z',
  _links: {
    self: { href: '/api/comments/3' },
    author: { href: '/api/users/2' },
    likes: { href: '/api/comments/3/likes' },
  },
}

const lamp = {
  id: 1,
  name: 'Desk lamp',
  category: 'lighting',
  price: 79.9,
  stock: 12,
  image: null,
  created_at: '2026-01-01T00:14:00.000Z',
}

/** The text of the answer is this JSON to the letter: members, their order, and nothing more. */
const says = async (line: string, expected: unknown, as: number | 'anonymous' = 'anonymous') => {
  const answer = await world.ask(line, { as })
  assert.equal(answer.status, 200, answer.text)
  assert.equal(answer.text, JSON.stringify(expected))
  assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8')
  assert.equal(answer.headers.get('api-version'), '1')
}

/** A post as its own path shows it. */
const postOf = async (id: number) => (await world.ask(`GET /api/posts/${id}`)).json

test('a user has exactly the members of the contract, in their order', () =>
  says('GET /api/users/2', ben(), 3))

test('links keep the version prefix the request came in with', () =>
  says('GET /api/v1/users/2', ben('/api/v1'), 3))

test('a post has exactly the members of the contract, for anonymous too', () =>
  says('GET /api/posts/3', third))

test('a comment has exactly the members of the contract', () =>
  says('GET /api/comments/3', commentC))

test('a product has exactly the members of the contract, its timestamp as created_at', () =>
  says('GET /api/products/1', lamp))

test('a like in the list of a comment names its user, its comment and its moment', () =>
  says('GET /api/comments/1/likes', {
    data: [
      { userId: 3, commentId: 1, createdAt: '2026-01-01T00:13:00.000Z' },
      { userId: 2, commentId: 1, createdAt: '2026-01-01T00:12:00.000Z' },
    ],
    nextCursor: null,
  }))

test('the list of users is in an envelope with all six pagination members', () =>
  says(
    'GET /api/users?limit=1&page=2',
    {
      data: [ben()],
      pagination: { page: 2, limit: 1, total: 4, totalPages: 4, hasNext: true, hasPrev: true },
    },
    3,
  ))

test('the list of products is in the same envelope, filtered or not', async () => {
  const pagination = { page: 1, limit: 1, total: 5, totalPages: 5, hasNext: true, hasPrev: false }
  await says('GET /api/products?limit=1', { data: [lamp], pagination })
  await says('GET /api/products?limit=1&category=lighting', {
    data: [lamp],
    pagination: { ...pagination, total: 2, totalPages: 2 },
  })
})

test('an empty page is an empty list with total, one of no rows has zero pages', async () => {
  await says('GET /api/products?category=none', {
    data: [],
    pagination: { page: 1, limit: 20, total: 0, totalPages: 0, hasNext: false, hasPrev: false },
  })
  await says('GET /api/products?page=9', {
    data: [],
    pagination: { page: 9, limit: 20, total: 5, totalPages: 1, hasNext: false, hasPrev: true },
  })
})

test('a cursor list is data, newest first, and nextCursor', async () => {
  await says('GET /api/users/3/posts', { data: [await postOf(4)], nextCursor: null })
  await says('GET /api/posts/4/comments', { data: [commentC], nextCursor: null })
  const { json } = await world.ask('GET /api/posts')
  assert.deepEqual(pluck(json.data, 'id'), [4, 3, 2, 1])
  assert.equal(json.nextCursor, null)
})

test('a list below a parent that has nothing is empty, not 404', async () => {
  await says('GET /api/users/4/posts', { data: [], nextCursor: null })
  await says('GET /api/posts/2/comments', { data: [], nextCursor: null })
  await says('GET /api/comments/2/likes', { data: [], nextCursor: null })
})

test('a nested path reads the same object as its own path', async () => {
  await says('GET /api/users/2/posts/3', await postOf(3))
  await says('GET /api/posts/4/comments/3', commentC)
})

test('a nested path checks the parent', async () => {
  for (const path of [
    '/api/users/3/posts/3',
    '/api/users/1/posts/9',
    '/api/users/99/posts/3',
    '/api/posts/1/comments/3',
    '/api/posts/99/comments/3',
    '/api/users/99/posts',
    '/api/posts/99/comments',
    '/api/comments/99/likes',
  ])
    refuses(await world.ask(`GET ${path}`), 404, 'NOT_FOUND')
})

test('a 404 names the thing', async () => {
  for (const [path, message] of [
    ['/api/posts/42', 'Post 42 not found'],
    ['/api/users/42/posts', 'User 42 not found'],
    ['/api/comments/42', 'Comment 42 not found'],
    ['/api/products/42', 'Product 42 not found'],
    ['/api/users/42/avatar', 'User 42 not found'],
    ['/api/products/abc', 'Product abc not found'],
  ]) {
    const answer = await world.ask(`GET ${path}`)
    assert.equal(answer.json.error.message, message)
  }
})

for (const path of [
  '/api/users/{}',
  '/api/users/{}/posts',
  '/api/users/{}/posts/3',
  '/api/users/2/posts/{}',
  '/api/users/{}/avatar',
  '/api/posts/{}',
  '/api/posts/{}/comments',
  '/api/posts/4/comments/{}',
  '/api/comments/{}',
  '/api/comments/{}/likes',
  '/api/products/{}',
])
  test(`every form that is no id is 404 at ${path} [G8]`, async () => {
    for (const form of noIds)
      refuses(await world.ask(`GET ${path.replace('{}', form)}`, { as: 2 }), 404, 'NOT_FOUND')
  })

test('the largest id that there can be names nothing yet', async () => {
  for (const path of ['users', 'posts', 'comments', 'products'])
    refuses(await world.ask(`GET /api/${path}/9007199254740991`, { as: 2 }), 404, 'NOT_FOUND')
})

test('a path with a malformed escape, or one of NUL, is 400 [G16]', async () => {
  for (const path of [
    '/api/users/%',
    '/api/users/%2',
    '/api/users/%zz',
    '/api/users/%ff',
    '/api/users/%C3%28',
    '/api/users/%E0%A4%A',
    '/api/users/%ED%A0%80',
    '/api/users/1%00',
    '/api/products/%u0031',
    '/api/%ff',
    '/nowhere/%zz',
  ])
    refuses(await world.ask(`GET ${path}`, { as: 2 }), 400, 'MALFORMED_REQUEST')
})

test('an escape that was not needed names the same thing', async () =>
  says('GET /api/%70osts/%33', await postOf(3)))

test('a right comes before existence, and existence before parameters', async () => {
  refuses(await world.ask('GET /api/users?limit=abc'), 401, 'UNAUTHENTICATED')
  refuses(await world.ask('GET /api/users/99?fields=x'), 401, 'UNAUTHENTICATED')
  refuses(await world.ask('GET /api/users/99?fields=x', { as: 2 }), 404, 'NOT_FOUND')
  refusesInput(await world.ask('GET /api/users/2?fields=x', { as: 2 }))
  refuses(await world.ask('GET /api/products/99?fields='), 404, 'NOT_FOUND')
  refuses(await world.ask('GET /api/users/99/posts?limit=abc'), 404, 'NOT_FOUND')
  refuses(await world.ask('GET /api/posts/99/comments?cursor=x'), 404, 'NOT_FOUND')
  refusesInput(await world.ask('GET /api/comments/1/likes?limit=abc'))
})
