/** The pages as a service sends them, and the files that they load. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { Hono } from 'hono'
import { html } from 'hono/html'
import { content } from '#content/index.ts'
import { ApiError, machineErrors, mergeErrors } from '#errors.ts'
import { preferred } from '#http/accept.ts'
import type { App } from '#http/request.ts'
import { machineAssets, mountAssets, openAssets } from '#pages/assets.ts'
import { type GraphiqlOptions, graphiqlPage } from '#pages/graphiql.ts'
import { send } from '#pages/page.ts'
import { mountReference, type ReferenceOptions } from '#pages/reference.ts'
import { mountStart, type StartOptions } from '#pages/start.ts'
import { createWorld, usualModel, type World } from '../world.ts'

const shippedAssets = openAssets(machineAssets)
const start: StartOptions = {
  model: usualModel,
  examples: content.examples,
  development: true,
  introspection: true,
  rest: '/api/v2',
  version: '1.2.3',
}
const graphiql: GraphiqlOptions = {
  endpoint: '/graphql',
  introspection: true,
  examples: content.examples,
}
const reference: ReferenceOptions = {
  versions: {
    versions: [
      {
        version: 1,
        document: '/api/v1/openapi.json',
        deprecated: '2027-01-01',
        sunset: '2027-08-01',
      },
      { version: 2, document: '/api/v2/openapi.json' },
    ],
    differences: [{ what: 'the timestamp', ways: ['`created_at`', '`createdAt`, <b>'] }],
    example: '/products?sort=-price',
  },
  errors: {
    errors: [...mergeErrors(machineErrors, content.errors).values()],
    examples: async () => [
      { where: 'REST', status: 422, contentType: 'application/json', body: '{"code":"<b>"}' },
    ],
  },
}
type Options = { start?: StartOptions; graphiql?: GraphiqlOptions; reference?: ReferenceOptions }

const appOf = (world: Options = {}) => {
  const app: App = new Hono()
  const assets = shippedAssets
  mountAssets(app, assets)
  mountStart(app, world.start ?? start, assets)
  mountReference(app, world.reference ?? reference, assets)
  app.get('/graphql', async c => send(await graphiqlPage(world.graphiql ?? graphiql, assets), c))
  app.onError((error, c) => {
    if (!(error instanceof ApiError)) throw error
    return c.json({ code: error.code, message: error.message }, error.status as 404)
  })
  return app
}

const get = (path: string, headers: Record<string, string> = {}, world: Options = {}) =>
  appOf(world).request(path, { headers })

const assetsNamedIn = (html: string): string[] =>
  [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(match => match[1] as string)

describe('assets', () => {
  const types = {
    'graphiql.js': 'text/javascript; charset=utf-8',
    'graphiql.css': 'text/css; charset=utf-8',
    'react.js': 'text/javascript; charset=utf-8',
    'react-dom.js': 'text/javascript; charset=utf-8',
    'graphiql-page.js': 'text/javascript; charset=utf-8',
    'graphiql-page.css': 'text/css; charset=utf-8',
    'swagger-ui.js': 'text/javascript; charset=utf-8',
    'swagger-ui.css': 'text/css; charset=utf-8',
    'docs-page.js': 'text/javascript; charset=utf-8',
    'docs-page.css': 'text/css; charset=utf-8',
    'frame.css': 'text/css; charset=utf-8',
    'pages.css': 'text/css; charset=utf-8',
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
    for (const { headers } of [plain, brotli, gzip]) {
      assert.equal(headers.get('vary'), 'Accept-Encoding')
    }
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

  test('a caller who has another form of the file gets the file', async () => {
    const etag = (await get('/assets/pages.css')).headers.get('etag') as string
    const response = await get('/assets/pages.css', {
      'Accept-Encoding': 'br',
      'If-None-Match': etag,
    })
    assert.equal(response.status, 200)
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

describe('the start page', () => {
  test('it links to both APIs, to every list that anybody may read and to the state of the service', async () => {
    const body = await (await get('/')).text()
    for (const href of [
      '/graphql',
      '/graphql/schema.graphql',
      '/docs',
      '/api/v2/openapi.json',
      '/docs/versions',
      '/docs/errors',
      '/api/v2/posts',
      '/api/v2/products',
      '/healthz',
      '/readyz',
    ]) {
      assert.ok(body.includes(`href="${href}"`), href)
    }
    for (const closed of ['/api/v2/users', '/api/v2/orders'])
      assert.ok(body.includes(`<li><span>${closed}</span> <span class="note">asks for a token<`))
    assert.doesNotMatch(body, /href="\/api\/v2\/(users|orders)"/)
  })

  test('it names all that each API has, and nothing that has no path', async () => {
    const page = await (await get('/')).text()
    assert.ok(page.includes('>Users, posts and comments from one endpoint'))
    assert.match(
      page,
      />Users, posts, comments, likes, products, customers and orders as resources/,
    )
  })

  test('its curl lines call the address of the request', async () => {
    const body = await (await get('http://duet.example:8080/')).text()
    assert.match(body, /curl http:\/\/duet\.example:8080\/graphql/)
    assert.match(body, /curl &#39;http:\/\/duet\.example:8080\/api\/v2\/products\?/)
  })

  test('a host that a shell would run does not reach the curl lines', async () => {
    for (const host of ['a$(reboot)', 'a;reboot', "a'b", 'a`b`']) {
      const body = await (await get(`http://${host}/`)).text()
      assert.ok(!body.includes('reboot') && !body.includes('a`b') && !body.includes('a&#39;b'))
      assert.match(body, /curl http:\/\/localhost\/graphql/)
    }
  })

  test('a caller that prefers JSON gets the same links as JSON', async () => {
    const response = await get('/', { Accept: 'application/json' })
    assert.equal(response.headers.get('content-type'), 'application/json')
    assert.deepEqual(await response.json(), {
      name: 'duet',
      version: '1.2.3',
      _links: {
        self: { href: '/' },
        graphql: { href: '/graphql' },
        schema: { href: '/graphql/schema.graphql' },
        docs: { href: '/docs' },
        openapi: { href: '/api/v2/openapi.json' },
        versions: { href: '/docs/versions' },
        errors: { href: '/docs/errors' },
        users: { href: '/api/v2/users' },
        posts: { href: '/api/v2/posts' },
        products: { href: '/api/v2/products' },
        orders: { href: '/api/v2/orders' },
        health: { href: '/healthz' },
        ready: { href: '/readyz' },
      },
    })
  })

  test('a browser, and a caller without a preference, get HTML', async () => {
    for (const accept of ['text/html,application/xhtml+xml,*/*;q=0.8', '*/*', 'image/png']) {
      const response = await get('/', { Accept: accept })
      assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8')
    }
  })

  test('a second visit is answered with 304, unless it asks for the other form', async () => {
    const etag = (await get('/')).headers.get('etag') as string
    const again = await get('/', { 'If-None-Match': etag })
    assert.equal(again.status, 304)
    assert.equal(again.headers.get('vary'), 'Accept')
    const other = await get('/', { 'If-None-Match': etag, Accept: 'application/json' })
    assert.equal(other.status, 200)
  })

  test('only in development does it say how to make a token', async () => {
    const development = await (await get('/')).text()
    assert.match(development, /bin\/duet token/)
    const production = await (
      await get('/', {}, { start: { ...start, development: false, introspection: false } })
    ).text()
    assert.doesNotMatch(production, /bin\/duet token/)
    assert.match(production, /Introspection is off/)
    assert.doesNotMatch(production, /schema\.graphql/)
  })

  test('text from outside is escaped', async () => {
    const version = '<script>alert("1")</script>'
    const body = await (await get('/', {}, { start: { ...start, version } })).text()
    assert.ok(!body.includes('<script'))
    assert.ok(body.includes('&lt;script&gt;'))
  })
})

describe('GraphiQL', () => {
  test('the page names the endpoint and every file it needs', async () => {
    const body = await (await get('/graphql')).text()
    assert.match(body, /data-endpoint="\/graphql" data-introspection="on"/)
    for (const file of ['react.js', 'react-dom.js', 'graphiql.js', 'graphiql-page.js']) {
      assert.ok(body.includes(`<script src="/assets/${file}?v=`), file)
    }
  })

  test('with introspection off, the page does not request it', async () => {
    const off = { graphiql: { ...graphiql, introspection: false } }
    assert.match(await (await get('/graphql', {}, off)).text(), /data-introspection="off"/)
  })

  test('an endpoint with quotes stays inside its attribute', async () => {
    const odd = { graphiql: { ...graphiql, endpoint: '"><script>' } }
    const body = await (await get('/graphql', {}, odd)).text()
    assert.ok(body.includes('data-endpoint="&quot;&gt;&lt;script&gt;"'))
  })
})

describe('the reference of the REST API', () => {
  test('the page offers the document of every version, the newest first of all', async () => {
    const body = await (await get('/docs')).text()
    for (const version of [1, 2])
      assert.ok(
        body.includes(`<option value="${version}" data-document="/api/v${version}/openapi.json">`),
      )
    assert.match(body, /<a id="document" href="\/api\/v2\/openapi\.json">/)
  })

  for (const coding of ['br', 'gzip'])
    test(`the page with all that it loads is at most 500 kB in ${coding}`, async () => {
      const body = await (await get('/docs')).text()
      let size = Buffer.byteLength(body)
      for (const url of assetsNamedIn(body)) {
        const { headers } = await get(url, { 'Accept-Encoding': coding })
        assert.equal(headers.get('content-encoding'), coding, url)
        size += Number(headers.get('content-length'))
      }
      assert.ok(size > 100_000 && size <= 500_000, `${size} bytes`)
    })
})

describe('the page about versions', () => {
  test('it names the newest version in four ways, at the address of the request', async () => {
    const body = await (await get('http://duet.example/docs/versions')).text()
    const start = 'curl &#39;http://duet.example/api'
    for (const line of [
      `${start}/v2/products?sort=-price&#39;`,
      `${start}/products?sort=-price&#39; -H &#39;Accept: application/vnd.duet.v2+json&#39;`,
      `${start}/products?sort=-price&#39; -H &#39;API-Version: 2&#39;`,
      `${start}/products?sort=-price&amp;version=2&#39;`,
    ])
      assert.ok(body.includes(`<code>${line}</code>`), line)
  })

  test('it says when a version is deprecated and when it ends, and nothing of one that goes on', async () => {
    const body = await (await get('/docs/versions')).text()
    assert.equal(body.split('Deprecated from 1 January 2027 on').length, 2)
    assert.equal(body.split('Ends on 1 August 2027').length, 2)
    assert.match(body, /gets version 1\./)
  })

  test('it shows what differs, with the names as code and all else as text', async () => {
    const body = await (await get('/docs/versions')).text()
    assert.match(body, /<th scope="row">the timestamp<\/th><td><code>created_at<\/code><\/td>/)
    assert.match(body, /<td><code>createdAt<\/code>, &lt;b&gt;<\/td>/)
  })

  test('a single version differs from none', async () => {
    const [one] = reference.versions.versions
    const versions = { ...reference.versions, versions: one ? [one] : [], differences: [] }
    const world = { reference: { ...reference, versions } }
    const body = await (await get('/docs/versions', {}, world)).text()
    assert.match(body, /is offered in version 1,/)
    assert.doesNotMatch(body, /What differs/)
  })
})

describe('the page about errors', () => {
  test('it has every code of the machine and the content, with its status and an example, under its name', async () => {
    const body = await (await get('/docs/errors')).text()
    for (const { code, status, title, example = title } of reference.errors.errors) {
      const name = `<a id="${code}" href="#${code}"><code>${code}</code></a>`
      const shown = String(html`<td>${status}</td><td>${title}</td><td>${example}</td>`)
      assert.ok(body.includes(`${name}</th>${shown}`), code)
    }
  })

  test('it shows an error as each API prints it, as text', async () => {
    const body = await (await get('/docs/errors')).text()
    assert.match(body, /422 · <code>application\/json<\/code>/)
    assert.match(body, /&quot;code&quot;: &quot;&lt;b&gt;&quot;/)
  })
})

/** The texts in `<pre>` of a page, as a reader sees them. */
const shownIn = (html: string): readonly string[] =>
  [...html.matchAll(/<pre><code>([^<]*)</g)].map(([, text = '']) =>
    text.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&'),
  )

