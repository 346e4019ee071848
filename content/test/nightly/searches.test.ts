/** Searches of all kinds: each finds what its definition says, and among a million rows in some time. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { folderOf, serve, start } from '#test/duet.ts'
import { usualSeed } from '#test/support/rounds.ts'
import { folded, needles, words } from '../contract/searches.ts'
import { createWorld, type World } from '../world.ts'

const searches = 5000
const products = Number(process.env.DUET_TEST_PRODUCTS ?? 1_000_000)
const seed = usualSeed(7)

let world: World
before(async () => {
  const product = words.map(name => ({ name, category: 'c', price: 1, stock: 1 }))
  world = await createWorld({ rows: { product } })
})
after(() => world.close())

test(`${searches} random searches find what the plain definition says [G12]`, async t => {
  t.diagnostic(`DUET_SEED=${seed}`)
  const names = words.map(word => folded(word.trim()))
  await fc.assert(
    fc.asyncProperty(needles, async search => {
      const query = new URLSearchParams({ limit: '100', fields: 'id', search })
      const { status, json } = await world.ask(`GET /api/products?${query}`)
      assert.equal(status, 200)
      const found = json.data.map(({ id }: { id: number }) => id)
      const meant = names.flatMap((name, n) => (name.includes(folded(search)) ? [n + 1] : []))
      assert.deepEqual(found, meant)
    }),
    { numRuns: searches, seed },
  )
})

test(`of random searches among ${products} rows each is answered [G12]`, async t => {
  const { settings } = folderOf('searches').fresh()
  const few = ['--users', '10', '--posts', '10', '--comments', '10']
  const seeding = start(['seed', ...few, '--products', String(products)], settings)
  assert.deepEqual(await seeding.closed, [0, null], seeding.stderr())
  const service = await serve({ ...settings, DUET_CACHE: '0' })
  const times: number[] = []
  for (const search of fc.sample(needles, { numRuns: 500, seed })) {
    const query = new URLSearchParams({ limit: '20', search })
    const begun = performance.now()
    const answer = await fetch(`${service.url}/api/products?${query}`)
    assert.equal(answer.status, 200, search)
    const { data } = (await answer.json()) as { data: { name: string }[] }
    times.push(performance.now() - begun)
    for (const { name } of data) assert.ok(folded(name).includes(folded(search)), search)
  }
  times.sort((a, b) => a - b)
  const at = (part: number) => times[Math.floor(times.length * part)]?.toFixed(1)
  t.diagnostic(`p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, the slowest ${times.at(-1)?.toFixed(1)} ms`)
  assert.equal((await service.end()).code, 0)
})
