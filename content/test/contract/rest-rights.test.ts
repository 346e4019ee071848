/** Which refusal comes first where several hold, and whose role counts; who may do what is in policy.test.ts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refuses, refusesInput } from '../rest.ts'
import { createWorld, forAllTests } from '../world.ts'

const world = forAllTests(createWorld)

test('without a token it is 401, before anything of the path or the body is looked at', async () => {
  const lines = [
    ...[
      'PUT /api/users/99',
      'PATCH /api/users/abc',
      'DELETE /api/users/0',
      'POST /api/users/x/posts',
    ],
    ...['PATCH /api/posts/99', 'DELETE /api/posts/x', 'POST /api/posts/99/comments'],
    ...[
      'DELETE /api/posts/99/comments/x',
      'POST /api/comments/99/likes',
      'POST /api/comments/x/likes',
    ],
    ...['DELETE /api/comments/x/likes', 'POST /api/products', 'DELETE /api/products/99'],
    'GET /api/users/abc',
  ]
  for (const line of lines) {
    const answer = await world.ask(line, /^P/.test(line) ? { raw: '{' } : {})
    refuses(answer, 401, 'UNAUTHENTICATED')
    assert.equal(answer.headers.get('www-authenticate'), 'Bearer realm="duet"')
  }
})

test('a post for an author who is not there is 404, for an admin and for anybody else', async () => {
  for (const as of [1, 2, 3])
    for (const body of [{ title: 't', content: 'c' }, { bogus: 1 }])
      refuses(await world.ask('POST /api/users/98/posts', { as, body }), 404, 'NOT_FOUND')
})

test('a comment below another post than its own is 404 for every caller', async () => {
  for (const as of [1, 2, 3])
    refuses(await world.ask('DELETE /api/posts/2/comments/1', { as }), 404, 'NOT_FOUND')
})

test('the media type comes before the size, the size before the form, the form before validation', async () => {
  const large = 'x'.repeat(1_048_577)
  const ask = (raw: string, type: string) =>
    world.ask('PATCH /api/users/2', { as: 2, raw, headers: { 'Content-Type': type } })
  refuses(await ask(large, 'text/plain'), 415, 'UNSUPPORTED_MEDIA_TYPE')
  refuses(await ask(large, 'application/json'), 413, 'PAYLOAD_TOO_LARGE')
  refuses(await ask('{"bogus":1,"bogus":2}', 'application/json'), 400, 'MALFORMED_REQUEST')
  refusesInput(await ask('{"bogus":1}', 'application/json'), ['bogus'])
})

test('a body of exactly the limit is read, one byte more is 413, announced or chunked [G5]', async () => {
  const padded = (size: number) => {
    const text = JSON.stringify({ title: 'Third' })
    return text + ' '.repeat(size - text.length)
  }
  const ask = async (raw: string, headers: Record<string, string> = {}) =>
    world.ask('PATCH /api/posts/3', {
      as: 1,
      raw,
      headers: { 'Content-Type': 'application/json', ...headers },
    })
  const length = (size: number) => ({ 'Content-Length': String(size) })
  assert.equal((await ask(padded(1_048_576))).status, 200)
  assert.equal((await ask(padded(1_048_576), length(1_048_576))).status, 200)
  refuses(await ask(padded(1_048_577)), 413, 'PAYLOAD_TOO_LARGE')
  refuses(await ask(padded(1_048_577), length(1_048_577)), 413, 'PAYLOAD_TOO_LARGE')
  refuses(await ask('{}', length(99_999_999)), 413, 'PAYLOAD_TOO_LARGE')
})

test('a body that comes in chunks is cut off above the limit [G5]', async () => {
  const token = await world.token(1)
  const send = async (size: number) => {
    let left = size
    const body = new ReadableStream({
      pull: controller => {
        const chunk = Math.min(left, 65_536)
        left -= chunk
        if (chunk === 0) controller.close()
        else
          controller.enqueue(
            Buffer.from(left === size - chunk ? '{}'.padEnd(chunk) : ' '.repeat(chunk)),
          )
      },
    })
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
    const request = { method: 'PATCH', headers, body, duplex: 'half' }
    return (await world.app.request('/api/posts/3', request as RequestInit)).status
  }
  assert.equal(await send(1_048_576), 200)
  assert.equal(await send(1_048_577), 413)
  assert.equal(await send(8_000_000), 413)
})

test('a token that its own user was suspended after writes no more, and still reads [E6]', async () => {
  await using own = await createWorld()
  assert.equal((await own.ask('PATCH /api/users/2', { as: 2, body: {} })).status, 200)
  await own.ask('PATCH /api/users/2', { as: 1, body: { status: 'suspended' } })
  refuses(await own.ask('PATCH /api/users/2', { as: 2, body: {} }), 403, 'FORBIDDEN')
  assert.equal((await own.ask('GET /api/users/2', { as: 2 })).json.status, 'suspended')
})

test('a suspended admin writes nothing either [E6]', async () => {
  await using own = await createWorld()
  const suspended = await own.ask('PATCH /api/users/1', { as: 1, body: { status: 'suspended' } })
  assert.equal(suspended.status, 200)
  for (const body of [{ name: 'x', category: 'y', price: 1 }, { bad: 1 }])
    refuses(await own.ask('POST /api/products', { as: 1, body }), 403, 'FORBIDDEN')
  refuses(
    await own.ask('PATCH /api/users/1', { as: 1, body: { status: 'active' } }),
    403,
    'FORBIDDEN',
  )
})

test('the role is the one in the token, whatever the user of it is [E6]', async () => {
  const ask = async (id: number, role: 'user' | 'admin', line: string, body?: unknown) =>
    world.ask(line, { headers: { Authorization: `Bearer ${await world.token(id, role)}` }, body })
  refuses(await ask(1, 'user', 'PATCH /api/products/1', { stock: 1 }), 403, 'FORBIDDEN')
  assert.equal((await ask(3, 'admin', 'PATCH /api/products/1', {})).status, 200)
  assert.equal((await ask(99, 'admin', 'PATCH /api/products/1', {})).status, 200)
  assert.equal((await ask(99, 'admin', 'PATCH /api/users/2', {})).status, 200)
  refuses(await ask(99, 'admin', 'POST /api/posts/1/comments', { text: 'x' }), 403, 'FORBIDDEN')
  refuses(await ask(99, 'admin', 'POST /api/comments/1/likes'), 403, 'FORBIDDEN')
})