describe('the pages of the service', () => {
  let world: World
  before(async () => {
    world = await createWorld()
  })
  after(() => world.close())

  test('errors are shown as the APIs answer them', async () => {
    const { text } = await world.ask('GET /docs/errors')
    const examples = shownIn(text).map(shown => JSON.parse(shown))
    const headers = { 'X-Request-Id': examples[0].error.requestId }
    const body = { name: '', email: 'ada@example.org' }
    for (const version of [1, 2]) {
      const answered = await world.ask(`POST /api/v${version}/users`, { body, headers })
      assert.deepEqual(examples[version - 1], answered.json)
      const type = answered.headers.get('content-type')
      assert.ok(text.includes(`${answered.status} · <code>${type}</code>`), type ?? '')
    }
    const operation =
      'mutation { createUser(input: { name: "", email: "ada@example.org" }) { id } }'
    const { json } = await world.gql(operation, { headers })
    const [{ message, extensions }] = json.errors
    assert.deepEqual(examples[2].errors, [{ message, extensions }])
    assert.match(text, /<code>OUT_OF_STOCK<\/code>/)
  })

  test('both versions are offered, with what the model says of their differences', async () => {
    const { text } = await world.ask('GET /docs/versions')
    const row = (...cells: readonly string[]) => {
      const [first, ...others] = cells
      return `<th scope="row">${first}</th>${others.map(cell => `<td>${cell}</td>`).join('')}</tr>`
    }
    for (const [what, one, two] of [
      ['Members of products', '<code>created_at</code>', '<code>createdAt</code>'],
      [
        'Values of <code>sort</code> of products',
        '<code>created_at</code>',
        '<code>createdAt</code>, <code>-createdAt</code>',
      ],
    ] as const)
      assert.ok(text.includes(row(what, one, two)), what)
  })

  test('every link of the start page as JSON leads somewhere', async () => {
    const { json } = await world.ask('GET /', { headers: { Accept: 'application/json' } })
    for (const { href } of Object.values<{ href: string }>(json._links)) {
      const { status } = await world.ask(`GET ${href}`, { as: 1, headers: { Accept: '*/*' } })
      // The endpoint of GraphQL is there, and wants a query.
      assert.equal(status, href === '/graphql' ? 400 : 200, href)
    }
  })

  test('each curl line about versions gets the newest one', async () => {
    const { text } = await world.ask('GET /docs/versions')
    const lines = shownIn(text)
    assert.equal(lines.length, 4)
    for (const line of lines) {
      const [, url = ''] = /^curl '([^']+)'/.exec(line) ?? []
      const [, name, value] = / -H '([^:]+): ([^']+)'/.exec(line) ?? []
      const headers = name === undefined ? {} : { [name]: value ?? '' }
      const { pathname, search } = new URL(url)
      const answered = await world.ask(`GET ${pathname}${search}`, { headers })
      assert.deepEqual([answered.status, answered.headers.get('api-version')], [200, '2'], line)
    }
  })
})

