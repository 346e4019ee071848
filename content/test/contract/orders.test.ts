import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createWorld, forAllTests, pluck } from '../world.ts'

const world = forAllTests(createWorld)

const place = (as: number, items: unknown, headers: Record<string, string> = {}) =>
  world.ask('POST /api/orders', { as, body: { items }, headers })

const stockOf = async (id: number): Promise<number> =>
  (await world.ask(`GET /api/products/${id}`)).json.stock

test('an order is placed with what it costs now, and takes its stock at once', async () => {
  const before = await stockOf(1)
  const made = await place(2, [
    { productId: 1, quantity: 2 },
    { productId: 3, quantity: 3 },
  ])
  assert.equal(made.status, 201)
  const { id, customerId, createdAt, ...order } = made.json
  assert.equal(made.headers.get('location'), `/api/orders/${id}`)
  assert.deepEqual(order, {
    status: 'pending',
    amount: 189.65,
    currency: 'USD',
    items: [
      { productId: 1, name: 'Desk lamp', quantity: 2, price: 79.9 },
      { productId: 3, name: 'Notebook', quantity: 3, price: 9.95 },
    ],
    paidAt: null,
    cancelledAt: null,
    refundedAt: null,
    _links: {
      self: { href: `/api/orders/${id}` },
      cancel: { href: `/api/orders/${id}/cancel`, method: 'POST' },
      pay: { href: `/api/orders/${id}/pay`, method: 'POST' },
      customer: { href: `/api/customers/${customerId}`, method: 'GET' },
    },
  })
  assert.deepEqual(Object.keys(made.json), [
    'id',
    'status',
    'amount',
    'currency',
    'customerId',
    'items',
    'createdAt',
    'paidAt',
    'cancelledAt',
    'refundedAt',
    '_links',
  ])
  assert.equal(await stockOf(1), before - 2)
  assert.equal((await world.ask(`GET /api/orders/${id}`, { as: 2 })).text, made.text)
})

test('an order that lacks stock takes nothing and names each product', async () => {
  const before = await stockOf(1)
  const made = await place(2, [
    { productId: 1, quantity: 1 },
    { productId: 2, quantity: 1 },
    { productId: 5, quantity: 100 },
  ])
  assert.equal(made.status, 409)
  assert.equal(made.json.error.code, 'OUT_OF_STOCK')
  assert.deepEqual(pluck(made.json.error.details, 'field'), [
    'items.1.productId',
    'items.2.productId',
  ])
  assert.equal(await stockOf(1), before)
})

test('an order that lacks stock names no product of which there is enough, wherever it stands', async () => {
  const before = await stockOf(1)
  // More than half of the stock, so that it would be short of itself.
  const plenty = { productId: 1, quantity: before - 1 }
  const short = { productId: 5, quantity: 4 }
  const others = [
    { productId: 3, quantity: 1 },
    { productId: 4, quantity: 20 },
  ]
  for (const [headers, items] of [
    [{}, [plenty, short]],
    [{}, [short, ...others, plenty]],
    // With a key PostgreSQL sends the steps after the key is taken.
    [{ 'Idempotency-Key': 'short' }, [...others, short, plenty]],
  ] as const) {
    const { status, json } = await place(2, items, headers)
    assert.equal(status, 409)
    const field = `items.${items.indexOf(short)}.productId`
    const message = 'product 5 (Snow_globe) has 3 in stock, 4 are asked'
    assert.deepEqual(json.error.details, [{ field, message }])
    assert.equal(json.error.message, message)
  }
  assert.equal(await stockOf(1), before)
})

test('an order that lacks stock of many products tells of the first 20 and how many follow, in at most 16 KiB', async () => {
  // A name as long as one can be, in characters that take most bytes.
  const name = '\u{1f4a1}'.repeat(200)
  const make = async () => {
    const made = await world.ask('POST /api/products', {
      as: 1,
      body: { name, category: 'c', price: 1 },
    })
    return { productId: Number(made.json.id), quantity: 1000 }
  }
  const items = []
  while (items.length < 25) items.push(await make())
  const [first] = items
  for (const version of ['v1', 'v2']) {
    const line = `POST /api/${version}/orders`
    const made = await world.ask(line, { as: 2, body: { items } })
    assert.equal(made.status, 409)
    assert.ok(Buffer.byteLength(made.text) <= 16_384, `${Buffer.byteLength(made.text)} bytes`)
    const { details } = version === 'v1' ? made.json.error : { details: made.json.errors }
    assert.equal(details.length, 21)
    assert.match(
      details[0].message,
      new RegExp(`^product ${first?.productId} \\(.*…\\) has 0 in stock, 1000 are asked$`, 'u'),
    )
    assert.equal(details[20].message, 'and 5 more faults')
  }
})

test('a product that does not exist is a fault of the input', async () => {
  const made = await place(2, [{ productId: 99, quantity: 1 }])
  assert.equal(made.status, 422)
  assert.equal(made.json.error.details[0].field, 'items.0.productId')
})

