/** The end of a version: from a day on it is 410, and its documents stay. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refuses } from '../rest.ts'
import { deprecatedWorld, tells, tellsNothing } from './deprecated.ts'

const { ask, setClock } = deprecatedWorld()

type Headers = Record<string, string>

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
