/** Answers with files: ranges, validators, and headers that let no browser run them. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { folderStore } from '#files/folder.ts'
import { fileTag, isSigned, type Shown, serveFile, signedAddress } from '#files/serve.ts'

const root = mkdtempSync(join(tmpdir(), 'duet-serve-'))
const store = folderStore(root)
after(() => rmSync(root, { recursive: true, force: true }))

async function* chunksOf(...texts: readonly string[]) {
  for (const text of texts) yield Buffer.from(text)
}

const text = 'abcdefghij'
let file: Shown
before(async () => {
  const stored = await store.put(chunksOf(text))
  file = { ...stored, name: 'a.txt', type: 'text/plain', cache: 'public' }
})

const ask = async (
  headers: Record<string, string> = {},
  { method = 'GET', query = '', shown = {} as Partial<Shown> } = {},
) => {
  const { stream, ...reply } = await serveFile(
    new Request(`http://localhost/api/notes/1/paper${query}`, { method, headers }),
    { ...file, ...shown },
    store,
  )
  return new Response(stream ? ReadableStream.from(stream.body) : null, reply)
}

test('a file is answered whole, with what it is and what it may do', async () => {
  const answer = await ask()
  assert.equal(await answer.text(), text)
  assert.deepEqual(
    [answer.status, Object.fromEntries(answer.headers)],
    [
      200,
      {
        'accept-ranges': 'bytes',
        'cache-control': 'public, no-cache',
        'content-disposition': `inline; filename="a.txt"; filename*=UTF-8''a.txt`,
        'content-length': '10',
        'content-security-policy': 'sandbox',
        'content-type': 'text/plain; charset=utf-8',
        etag: fileTag(file.digest),
        'x-content-type-options': 'nosniff',
      },
    ],
  )
})

const ranges: readonly (readonly [string, string | null, string])[] = [
  ['bytes=0-3', 'bytes 0-3/10', 'abcd'],
  ['bytes=4-', 'bytes 4-9/10', 'efghij'],
  ['bytes=-3', 'bytes 7-9/10', 'hij'],
  ['bytes=-30', 'bytes 0-9/10', text],
  ['bytes=9-9', 'bytes 9-9/10', 'j'],
  [`bytes=8-${'9'.repeat(400)}`, 'bytes 8-9/10', 'ij'],
  ['Bytes=0-0', 'bytes 0-0/10', 'a'],
  ['bytes=3-1', null, text],
  ['bytes=0-1,4-5', null, text],
  ['bytes=a-b', null, text],
  ['bytes=-', null, text],
  ['rows=0-1', null, text],
]

for (const [range, content, body] of ranges)
  test(`Range: ${range} gives ${content ?? 'the whole'}`, async () => {
    const answer = await ask({ range })
    assert.equal(answer.status, content === null ? 200 : 206)
    assert.equal(answer.headers.get('content-range'), content)
    assert.equal(answer.headers.get('content-length'), String(body.length))
    assert.equal(await answer.text(), body)
  })

for (const range of ['bytes=10-', 'bytes=10-20', 'bytes=10000000000000000-', 'bytes=-0'])
  test(`Range: ${range} is behind the end`, () =>
    assert.rejects(ask({ range }), {
      status: 416,
      message: 'The file has 10 bytes; ask for some of them',
      headers: { 'Content-Range': 'bytes */10', 'Accept-Ranges': 'bytes' },
    }))

// An int-range begins below the length or is not satisfiable; a suffix is, whatever there is (RFC 9110, section 14.1.2).
test('of an empty file no range that begins somewhere is given, and its last bytes are the whole', async () => {
  const empty = await store.put(chunksOf())
  const shown = { ...file, ...empty }
  for (const range of ['bytes=0-', 'bytes=0-0', 'bytes=-0'])
    await assert.rejects(ask({ range }, { shown }), {
      status: 416,
      headers: { 'Content-Range': 'bytes */0', 'Accept-Ranges': 'bytes' },
    })
  for (const range of ['bytes=-1', 'bytes=-500', 'bytes=2-1']) {
    const answer = await ask({ range }, { shown })
    assert.deepEqual(
      [answer.status, answer.headers.get('content-length'), answer.headers.get('content-range')],
      [200, '0', null],
    )
  }
})

