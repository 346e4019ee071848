/** A deprecated version: from a day on its answers say so, and so do its pages and its document. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refuses } from '../rest.ts'
import { type Answered, type Asking, createWorld } from '../world.ts'
import { deprecatedWorld, deprecation, tells, tellsNothing } from './deprecated.ts'

const { ask, setClock, setGuard, now } = deprecatedWorld()

type Headers = Record<string, string>

test('the day before says nothing, the day itself does, from 00:00 UTC on and without a restart', async () => {
  setClock('2026-12-31T23:59:59.999Z')
  tellsNothing(await ask('GET /api/products'))
  setClock('2027-01-01T00:00:00.000Z')
  tells(await ask('GET /api/products'), '/api/v2/products')
  setClock('2027-01-02T00:00:00.000Z')
  tells(await ask('GET /api/products'), '/api/v2/products')
  setClock('2027-07-31T23:59:59.999Z')
  const last = await ask('GET /api/v1/products')
  assert.equal(last.status, 200)
  tells(last, '/api/v2/products')
})

test('the headers are these to the letter, beside the links of the list', async () => {
  setClock('2027-03-01T12:00:00Z')
  const { status, headers } = await ask('GET /api/v1/products?category=lighting')
  assert.equal(status, 200)
  assert.equal(headers.get('deprecation'), 'true')
  assert.equal(headers.get('sunset'), 'Sun, 01 Aug 2027 00:00:00 GMT')
  assert.equal(
    headers.get('link'),
    '</api/v2/products?category=lighting>; rel=successor-version, </docs/versions>; rel="deprecation"; type="text/html", ' +
      '</api/v1/products?category=lighting&page=1>; rel="first", </api/v1/products?category=lighting&page=1>; rel="last"',
  )
})

test('every kind of answer of version 1 has them: of reads, writes, preflights and errors', async () => {
  setClock('2027-03-01T12:00:00Z')
  const tag = (await ask('GET /api/products/1')).headers.get('etag') ?? ''
  const text = 'x'.repeat(3000)
  const cases: [string, number, string | null, Asking?][] = [
    ['GET /api/products/1', 200, '/api/v2/products/1'],
    ['HEAD /api/products/1', 200, '/api/v2/products/1'],
    ['GET /api/products/1', 304, '/api/v2/products/1', { headers: { 'If-None-Match': tag } }],
    ['GET /api/v1/users/1/avatar', 200, '/api/v2/users/1/avatar'],
    ['POST /api/comments/2/likes', 201, '/api/v2/comments/2/likes', { as: 2 }],
    ['POST /api/v1/comments/2/likes', 200, '/api/v2/comments/2/likes', { as: 2 }],
    ['DELETE /api/comments/2/likes', 204, '/api/v2/comments/2/likes', { as: 2 }],
    ['PATCH /api/v1/posts/1', 200, '/api/v2/posts/1', { as: 2, body: { title: 'Now' } }],
    ['OPTIONS /api/products', 204, '/api/v2/products'],
    ['OPTIONS /api/v1/products/1', 204, '/api/v2/products/1'],
    ['GET /api/nothing', 404, null],
    ['GET /api/v1/nothing/at/all', 404, null],
    ['GET /api/products/99', 404, '/api/v2/products/99'],
    ['PUT /api/v1/posts', 405, null],
    ['GET /api/users', 401, '/api/v2/users'],
    ['GET /api/products', 401, '/api/v2/products', { headers: { Authorization: 'Bearer no' } }],
    ['DELETE /api/products/1', 403, '/api/v2/products/1', { as: 2 }],
    ['GET /api/v1/products', 400, '/api/v2/products', { headers: { 'API-Version': '9' } }],
    ['GET /api/v1/users/%zz', 400, '/api/v2/users/%zz'],
    [
      'PATCH /api/posts/1',
      412,
      '/api/v2/posts/1',
      { as: 2, body: {}, headers: { 'If-Match': '"no"' } },
    ],
    ['PATCH /api/posts/1', 413, '/api/v2/posts/1', { as: 2, body: { content: text } }],
    [
      'PATCH /api/posts/1',
      415,
      '/api/v2/posts/1',
      { as: 2, raw: 'x', headers: { 'Content-Type': 'text/plain' } },
    ],
    ['PATCH /api/posts/1', 422, '/api/v2/posts/1', { as: 2, body: { title: '' } }],
    ['GET /api/products?limit=many', 422, '/api/v2/products?limit=many'],
  ]
  for (const [line, status, successor, asking] of cases) {
    const answer = await ask(line, asking)
    assert.equal(answer.status, status, `${line} ${answer.text}`)
    tells(answer, successor, `${line} ${status}`)
  }
  const long = `/products?search=${'a'.repeat(400)}`
  const tooLong = await ask(`GET /api${long}`)
  refuses(tooLong, 414, 'URI_TOO_LONG')
  tells(tooLong, `/api/v2${long}`)
})

test('answers of the rate limit and of a full queue have them too [H2]', async () => {
  setClock('2027-03-01T12:00:00Z')
  for (const [set, status, code] of [
    ['limit', 429, 'RATE_LIMITED'],
    ['queue', 503, 'OVERLOADED'],
  ] as const) {
    setGuard(set)
    const answers = [await ask('GET /api/products'), await ask('GET /api/v2/products')]
    setGuard('none')
    const [old, next] = answers as [Answered, Answered]
    refuses(old, status, code)
    tells(old, '/api/v2/products')
    tellsNothing(next)
  }
})

test('the successor keeps the query but for the version, and what is no URL is escaped in it', async () => {
  setClock('2027-03-01T12:00:00Z')
  for (const [asked, successor, headers] of [
    ['/api/products?category=kitchen&limit=2', '/api/v2/products?category=kitchen&limit=2'],
    ['/api/products?version=1', '/api/v2/products'],
    ['/api/products?limit=2&version=1&page=1', '/api/v2/products?limit=2&page=1'],
    ['/api/products?versions=1', '/api/v2/products?versions=1'],
    ['/api/products', '/api/v2/products', { 'API-Version': '1' }],
    ['/api/products', '/api/v2/products', { Accept: 'application/vnd.duet.v1+json' }],
    // Members are called as version 2 has them.
    ['/api/products?sort=-price,created_at', '/api/v2/products?sort=-price,createdAt'],
    [
      '/api/products?search=a+b&fields=id%2Ccreated_at&limit=1',
      '/api/v2/products?search=a+b&fields=id,createdAt&limit=1',
    ],
    ['/api/products/1?fields=created_at', '/api/v2/products/1?fields=createdAt'],
    ['/api/products?sort=price,nonsense', '/api/v2/products?sort=price,nonsense'],
    ['/api/products?search=%3Ch%3E', '/api/v2/products?search=%3Ch%3E'],
    ['/api/products?search=a|b^c', '/api/v2/products?search=a%7Cb%5Ec'],
  ] as [string, string, Headers?][]) {
    const answer = await ask(`GET ${asked}`, { headers: headers ?? {} })
    assert.equal(answer.status, 200, answer.text)
    tells(answer, successor, asked)
  }
})

test('version 2, GraphQL and pages say nothing, however version 2 is named', async () => {
  setClock('2027-03-01T12:00:00Z')
  for (const [path, headers] of [
    ['/api/v2/products', {}],
    ['/api/products', { 'API-Version': '2' }],
    ['/api/products?version=2', {}],
    ['/api/products', { Accept: 'application/vnd.duet.v2+json' }],
    ['/api/v2/nothing', {}],
    ['/graphql?query={products{id}}', {}],
    ['/', {}],
    ['/nothing', {}],
    ['/healthz', {}],
  ] as [string, Headers][])
    tellsNothing(await ask(`GET ${path}`, { headers }), path)
  tellsNothing(await ask('OPTIONS /api/v2/products'))
})

test('the page about versions names the days', async () => {
  const { text } = await ask('GET /docs/versions')
  assert.match(text, /Deprecated from 1 January 2027 on\./)
  assert.match(text, /Ends on 1 August 2027;/)
  assert.match(text, /is offered in the versions 1 and 2,/)
})

test('the page about versions tells of one that has ended, and that a version must be named', async () => {
  setClock('2027-08-01T00:00:00Z')
  const { text } = await ask('GET /docs/versions')
  assert.match(text, /is offered in version 2,/)
  assert.match(text, /names none asks for version 1, which has ended/)
  assert.match(text, /Ended on 1 August 2027:/)
  assert.doesNotMatch(text, /Ends on/)
})

test('the document of a version says from the day of its deprecation on that it comes to its end', async () => {
  const at = async (moment: string) => {
    setClock(moment)
    const { json } = await ask('GET /api/v1/openapi.json')
    const { deprecated, 'x-sunset': sunset } = json.paths['/products'].get
    return { deprecated, sunset, told: json.info.description.split('\n')[0] }
  }
  const before = await at('2026-12-31T23:59:59Z')
  assert.deepEqual([before.deprecated, before.sunset], [undefined, undefined])
  assert.doesNotMatch(before.told, /Version 1/)
  assert.deepEqual(await at('2027-01-01T00:00:00Z'), {
    deprecated: true,
    sunset: '2027-08-01',
    told: 'Version 1 is deprecated since 2027-01-01 and ends on 2027-08-01: use version 2.',
  })
  const { told } = await at('2027-08-01T00:00:00Z')
  assert.equal(told, 'Version 1 ended on 2027-08-01: use version 2.')
  const { json } = await ask('GET /api/v2/openapi.json')
  assert.equal(json.paths['/products'].get.deprecated, undefined)
})

test('the date of RFC 9745 stands in the place of true where the operator says so, and an undecided end is left out', async () => {
  setClock('2027-02-28T12:00:00Z')
  const other = await createWorld({
    now,
    deprecation: { ...deprecation, header: 'date', sunset: undefined },
  })
  const { headers } = await other.ask('GET /api/posts')
  await other.close()
  assert.equal(headers.get('deprecation'), '@1798761600')
  assert.equal(Number(headers.get('deprecation')?.slice(1)) * 1000, Date.parse(deprecation.from))
  assert.equal(headers.get('sunset'), null)
  assert.match(headers.get('link') ?? '', /^<\/api\/v2\/posts>; rel=successor-version, /)
})
