/** Which pages of other origins may read the REST API. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reads, readsOf } from '../rest.ts'
import { createWorld, forAllTests } from '../world.ts'

const world = forAllTests(createWorld)

const read = readsOf(world)

const exposed =
  'ETag, Link, Location, Allow, Accept-Query, Accept-Patch, Accept-Post, WWW-Authenticate, API-Version, Deprecation, Sunset, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id, Idempotency-Replayed, Duet-Position, Duet-Position-Status, Duet-Ignored, Server-Timing'

test('every origin may read by default, without credentials, and sees the headers of the contract [F8]', async () => {
  for (const path of [...reads, '/api/posts/99', '/api/nothing', '/api/posts?limit=x'])
    for (const origin of ['https://app.example.org', 'null', undefined]) {
      const { headers } = await read(path, origin === undefined ? {} : { Origin: origin })
      assert.equal(headers.get('access-control-allow-origin'), '*')
      assert.equal(headers.get('access-control-expose-headers'), exposed)
      assert.equal(headers.get('access-control-allow-credentials'), null)
    }
})

const allowedHeaders = (headers: Headers): readonly string[] =>
  (headers.get('access-control-allow-headers') ?? '').split(', ')

test('a preflight request is answered without a token', async () => {
  const { status, headers, text } = await world.ask('OPTIONS /api/users/2', {
    headers: {
      Origin: 'https://app.example.org',
      'Access-Control-Request-Method': 'PATCH',
      'Access-Control-Request-Headers': 'authorization,content-type,if-match',
    },
  })
  assert.equal(status, 204)
  assert.equal(text, '')
  assert.equal(headers.get('access-control-allow-origin'), '*')
  assert.match(headers.get('access-control-allow-methods') ?? '', /\bPATCH\b/)
  for (const name of [
    'Authorization',
    'Content-Type',
    'If-Match',
    'If-None-Match',
    'API-Version',
    'Idempotency-Key',
    'traceparent',
    'tracestate',
    'baggage',
    'sentry-trace',
    'apollographql-client-name',
    'apollographql-client-version',
  ])
    assert.ok(allowedHeaders(headers).includes(name), name)
})

test('other headers are allowed by the setting, those of the API as ever, in both APIs', async () => {
  for (const given of [['x-datadog-trace-id'], ['*']]) {
    await using other = await createWorld({ edge: { corsHeaders: given } })
    for (const path of ['/api/v2/users/2', '/graphql']) {
      const { headers } = await other.ask(`OPTIONS ${path}`)
      const allowed = allowedHeaders(headers)
      for (const name of ['Authorization', 'Idempotency-Key', ...given])
        assert.ok(allowed.includes(name), `${path} ${name}`)
      assert.ok(!allowed.includes('sentry-trace'))
    }
  }
})

const listed = ['https://app.example.org', 'http://localhost:5173']

/** Two hundred that look like a listed one and are others. */
const foreignOrigins = (): readonly string[] => {
  const schemes = ['https://', 'http://', 'ws://', 'file://', 'https:', '']
  const hosts = [
    ...[
      'app.example.org',
      'APP.example.org',
      'app.example.org.',
      'app.example.org/',
      '.app.example.org',
    ],
    ...[
      'app.example.org:443',
      'app.example.org:80',
      'app.example.org:8443',
      'app.example.org?',
      'app.example.org#',
    ],
    ...[
      'evil-app.example.org',
      'app-example.org',
      'appXexample.org',
      'example.org',
      'app.example.or',
    ],
    ...[
      'app.example.org.evil.com',
      'evil.com/app.example.org',
      'evil.com?app.example.org',
      'evil.com#app.example.org',
    ],
    ...[
      'app.example.org@evil.com',
      'evil.com@app.example.org',
      'x.app.example.org',
      'app.example.organ',
    ],
    ...[
      'localhost',
      'localhost:5174',
      'localhost:51730',
      'localhost:05173',
      'LOCALHOST:5173',
      '127.0.0.1:5173',
      '[::1]:5173',
    ],
    ...[
      'app.example.org, https://app.example.org',
      'app.example.org https://evil.com',
      'app%2eexample.org',
      '*',
      'null',
    ],
  ]
  const all = schemes.flatMap(scheme => hosts.map(host => `${scheme}${host}`))
  return all.filter(origin => !listed.includes(origin))
}

test('where origins are listed, just those may read, and Vary says Origin [F8]', async () => {
  await using other = await createWorld({ edge: { origins: listed } })
  const foreign = foreignOrigins()
  assert.ok(foreign.length >= 200, `${foreign.length}`)
  for (const origin of [...listed, ...foreign, undefined])
    for (const line of [
      'GET /api/posts/1',
      'GET /api/posts/99',
      'GET /api/users',
      'OPTIONS /api/posts',
    ]) {
      const { headers } = await other.ask(line, {
        headers: origin === undefined ? {} : { Origin: origin },
      })
      const isListed = origin !== undefined && listed.includes(origin)
      const allowed = headers.get('access-control-allow-origin')
      assert.equal(allowed, isListed ? origin : null, `${origin} ${line}`)
      assert.match(headers.get('vary') ?? '', /\bOrigin\b/)
      assert.equal(headers.get('access-control-allow-credentials'), null)
    }
})
