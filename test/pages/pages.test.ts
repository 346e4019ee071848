/** The pages of a content of one's own: its name and colours, and what it does not offer. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { optionsOf } from '#base/shape.ts'
import { type Content, defineContent } from '#content.ts'
import { openApiOf } from '#openapi/openapi.ts'
import { authDocument } from '#openapi/people.ts'
import { forAllTests } from '#test/support/fixture.ts'
import { library } from '#test/support/library/index.ts'
import blog from '../../examples/blog/duet.config.ts'
import { subjects } from '../generic/contents.ts'
import { createWorld, type World } from '../world.ts'

const { options: parts } = optionsOf(library) as { options: Parameters<typeof defineContent>[0] }

describe('the pages of a content with a name of its own', () => {
  const content = defineContent({
    ...parts,
    title: 'Books & Co',
    description: 'What can be lent.',
    colours: { rest: '#ff8800' },
  })
  const world = forAllTests(() => createWorld({ content }))

  test('carry its name and say what it is', async () => {
    const { text } = await world.ask('GET /')
    assert.match(text, /<title>Books &amp; Co<\/title>.*<h1>Books &amp; Co<\/h1>/s)
    assert.match(text, /<p class="lead">What can be lent\.<\/p>.*<span>Duet /s)
    for (const path of ['/docs', '/docs/guide', '/docs/versions', '/docs/errors'])
      assert.match(
        (await world.ask(`GET ${path}`)).text,
        / · Books &amp; Co<\/title>.*<a class="home" href="\/">Books &amp; Co</s,
      )
  })

  test('have its colours in a file of their own', async () => {
    const { text } = await world.ask('GET /')
    const [, file] = /href="(\/assets\/frame\.css[^"]+)"/.exec(text) ?? []
    const style = (await world.ask(`GET ${file}`)).text
    const shades = ['min(l, 0.5)', 'max(l, 0.78)'].map(of => `oklch(from #ff8800 ${of} c h)`)
    assert.ok(style.includes(`--rest: light-dark(${shades});`))
    assert.doesNotMatch(style, /--graphql: light-dark\(oklch/)
  })

  test('have an icon in its colours and a way back from GraphiQL', async () => {
    const icon = (await world.ask('GET /assets/mark.svg')).text
    assert.match(icon, /<title>Books &amp; Co<.*stroke="#ff8800".*stroke="#d6298f"/s)
    const { text } = await world.ask('GET /graphql', { headers: { Accept: 'text/html' } })
    assert.match(text, /<a class="home" href="\/">Books &amp; Co<.*aria-current="page">GraphiQL</s)
  })

  test('have documents that carry its name', async () => {
    const { info } = (await world.ask('GET /api/v2/openapi.json')).json
    assert.equal(info.title, 'Books & Co, version 2')
    assert.match(info.description, /^What can be lent\.\n\nObjects, lists/)
  })
})

test('a colour or a title that is none stops the start with its name', () => {
  const define = (more: object) => () => defineContent({ ...parts, ...more })
  for (const colour of ['red', '#fff', '#12345g', '#000000; } body { color: red'])
    assert.throws(define({ colours: { rest: colour } }), {
      message: `colours.rest of the content must be a colour such as #0a736d, not ${colour}`,
    })
  assert.throws(define({ title: ' ' }), /^Error: The title of the content is empty/)
})

test('a contact is in the documents as it is, and one that nobody can reach stops the start', async () => {
  const define = (contact: object) => defineContent({ ...parts, contact })
  for (const [contact, message] of [
    [{}, /^The contact of the content is empty: give it a name, a url or an email$/],
    [{ name: ' ' }, /is empty/],
    [{ url: '/help' }, /^contact\.url of the content must be an absolute http or https URL, not /],
    [{ url: 'javascript:alert(1)' }, /^contact\.url/],
    [
      { name: 'A', email: 'help' },
      /^contact\.email of the content must be an email address, not help$/,
    ],
    [{ phone: '1' }, /phone, which is no option of it/],
  ] as const)
    assert.throws(() => define(contact), { message })
  const contact = { name: 'Editors', url: 'https://blog.example/help', email: 'help@blog.example' }
  const shownBy = async (content: Content) => {
    const { info } = await openApiOf(content, content.versions.newest)
    return (info as { contact?: object }).contact
  }
  assert.deepEqual(await shownBy(define(contact)), contact)
  assert.equal(await shownBy(defineContent(parts)), undefined)
})

test('a license is in the documents as it is, and without one they name none', async () => {
  const define = (license: { name: string; identifier?: string; url?: string }) =>
    defineContent({ ...parts, license })
  for (const [license, message] of [
    [{ name: ' ' }, /^The license of the content has no name: say one, such as MIT$/],
    [{ name: 'MIT', identifier: 'MIT', url: 'https://a.example/' }, /OpenAPI takes one$/],
    [{ name: 'Ours', url: '/terms' }, /^license\.url of the content must be an absolute http or/],
  ] as const)
    assert.throws(() => define(license), { message })
  const shownBy = async (content: Content) =>
    [await openApiOf(content, content.versions.newest), authDocument(content)].map(
      ({ info }) => (info as { license?: object }).license,
    )
  const license = { name: 'Terms of use', url: 'https://a.example/terms' }
  assert.deepEqual(await shownBy(define(license)), [license, license])
  assert.deepEqual(await shownBy(defineContent(parts)), [undefined, undefined])
})

const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

describe('an address of the REST API', () => {
  let world: World
  before(async () => {
    const rows = { author: [{ name: 'A <b>' }, { name: '"href": "/x"' }, { name: 'C' }] }
    world = await createWorld({ content: library, rows })
  })
  after(() => world.close())
  const visit = { Accept: browser, 'Sec-Fetch-Dest': 'document', 'Sec-Fetch-Mode': 'navigate' }

  test('that a browser opens is a page with the answer to be read, and its links to follow', async () => {
    const { status, headers, text } = await world.ask('GET /api/v2/authors?limit=1&page=2', {
      headers: visit,
    })
    assert.equal(status, 200)
    assert.equal(headers.get('content-type'), 'text/html; charset=utf-8')
    assert.equal(headers.get('cache-control'), 'no-store')
    assert.equal(headers.get('etag'), null)
    assert.equal(headers.get('api-version'), '2')
    assert.match(headers.get('vary') ?? '', /Accept, .*Sec-Fetch-Dest/)
    assert.match(headers.get('content-security-policy') ?? '', /style-src 'self'/)
    assert.match(text, /<h1 class="path">\/api\/v2\/authors\?limit=1&amp;page=2<\/h1>/)
    assert.match(text, /&quot;name&quot;: &quot;\\&quot;href\\&quot;: \\&quot;\/x\\&quot;&quot;/)
    assert.match(text, /&quot;href&quot;: &quot;<a href="\/api\/v2\/authors\/2">/)
    assert.match(text, /<a href="\/api\/v2\/authors\?[^"]*">next<\/a>/)
    assert.doesNotMatch(text, /<a href="\/x"/)
    const first = await world.ask('GET /api/v2/authors/1', { headers: visit })
    assert.match(first.text, /A &lt;b&gt;/)
    const missing = await world.ask('GET /api/v2/authors/99', { headers: visit })
    assert.equal(missing.status, 404)
    assert.match(missing.text, /<p class="facts"><span>404<\/span><span>NOT_FOUND<\/span>/)
    const closed = await world.ask('GET /api/v2/members', { headers: visit })
    assert.equal(closed.status, 401)
    const told = [missing, closed].map(({ text }) => text.includes('sends no token; the reference'))
    assert.deepEqual(told, [false, true])
  })

  test('is the answer itself for every program, whatever it names in Accept', async () => {
    const path = 'GET /api/v2/authors?limit=1'
    const plain = await world.ask(path)
    for (const headers of [{ Accept: browser }, { ...visit, 'Sec-Fetch-Dest': 'empty' }]) {
      const answer = await world.ask(path, { headers })
      assert.equal(answer.text, plain.text)
      for (const name of ['content-type', 'etag', 'vary', 'cache-control'])
        assert.equal(answer.headers.get(name), plain.headers.get(name), name)
    }
    const missing = await world.ask('GET /api/v2/authors/99', { headers: { Accept: browser } })
    assert.equal(missing.json.code, 'NOT_FOUND')
  })
})

describe('a path that is not there, or whose page fails', () => {
  let world: World
  before(async () => {
    const served = async () => ({
      routes: [],
      pages: [{ path: '/broken', assets: {}, page: () => Promise.reject(new Error('secret')) }],
    })
    world = await createWorld({ content: defineContent({ ...parts, served }) })
  })
  after(() => world.close())

  test('is a page for a browser, with the same status and what is wrong', async () => {
    const paths: readonly (readonly [string, number, RegExp])[] = [
      ['GET /nope%3Cb%3E', 404, /<p class="lead">Path \/nope&lt;b&gt; not found/],
      ['GET /api/v2/nope', 404, /Path \/api\/v2\/nope not found/],
      ['GET /assets/nope.js', 404, /Asset nope\.js not found/],
      ['DELETE /docs', 405, /DELETE is not possible at \/docs/],
      ['GET /broken', 500, /The server failed to answer/],
    ]
    for (const [request, status, said] of paths) {
      const answer = await world.ask(request, { headers: { Accept: browser } })
      assert.equal(answer.status, status, request)
      assert.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8')
      assert.equal(answer.headers.get('cache-control'), 'no-store')
      assert.equal(answer.headers.get('etag'), null)
      assert.match(answer.headers.get('content-security-policy') ?? '', /default-src 'none'/)
      assert.ok(answer.text.includes(answer.headers.get('x-request-id') ?? 'none'))
      assert.match(answer.text, said)
      assert.match(answer.text, /<a href="\/">The start page/)
      assert.doesNotMatch(answer.text, /secret/)
    }
    const wrong = await world.ask('DELETE /docs', { headers: { Accept: browser } })
    assert.equal(wrong.headers.get('allow'), 'GET, HEAD, OPTIONS')
  })

  test('is JSON for all others', async () => {
    for (const Accept of [
      undefined,
      '*/*',
      'application/json',
      'image/png',
      'text/html;q=0.5, */*',
    ])
      for (const path of ['/nope', '/api/v2/nope', '/broken']) {
        const { json, headers } = await world.ask(`GET ${path}`, {
          headers: Accept ? { Accept } : {},
        })
        assert.match(headers.get('content-type') ?? '', /json/, `${Accept}`)
        assert.ok(json.code ?? json.error.code)
      }
  })
})