test('a range is given only of the file that If-Range names', async () => {
  const range = 'bytes=0-3'
  assert.equal((await ask({ range, 'if-range': fileTag(file.digest) })).status, 206)
  for (const other of ['"another"', `W/${fileTag(file.digest)}`, 'Sat, 01 Jan 2000 00:00:00 GMT'])
    assert.equal((await ask({ range, 'if-range': other })).status, 200)
})

test('HEAD has the headers of the whole, a range or not, and no body', async () => {
  const answer = await ask({ range: 'bytes=0-3' }, { method: 'HEAD' })
  assert.deepEqual([answer.status, answer.headers.get('content-length')], [200, '10'])
  assert.equal(answer.body, null)
})

test('a file that If-Match does not name is not given', async () => {
  const tag = fileTag(file.digest)
  for (const sent of [tag, `"x", ${tag}`, '*'])
    assert.equal((await ask({ 'if-match': sent })).status, 200)
  for (const sent of [fileTag('0'.repeat(64)), `W/${tag}`, 'x'])
    await assert.rejects(ask({ 'if-match': sent, 'if-none-match': tag }), {
      status: 412,
      code: 'PRECONDITION_FAILED',
    })
})

test('who has the file is told 304 with its validators alone', async () => {
  for (const sent of [fileTag(file.digest), `"x", W/${fileTag(file.digest)}`, '*']) {
    const answer = await ask({ 'if-none-match': sent, range: 'bytes=0-3' })
    assert.deepEqual(
      [answer.status, Object.fromEntries(answer.headers), answer.body],
      [304, { etag: fileTag(file.digest), 'cache-control': 'public, no-cache' }, null],
    )
  }
  assert.equal((await ask({ 'if-none-match': '"other"' })).status, 200)
})

test('only what everybody may read, at the address of just these bytes, is kept for good', async () => {
  const kept = async (query: string, cache: Shown['cache']) =>
    (await ask({}, { query, shown: { cache } })).headers.get('cache-control')
  const query = `?v=${file.digest.slice(0, 16)}`
  assert.equal(await kept(query, 'public'), 'public, max-age=31536000, immutable')
  assert.equal(await kept(query, 'private'), 'private, no-cache')
  assert.equal(await kept('?v=', 'public'), 'public, no-cache')
  assert.equal(await kept(`?v=${'0'.repeat(16)}`, 'public'), 'public, no-cache')
})

test('what browsers could run is a download', async () => {
  const how = async (type: string) =>
    (await ask({}, { shown: { type } })).headers.get('content-disposition')?.split(';')[0]
  for (const type of [
    'text/html',
    'image/svg+xml',
    'application/xml',
    'application/xhtml+xml',
    'text/javascript',
    'application/pdf',
  ])
    assert.equal(await how(type), 'attachment')
  for (const type of ['image/png', 'video/mp4', 'audio/mpeg'])
    assert.equal(await how(type), 'inline')
})

test('a name of any characters comes in both forms', async () => {
  const answer = await ask({}, { shown: { name: `Żółw "50%" (1)'*;\r\n\\.txt` } })
  assert.equal(
    answer.headers.get('content-disposition'),
    `inline; filename="___w _50__ (1)'*;___.txt"; filename*=UTF-8''%C5%BB%C3%B3%C5%82w%20%2250%25%22%20%281%29%27%2A%3B%0D%0A%5C.txt`,
  )
})

const key = new TextEncoder().encode('a key of a store, which nobody else has')
const path = '/api/notes/1/paper'
const now = 1_800_000_000_000
const sealIn = (address: string) =>
  new URL(address, 'http://localhost').searchParams.get('seal') ?? ''

test('a signed address that was altered opens nothing', () => {
  const digest = 'ab'.repeat(32)
  const seal = sealIn(signedAddress(key, path, digest, now))
  assert.equal(isSigned(key, path, digest, seal, now), true)
  assert.equal(isSigned(key.subarray(1), path, digest, seal, now), false)
  const later = sealIn(signedAddress(key, path, digest, now + 1))
  const others = [...seal].map((_, at) => `${seal.slice(0, at)}${later[at]}${seal.slice(at + 1)}`)
  for (const altered of ['', `${seal}A`, seal.slice(0, -4), ...others.filter(one => one !== seal)])
    assert.equal(isSigned(key, path, digest, altered, now), false, altered)
})
