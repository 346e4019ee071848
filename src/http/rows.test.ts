/** What a write of many rows takes of its caller's rate and of the memory. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Hono } from 'hono'
import { createLimiter } from '#http/limit/limiter.ts'
import { createMemory } from '#http/memory.ts'
import type { App, Http } from '#http/request.ts'
import { countsFor } from '#http/rows.ts'

const caller = { id: 1, role: 'user' } as const
const mebibyte = 1_048_576

/** As many rows as an input may have, of eight values each: two mebibytes. */
const many = { rows: 1024, values: 8192 }

/** A request under way, whose body is received under an account. */
const request = async (memory = createMemory()): Promise<Http> => {
  let context: Http | undefined
  const app: App = new Hono()
  app.all('*', c => {
    context = c
    return c.body(null)
  })
  await app.request('/api/posts', { method: 'POST' })
  assert.ok(context)
  context.set('receiving', { account: memory.bodies.of('user 1'), checkAgain: () => {} })
  return context
}

test('of the rows of a write each hundred that is begun counts one, the first with its request', async () => {
  const limiter = createLimiter({ limit: 1000, now: () => 0 })
  const c = await request()
  for (const [rows, left] of [
    [1, undefined],
    [100, undefined],
    [101, 999],
    [200, 998],
    [201, 996],
    [1000, 987],
  ] as const) {
    await countsFor({ limiter }, c, caller, undefined).rows({ rows, values: rows })
    assert.equal(c.get('rate')?.RateLimit, left && `"default";r=${left};t=60`)
  }
  const small = createLimiter({ limit: 8, now: () => 0 })
  await assert.rejects(countsFor({ limiter: small }, c, caller, undefined).rows(many), {
    code: 'RATE_LIMITED',
  })
  for (const { close } of [limiter, small]) close()
})

test('rows that wait to be written take memory until their request is answered, and no caller has all of it', async () => {
  const memory = createMemory({ bodies: 32 * mebibyte })
  const requests = await Promise.all(Array.from({ length: 9 }, () => request(memory)))
  const last = requests.pop() as Http
  for (const c of requests) await countsFor({}, c, caller, undefined).rows(many)
  const { rows: begin } = countsFor({}, last, caller, undefined)
  await assert.rejects(begin(many), { code: 'OVERLOADED' })
  await begin({ rows: 1, values: 3 })
  requests[0]?.get('giveBack')?.()
  await begin(many)
  for (const c of [...requests.slice(1), last]) c.get('giveBack')?.()
  // Of wide rows one request has most of what a caller may have, and none so much that it never fits.
  const [first, second] = await Promise.all([request(memory), request(memory)])
  const wide = { rows: 1000, values: 500_000 }
  await countsFor({}, first, caller, undefined).rows(wide)
  await assert.rejects(countsFor({}, second, caller, undefined).rows(wide), { code: 'OVERLOADED' })
  first.get('giveBack')?.()
  assert.equal(memory.bodies.taken(), 0)
})
