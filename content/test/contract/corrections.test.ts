/** What `contract/corrections.json` passes: the documents were wrong, and the answers are as they were. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { createWorld, forAllTests } from '../world.ts'

type Entry = {
  readonly file: string
  readonly rule: string
  readonly places: readonly string[]
}

const file = new URL('../../../contract/corrections.json', import.meta.url)
const entries: readonly Entry[] = JSON.parse(readFileSync(file, 'utf8'))

const world = forAllTests(createWorld)

/** The operations that corrections of a rule name, with the version and what stands behind each: `1 GET /posts → 200`. */
const placesOf = (rule: string): readonly string[] =>
  entries
    .filter(entry => entry.rule === rule)
    .flatMap(({ file, places }) => places.map(place => `${file.match(/\d+/)?.[0]} ${place}`))

test('the answers that are corrected are those that fields shortens; plain ones have all members', async () => {
  const places = placesOf('alternative-added')
  assert.deepEqual(
    [...new Set(places.map(place => place.replace(/ \(.*/, '')))].toSorted(),
    [1, 2].flatMap(version =>
      ['/products', '/products/{id}', '/users', '/users/{id}'].map(
        path => `${version} GET ${path} → 200`,
      ),
    ),
  )
  for (const place of places) {
    const [version, , path = '', , , type = '(application/json)'] = place.split(' ')
    const line = `GET /api/v${version}${path.replace('{id}', '1')}`
    const options = { as: 1, headers: { Accept: type.slice(1, -1) } }
    const [plain, part] = await Promise.all([
      world.ask(line, options),
      world.ask(`${line}?fields=name`, options),
    ])
    assert.equal(part.headers.get('content-type')?.split(';')[0], type.slice(1, -1))
    const firstOf = ({ json }: typeof plain) => (path.includes('{') ? json : json.data[0])
    assert.deepEqual(Object.keys(firstOf(part)), ['name'])
    assert.ok(Object.keys(firstOf(plain)).length > 6, line)
  }
})

test('ids that do not fit 32 bits were taken always: they are of no row, and no fault', async () => {
  const large = 2 ** 32 + 1
  const inPath = placesOf('format-added').flatMap(place => {
    const [, version, path] = /^(\d) GET (\S+) → path /.exec(place) ?? []
    return path === undefined ? [] : [`/api/v${version}${path.replace(/\{\w+\}/g, String(large))}`]
  })
  assert.ok(inPath.length > 10, `${inPath}`)
  for (const path of new Set(inPath))
    assert.equal((await world.ask(`GET ${path}`, { as: 1 })).status, 404, path)
  for (const version of [1, 2]) {
    const path = `/api/v${version}/orders?customerId=${large}`
    const { status, json } = await world.ask(`GET ${path}`, { as: 1 })
    assert.deepEqual([status, json.data], [200, []])
  }
  const asked = await world.ask(`GET /api/v2/posts?authorId[in]=${large},1&limit=1`, { as: 1 })
  assert.equal(asked.status, 200)
  const body = { items: [{ productId: large, quantity: 1 }] }
  const { status, json } = await world.ask('POST /api/orders', { as: 1, body })
  assert.deepEqual([status, json.error.details[0].field], [422, 'items.0.productId'])
  assert.match(json.error.message, /names product 4294967297, which does not exist/)
})
