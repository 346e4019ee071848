/** A deprecated version: its answers say so from a day on, and on another it ends. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { mint } from '#auth/token.ts'
import { createLimiter } from '#http/limit/limiter.ts'
import { noQueue } from '#http/queue.ts'
import type { Field } from '#model/field.ts'
import { entityOf, type Model } from '#model/model.ts'
import type { Deprecation } from '#rest/deprecation.ts'
import { refuses } from '../rest.ts'
import { demo } from '../support/library/demo.ts'
import { library } from '../support/library/index.ts'
import {
  type Answered,
  type Asking,
  createWorld,
  secret,
  usualModel,
  type World,
} from '../world.ts'

const deprecation: Deprecation = {
  version: 1,
  from: '2027-01-01',
  sunset: '2027-08-01',
  header: 'true',
  holds: 'sunset',
}

let clock = 0
const setClock = (moment: string) => {
  clock = Date.parse(moment)
}
const now = () => clock

/** The guard that a request runs into before anything else, where a test sets one up. */
let guard: 'none' | 'limit' | 'queue' = 'none'
const strict = createLimiter({ limit: 0, now })

let world: World
before(async () => {
  setClock('2027-03-01T12:00:00Z')
  world = await createWorld({
    now,
    deprecation,
    edge: {
      limiter: {
        ...strict,
        checkAddress: () => {},
        count: (c, viewer) => (guard === 'limit' ? strict.count(c, viewer) : undefined),
      },
      queue: { ...noQueue, enter: ({ run, shed }) => (guard === 'queue' ? shed() : run()) },
      urlLimit: 300,
      bodyLimit: 2000,
    },
  })
})
after(() => world.close())

type Headers = Record<string, string>

/** Sends a request with a token of this moment; user 1 is an admin. */
const ask = async (line: string, { as, headers, ...rest }: Asking = {}) => {
  const role = as === 1 ? 'admin' : 'user'
  const token = typeof as === 'number' && (await mint({ sub: as, role, ttl: 60 }, secret, clock))
  return world.ask(line, {
    ...rest,
    headers: { ...(token && { Authorization: `Bearer ${token}` }), ...headers },
  })
}

const about = '</docs/versions>; rel="deprecation"; type="text/html"'

/** Asserts that an answer tells of the deprecation; `successor` is the same request in version 2, null where it has none. */
const tells = (answer: Answered, successor: string | null, what = answer.text) => {
  const link = successor === null ? about : `<${successor}>; rel=successor-version, ${about}`
  assert.equal(answer.headers.get('api-version'), '1', what)
  assert.equal(answer.headers.get('deprecation'), 'true', what)
  assert.equal(answer.headers.get('sunset'), 'Sun, 01 Aug 2027 00:00:00 GMT', what)
  const links = answer.headers.get('link') ?? ''
  assert.ok(links === link || links.startsWith(`${link}, <`), `${what} ${links}`)
}

const tellsNothing = ({ headers }: Answered, what = '') => {
  assert.equal(headers.get('deprecation'), null, what)
  assert.equal(headers.get('sunset'), null, what)
  assert.doesNotMatch(headers.get('link') ?? '', /successor-version|deprecation/, what)
}

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

