/** One caller who takes what there is, and others beside, each within their own share: these are all served. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { folderOf, type Service, serve } from '#test/duet.ts'
import { issuer, setOf } from '#test/support/tokens.ts'
import { type Asked, flood, type Group, line, probes, sent } from './crowd/flood.ts'
import { operations } from './hold/documents.ts'
import { seedMany } from './seed-many.ts'

const seconds = Number(process.env.DUET_TEST_CROWD_SECONDS ?? 20)
/** Requests of one caller in a minute, as in production. */
const limit = 6000
const others = 20

const { folder, fresh } = folderOf('beside')
const issuers = [issuer('RS256', 'r'), issuer('EdDSA', 'e')] as const
const strangers = [issuer('RS256', 'r'), issuer('EdDSA', 'e')] as const
const now = Math.floor(Date.now() / 1000)
const times = { iat: now, exp: now + 43_200 }

let service: Service
before(async () => {
  const { settings } = fresh()
  await seedMany(settings, 500)
  const keys = join(folder, 'keys.json')
  writeFileSync(keys, setOf(...issuers))
  const { DUET_DATABASE_URL = '' } = settings
  service = await serve({
    DUET_DATABASE_URL,
    DUET_JWKS_FILE: keys,
    DUET_RATE_LIMIT: String(limit),
    DUET_TRUSTED_PROXIES: '127.0.0.1',
    DUET_QUEUE_WAIT: '1000',
    DUET_WRITE_WAIT: '5s',
  })
})
after(() => service?.end())

const from = (address: string, token?: string): readonly string[] => [
  `X-Forwarded-For: ${address}`,
  ...(token === undefined ? [] : [`Authorization: Bearer ${token}`]),
]

/** Users and strangers, each at an address of their own, with little to ask. */
const usual = (): Group & { readonly name: 'others' } => ({
  name: 'others',
  rate: 100,
  connections: 200,
  requests: Array.from({ length: others }, (_, n) => {
    const token = n % 2 ? issuers[0].token({ ...times, sub: String(n + 10) }) : undefined
    return { method: 'GET', path: `/api/posts/${n + 1}`, headers: from(`192.0.2.${n}`, token) }
  }),
})

/** What one caller sends so often in a second, whatever becomes of it, on some connections. */
const greedy = (rate: number, requests: readonly Asked[]): Group & { readonly name: 'greedy' } => ({
  name: 'greedy',
  rate,
  connections: 32,
  requests,
})

/** All others are served beside the one, of whom no more than its limit is; gives what became of it. */
const beside = async (t: TestContext, one: ReturnType<typeof greedy>) => {
  const alone = await flood(service.url, 5, [usual()])
  const told = await flood(service.url, seconds, [usual(), probes, one])
  t.diagnostic([alone.others, told.others, told.probes, told.greedy].map(line).join('; '))
  for (const all of [told.others, told.probes]) {
    assert.deepEqual(Object.keys(all.statuses), ['200'])
    assert.equal(all.unsent + all.unanswered, 0)
  }
  assert.ok(sent(told.others) > seconds * 50)
  assert.equal(told.greedy.unanswered, 0)
  return told.greedy
}

/** No more windows of a minute than this are begun meanwhile. */
const windows = Math.ceil(seconds / 60) + 1

test('beside a caller ten times above its rate all others are served, and it gets 429 for the rest [H5]', async t => {
  const token = issuers[1].token({ ...times, sub: '2' })
  const requests = [{ method: 'GET', path: '/api/posts/1', headers: from('198.51.100.1', token) }]
  const { ok, statuses } = await beside(t, greedy((limit / 60) * 10, requests))
  assert.deepEqual(Object.keys(statuses), ['200', '429'])
  assert.ok(ok <= windows * limit && (statuses[429] ?? 0) > 0, JSON.stringify(statuses))
})

test('beside a stream of documents that are slow to validate all others are served [D9]', async t => {
  const documents = operations.filter(({ name }) =>
    /merged|conflict|circle|share fragments|variables that|fields that nobody/.test(name),
  )
  assert.ok(documents.length >= 6)
  const requests = Array.from({ length: 1500 }, (_, n) => {
    const body = String(documents[n % documents.length]?.body?.(n))
    return { method: 'POST', path: '/graphql', body, headers: from('198.51.100.2') }
  })
  const { statuses } = await beside(t, greedy(100, requests))
  assert.deepEqual(Object.keys(statuses), ['200', '429'])
  assert.ok((statuses[200] ?? 0) > 100 && (statuses[429] ?? 0) > 0, JSON.stringify(statuses))
})

test('beside a stream of forged signatures all others are served, and none of them is [E15]', async t => {
  const requests = Array.from({ length: 2000 }, (_, n) => {
    const forged = strangers[n % 2]?.token({ ...times, sub: String(n + 1) })
    return { method: 'GET', path: '/api/users', headers: from('198.51.100.3', forged) }
  })
  const { statuses } = await beside(t, greedy(5000, requests))
  assert.deepEqual(Object.keys(statuses), ['401', '429'])
  assert.ok((statuses[401] ?? 0) <= windows * limit, JSON.stringify(statuses))
})
