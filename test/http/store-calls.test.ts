/** What a request may ask of the store: nothing where it is bad by itself; and an answer, whatever the store throws. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openApiOf } from '#openapi/openapi.ts'
import { type Asking, createWorld, forAllTests } from '#test/market.ts'
import content, { versions } from '#test/support/market/duet.config.ts'

const reason = 'SQLITE_CORRUPT: select * from secrets at /var/lib/duet.db'

let asked = 0
let isBroken = false

/** Has the methods of a part count how often they are called, or throw, from now on. */
const watch = (part: object): void => {
  for (const [name, method] of Object.entries(part))
    if (typeof method === 'function' && !/^(close|ready)$/.test(name))
      Object.assign(part, {
        [name]: (...given: unknown[]) => {
          asked++
          if (isBroken) throw new TypeError(reason)
          return method(...given)
        },
      })
}

const world = forAllTests(async () => {
  const world = await createWorld()
  // It is the reader and the writer of the service.
  watch(world.engine)
  return world
})

const json = { 'Content-Type': 'application/json' }

const bad: readonly (readonly [line: string, status: number, asking?: Asking])[] = [
  ['POST /api/users', 400, { raw: '{"name":', headers: json }],
  ['POST /api/users', 415, { raw: 'name=x', headers: { 'Content-Type': 'text/plain' } }],
  ['POST /api/users', 422, { body: { name: 1 } }],
  ['POST /api/users', 413, { raw: `"${'x'.repeat(1_048_576)}"`, headers: json }],
  ['GET /api/posts', 401, { headers: { Authorization: 'Bearer x.y.z' } }],
  ['GET /api/users', 401],
  ['DELETE /api/products/1', 401],
  ['POST /api/products', 403, { as: 2, body: {} }],
  ['GET /api/products?limit=x', 422],
  ['GET /api/products?min_price=x', 422],
  ['GET /api/posts?cursor=x', 422],
  ['GET /api/products?version=9', 400],
  ['GET /api/v9/products', 404],
  ['GET /api/nothing', 404],
  ['GET /api/products/x', 404],
  ['PATCH /api/products', 405, { as: 1, body: {} }],
  ['OPTIONS /api/products', 204],
  [`GET /api/products?x=${'x'.repeat(5000)}`, 414],
  ['POST /graphql', 400, { raw: '[', headers: json }],
  ['POST /graphql', 415, { raw: '{}', headers: { 'Content-Type': 'text/plain' } }],
  ['POST /graphql', 200, { body: { query: '{ users { nothing } }' } }],
  ['POST /graphql', 200, { body: { query: '{ users {' } }],
  ['POST /graphql', 200, { body: { query: '{ users { id } }' } }],
  ['POST /graphql', 200, { as: 2, body: { query: 'query ($id: ID!) { user(id: $id) { id } }' } }],
  ['GET /graphql?query=mutation{deleteUser(id:1)}', 405, { as: 1 }],
]

test('a request that is bad by itself asks nothing of the store [B7]', async () => {
  for (const [line, status, asking] of bad) {
    asked = 0
    const answer = await world.ask(line, asking)
    assert.equal(answer.status, status, line)
    assert.ok(status >= 300 || status === 204 || answer.json.errors, line)
    assert.equal(asked, 0, `${line} ${JSON.stringify(asking ?? {}).slice(0, 200)}`)
  }
  asked = 0
  await world.ask('GET /api/products/1')
  assert.ok(asked > 0, 'a good one asks')
})

// biome-ignore lint/suspicious/noExplicitAny: a document is walked as it comes.
type Json = any

/** A good request for each operation of the documents, with the examples that they give. */
const operations = async (): Promise<readonly (readonly [line: string, asking: Asking])[]> => {
  const documents = await Promise.all(versions.all.map(version => openApiOf(content, version)))
  return documents.flatMap((document, at) =>
    Object.entries<Json>(document.paths as Json).flatMap(([path, item]) =>
      Object.entries<Json>(item)
        .filter(([method]) => method !== 'parameters')
        .map(([method, { requestBody }]) => {
          const example = requestBody?.content['application/json']?.example
          const isPicture = requestBody?.content['image/gif'] !== undefined
          const target = path.replace('{userId}', '2').replace(/\{\w+\}/g, '1')
          return [
            `${method.toUpperCase()} /api/v${versions.all[at]}${target}`,
            {
              as: 1,
              ...(example && { body: example }),
              ...(isPicture && { raw: 'GIF89a\x01\0\x01\0\0\0\0;' }),
            },
          ] as const
        }),
    ),
  )
}

test('whatever the store throws below any operation is 500 with the id of the request, and tells nothing more [D12, H13]', async () => {
  const all = await operations()
  const others: string[] = []
  isBroken = true
  for (const [line, asking] of all) {
    world.events.length = 0
    const { status, json, text, headers } = await world.ask(line, asking)
    if (status !== 500) {
      others.push(`${line} ${status} ${text.slice(0, 90)}`)
      continue
    }
    assert.equal((json.error ?? json).code, 'INTERNAL', line)
    assert.equal((json.error ?? json).requestId, headers.get('x-request-id'), line)
    assert.doesNotMatch(text, /SQLITE|secrets|duet\.db|TypeError/, line)
    const bug = world.events.find(({ kind }) => kind === 'bug')
    assert.ok(bug?.kind === 'bug' && String(bug.error).includes(reason), line)
  }
  isBroken = false
  assert.deepEqual(others, [])
  assert.equal((await world.ask('GET /api/products/1')).status, 200)
})
