/** Asks the service of the checkout it is in for what docs/changing-an-api.md changes, and prints the answers. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import content from '#content/duet.config.ts'
import { createWorld } from '../world.ts'

const { compareContract, documentsOf } = await import(
  new URL('../../../scripts/contract.mjs', import.meta.url).href
)

const root = fileURLToPath(new URL('../../..', import.meta.url))
const world = await createWorld({ on: 'sqlite' })
const ask = async (line: string, body?: unknown) => {
  const { status, json } = await world.ask(line, { as: 1, ...(body !== undefined && { body }) })
  return { status, json }
}
const picture = 'https://example.org/lamp.png'
const lamp = { name: 'Lamp', category: 'light', price: 5 }
const introspection =
  '{ __type(name: "User") { fields(includeDeprecated: true) { name deprecationReason } } }'
const answers = {
  first: await ask('POST /api/products', { ...lamp, image: picture, stock: 7 }),
  second: await ask('POST /api/v2/products', { ...lamp, image: picture, stock: 7 }),
  third: await ask('POST /api/v3/products', { ...lamp, picture, stock: '7' }),
  secondList: await ask('GET /api/v2/products?in_stock=true&fields=image,stock&limit=1'),
  thirdList: await ask('GET /api/v3/products?in_stock=true&fields=picture,stock&limit=1'),
  thirdFaults: await ask('POST /api/v3/products', { ...lamp, image: picture, stock: 7 }),
  secondUser: await ask('GET /api/v2/users/1'),
  replaced: await ask('PUT /api/v3/users/1', { name: 'Ada', email: 'ada@example.org' }),
  kept: await ask('GET /api/users/1?fields=age'),
  thirdUser: await ask('GET /api/v3/users/1'),
  bySort: await ask('GET /api/v3/users?sort=age'),
  schema: await ask('POST /graphql', { query: introspection }),
}
await world.close()
const { text: contract } = compareContract({
  root,
  files: {
    ...(await documentsOf(content)),
    // The examples change nothing of the package.
    'package.d.ts': readFileSync(join(root, 'contract/package.d.ts'), 'utf8'),
  },
  // The page's sunset is six months ahead of it.
  today: '2026-12-01',
  writes: false,
})
process.stdout.write(`${JSON.stringify({ answers, contract })}\n`)
