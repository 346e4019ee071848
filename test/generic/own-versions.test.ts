/** Versions as a content declares them: one if it says nothing, and a third one without a change of the machine. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { optionsOf } from '#base/shape.ts'
import { loadConfig } from '#config.ts'
import { defineContent } from '#content.ts'
import { defineModel } from '#model/model.ts'
import { type DeclaredVersions, defineVersions } from '#model/version.ts'
import { openApiOf } from '#openapi/openapi.ts'
import { member } from '../generated/models.ts'
import { type Service, serveModel } from '../generated/serve.ts'
import { onPostgres } from '../stores.ts'
import { forAllTests } from '../support/fixture.ts'
import { demo } from '../support/library/demo.ts'
import { library } from '../support/library/index.ts'
import { roles } from '../support/roles.ts'
import { createWorld } from '../world.ts'

const { options: parts } = optionsOf(library) as { options: Parameters<typeof defineContent>[0] }
const { options: declared } = optionsOf(library.versions) as { options: DeclaredVersions }

describe('a content that says nothing of versions', () => {
  let service: Service
  before(async () => {
    const on = onPostgres ? 'postgres' : 'sqlite'
    service = await serveModel(defineModel({ member } as never), on, undefined, defineVersions())
    const body = { name: 'Ada' }
    assert.equal((await service.ask({ line: 'POST /api/members', as: 'admin', body })).status, 201)
  })
  after(() => service.close())
  const get = async (path: string) => {
    const answer = await service.ask({ line: `GET ${path}`, as: 'user' })
    return { ...answer, json: JSON.parse(answer.text) }
  }

  test('has version 1, with and without its number in the path, in the forms of a new version', async () => {
    for (const prefix of ['/api', '/api/v1']) {
      const { status, headers, json } = await get(`${prefix}/members`)
      assert.deepEqual([status, headers.get('api-version')], [200, '1'])
      assert.match(headers.get('etag') ?? '', /-v1"$/)
      assert.deepEqual(json.pagination, {
        limit: 10,
        hasNext: false,
        nextCursor: null,
        page: 1,
        total: 1,
        totalPages: 1,
        hasPrev: false,
      })
    }
  })

  test('refuses unknown parameters, and answers errors as problems', async () => {
    const { status, headers, json } = await get('/api/members?colour=red')
    assert.deepEqual([status, json.code], [422, 'VALIDATION_ERROR'])
    assert.equal(headers.get('content-type'), 'application/problem+json')
  })

  test('has a document in which each schema is referred to', async () => {
    const { text, json } = await get('/api/openapi.json')
    for (const name of Object.keys(json.components.schemas))
      assert.ok(text.includes(`"#/components/schemas/${name}"`), name)
  })

  test('offers no other version', async () => {
    const { status, json } = await get('/api/v2/members')
    assert.equal(status, 404)
    assert.equal(json.detail, 'Version 2 of the API not found; offered: 1')
  })

  test('has a document without an end, and no setting for one', async () => {
    const { json } = await get('/api/v1/openapi.json')
    assert.deepEqual(json.servers, [{ url: '/api/v1' }])
    assert.doesNotMatch(JSON.stringify(json), /VERSION_WITHDRAWN|Sunset/)
    const content = defineContent({
      entities: defineModel({ member } as never),
      viewers: { entity: 'member', blocked: { field: 'status', value: 'blocked' }, roles },
      migrations: new URL('file:///'),
      examples: { graphql: '', rest: '', withToken: { graphql: '', rest: '' } },
    })
    assert.deepEqual(content.settings, {})
    assert.throws(
      () => loadConfig({ DUET_V1_SUNSET: '2027-01-01' }, content.settings),
      /DUET_V1_SUNSET is not a setting/,
    )
  })
})

describe('the library in a third version, whose lists are as those of the first', () => {
  const content = defineContent({
    ...parts,
    versions: defineVersions({ ...declared, 3: { lists: 'by paging' } }),
  })
  const world = forAllTests(() =>
    createWorld({
      content,
      rows: demo,
      deprecation: {
        version: 1,
        from: '2020-01-01',
        sunset: undefined,
        header: 'true',
        holds: 'sunset',
      },
    }),
  )

  test('serves it beside the others, by path, media type, header and parameter', async () => {
    for (const [line, headers] of [
      ['GET /api/v3/books?limit=1', {}],
      ['GET /api/books?limit=1', { Accept: 'application/vnd.duet.v3+json' }],
      ['GET /api/books?limit=1', { 'API-Version': '3' }],
      ['GET /api/books?limit=1&version=3', {}],
    ] as const) {
      const { status, json, headers: answered } = await world.ask(line, { as: 1, headers })
      assert.deepEqual([status, answered.get('api-version')], [200, '3'], line)
      assert.match(answered.get('etag') ?? '', /-v3"$/)
      assert.equal(typeof json.pagination.nextCursor, 'string', line)
      // What begins with the second version goes on.
      assert.ok('subtitle' in json.data[0])
    }
  })

  test('leaves the others as they are', async () => {
    for (const version of [1, 2]) {
      const { status, headers } = await world.ask(`GET /api/v${version}/books?limit=1`, { as: 1 })
      assert.deepEqual([status, headers.get('api-version')], [200, String(version)])
      const json = JSON.stringify(await openApiOf(content, version))
      assert.equal(json, JSON.stringify(await openApiOf(library, version)))
    }
    const { json } = await world.ask('GET /api/v2/books?limit=1', { as: 1 })
    assert.equal(typeof json.pagination.nextCursor, 'string')
  })

  test('names it as the successor of the first, and in the settings of its end', async () => {
    const { headers } = await world.ask('GET /api/books?limit=1', { as: 1 })
    assert.equal(headers.get('deprecation'), 'true')
    assert.match(headers.get('link') ?? '', /<\/api\/v3\/books\?limit=1>; rel=successor-version/)
    assert.deepEqual(
      Object.keys(content.settings).filter(name => /_V\d/.test(name)),
      ['DUET_V1_DEPRECATED', 'DUET_V1_SUNSET'],
    )
  })

  test('has it on the page about versions, and what differs', async () => {
    const page = await world.app.request('/docs/versions')
    assert.match(await page.text(), /versions 1, 2 and 3/)
  })
})

for (const [what, given, message] of [
  ['no number', { one: {} }, 'The versions are one: name each by a number, such as 1'],
  ['none', {}, 'The versions are none: name each by a number, such as 1'],
  [
    'an unknown style',
    { 1: { list: 'uniform' } },
    'the versions.1 has list, which is no option of it: did you mean lists?',
  ],
] as const)
  test(`versions that are ${what} stop the start`, () => {
    assert.throws(() => defineVersions(given as never), new Error(message))
  })
