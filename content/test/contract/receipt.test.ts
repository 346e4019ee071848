/** Receipts: who gets one and when, its JSON, and its page. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import content, { entities } from '#content/duet.config.ts'
import { modelOf } from '#content.ts'
import { inserter } from '#serve/insert.ts'
import type { SqlValue } from '#sql/sql.ts'
import { refuses } from '../rest.ts'
import { createWorld, filling, forAllTests } from '../world.ts'

const world = forAllTests(createWorld)

const order = async (...actions: readonly string[]): Promise<number> => {
  const items = [
    { productId: 1, quantity: 1 },
    { productId: 3, quantity: 3 },
  ]
  const { id } = (await world.ask('POST /api/orders', { as: 2, body: { items } })).json
  for (const action of actions) await world.ask(`POST /api/orders/${id}/${action}`, { as: 2 })
  return id
}

const page = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

test('a paid order has a receipt with these members', async () => {
  const id = await order('pay')
  const answer = await world.ask(`GET /api/orders/${id}/receipt`, { as: 2 })
  assert.equal(answer.status, 200)
  const { paidAt } = (await world.ask(`GET /api/orders/${id}`, { as: 2 })).json
  const { customer, ...receipt } = answer.json
  assert.deepEqual(Object.keys(answer.json), [
    ...['number', 'orderId', 'customer', 'items', 'amount', 'currency', 'paidAt', 'refundedAt'],
  ])
  assert.deepEqual(receipt, {
    number: `R-${String(id).padStart(6, '0')}`,
    orderId: id,
    items: [
      { productId: 1, name: 'Desk lamp', quantity: 1, price: 79.9 },
      { productId: 3, name: 'Notebook', quantity: 3, price: 9.95 },
    ],
    amount: 109.75,
    currency: 'USD',
    paidAt,
    refundedAt: null,
  })
  assert.deepEqual(
    { ...customer, id: typeof customer.id },
    { id: 'number', name: 'Ben', email: 'ben@example.org' },
  )
})

test('a refunded order keeps its receipt, which says when', async () => {
  const { json } = await world.ask(`GET /api/orders/${await order('pay', 'refund')}/receipt`, {
    as: 2,
  })
  assert.ok(json.refundedAt >= json.paidAt)
})

test('an order that was not paid has none, which says in what state it is', async () => {
  for (const [actions, state] of [
    [[], 'pending: pay it first'],
    [['cancel'], 'cancelled: only what was paid has a receipt'],
  ] as const) {
    const id = await order(...actions)
    const answer = await world.ask(`GET /api/orders/${id}/receipt`, { as: 2 })
    refuses(answer, 404, 'NOT_FOUND')
    assert.match(answer.json.error.message, new RegExp(`not found; order ${id} is ${state}$`))
    const stranger = await world.ask(`GET /api/orders/${id}/receipt`, { as: 3 })
    assert.equal(stranger.json.error.message, `Order ${id} not found`)
  }
})

test('a receipt is for its customer and for admins; for others it is not there', async () => {
  const id = await order('pay')
  const path = `GET /api/orders/${id}/receipt`
  assert.equal((await world.ask(path, { as: 1 })).status, 200)
  refuses(await world.ask(path, { as: 3 }), 404, 'NOT_FOUND')
  refuses(await world.ask(path), 401, 'UNAUTHENTICATED')
  refuses(await world.ask('GET /api/orders/999999/receipt', { as: 1 }), 404, 'NOT_FOUND')
  refuses(await world.ask('GET /api/orders/x/receipt', { as: 1 }), 404, 'NOT_FOUND')
})

test('the page is for those who prefer HTML, each form with an ETag of its own', async () => {
  const id = await order('pay')
  const path = `GET /api/orders/${id}/receipt`
  const html = await world.ask(path, { as: 2, headers: page })
  assert.equal(html.headers.get('content-type'), 'text/html; charset=utf-8')
  const json = await world.ask(path, { as: 2, headers: { Accept: '*/*' } })
  assert.equal(json.headers.get('content-type'), 'application/json; charset=utf-8')
  const vendor = await world.ask(path, {
    as: 2,
    headers: { Accept: 'text/html;q=0.5, application/vnd.duet.v1+json' },
  })
  assert.match(vendor.headers.get('content-type') ?? '', /vnd\.duet\.v1/)
  for (const [answer, headers] of [
    [html, page],
    [json, {}],
  ] as const) {
    assert.equal(answer.headers.get('cache-control'), 'private, no-cache')
    assert.match(answer.headers.get('vary') ?? '', /Accept.*Authorization/)
    const tag = answer.headers.get('etag') ?? ''
    const again = await world.ask(path, { as: 2, headers: { ...headers, 'If-None-Match': tag } })
    assert.equal(again.status, 304)
    assert.equal(again.text, '')
    assert.equal(again.headers.get('etag'), tag)
  }
  assert.notEqual(html.headers.get('etag'), json.headers.get('etag'))
})

