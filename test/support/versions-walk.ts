/** Asks the service of the checkout it is in for what docs/versions.md changes, and prints the answers. */
import { createWorld } from '../world.ts'

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
  old: await ask('POST /api/products', { ...lamp, image: picture, stock: '7' }),
  recent: await ask('POST /api/v2/products', { ...lamp, picture, stock: 7 }),
  oldList: await ask('GET /api/products?in_stock=true&fields=image,stock&limit=1'),
  recentList: await ask('GET /api/v2/products?in_stock=true&fields=picture,stock&limit=1'),
  oldFaults: await ask('POST /api/products', { ...lamp, picture, stock: 7 }),
  oldUser: await ask('GET /api/users/1'),
  replaced: await ask('PUT /api/v2/users/1', { name: 'Ada', email: 'ada@example.org' }),
  kept: await ask('GET /api/users/1?fields=age'),
  recentUser: await ask('GET /api/v2/users/1'),
  bySort: await ask('GET /api/v2/users?sort=age'),
  schema: await ask('POST /graphql', { query: introspection }),
}
await world.close()
process.stdout.write(`${JSON.stringify(answers)}\n`)
