/** Avatars: which pictures are accepted, by their bytes only; who may change them; and that a served one runs nothing. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { refuses } from '../rest.ts'
import { createWorld, forAllTests } from '../world.ts'
import { gif, hugePng, joined, jpeg, latin, png, webp } from './pictures.ts'

const world = forAllTests(createWorld)

const filled = (head: Uint8Array, size: number) =>
  joined(head, new Uint8Array(size - head.byteLength))

const svg = latin('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')
const html = latin('<!doctype html><script>alert(document.domain)</script>')
const limit = 512 * 1024

/** The body, the type it claims, and the result: the type it is served as, or the refusal. */
const uploads: Readonly<
  Record<string, readonly [Uint8Array<ArrayBuffer>, string, string | number]>
> = {
  'a PNG': [png, 'image/png', 'image/png'],
  'a JPEG': [jpeg, 'image/jpeg', 'image/jpeg'],
  'a WebP': [webp, 'image/webp', 'image/webp'],
  'a GIF': [gif, 'image/gif', 'image/gif'],
  'a GIF of 1987': [joined(latin('GIF87a'), gif.subarray(6)), 'image/gif', 'image/gif'],
  'a PNG that is called a JPEG': [png, 'image/jpeg', 'image/png'],
  'a GIF that is a script too': [
    joined(latin('GIF89a/*'), new Uint8Array(20), latin('*/=1;alert(1)')),
    'image/gif',
    'image/gif',
  ],
  'a PNG with a page behind it': [joined(png, html), 'image/png', 'image/png'],
  'a JPEG with a PDF behind it': [joined(jpeg, latin('%PDF-1.7')), 'image/jpeg', 'image/jpeg'],
  'a PNG of 20,000 × 20,000 dots': [hugePng, 'image/png', 'image/png'],
  'a PNG of just the limit': [filled(png, limit), 'image/png', 'image/png'],
  'a PNG of the limit and a byte': [filled(png, limit + 1), 'image/png', 413],
  'a page of the limit and a byte': [filled(html, limit + 1), 'text/html', 413],
  nothing: [new Uint8Array(), 'image/png', 415],
  'a PNG signature alone': [png.subarray(0, 8), 'image/png', 415],
  'a text that begins as a GIF does': [latin('GIF89a is a format'), 'image/gif', 415],
  'an SVG with a script': [svg, 'image/svg+xml', 415],
  'HTML that is called a PNG': [html, 'image/png', 415],
  'a PDF that is called a JPEG': [latin('%PDF-1.7\n'), 'image/jpeg', 415],
  'a PNG behind a page': [joined(html, png), 'image/png', 415],
  'a PNG that a text editor saved': [latin('\x89PNG\n\x1a\n\0\0\0\rIHDR'), 'image/png', 415],
  'an AVIF': [latin('\0\0\0\x20ftypavif\0\0\0\0'), 'image/avif', 415],
}

const path = '/api/users/2/avatar'
const put = (raw: Uint8Array<ArrayBuffer>, as: number | 'anonymous' = 2, type = 'image/png') =>
  world.ask(`PUT ${path}`, { as, raw, headers: { 'Content-Type': type } })

const bytesAt = async (where: string, headers: Record<string, string> = {}) => {
  const response = await world.app.request(where, { headers })
  return { response, bytes: new Uint8Array(await response.arrayBuffer()) }
}

describe('what is sent', () => {
  for (const [name, [raw, type, expected]] of Object.entries(uploads))
    test(`${name} is ${typeof expected === 'string' ? `stored as ${expected}` : `refused with ${expected}`} [G18]`, async () => {
      const before = await bytesAt(path)
      const answer = await put(raw, 2, type)
      const { response, bytes } = await bytesAt(path)
      if (typeof expected === 'number') {
        refuses(answer, expected, expected === 413 ? 'PAYLOAD_TOO_LARGE' : 'UNSUPPORTED_MEDIA_TYPE')
        assert.deepEqual(bytes, before.bytes)
        return
      }
      assert.deepEqual([answer.status, answer.text, answer.headers.get('etag')], [204, '', null])
      assert.equal(response.status, 200)
      assert.equal(response.headers.get('content-type'), expected)
      assert.equal(response.headers.get('content-length'), String(raw.byteLength))
      assert.equal(Buffer.compare(bytes, raw), 0)
      assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
      const policy = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
      assert.equal(response.headers.get('content-security-policy'), policy)
    })
})

test('a picture that is said to be compressed, or to be a part of one, is refused, and the one before stays', async () => {
  assert.equal((await put(gif)).status, 204)
  const send = (headers: Record<string, string>) =>
    world.ask(`PUT ${path}`, { as: 2, raw: png, headers })
  refuses(await send({ 'Content-Encoding': 'gzip' }), 415, 'UNSUPPORTED_MEDIA_TYPE')
  refuses(await send({ 'Content-Range': 'bytes 0-69/200' }), 400, 'MALFORMED_REQUEST')
  assert.deepEqual((await bytesAt(path)).bytes, gif)
  assert.equal((await send({ 'Content-Encoding': 'Identity' })).status, 204)
})