test('the page escapes all that people wrote and lets nothing run or load [G20]', async () => {
  const body = { name: '<script>alert(1)</script>"\'&', email: 'mean@example.org' }
  const { id: as } = (await world.ask('POST /api/users', { as: 1, body })).json
  const product = { name: '<img src=x onerror=alert(1)>', category: 'c', price: 2, stock: 5 }
  const { id: productId } = (await world.ask('POST /api/products', { as: 1, body: product })).json
  const items = [{ productId, quantity: 2 }]
  const { id } = (await world.ask('POST /api/orders', { as, body: { items } })).json
  await world.ask(`POST /api/orders/${id}/pay`, { as })
  const { text, headers } = await world.ask(`GET /api/orders/${id}/receipt`, { as, headers: page })
  assert.doesNotMatch(text, /<script|<img/)
  assert.match(text, /&lt;script&gt;alert\(1\)/)
  assert.match(text, /\$4\.00/)
  const policy = headers.get('content-security-policy') ?? ''
  assert.match(policy, /^default-src 'none'; style-src 'sha256-[\w+/=]+'; /)
  assert.doesNotMatch(policy, /unsafe/)
  assert.match(text, /@media print/)
})

for (const [code, digits, amount, price, shown] of [
  ['JPY', 0, 123456, 41152, '¥123,456'],
  ['KWD', 3, 1234.569, 411.523, 'KWD 1,234.569'],
  ['USD', 2, 1234.56, 411.52, '$1,234.56'],
] as const)
  test(`the page writes money as ${code} is written`, async () => {
    const settings = { switches: { signup: true }, currency: { code, digits } }
    const rows = {
      user: [
        { name: 'Ada', email: 'ada@example.org', role: 'admin' },
        { name: 'Ben', email: 'ben@example.org' },
      ],
      product: [{ name: 'p', category: 'c', price, stock: 9 }],
    }
    await using own = await createWorld({ model: modelOf(content, settings), rows })
    const items = [{ productId: 1, quantity: 3 }]
    const { id } = (await own.ask('POST /api/orders', { as: 2, body: { items } })).json
    await own.ask(`POST /api/orders/${id}/pay`, { as: 2 })
    const path = `GET /api/orders/${id}/receipt`
    assert.equal((await own.ask(path, { as: 2 })).json.amount, amount)
    const { text } = await own.ask(path, { as: 2, headers: page })
    assert.ok(text.replaceAll('\u00a0', ' ').includes(shown), text)
  })

test('the largest amount is exact to its last minor unit in both forms', async () => {
  const id = await filling(world.store, async line => {
    const text = 'select min(id) from customers'
    const [row] = await line.session.query({ text, values: [] })
    const values: Record<string, SqlValue> = { status: 'paid', amount: Number.MAX_SAFE_INTEGER }
    Object.assign(values, { currency: 'USD', customerId: row?.[0], createdAt: 0, paidAt: 0 })
    return inserter(line, entities.order)(new Map(Object.entries(values)))
  })
  const path = `GET /api/orders/${id}/receipt`
  assert.match((await world.ask(path, { as: 1 })).text, /"amount":90071992547409\.91,/)
  const { text } = await world.ask(path, { as: 1, headers: page })
  assert.match(text, /\$90,071,992,547,409\.91/)
})