test('somebody else’s order is not there, and an admin sees it', async () => {
  const { id } = (await place(2, [{ productId: 3, quantity: 1 }])).json
  assert.equal((await world.ask(`GET /api/orders/${id}`, { as: 3 })).status, 404)
  assert.equal((await world.ask(`POST /api/orders/${id}/pay`, { as: 3 })).status, 404)
  // Also with a faulty body: 404 comes first.
  const asked = await world.ask(`POST /api/orders/${id}/pay`, { as: 3, body: { x: 1 } })
  assert.equal(asked.status, 404)
  const own = await world.ask(`POST /api/orders/${id}/pay`, { as: 2, body: { x: 1 } })
  assert.equal(own.status, 422)
  assert.equal((await world.ask(`GET /api/orders/${id}`)).status, 401)
  assert.equal((await world.ask(`GET /api/orders/${id}`, { as: 1 })).status, 200)
  assert.deepEqual((await world.ask('GET /api/orders', { as: 3 })).json.data, [])
})

test('an order is paid once, then refunded once, and its stock comes back', async () => {
  const before = await stockOf(4)
  const { id } = (await place(2, [{ productId: 4, quantity: 5 }])).json
  const paid = await world.ask(`POST /api/orders/${id}/pay`, { as: 2 })
  assert.equal(paid.status, 200)
  assert.equal(paid.json.status, 'paid')
  assert.ok(paid.json.paidAt)
  assert.deepEqual(Object.keys(paid.json._links), ['self', 'refund', 'receipt'])
  const again = await world.ask(`POST /api/orders/${id}/pay`, { as: 2 })
  assert.equal(again.status, 409)
  assert.equal(again.json.error.code, 'INVALID_STATE')
  assert.match(again.json.error.message, /is paid, which allows refund/)
  assert.equal((await world.ask(`POST /api/orders/${id}/cancel`, { as: 2 })).status, 409)
  assert.equal(
    (await world.ask(`POST /api/orders/${id}/refund`, { as: 2 })).json.status,
    'refunded',
  )
  assert.equal(await stockOf(4), before)
})

test('stock comes back for each line of an order, though two name one product', async () => {
  const before = await stockOf(4)
  const { id } = (await place(2, [{ productId: 4, quantity: 5 }])).json
  // As an import may have brought it.
  await world.change(
    'insert into order_items (order_id, product_id, name, quantity, price) values (?1, 4, ?2, 2, 1450)',
    id,
    'CAFÉ bowl 100%',
  )
  await world.ask(`POST /api/orders/${id}/cancel`, { as: 2 })
  assert.equal(await stockOf(4), before + 2)
})

test('the orders of a customer who cannot be are none', async () => {
  const { customerId } = (await place(2, [{ productId: 3, quantity: 1 }])).json
  const ordersOf = async (customer: unknown) =>
    (await world.ask(`GET /api/orders?customerId=${customer}`, { as: 1 })).json.data.length
  assert.ok((await ordersOf(customerId)) > 0)
  for (const none of [`${customerId}.0`, `0${customerId}`, `%20${customerId}`, 'x', '-1'])
    assert.equal(await ordersOf(none), 0, none)
  assert.equal(await ordersOf('9223372036854775808'), 0)
})

test('a key replays the answer byte for byte and has its effect once', async () => {
  const before = await stockOf(3)
  const headers = { 'Idempotency-Key': '"order-1"' }
  const first = await place(3, [{ productId: 3, quantity: 1 }], headers)
  const second = await place(3, [{ productId: 3, quantity: 1 }], { 'Idempotency-Key': 'order-1' })
  assert.equal(second.status, 201)
  assert.equal(second.text, first.text)
  assert.equal(second.headers.get('location'), first.headers.get('location'))
  assert.equal(second.headers.get('etag'), first.headers.get('etag'))
  assert.equal(first.headers.get('idempotency-replayed'), null)
  assert.equal(second.headers.get('idempotency-replayed'), 'true')
  assert.equal(await stockOf(3), before - 1)
  const other = await place(3, [{ productId: 3, quantity: 2 }], headers)
  assert.equal(other.status, 422)
  assert.equal(other.json.error.code, 'IDEMPOTENCY_KEY_REUSED')
  const stranger = await place(2, [{ productId: 3, quantity: 1 }], headers)
  assert.equal(stranger.headers.get('idempotency-replayed'), null)
  assert.notEqual(stranger.json.id, first.json.id)
})

test('a key of a GraphQL mutation replays each of its fields', async () => {
  const headers = { 'Idempotency-Key': 'two-users' }
  const operation =
    'mutation { a: createUser(input: {name: "A", email: "a1@example.org"}) { id email } b: createUser(input: {name: "B", email: "b1@example.org"}) { id } }'
  const first = await world.gql(operation, { headers })
  const second = await world.gql(operation, { headers })
  assert.equal(second.text, first.text)
  assert.equal(second.headers.get('idempotency-replayed'), 'true')
})

test('a customer and its orders stay when the user goes', async () => {
  const made = await world.gql(
    'mutation { createUser(input: {name: "Gone", email: "gone@example.org"}) { id } }',
  )
  const id = Number(made.json.data.createUser.id)
  const order = (await place(id, [{ productId: 3, quantity: 1 }])).json
  assert.equal((await world.ask(`DELETE /api/users/${id}`, { as: id })).status, 204)
  const customer = await world.ask(`GET /api/customers/${order.customerId}`, { as: 1 })
  assert.equal(customer.json.name, 'Gone')
  assert.equal((await world.ask(`GET /api/customers/${order.customerId}`, { as: 2 })).status, 404)
  const orders = await world.ask(`GET /api/customers/${order.customerId}/orders`, { as: 1 })
  assert.deepEqual(pluck(orders.json.data, 'id'), [order.id])
})
