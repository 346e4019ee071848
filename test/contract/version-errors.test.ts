/** Each way to name a version, alone, twice and in contradiction, at each check that comes before the version is known. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createLimiter } from '#http/limit/limiter.ts'
import { createQueue } from '#http/queue.ts'
import { header } from '#http/request.ts'
import { type Version, versions } from '#model/version.ts'
import { refuses } from '../rest.ts'
import { type Answered, type Asking, createWorld, type World } from '../world.ts'

const none = createLimiter({ limit: 0, now: Date.now })
const open = createQueue({ wait: 60_000, size: 1000 })
const full = createQueue({ wait: 60_000, size: 0 })
let isFull = false
let world: World
before(async () => {
  world = await createWorld({
    edge: {
      // Who says so has no request left.
      limiter: {
        ...none,
        count: (c, viewer) =>
          header(c, 'x-test-limit') === undefined ? undefined : none.count(c, viewer),
        checkAddress: () => {},
      },
      queue: { ...open, enter: entry => (isFull ? full : open).enter(entry) },
    },
  })
})
after(async () => {
  none.close()
  await world.close()
})

type Way = 'path' | 'header' | 'query' | 'accept'
type Named = Readonly<Partial<Record<Way, Version>>>

const ways: readonly Way[] = ['path', 'header', 'query', 'accept']
const other = (version: Version): Version => (version === 1 ? 2 : 1)

const alone: readonly Named[] = versions.flatMap(version =>
  ways.map((way): Named => ({ [way]: version })),
)
const pairs = ways.flatMap(one => ways.filter(two => two !== one).map(two => [one, two] as const))
const agreeing: readonly Named[] = versions.flatMap(version => [
  ...pairs.map(([one, two]): Named => ({ [one]: version, [two]: version })),
  { path: version, header: version, query: version, accept: version },
])
const conflicting: readonly Named[] = versions.flatMap(version =>
  pairs.map(([one, two]): Named => ({ [one]: version, [two]: other(version) })),
)

type Check = {
  readonly line: string
  readonly status: number
  readonly code: string
  readonly asking?: Asking
  readonly isFull?: boolean
}

/** The checks before the version is looked at. */
const checks: readonly Check[] = [
  { line: 'GET /nothing', status: 404, code: 'NOT_FOUND' },
  { line: 'PUT /posts', status: 405, code: 'METHOD_NOT_ALLOWED' },
  {
    line: 'GET /users',
    status: 401,
    code: 'UNAUTHENTICATED',
    asking: { headers: { Authorization: 'Bearer x.y.z' } },
  },
  { line: `GET /products?search=${'a'.repeat(4096)}`, status: 414, code: 'URI_TOO_LONG' },
  { line: 'GET /users/%zz', status: 400, code: 'MALFORMED_REQUEST' },
  {
    line: 'GET /products',
    status: 429,
    code: 'RATE_LIMITED',
    asking: { headers: { 'X-Test-Limit': '0' } },
  },
  { line: 'GET /products', status: 503, code: 'OVERLOADED', isFull: true },
]

/** The checks behind it, which a contradiction forestalls. */
const later: readonly Check[] = [
  { line: 'GET /users', status: 401, code: 'UNAUTHENTICATED' },
  { line: 'GET /products/99', status: 404, code: 'NOT_FOUND' },
  {
    line: 'POST /products',
    status: 413,
    code: 'PAYLOAD_TOO_LARGE',
    asking: {
      as: 1,
      raw: new Uint8Array(1_048_577),
      headers: { 'Content-Type': 'application/json' },
    },
  },
]

const send = async (
  { line, asking = {}, isFull: shed = false }: Pick<Check, 'line' | 'asking' | 'isFull'>,
  { path, header, query, accept }: Named,
): Promise<Answered> => {
  const [method, where = ''] = line.split(' ')
  const prefix = path === undefined ? '/api' : `/api/v${path}`
  const parameter = query === undefined ? '' : `${where.includes('?') ? '&' : '?'}version=${query}`
  const headers = {
    ...asking.headers,
    ...(header !== undefined && { 'API-Version': String(header) }),
    ...(accept !== undefined && { Accept: `application/vnd.duet.v${accept}+json` }),
  }
  isFull = shed
  const answer = await world.ask(`${method} ${prefix}${where}${parameter}`, { ...asking, headers })
  isFull = false
  return answer
}

const versionOf = (named: Named): Version => Math.max(...Object.values(named)) as Version

const tellsVersion = (answer: Answered, named: Named, about: string) =>
  assert.equal(answer.headers.get('api-version'), String(versionOf(named)), about)

for (const [how, all] of [
  ['alone', alone],
  ['twice', agreeing],
] as const)
  test(`a version that is named ${how} has the shape of every error, whatever the check`, async () => {
    for (const named of all)
      for (const check of [...checks, ...later]) {
        const answer = await send(check, named)
        tellsVersion(answer, named, `${JSON.stringify(named)} ${check.line.slice(0, 40)}`)
        refuses(answer, check.status, check.code)
      }
  })

test('what comes before the version is told before a contradiction, in the newest shape that is named', async () => {
  for (const named of conflicting)
    for (const check of checks) {
      const answer = await send(check, named)
      tellsVersion(answer, named, `${JSON.stringify(named)} ${check.line.slice(0, 40)}`)
      refuses(answer, check.status, check.code)
    }
})

test('a contradiction is told before everything behind it', async () => {
  for (const named of conflicting)
    for (const check of [...later, { line: 'GET /products/1' }, { line: 'GET /posts' }]) {
      const answer = await send(check, named)
      tellsVersion(answer, named, `${JSON.stringify(named)} ${check.line}`)
      refuses(answer, 400, 'MALFORMED_REQUEST')
    }
})

test('HEAD says what GET says, without its body', async () => {
  for (const named of [...alone, ...agreeing, ...conflicting])
    for (const check of [...checks, { line: 'GET /products/1' }, { line: 'GET /posts' }]) {
      if (check.line.startsWith('PUT')) continue
      const get = await send(check, named)
      const head = await send({ ...check, line: check.line.replace('GET', 'HEAD') }, named)
      assert.equal(head.text, '')
      assert.equal(head.status, get.status, `${JSON.stringify(named)} ${check.line.slice(0, 40)}`)
      for (const name of ['api-version', 'content-type', 'etag', 'cache-control', 'vary'])
        assert.equal(head.headers.get(name), get.headers.get(name), name)
    }
})

test('OPTIONS is answered whatever is named, with the version that is', async () => {
  for (const named of [...alone, ...agreeing, ...conflicting]) {
    const answer = await send({ line: 'OPTIONS /products' }, named)
    assert.equal(answer.status, 204)
    tellsVersion(answer, named, JSON.stringify(named))
    assert.equal(answer.headers.get('allow'), 'GET, HEAD, QUERY, POST, OPTIONS')
  }
})

test('a write whose answer is too large is told in the shape of its version', async t => {
  const small = await createWorld({ engine: { limits: { objects: 100, bytes: 100 } } })
  t.after(() => small.close())
  const body = { name: 'a'.repeat(99), email: 'long@example.org' }
  for (const version of versions) {
    const answer = await small.ask(`POST /api/v${version}/users`, { body })
    refuses(answer, 400, 'RESPONSE_TOO_LARGE')
  }
})