test('a picture is put by the user and by admins; others are refused before the picture is checked', async () => {
  const before = await bytesAt(path)
  for (const raw of [png, svg, filled(png, limit + 1)]) {
    refuses(await put(raw, 'anonymous'), 401, 'UNAUTHENTICATED')
    refuses(await put(raw, 3), 403, 'FORBIDDEN')
    const nobody = await world.ask('PUT /api/users/999/avatar', { as: 1, raw })
    refuses(nobody, 404, 'NOT_FOUND')
    refuses(await world.ask('PUT /api/users/4/avatar', { as: 4, raw }), 403, 'FORBIDDEN')
    refuses(await world.ask('PUT /api/users/x/avatar', { as: 1, raw }), 404, 'NOT_FOUND')
  }
  assert.deepEqual((await bytesAt(path)).bytes, before.bytes)
  assert.equal((await put(gif, 1)).status, 204)
  assert.deepEqual((await bytesAt(path)).bytes, gif)
})

test('the ETag of a picture gives 304 while the picture is the same, and changes with it', async () => {
  await put(png)
  const first = (await bytesAt(path)).response.headers.get('etag') ?? ''
  assert.match(first, /^"[\w-]+"$/)
  const { response, bytes } = await bytesAt(path, { 'If-None-Match': `"x", W/${first}` })
  assert.equal(response.status, 304)
  assert.equal(bytes.byteLength, 0)
  for (const name of ['etag', 'cache-control', 'vary'])
    assert.ok(response.headers.get(name), `304 has ${name}`)
  assert.equal(response.headers.get('content-type'), null)
  await put(png)
  assert.equal((await bytesAt(path)).response.headers.get('etag'), first)
  await put(gif)
  const next = await bytesAt(path, { 'If-None-Match': first })
  assert.equal(next.response.status, 200)
  assert.deepEqual(next.bytes, gif)
  const head = await world.app.request(path, { method: 'HEAD' })
  assert.equal(head.headers.get('content-length'), String(gif.byteLength))
})

test('pictures leave half of the memory for answers to others', async () => {
  await put(png)
  const { answers } = world.edge.memory
  answers.force(answers.budget / 2)
  const [picture, user] = [
    await world.ask(`GET ${path}`),
    await world.ask('GET /api/users/2', { as: 2 }),
  ]
  answers.give(answers.budget / 2)
  refuses(picture, 503, 'OVERLOADED')
  assert.equal(user.status, 200)
})

test('a picture that is removed gives way to the identicon; removed again, it is not found', async () => {
  await put(png)
  refuses(await world.ask(`DELETE ${path}`, { as: 3 }), 403, 'FORBIDDEN')
  refuses(await world.ask(`DELETE ${path}`), 401, 'UNAUTHENTICATED')
  assert.equal((await world.ask(`DELETE ${path}`, { as: 2 })).status, 204)
  const answer = await world.ask(`GET ${path}`)
  assert.equal(answer.headers.get('content-type'), 'image/svg+xml')
  assert.equal(answer.headers.get('content-security-policy')?.includes('sandbox'), true)
  refuses(await world.ask(`DELETE ${path}`, { as: 2 }), 404, 'NOT_FOUND')
  refuses(await world.ask(`DELETE ${path}`, { as: 3 }), 403, 'FORBIDDEN')
  refuses(await world.ask('DELETE /api/users/999/avatar', { as: 1 }), 404, 'NOT_FOUND')
})

test('a user that is deleted leaves no picture behind', async () => {
  const body = { name: 'Gone', email: 'gone@example.org' }
  const { id } = (await world.ask('POST /api/users', { as: 1, body })).json
  await world.ask(`PUT /api/users/${id}/avatar`, { as: id, raw: png })
  const count = () => world.rows('select count(avatar) from users where id = ?1', id)
  assert.deepEqual(await count(), [[1]])
  assert.equal((await world.ask(`DELETE /api/users/${id}`, { as: id })).status, 204)
  assert.deepEqual(await count(), [[0]])
  refuses(await world.ask(`GET /api/users/${id}/avatar`), 404, 'NOT_FOUND')
})

test('many who put a picture at once leave one of theirs, whole', async () => {
  const pictures = Array.from({ length: 40 }, (_, n) => joined(png, latin(`picture ${n}`)))
  const answers = await Promise.all(pictures.map(raw => put(raw, 2)))
  assert.ok(answers.every(({ status }) => status === 204))
  const { bytes } = await bytesAt(path)
  assert.ok(pictures.some(raw => Buffer.compare(raw, bytes) === 0))
})