for (const [name, path] of [
  ['the start page', '/'],
  ['GraphiQL', '/graphql'],
  ['the reference', '/docs'],
  ['the page about versions', '/docs/versions'],
  ['the page about errors', '/docs/errors'],
] as const) {
  test(`${name} runs and loads nothing but its own files`, async () => {
    const response = await get(path)
    const policy = response.headers.get('content-security-policy') as string
    assert.match(policy, /^default-src 'none'; /)
    assert.doesNotMatch(policy, /unsafe|https?:|\*/)
    assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
    assert.match(response.headers.get('x-request-id') ?? '', /^[\w-]{36}$/)
    const body = await response.text()
    assert.doesNotMatch(body, /<style|<script>| style=| on[a-z]+=/)
    assert.doesNotMatch(body, /(?:src|href)="(?![/#])/)
    assert.doesNotMatch(body, /(?:src|href)="\/\//)
    for (const url of assetsNamedIn(body)) {
      assert.equal((await get(url)).status, 200, url)
    }
  })
}

test('a header that refuses everything prefers nothing', () => {
  assert.equal(preferred('text/html;q=0, */*;q=0', ['text/html', 'application/json']), undefined)
  assert.equal(preferred('', ['text/html']), undefined)
})

test('the most specific range decides, and a broken weight counts as none', () => {
  const forms = ['text/html', 'application/json'] as const
  assert.equal(preferred('*/*, text/html;q=0', forms), 'application/json')
  assert.equal(preferred('application/*;q=0.9, text/html;q=0.1', forms), 'application/json')
  assert.equal(preferred('text/html;q=x, APPLICATION/JSON;q=0.1', forms), 'application/json')
  assert.equal(
    preferred('text/html; charset=utf-8; Q=0.5, application/json;q=0.4', forms),
    'text/html',
  )
})
