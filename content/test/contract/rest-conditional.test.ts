/** HEAD, ETags and 304, caching, and pictures. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reads, readsOf, refuses, refusesInput } from '../rest.ts'
import { createWorld, forAllTests } from '../world.ts'

const world = forAllTests(createWorld)

const isPrivate = (path: string) => /^\/api\/users(\/2)?$/.test(path)

const read = readsOf(world)
const tagOf = async (path: string, as = 2) => (await read(path, {}, as)).headers.get('etag') ?? ''
const without = (headers: Headers, ...names: string[]) =>
  Object.fromEntries([...headers].filter(([name]) => !names.includes(name)))

for (const path of reads) {
  test(`HEAD ${path} is GET without its body, of the same length [G17]`, async () => {
    const got = await read(path, { 'X-Request-Id': 'same' })
    const head = await world.ask(`HEAD ${path}`, { as: 2, headers: { 'X-Request-Id': 'same' } })
    assert.equal(head.status, 200)
    assert.equal(head.text, '')
    assert.equal(head.headers.get('content-length'), String(Buffer.byteLength(got.text)))
    assert.deepEqual(
      without(head.headers, 'content-length'),
      without(got.headers, 'content-length'),
    )
  })
  test(`GET ${path} says who may keep it and what it depends on [F8, G22]`, async () => {
    const { headers } = await read(path)
    assert.match(headers.get('etag') ?? '', /^"[\x21\x23-\x7e]+"$/)
    assert.equal(headers.get('x-content-type-options'), 'nosniff')
    assert.equal(
      headers.get('cache-control'),
      isPrivate(path) ? 'private, no-cache' : 'public, no-cache',
    )
    assert.equal(
      headers.get('vary'),
      isPrivate(path) ? 'Accept, API-Version, Authorization' : 'Accept, API-Version',
    )
  })
  test(`GET ${path} with its own ETag is 304, empty, with the same validators`, async () => {
    const got = await read(path)
    const tag = got.headers.get('etag') ?? ''
    for (const sent of [
      tag,
      `W/${tag}`,
      '*',
      ' * ',
      `"x", ${tag}`,
      `${tag},"y"`,
      `W/"x" , W/${tag} , "z"`,
      `"a,b",${tag}`,
    ]) {
      const answer = await read(path, { 'If-None-Match': sent })
      assert.equal(answer.status, 304, sent)
      assert.equal(answer.text, '')
      assert.equal(answer.headers.get('content-type'), null)
      for (const name of ['etag', 'cache-control', 'vary', 'api-version', 'link'])
        assert.equal(answer.headers.get(name), got.headers.get(name), name)
    }
  })
  test(`GET ${path} with another ETag is 200 and whole`, async () => {
    const { text, headers } = await read(path)
    const tag = headers.get('etag') ?? ''
    for (const sent of [
      '"x"',
      'W/"x"',
      `${tag}x`,
      tag.slice(1, -1),
      tag.toLowerCase() === tag ? '"q"' : tag.toLowerCase(),
      `x${tag}`,
      `w/${tag}`,
      '"*"',
      '*, "x"',
      '',
    ])
      assert.equal((await read(path, { 'If-None-Match': sent })).text, text, sent)
  })
  test(`the ETag of ${path} is the same for every caller`, async () => {
    const tag = await tagOf(path)
    for (const as of [1, 3, 4, 99]) assert.equal(await tagOf(path, as), tag)
    if (isPrivate(path)) return
    assert.equal((await read(path, {}, 'anonymous')).headers.get('etag'), tag)
  })
}

test("the request's own Cache-Control does not turn a 304 into a 200", async () => {
  for (const path of ['/api/posts', '/api/products/1', '/api/users/2']) {
    const headers = {
      'If-None-Match': await tagOf(path),
      'Cache-Control': 'no-cache',
      Pragma: 'no-cache',
    }
    assert.equal((await read(path, headers)).status, 304)
    assert.equal((await world.ask(`HEAD ${path}`, { as: 2, headers })).status, 304)
  }
})

test('If-None-Match makes no 304 of what is not there or not allowed', async () => {
  const headers = { 'If-None-Match': '*' }
  refuses(await read('/api/posts/99', headers), 404, 'NOT_FOUND')
  refuses(await read('/api/users/2', headers, 'anonymous'), 401, 'UNAUTHENTICATED')
  refusesInput(await read('/api/posts?limit=x', headers))
})

test('an ETag differs between fields, pages, prefixes and things', async () => {
  const tags = await Promise.all(
    [
      '/api/users/2',
      '/api/users/3',
      '/api/users/2?fields=id',
      '/api/users/2?fields=name',
      '/api/v1/users/2',
      '/api/users',
      '/api/users?limit=2',
      '/api/users?page=2',
    ].map(path => tagOf(path)),
  )
  assert.equal(new Set(tags).size, tags.length)
})

test('an ETag changes with its thing and with nothing else', async () => {
  const [one, other, list] = [
    await tagOf('/api/products/2'),
    await tagOf('/api/products/3'),
    await tagOf('/api/products'),
  ]
  const patched = await world.ask('PATCH /api/products/2', { as: 1, body: { stock: 7 } })
  assert.notEqual(await tagOf('/api/products/2'), one)
  assert.equal(await tagOf('/api/products/2'), patched.headers.get('etag'))
  assert.equal(await tagOf('/api/products/3'), other)
  assert.notEqual(await tagOf('/api/products'), list)
})

test('DUET_PUBLIC_MAX_AGE lets caches keep what anonymous may read, and nothing else', async () => {
  await using other = await createWorld({ edge: { publicMaxAge: 60 } })
  for (const path of reads) {
    const { headers } = await other.ask(`GET ${path}`, { as: 2 })
    assert.equal(
      headers.get('cache-control'),
      isPrivate(path) ? 'private, no-cache' : 'public, max-age=60',
    )
  }
})

test('a picture is an SVG that runs nothing, the same for ever for one id [G18]', async () => {
  const [first, again, other] = [
    await read('/api/users/2/avatar'),
    await read('/api/v1/users/2/avatar'),
    await read('/api/users/3/avatar'),
  ]
  assert.equal(first.headers.get('content-type'), 'image/svg+xml')
  assert.equal(
    first.headers.get('content-security-policy'),
    "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  )
  assert.equal(first.headers.get('x-content-type-options'), 'nosniff')
  assert.match(first.text, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg".*<\/svg>$/)
  assert.doesNotMatch(first.text, /script|href|on\w+=/)
  assert.equal(again.text, first.text)
  assert.notEqual(other.text, first.text)
  await using fresh = await createWorld()
  await fresh.ask('PATCH /api/users/2', {
    as: 2,
    body: { name: 'Benno', email: 'benno@example.org' },
  })
  assert.equal((await fresh.ask('GET /api/users/2/avatar')).text, first.text)
})

test('an unchanged picture is 304 and keeps its policy [G18]', async () => {
  const headers = { 'If-None-Match': await tagOf('/api/users/2/avatar') }
  const answer = await read('/api/users/2/avatar', headers)
  assert.equal(answer.status, 304)
  assert.match(answer.headers.get('content-security-policy') ?? '', /sandbox/)
})
