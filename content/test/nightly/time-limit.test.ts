import assert from 'node:assert/strict'
import { test } from 'node:test'
import { folderOf, serve } from '#test/duet.ts'
import { seedMany } from './seed-many.ts'

const reads = 100

test(`${reads} reads that each run until their time is up leave nothing behind: the next one is served [D6]`, async () => {
  const { settings } = folderOf('time-limit').fresh()
  await seedMany(settings, 100)
  const service = await serve({ ...settings, DUET_READ_TIMEOUT: '10', DUET_CACHE: '0' })
  const ask = async (path: string) => {
    const answer = await fetch(`${service.url}${path}`)
    return { status: answer.status, text: await answer.text(), headers: answer.headers }
  }
  for (let n = 0; n < reads; n++) {
    const slow = `/api/products?search=e&min_price=1&max_price=900&in_stock=true&sort=-price,name&offset=${40_000 + n}`
    const { status, text, headers } = await ask(slow)
    assert.equal(status, 503, text)
    assert.equal(JSON.parse(text).error.code, 'TIMEOUT')
    assert.ok(Number(headers.get('retry-after')) >= 1)
    assert.equal((await ask(`/api/products/${n + 1}`)).status, 200)
  }
  assert.equal((await ask('/readyz')).status, 200)
  assert.equal((await service.end()).code, 0)
})
