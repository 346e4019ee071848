/** The files that the pages load. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { appOf, get, shippedAssets } from './pages.ts'

describe('assets', () => {
  const types = {
    'graphiql.js': 'text/javascript; charset=utf-8',
    'graphiql.css': 'text/css; charset=utf-8',
    'swagger-ui.js': 'text/javascript; charset=utf-8',
    'frame.css': 'text/css; charset=utf-8',
    'mark.svg': 'image/svg+xml',
  }

  for (const [name, type] of Object.entries(types)) {
    test(`${name} is served with its type and may not be taken for another`, async () => {
      const response = await get(`/assets/${name}`)
      assert.equal(response.status, 200)
      assert.equal(response.headers.get('content-type'), type)
      assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
      assert.equal(response.headers.get('content-encoding'), null)
      const { length } = new Uint8Array(await response.arrayBuffer())
      assert.equal(response.headers.get('content-length'), String(length))
      assert.ok(length > 0)
    })
  }

  test('the compressed forms hold the same bytes, each under an entity tag of its own', async () => {
    const plain = await get('/assets/graphiql.js')
    const brotli = await get('/assets/graphiql.js', { 'Accept-Encoding': 'gzip, deflate, br' })
    const gzip = await get('/assets/graphiql.js', { 'Accept-Encoding': 'gzip;q=0.8, br;q=0' })
    assert.equal(brotli.headers.get('content-encoding'), 'br')
    assert.equal(gzip.headers.get('content-encoding'), 'gzip')
    const bytes = Buffer.from(await plain.arrayBuffer())
    assert.ok(bytes.equals(brotliDecompressSync(await brotli.arrayBuffer())))
    assert.ok(bytes.equals(gunzipSync(await gzip.arrayBuffer())))
    const tags = [plain, brotli, gzip].map(({ headers }) => headers.get('etag'))
    assert.equal(new Set(tags).size, 3)
    for (const { headers } of [plain, brotli, gzip])
      assert.equal(headers.get('vary'), 'Accept-Encoding')
  })

  test('a caller who has the file gets 304 with the headers that a 200 would have', async () => {
    const coding = { 'Accept-Encoding': 'br' }
    const first = await get('/assets/pages.css', coding)
    const etag = first.headers.get('etag') as string
    for (const held of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await get('/assets/pages.css', { ...coding, 'If-None-Match': held })
      assert.equal(again.status, 304)
      assert.equal(await again.text(), '')
      for (const name of ['etag', 'vary', 'cache-control']) {
        assert.equal(again.headers.get(name), first.headers.get(name))
      }
    }
  })

  test('a URL with the digest of the content is cached for a year, any other for minutes', async () => {
    const url = await shippedAssets.url('pages.css')
    const exact = await get(url)
    assert.equal(exact.headers.get('cache-control'), 'public, max-age=31536000, immutable')
    for (const loose of ['/assets/pages.css', '/assets/pages.css?v=old']) {
      assert.equal((await get(loose)).headers.get('cache-control'), 'public, max-age=300')
    }
  })

  for (const name of [
    'nothing.js',
    '__proto__',
    'constructor',
    '..%2fassets.ts',
    '%2e%2e%2fpage.ts',
  ]) {
    test(`${name} is not found`, async () => {
      const response = await get(`/assets/${name}`)
      assert.equal(response.status, 404)
      assert.match(await response.text(), /NOT_FOUND/)
    })
  }

  test('HEAD has the headers of GET and no body', async () => {
    const response = await appOf().request('/assets/pages.css', { method: 'HEAD' })
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('content-type'), 'text/css; charset=utf-8')
    assert.equal(await response.text(), '')
  })
})