test('a service with one version is told of one way to name it', async () => {
  const one = await createWorld({ content: blog })
  const [pages, reference] = [await one.ask('GET /docs/versions'), await one.ask('GET /docs')]
  assert.match(pages.text, /The REST API has one version, 1\./)
  assert.equal(pages.text.split('<pre>').length, 2)
  assert.doesNotMatch(pages.text, /four ways|two different versions/)
  assert.match(reference.text, /<label hidden>Version/)
  await one.close()
  const two = await createWorld({ content: library })
  assert.match((await two.ask('GET /docs/versions')).text, /In any of four ways/)
  assert.match((await two.ask('GET /docs')).text, /<label>Version/)
  await two.close()
})

test('a list that anybody may read in some rows is linked to', async () => {
  const world = await createWorld({ content: blog })
  const { text } = await world.ask('GET /')
  assert.ok(text.includes('<a href="/api/v1/posts">'))
  assert.equal((await world.ask('GET /api/v1/posts')).status, 200)
  await world.close()
})

test('pages lead to GraphiQL only where it can load the schema', async () => {
  for (const introspection of [true, false]) {
    const world = await createWorld({ content: library, introspection })
    for (const path of ['/', '/docs/errors'])
      assert.equal(
        (await world.ask(`GET ${path}`)).text.includes('href="/graphql"'),
        introspection,
        path,
      )
    await world.close()
  }
})

describe('the requests of the guide', () => {
  for (const { name, content } of subjects)
    test(`are what ${name} takes, in both APIs`, async () => {
      const world = await createWorld({ content })
      const { text } = await world.ask('GET /docs/guide')
      const lines = [...text.matchAll(/<code>(curl -sg? .*?)<\/code>/gs)].map(([, line = '']) =>
        line.replaceAll('&#39;', "'").replaceAll('&quot;', '"').replaceAll('&amp;', '&'),
      )
      assert.ok(lines.some(line => line.includes('/graphql')) || name.includes('empty'))
      for (const line of lines) {
        const [, path = ''] = /http:\/\/localhost([^' ]+)/.exec(line) ?? []
        const [, sent] = / -d '(.*)'$/.exec(line) ?? []
        const { status, text } = await world.ask(`${sent ? 'POST' : 'GET'} ${path}`, {
          ...(sent && { body: JSON.parse(sent) }),
        })
        assert.ok(status === 200 && !text.includes('"errors"'), `${line}: ${status} ${text}`)
      }
      await world.close()
    })
})
