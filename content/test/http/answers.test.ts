/** What is in an answer stays there: it makes no header, runs in no browser, and comes to no other caller. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import content from '#content/duet.config.ts'
import { versions } from '#content/versions.ts'
import { openApiOf } from '#openapi/openapi.ts'
import { type Asking, createWorld, forAllTests } from '../world.ts'
import { mixedAnswers } from './mixed-answers.ts'

const world = forAllTests(() =>
  createWorld({
    deprecation: {
      version: 1,
      from: '2026-01-01',
      sunset: undefined,
      header: 'true',
      holds: 'sunset',
    },
  }),
)

/** Line ends in every spelling, and letters that no header may have. */
const payloads = [
  ...['%0d%0aX-Injected:%201', '%0aX-Injected:%201', '%0dX-Injected:%201', '%0D%0A%20X-Injected:1'],
  ...['%E5%98%8A%E5%98%8DX-Injected:%201', '%c4%8d%c4%8aX-Injected:1', '%e2%80%a8X-Injected:1'],
  ...[
    '%00',
    '%7f',
    '%09',
    '%1f',
    '%ff',
    '%C2%85X-Injected:1',
    '%E6%97%A5%E6%9C%AC',
    '%F0%9F%98%80',
  ],
  ...[
    '%22%3E',
    '%3Cscript%3E',
    '%3B%20x=1',
    '%2C%20%3Chttp:%2F%2Fevil%3E;%20rel=next',
    '\\r\\nX-Injected:1',
  ],
]

const places: readonly ((payload: string) => string)[] = [
  payload => `/api/products?${payload}=1`,
  payload => `/api/products?search=${payload}&limit=1`,
  payload => `/api/products?category=${payload}&catgory=${payload}`,
  payload => `/api/products?sort=${payload}`,
  payload => `/api/users?role=${payload}`,
  payload => `/api/posts?cursor=${payload}`,
  payload => `/api/v2/products?search=${payload}&limit=1`,
  payload => `/api/products?version=${payload}`,
  payload => `/api/products/${payload}`,
  payload => `/api/users/2/${payload}`,
  payload => `/api/v${payload}/products`,
  payload => `/graphql?query=${payload}`,
  payload => `/assets/${payload}`,
  payload => `/docs/${payload}`,
  payload => `/verify-email?token=${payload}`,
  payload => `/${payload}`,
]

const sentHeaders = [
  'X-Request-Id',
  'Origin',
  'Accept',
  'API-Version',
  'Idempotency-Key',
  'If-None-Match',
  'If-Match',
  'Authorization',
  'Duet-Position',
  'Content-Type',
  'traceparent',
]

test('nothing in a path, a query or a header becomes a header of the answer, or breaks it [G6]', async () => {
  const asked: (readonly [string, Asking])[] = [
    ...payloads.flatMap(payload =>
      places.map(place => [`GET ${place(payload)}`, { as: 2 }] as const),
    ),
    ...sentHeaders.flatMap(name =>
      ['a\x80\xff', '%0d%0aX-Injected: 1', 'x\tX-Injected: 1', '"\\r\\nX-Injected: 1"'].map(
        value =>
          [
            `POST /api/posts/1/comments`,
            {
              as: 2,
              raw: '{"text":"x"}',
              headers: { 'Content-Type': 'application/json', [name]: value },
            },
          ] as const,
      ),
    ),
  ]
  for (const [line, asking] of asked) {
    const { status, headers } = await world.ask(line, asking)
    assert.ok(status < 500, `${line} ${JSON.stringify(asking)}`)
    assert.equal(headers.get('x-injected'), null, line)
    assert.ok(
      [...headers].every(([, value]) => /^[\t\x20-\x7e]*$/.test(value)),
      line,
    )
  }
})

const script = '</script><script>alert(1)</script><img src=x onerror=alert(2)>'

/** Every operation of the documents as a line of a request, with the ids of the small world. */
const described = async (): Promise<readonly string[]> => {
  const documents = await Promise.all(
    versions.all.map(async version => ({ version, ...(await openApiOf(content, version)) })),
  )
  return documents.flatMap(({ version, paths }) =>
    Object.entries(paths as Record<string, object>).flatMap(([path, item]) => {
      const target = path.replace('{userId}', '2').replace(/\{\w+\}/g, '1')
      return Object.keys(item)
        .filter(name => name !== 'parameters')
        .map(method => `${method.toUpperCase()} /api/v${version}${target}`)
    }),
  )
}

test('text that a browser could run is served as data that none runs, whatever it accepts [G20]', async () => {
  await using own = await createWorld()
  for (const [line, as, body] of [
    ['PATCH /api/users/2', 2, { name: script }],
    ['POST /api/users/2/posts', 2, { title: script, content: script }],
    ['POST /api/posts/1/comments', 2, { text: script }],
    ['PATCH /api/products/1', 1, { name: script, category: script }],
    ['POST /api/orders', 2, { items: [{ productId: 1, quantity: 1 }] }],
    ['POST /api/orders/1/pay', 2, undefined],
  ] as const)
    assert.ok((await own.ask(line, { as, body })).status < 300, line)
  let shown = 0
  const reads = (await described()).filter(line => line.startsWith('GET '))
  const odd = [`GET /api/users/${script}`, `GET /api/products?sort=${script}&limit=x`]
  for (const line of [...reads, ...odd])
    for (const Accept of [
      'text/html',
      'text/html,application/xhtml+xml,*/*;q=0.8',
      'image/svg+xml',
    ]) {
      const { headers, text } = await own.ask(line, { as: 1, headers: { Accept } })
      const type = headers.get('content-type') ?? ''
      assert.match(headers.get('content-security-policy') ?? '', /default-src 'none'/, line)
      assert.equal(headers.get('x-content-type-options'), 'nosniff', line)
      if (/json/.test(type)) {
        if (text.includes('alert(1)')) shown++
        continue
      }
      assert.doesNotMatch(text, /<script>alert|<img src=x/, `${line} as ${type}`)
    }
  assert.ok(shown > 20)
})

/** What no document has: pages, their files, GraphQL and probes, and what is not there. */
const besides = [
  ...[
    '/',
    '/docs',
    '/docs/api',
    '/docs/errors',
    '/versions',
    '/errors',
    '/openapi.json',
    '/api/v2/openapi.json',
  ],
  ...['/graphql', '/graphql?query={__typename}', '/schema.graphql', '/healthz', '/readyz'],
  ...['/assets/mark.svg', '/verify-email', '/favicon.ico', '/nothing', '/api/nothing', '/api/v9'],
]

test('an answer of whatever route is in no frame, is what its type says, and names no program [F8]', async () => {
  const methods = ['GET', 'HEAD', 'POST', 'OPTIONS']
  const lines = [
    ...(await described()),
    ...besides.flatMap(path => methods.map(method => `${method} ${path}`)),
  ]
  assert.ok(lines.length > 150, `${lines.length}`)
  for (const line of lines)
    for (const as of ['anonymous', 2, 1] as const)
      for (const Accept of ['application/json', 'text/html']) {
        const { status, headers } = await world.ask(line, { as, headers: { Accept } })
        const at = `${line} ${as} ${Accept} ${status}`
        assert.match(headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/, at)
        assert.equal(headers.get('x-content-type-options'), 'nosniff', at)
        for (const name of ['server', 'x-powered-by']) assert.equal(headers.get(name), null, at)
      }
})

test('requests of four callers at once get each their own answer, and one ETag stands for one text [G22]', async () => {
  assert.ok((await mixedAnswers(1)) > 300)
})
