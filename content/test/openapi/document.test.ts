/** The OpenAPI documents: served at their paths, and what they say of the content's operations. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import content from '#content/duet.config.ts'
import { demo } from '#content/seed/demo.ts'
import { versions } from '#content/versions.ts'
import { documentSchemas } from '#model/faults/names.ts'
import { type OpenApi, openApiOf } from '#openapi/openapi.ts'
import recipes from '../../../examples/recipes/duet.config.ts'
import { createWorld, forAllTests } from '../world.ts'

const world = forAllTests(createWorld)

const serverOf = ({ servers }: OpenApi) => (servers as readonly { url: string }[])[0]?.url

test('the document of a version is at its own path, and at the others for those who name it', async () => {
  for (const [path, headers, version] of [
    ['/openapi.json', {}, 1],
    ['/api/openapi.json', {}, 1],
    ['/api/openapi.json', { 'API-Version': '2' }, 2],
    ['/api/v1/openapi.json', {}, 1],
    ['/api/v2/openapi.json', {}, 2],
  ] as const) {
    const { status, json, headers: got } = await world.ask(`GET ${path}`, { headers })
    assert.equal(status, 200, path)
    assert.equal(json.openapi, '3.1.1')
    assert.equal(serverOf(json), `/api/v${version}`, path)
    assert.equal(got.get('content-type'), 'application/json; charset=utf-8')
    assert.deepEqual(json, await openApiOf(content, version))
  }
})

test('a document has an ETag, and 304 answers it', async () => {
  const first = await world.ask('GET /api/v2/openapi.json')
  const tag = first.headers.get('etag') ?? ''
  assert.match(tag, /^"/)
  const again = await world.ask('GET /api/v2/openapi.json', { headers: { 'If-None-Match': tag } })
  assert.deepEqual([again.status, again.text], [304, ''])
  assert.equal((await world.ask('GET /api/v2/openapi.json')).text, first.text)
})

test('a document comes as application/vnd.oai.openapi+json to those who prefer that', async () => {
  const headers = { Accept: 'application/vnd.oai.openapi+json' }
  const { headers: got, json } = await world.ask('GET /openapi.json', { headers })
  assert.equal(got.get('content-type'), 'application/vnd.oai.openapi+json;version=3.1')
  assert.equal(json.openapi, '3.1.1')
})

test('no document is larger than 210 kB', async () => {
  for (const version of versions.all) {
    const { text } = await world.ask(`GET /api/v${version}/openapi.json`)
    // Some 5 kB of it are the partial forms and what generators of clients want to know of ids.
    assert.ok(Buffer.byteLength(text) <= 210_000, `${text.length}`)
  }
})

test('the names that no entity may have are those of schemas that documents have for something else', async () => {
  // The recipes have bulk writes.
  const documents = await Promise.all([
    ...versions.all.map(version => openApiOf(content, version)),
    ...recipes.versions.all.map(version => openApiOf(recipes, version)),
  ])
  const names = documents.flatMap(({ components }) => Object.keys(components.schemas ?? {}))
  for (const name of documentSchemas) assert.ok(names.includes(name), name)
})

test('the example of a new user may be sent as it is to a store with the demo', async () => {
  await using other = await createWorld({ rows: demo })
  const { json } = await other.ask('GET /api/v2/openapi.json')
  const { example: body } = json.paths['/users'].post.requestBody.content['application/json']
  assert.equal((await other.ask('POST /api/v2/users', { body })).status, 201)
})

test('the examples of ids in paths are those of rows that the demo has', async () => {
  await using other = await createWorld({ rows: demo })
  for (const version of versions.all) {
    const { json } = await other.ask(`GET /api/v${version}/openapi.json`)
    const shared = json.components.parameters
    type Parameter = { $ref?: string; in: string; name: string; example?: number }
    const paths = Object.entries<{ get?: { parameters: readonly Parameter[] } }>(json.paths)
    const asked = paths.flatMap(([path, { get }]) => {
      const parameters = (get?.parameters ?? []).map(one =>
        one.$ref ? (shared[one.$ref.split('/').at(-1) ?? ''] as Parameter) : one,
      )
      const inPath = parameters.filter(one => one.in === 'path')
      // The demo has neither orders nor customers.
      if (inPath.length === 0 || /^\/(orders|customers)/.test(path)) return []
      return [
        inPath.reduce((made, { name, example }) => made.replace(`{${name}}`, `${example}`), path),
      ]
    })
    assert.ok(asked.includes('/posts/1/comments') && asked.includes('/users/1/posts/1'), `${asked}`)
    for (const path of asked)
      assert.equal((await other.ask(`GET /api/v${version}${path}`, { as: 1 })).status, 200, path)
    assert.equal(json.paths['/orders/{id}'].get.parameters[0].example, undefined)
  }
})

test('ids are int64', async () => {
  for (const version of versions.all) {
    const { components, paths } = await openApiOf(content, version)
    // biome-ignore lint/suspicious/noExplicitAny: a document is walked as it comes.
    const all: any = { components, paths }
    const plain: string[] = []
    const look = (part: unknown, at: string): void => {
      if (typeof part !== 'object' || part === null) return
      const { type, format, maximum } = part as Record<string, unknown>
      if (
        [type].flat().includes('integer') &&
        maximum === Number.MAX_SAFE_INTEGER &&
        format !== 'int64'
      )
        plain.push(at)
      for (const [key, inner] of Object.entries(part)) look(inner, `${at}/${key}`)
    }
    look(all, '')
    assert.deepEqual(plain, [])
    const { Post, PartialProduct } = all.components.schemas
    for (const id of [Post.properties.id, Post.properties.authorId, PartialProduct.properties.id])
      assert.equal(id.format, 'int64')
  }
})

test('a token is asked for where each request needs one, and not where a rule by row lets anybody in', async () => {
  const { paths } = await openApiOf(recipes, 1)
  const isOpen = (method: string, path: string) => {
    const operation = paths[path]?.[method]
    const { security } = operation as unknown as { security: readonly object[] }
    assert.deepEqual(security.at(-1), { bearer: [] })
    return security.some(one => Object.keys(one).length === 0)
  }
  // Published recipes are anybody's, and so are their ingredients.
  for (const path of [
    '/recipes',
    '/recipes/aggregate',
    '/recipes/{id}',
    '/recipes/{id}/ingredients',
  ])
    assert.ok(isOpen('get', path), path)
  for (const [method, path] of [
    ['post', '/recipes'],
    ['patch', '/recipes/{id}'],
    ['post', '/recipes/bulk'],
    ['put', '/recipes/{recipeId}/tags/{id}'],
    ['post', '/recipes/{id}/publish'],
  ] as const)
    assert.ok(!isOpen(method, path), path)
})
