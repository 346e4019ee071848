import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { transitions } from '#content/order/entity.ts'
import { ownFolder } from '#test/support/folders.ts'
import { rounds } from '#test/support/rounds.ts'
import { type Answered, createWorld, onPostgres, type World } from '../world.ts'
import { checkInvariants } from './invariants.ts'

const folder = ownFolder('model')
const file = join(folder, 'duet.db')

type Product = { price: number; stock: number }
type Order = {
  status: string
  readonly items: readonly { productId: number; quantity: number; price: number }[]
}
type Sent = {
  readonly line: string
  readonly body: unknown
  readonly as: number
  readonly text: string
}

/** The expected state of the service, with money in cents. */
type Model = {
  user: number | undefined
  readonly products: Map<number, Product>
  readonly orders: Map<number, Order>
  readonly sent: Map<string, Sent>
}

type Real = { world: World }
let keys = 0

const nth = <Value>(map: ReadonlyMap<number, Value>, pick: number): [number, Value] | undefined =>
  [...map][pick % Math.max(map.size, 1)]

const sumOf = ({ items }: Order) =>
  items.reduce((sum, { quantity, price }) => sum + quantity * price, 0)

/** Sends with a new key; requests that had an effect are recorded, to be sent again. */
const send = async (
  model: Model,
  { world }: Real,
  line: string,
  as: number,
  body?: unknown,
): Promise<Answered> => {
  const key = `model-${++keys}`
  const headers = { 'Idempotency-Key': key }
  const answer = await world.ask(line, { as, headers, ...(body !== undefined && { body }) })
  if (answer.status < 300) model.sent.set(key, { line, body, as, text: answer.text })
  return answer
}

type Command = fc.AsyncCommand<Model, Real>
const command = (name: string, run: (model: Model, real: Real) => Promise<void>): Command => ({
  check: () => true,
  run,
  toString: () => name,
})

const place = (picks: readonly (readonly [number, number])[]) =>
  command(`place ${JSON.stringify(picks)}`, async (model, real) => {
    const wanted = new Map<number, number>()
    for (const [pick, quantity] of picks) {
      const [productId] = nth(model.products, pick) ?? []
      if (productId !== undefined) wanted.set(productId, quantity)
    }
    if (wanted.size === 0 || model.user === undefined) return
    const items = [...wanted].map(([productId, quantity]) => ({ productId, quantity }))
    const short = items.some(
      ({ productId, quantity }) => (model.products.get(productId)?.stock ?? 0) < quantity,
    )
    const answer = await send(model, real, 'POST /api/orders', model.user, { items })
    assert.equal(answer.status, short ? 409 : 201, answer.text)
    if (short) return
    const order = {
      status: 'pending',
      items: items.map(item => ({
        ...item,
        price: model.products.get(item.productId)?.price ?? 0,
      })),
    }
    for (const { productId, quantity } of items) {
      const product = model.products.get(productId)
      if (product) product.stock -= quantity
    }
    assert.equal(answer.json.amount, sumOf(order) / 100)
    model.orders.set(answer.json.id, order)
  })

const step = (action: keyof typeof transitions, pick: number) =>
  command(`${action} ${pick}`, async (model, real) => {
    const [id, order] = nth(model.orders, pick) ?? []
    if (id === undefined || !order) return
    const { from, to, restocks } = transitions[action]
    const allowed = order.status === from
    const answer = await send(model, real, `POST /api/orders/${id}/${action}`, model.user ?? 1)
    assert.equal(answer.status, allowed ? 200 : 409, answer.text)
    if (!allowed) return
    order.status = to
    assert.equal(answer.json.status, to)
    if (restocks)
      for (const { productId, quantity } of order.items) {
        const product = model.products.get(productId)
        if (product) product.stock += quantity
      }
  })

const replay = (pick: number) =>
  command(`replay ${pick}`, async (model, { world }) => {
    const [key, sent] = [...model.sent][pick % Math.max(model.sent.size, 1)] ?? []
    if (key === undefined || !sent || (sent.as !== 1 && model.user === undefined)) return
    const headers = { 'Idempotency-Key': key }
    const { line, as, body, text } = sent
    const answer = await world.ask(line, { as, headers, ...(body !== undefined && { body }) })
    assert.equal(answer.text, text)
    assert.equal(answer.headers.get('idempotency-replayed'), 'true')
  })

