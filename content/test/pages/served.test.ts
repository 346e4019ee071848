/** The pages of the service of this content. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { forAllTests } from '#test/support/fixture.ts'
import { createWorld } from '../world.ts'

/** The texts in `<pre>` of a page, as a reader sees them. */
const shownIn = (html: string): readonly string[] =>
  [...html.matchAll(/<pre><code>([^<]*)</g)].map(([, text = '']) =>
    text.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&'),
  )

describe('the pages of the service', () => {
  const world = forAllTests(createWorld)

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
      const shown = others.map((cell, i) => `<td data-head="version ${i + 1}">${cell}</td>`)
      return `<th scope="row">${first}</th>${shown.join('')}</tr>`
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