test('answers of the rate limit and of a full queue have them too', async () => {
  setClock('2027-03-01T12:00:00Z')
  for (const [set, status, code] of [
    ['limit', 429, 'RATE_LIMITED'],
    ['queue', 503, 'OVERLOADED'],
  ] as const) {
    guard = set
    const answers = [await ask('GET /api/products'), await ask('GET /api/v2/products')]
    guard = 'none'
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

test('from the day of its sunset on, version 1 is 410 in its own shape, for requests that name no version too', async () => {
  for (const moment of [
    '2027-08-01T00:00:00.000Z',
    '2027-08-02T00:00:00Z',
    '2031-01-01T00:00:00Z',
  ]) {
    setClock(moment)
    for (const [path, headers] of [
      ['/api/products', {}],
      ['/api/v1/products', {}],
      ['/api/products?version=1', {}],
      ['/api/products', { 'API-Version': '1' }],
      ['/api/products', { Accept: 'application/vnd.duet.v1+json' }],
    ] as [string, Headers][]) {
      const answer = await ask(`GET ${path}`, { headers })
      refuses(answer, 410, 'VERSION_WITHDRAWN')
      tells(answer, '/api/v2/products', path)
      assert.match(
        answer.json.error.message,
        /^Version 1 of the API ended on 2027-08-01; use version 2$/,
      )
    }
  }
  const write = await ask('POST /api/posts/1/comments', { as: 2, body: { text: 'late' } })
  refuses(write, 410, 'VERSION_WITHDRAWN')
  tells(write, '/api/v2/posts/1/comments')
})

test('the documents of a version that has ended stay, and are deprecated too', async () => {
  setClock('2027-08-01T00:00:00Z')
  const document = await ask('GET /api/v1/openapi.json')
  assert.equal(document.status, 200)
  tells(document, '/api/v2/openapi.json', 'the document of version 1')
  const { get } = document.json.paths['/products']
  assert.ok('410' in get.responses)
  const { VersionWithdrawn } = document.json.components.responses
  assert.deepEqual(VersionWithdrawn['x-codes'], ['VERSION_WITHDRAWN'])
  const next = await ask('GET /api/v2/openapi.json')
  assert.ok(!('410' in next.json.paths['/products'].get.responses))
  tellsNothing(next)
})

test('path, method and token come before the end of a version, and version 2 goes on', async () => {
  setClock('2027-08-01T00:00:00Z')
  refuses(await ask('GET /api/nothing'), 404, 'NOT_FOUND')
  refuses(await ask('PUT /api/v1/posts'), 405, 'METHOD_NOT_ALLOWED')
  refuses(
    await ask('GET /api/users', { headers: { Authorization: 'Bearer no' } }),
    401,
    'UNAUTHENTICATED',
  )
  refuses(await ask('GET /api/users'), 410, 'VERSION_WITHDRAWN')
  assert.equal((await ask('OPTIONS /api/products')).status, 204)
  for (const [path, headers] of [
    ['/api/v2/products', {}],
    ['/api/products', { 'API-Version': '2' }],
  ] as [string, Headers][]) {
    const answer = await ask(`GET ${path}`, { headers })
    assert.equal(answer.status, 200)
    tellsNothing(answer)
  }
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

test('requests that name a deprecated member are counted once each, by caller, wherever they name it', async () => {
  setClock('2027-02-28T12:00:00Z')
  const { entities } = usualModel
  const product = entityOf(usualModel, 'product')
  const { fields, rest } = product
  const { listing } = rest
  const model: Model = {
    ...usualModel,
    entities: {
      ...entities,
      product: {
        ...product,
        fields: {
          ...fields,
          image: { ...(fields.image as Field), deprecated: 'Use pictures.' },
          price: { ...(fields.price as Field), last: 1, sunset: '2027-12-01' },
        },
        rest: {
          ...rest,
          lifetimes: { ...rest.lifetimes, delete: { deprecated: 'Set the stock to 0.' } },
          listing: {
            ...listing,
            filters: {
              ...listing.filters,
              category: { kind: 'equals', field: 'category', deprecated: 'Use search.' },
            },
          },
        },
      },
    },
  }
  const other = await createWorld({ now, model })
  const as = async (id: number) => ({
    Authorization: `Bearer ${await mint({ sub: id, role: id === 1 ? 'admin' : 'user', ttl: 60 }, secret, clock)}`,
  })
  const [admin, ben] = [await as(1), await as(2)]
  const newProduct = { name: 'Bowl', category: 'kitchen', image: null, price: 1 }
  for (const [line, headers, body] of [
    ['GET /api/products?fields=id,image,image&sort=-price&min_price=1', ben],
    ['GET /api/v1/products?category=office', ben],
    ['GET /api/v1/products/1?fields=price', {}],
    ['GET /api/v2/products?fields=image&category=office', ben],
    ['GET /api/products?fields=id,name&sort=name', ben],
    ['POST /api/products', admin, newProduct],
    ['PATCH /api/v2/products/1', admin, { image: null }],
    ['PATCH /api/v2/products/1', admin, { stock: 1 }],
    ['DELETE /api/products/5', admin],
  ] as [string, Headers, object?][]) {
    const answer = await other.ask(line, { headers, ...(body && { body }) })
    assert.ok(answer.status < 300, `${line} ${answer.text}`)
  }
  await other.core.usage.flush()
  const rows = await other.rows('select api, member, viewer, n from version_uses order by 1, 2, 3')
  await other.close()
  assert.deepEqual(rows, [
    ['v1', 'DELETE:/products/:id', 'viewer 1', 1],
    ['v1', 'product.image', 'viewer 1', 1],
    ['v1', 'product.image', 'viewer 2', 1],
    ['v1', 'product.price', 'anonymous', 1],
    ['v1', 'product.price', 'viewer 1', 1],
    ['v1', 'product.price', 'viewer 2', 1],
    ['v1', 'product?category', 'viewer 2', 1],
    ['v2', 'product.image', 'viewer 1', 1],
    ['v2', 'product.image', 'viewer 2', 1],
    ['v2', 'product?category', 'viewer 2', 1],
  ])
})

test('what a content deprecates is counted in both APIs by its name there', async () => {
  setClock('2027-02-28T12:00:00Z')
  const other = await createWorld({ now, content: library, rows: demo })
  for (const path of [
    '/api/books?fields=title,donor&donor=x&sort=-pages',
    '/api/v2/books?shelf=3&fields=title',
  ])
    assert.equal((await other.ask(`GET ${path}`)).status, 200)
  for (let times = 0; times < 2; times++)
    await other.gql('{ authors { name biography } books(authorId: "1") { title language } }')
  await other.core.usage.flush()
  const rows = await other.rows('select api, member, n from version_uses order by 1, 2')
  await other.close()
  assert.deepEqual(rows, [
    ['graphql', 'Author.biography', 2],
    ['graphql', 'Query.books(authorId)', 2],
    ['v1', 'book.donor', 1],
    ['v1', 'book?sort=-pages', 1],
    ['v2', 'book?shelf', 1],
  ])
})
