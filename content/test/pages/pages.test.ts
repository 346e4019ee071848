/** The pages as they are sent: what they say, and that they load nothing else. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { html } from 'hono/html'
import { loadConfig } from '#config.ts'
import content from '#content/duet.config.ts'
import { anyone } from '#model/policy.ts'
import { greetingOf } from '#serve/service.ts'
import { library } from '#test/support/library/index.ts'
import { get, graphiql, reference, start } from './pages.ts'

const assetsNamedIn = (html: string): string[] =>
  [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(match => match[1] as string)

describe('the start page', () => {
  test('shows no operation where only stored ones are taken, and no command for tokens that others make', async () => {
    const shown = await (await get('/')).text()
    const page = { ...start, takesOperations: false, makesTokens: false }
    const hidden = await (await get('/', {}, { start: page })).text()
    for (const [part, is] of [
      ['&quot;query&quot;', true],
      ['token --user 1', true],
      ['Only the documents that are stored here are taken', false],
      ['ask the identity provider of this service', false],
    ] as const) {
      assert.equal(shown.includes(part), is, part)
      assert.equal(hidden.includes(part), !is, part)
    }
  })

  test('and the greeting have no operation where only stored ones are taken', () => {
    const greeting = (more: Record<string, string>) =>
      greetingOf(
        { config: loadConfig(more, content.settings), content },
        'http://x',
        undefined,
        't',
        undefined,
      )
    assert.match(greeting({}), /GraphQL {2}curl -s /)
    assert.match(
      greeting({ DUET_DOCUMENTS: '.', DUET_DOCUMENTS_ONLY: 'on' }),
      /GraphQL {2}takes the documents of DUET_DOCUMENTS alone\n/,
    )
  })

  test('it links to both APIs, to every list that anybody may read and to the state of the service', async () => {
    const body = await (await get('/')).text()
    for (const href of [
      '/graphql',
      '/graphql/schema.graphql',
      '/docs',
      '/api/v2/openapi.json',
      '/docs/guide',
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

  test('a list without filters, sorts and cursors stands without a note', async () => {
    const { member } = library.entities
    assert.ok(member)
    const plain = { ...member.rest, list: true, listing: { paging: 'page', limit: 10 } } as const
    const model = { ...start.model, entities: { member: { ...member, rest: plain } } }
    const open = { ...model.entities.member, policy: { read: anyone } }
    const page = { ...start, model: { ...model, entities: { member: open } } }
    const body = await (await get('/', {}, { start: page })).text()
    assert.ok(body.includes('<li><a href="/api/v2/members">/api/v2/members</a></li>'))
    assert.ok(!body.includes('<span class="note"></span>'))
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
        guide: { href: '/docs/guide' },
        versions: { href: '/docs/versions' },
        errors: { href: '/docs/errors' },
        users: { href: '/api/v2/users' },
        posts: { href: '/api/v2/posts' },
        products: { href: '/api/v2/products' },
        orders: { href: '/api/v2/orders' },
        admin: { href: '/admin' },
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

  test('text from outside is escaped [G20]', async () => {
    const version = '<script>alert("1")</script>'
    const body = await (await get('/', {}, { start: { ...start, version } })).text()
    assert.ok(!body.includes('<script>'))
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
    for (const [version, chosen] of [
      [1, ''],
      [2, 'selected'],
    ] as const)
      assert.ok(
        body.includes(
          `<option value="${version}" data-document="/api/v${version}/openapi.json" ${chosen}>`,
        ),
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

describe('the guide', () => {
  test('its example calls the address of the request, and its links lead to pages', async () => {
    const body = await (await get('http://duet.example/docs/guide')).text()
    assert.ok(body.includes("curl -s -i 'http://duet.example/api/v2/products?limit=2'"))
    assert.doesNotMatch(body, /127\.0\.0\.1|\.md|\]\(|```|\*\*/)
    const anchors = [...body.matchAll(/href="#([^"]+)"/g)].map(([, anchor = '']) => anchor)
    assert.ok(anchors.includes('sending-a-request-twice'))
    for (const anchor of anchors) assert.ok(body.includes(`id="${anchor}"`), anchor)
    for (const page of ['/docs', '/docs/versions', '/docs/errors'])
      assert.ok(body.includes(`<a href="${page}">`), page)
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
    assert.match(body, /<th scope="row">the timestamp<\/th><td[^>]*><code>created_at<\/code><\/td>/)
    assert.match(body, /<td[^>]*><code>createdAt<\/code>, &lt;b&gt;<\/td>/)
  })

  test('a single version differs from none', async () => {
    const [one] = reference.versions.versions
    const versions = { ...reference.versions, versions: one ? [one] : [], differences: () => [] }
    const world = { reference: { ...reference, versions } }
    const body = await (await get('/docs/versions', {}, world)).text()
    assert.match(body, /has one version, 1\./)
    assert.doesNotMatch(body, /What differs/)
  })
})

describe('the page about errors', () => {
  test('it has every code of the machine and the content, with its status and an example, under its name', async () => {
    const body = await (await get('/docs/errors')).text()
    for (const { code, status, title, example = title } of reference.errors.errors) {
      const name = `<a id="${code}" href="#${code}"><code>${code}</code></a>`
      const cells = { Status: status, 'What it says': title, 'For example': example }
      const shown = Object.entries(cells).map(
        ([head, text]) => html`<td data-head="${head}">${text}</td>`,
      )
      assert.ok(body.includes(`${name}</th>${shown.map(String).join('')}`), code)
    }
  })

  test('it shows an error as each API prints it, as text', async () => {
    const body = await (await get('/docs/errors')).text()
    assert.match(body, /422 · <code>application\/json<\/code>/)
    assert.match(body, /&quot;code&quot;: &quot;&lt;b&gt;&quot;/)
  })
})

for (const [name, path] of [
  ['the start page', '/'],
  ['GraphiQL', '/graphql'],
  ['the reference', '/docs'],
  ['the guide', '/docs/guide'],
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