const dropProduct = (pick: number) =>
  command(`delete product ${pick}`, async (model, { world }) => {
    const [id] = nth(model.products, pick) ?? []
    if (id === undefined || model.products.size < 2) return
    assert.equal((await world.ask(`DELETE /api/products/${id}`, { as: 1 })).status, 204)
    model.products.delete(id)
  })

const reprice = (pick: number, price: number) =>
  command(`reprice ${pick} to ${price}`, async (model, { world }) => {
    const [id, product] = nth(model.products, pick) ?? []
    if (id === undefined || !product) return
    const body = { price: price / 100 }
    assert.equal((await world.ask(`PATCH /api/products/${id}`, { as: 1, body })).status, 200)
    product.price = price
  })

const dropUser = () =>
  command('delete user', async (model, { world }) => {
    if (model.user === undefined || model.orders.size === 0) return
    assert.equal((await world.ask(`DELETE /api/users/${model.user}`, { as: 1 })).status, 204)
    model.user = undefined
  })

const restart = () =>
  command('restart', async (_, real) => {
    await real.world.close()
    real.world = await createWorld({ file, rows: {} })
  })

const pick = fc.nat(1000)
const commands = fc.commands(
  [
    fc
      .array(fc.tuple(pick, fc.integer({ min: 1, max: 6 })), { minLength: 1, maxLength: 3 })
      .map(place),
    fc
      .tuple(fc.constantFrom('pay', 'cancel', 'refund'), pick)
      .map(([action, n]) => step(action as 'pay', n)),
    pick.map(replay),
    pick.map(dropProduct),
    fc.tuple(pick, fc.integer({ min: 0, max: 99_999 })).map(([n, price]) => reprice(n, price)),
    fc
      .tuple(fc.constantFrom('pay', 'cancel', 'refund'), pick)
      .map(([action, n]) => step(action as 'pay', n)),
    fc.nat(9).map(n => (n === 0 ? dropUser() : n === 1 ? restart() : replay(n))),
  ],
  { maxCommands: 60, size: 'max' },
)

/** Asserts that all answers of the service agree with the model. */
const compare = async (model: Model, { world }: Real) => {
  for (const [id, order] of model.orders) {
    const { json } = await world.ask(`GET /api/orders/${id}`, { as: 1 })
    assert.equal(json.status, order.status)
    assert.equal(json.amount, sumOf(order) / 100)
    assert.deepEqual(
      json.items.map(({ quantity, price }: { quantity: number; price: number }) => [
        quantity,
        price,
      ]),
      order.items.map(({ quantity, price }) => [quantity, price / 100]),
    )
  }
  for (const [id, { price, stock }] of model.products) {
    const { json } = await world.ask(`GET /api/products/${id}`)
    assert.deepEqual([json.price, json.stock], [price / 100, stock])
  }
  await checkInvariants(world.rows)
}

const beginModel = async ({ world }: Real): Promise<Model> => {
  const products = new Map<number, Product>()
  for (const [price, stock] of [
    [1999, 12],
    [5, 3],
    [12_345, 40],
  ] as const) {
    const body = { name: 'P', category: 'c', price: price / 100, stock }
    products.set((await world.ask('POST /api/products', { as: 1, body })).json.id, { price, stock })
  }
  const body = { name: 'U', email: `u${Math.random()}@example.org` }
  const user = (await world.ask('POST /api/users', { body })).json.id
  return { user, products, orders: new Map(), sent: new Map() }
}

// A run takes twice as long on PostgreSQL.
const runs = Number(process.env.DUET_TEST_RUNS ?? rounds(onPostgres ? 7 : 17, 2000))

test('orders, stock and replays are as a model has them after any steps, restarts among them [C3]', async t => {
  const real: Real = {
    world: await createWorld({
      file,
      rows: { user: [{ name: 'Ada', email: 'ada@example.org', role: 'admin' }] },
    }),
  }
  after(() => real.world.close())
  let orders = 0
  await fc.assert(
    fc.asyncProperty(commands, async list => {
      const model = await beginModel(real)
      await fc.asyncModelRun(() => ({ model, real }), list)
      await compare(model, real)
      orders += model.orders.size
    }),
    { numRuns: runs },
  )
  assert.ok(orders > runs)
  t.diagnostic(`${runs} runs, ${orders} orders`)
})
