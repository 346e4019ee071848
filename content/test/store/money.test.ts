import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import content from '#content/duet.config.ts'
import { modelOf } from '#content.ts'
import { rounds } from '#test/support/rounds.ts'
import { createWorld, type World } from '../world.ts'
import { checkInvariants } from './invariants.ts'

const worlds: World[] = []
after(() => Promise.all(worlds.map(world => world.close())))

const currencies = [
  ['USD', 2],
  ['JPY', 0],
  ['KWD', 3],
] as const

/** The text of minor units: what JSON has to hold, without a number in between. */
const decimal = (minor: bigint, digits: number): string => {
  const text = String(minor).padStart(digits + 1, '0')
  const fraction = digits === 0 ? '' : text.slice(-digits).replace(/0+$/, '')
  const whole = digits === 0 ? text : text.slice(0, -digits)
  return fraction === '' ? whole : `${whole}.${fraction}`
}

const shop = async (code: string, digits: number) => {
  const model = modelOf(content, { switches: { signup: true }, currency: { code, digits } })
  const rows = { user: [{ name: 'Ada', email: 'ada@example.org' }] }
  const world = await createWorld({ model, rows })
  worlds.push(world)
  const sell = async (minor: bigint, stock: number): Promise<number> => {
    const price = decimal(minor, digits)
    const raw = `{"name":"P","category":"c","price":${price},"stock":${stock}}`
    const headers = { 'Content-Type': 'application/json' }
    const made = await world.ask('POST /api/products', { as: 1, raw, headers })
    assert.equal(made.status, 201, made.text)
    assert.match(made.text, new RegExp(`"price":${price.replace('.', '\\.')}[,}]`))
    return made.json.id
  }
  const order = (items: readonly { productId: number; quantity: number }[]) =>
    world.ask('POST /api/orders', { as: 1, body: { items } })
  return { world, sell, order }
}

/** Prices up to the largest of a currency. */
const line = (digits: number) =>
  fc.record({
    minor: fc.oneof(fc.bigInt(0n, 99_999n), fc.bigInt(0n, 999_999_999n * 10n ** BigInt(digits))),
    quantity: fc.integer({ min: 1, max: 1000 }),
  })

for (const [code, digits] of currencies)
  test(`amounts in ${code} are exact sums of whole minor units [C13]`, async t => {
    const orders = rounds(10, 33_334)
    const { world, sell, order } = await shop(code, digits)
    await fc.assert(
      fc.asyncProperty(fc.array(line(digits), { minLength: 1, maxLength: 6 }), async lines => {
        const items = []
        for (const { minor, quantity } of lines)
          items.push({ productId: await sell(minor, 2000), quantity })
        const sum = lines.reduce((all, { minor, quantity }) => all + minor * BigInt(quantity), 0n)
        const made = await order(items)
        assert.equal(made.status, 201, made.text)
        const amount = decimal(sum, digits).replace('.', '\\.')
        assert.match(made.text, new RegExp(`"amount":${amount},"currency":"${code}"`))
      }),
      { numRuns: orders },
    )
    await checkInvariants(world.rows)
    t.diagnostic(`${orders} orders`)
  })

test('an order that comes to more than a whole number can be is refused, and takes nothing [C13]', async () => {
  const { world, sell, order } = await shop('KWD', 3)
  const dear = await Promise.all(Array.from({ length: 10 }, () => sell(999_999_999_990n, 5000)))
  const items = dear.map(productId => ({ productId, quantity: 1000 }))
  const largest = await order(items.slice(0, 9))
  const over = await order(items)
  assert.equal(largest.status, 201, largest.text)
  assert.equal(over.status, 422, over.text)
  assert.equal(over.json.error.details[0].field, 'items')
  assert.match(largest.text, /"amount":8999999999910,"currency":"KWD"/)
  await checkInvariants(world.rows, new Map(dear.map(id => [id, 5000])))
})

test('fifty buyers of ten pieces get ten, at the price of that moment, and the others are refused [C14]', async t => {
  const { world, sell } = await shop('USD', 2)
  const stock = new Map<number, number>()
  const sales = rounds(1, 1000)
  for (let sale = 0; sale < sales; sale++) {
    const product = await sell(1999n, 10)
    stock.set(product, 10)
    await sellOut(world, product)
  }
  await checkInvariants(world.rows, stock)
  t.diagnostic(`${sales} times`)
})

/** Fifty buy a product of which there are ten pieces while its price changes. */
const sellOut = async (world: World, product: number) => {
  const body = { items: [{ productId: product, quantity: 1 }] }
  // As a good client does: a write that lost too often on a busy machine gets 503, and nothing was changed.
  const buy = async () => {
    for (;;) {
      const answer = await world.ask('POST /api/orders', { as: 1, body })
      if (answer.status !== 503) return answer
    }
  }
  const prices = [...Array(50).keys()].map(index => ({ price: 20 + index / 100 }))
  const answers = await Promise.all(
    prices.flatMap(price => [
      buy(),
      world.ask(`PATCH /api/products/${product}`, { as: 1, body: price }).then(() => undefined),
    ]),
  )
  const orders = answers.filter(answer => answer !== undefined)
  const sold = orders.filter(({ status }) => status === 201)
  assert.equal(sold.length, 10)
  for (const { json } of sold) assert.equal(json.amount, json.items[0].price)
  for (const { status, json } of orders.filter(({ status }) => status !== 201)) {
    assert.equal(status, 409)
    assert.equal(json.error.code, 'OUT_OF_STOCK')
  }
}

test('quantities that are no whole number from 1 to 1000 order nothing [C13]', async () => {
  const { world, sell } = await shop('USD', 2)
  const product = await sell(1n, 5000)
  for (const quantity of [
    '0',
    '-1',
    '1.5',
    '1e309',
    '"1"',
    'null',
    '1001',
    'true',
    '[1]',
    '1e16',
  ]) {
    const raw = `{"items":[{"productId":${product},"quantity":${quantity}}]}`
    const headers = { 'Content-Type': 'application/json' }
    const { status } = await world.ask('POST /api/orders', { as: 1, raw, headers })
    assert.ok(status === 422 || status === 400, `${quantity}: ${status}`)
  }
  assert.deepEqual(await world.rows('select count(*) from orders'), [[0]])
  assert.deepEqual(await world.rows('select stock from products where id = ?1', product), [[5000]])
})

test('sums and means are numbers, the same on both engines, where a step and a read look at them', async () => {
  const { world, sell } = await shop('USD', 2)
  for (const stock of [2, 3, 4]) await sell(100n, stock)
  const text =
    'select sum(stock), avg(stock), avg(stock) / 2, sum(cast(price as double precision)), count(*) from products'
  const expected = [9, 3, 1.5, 300, 3]
  const outcome = await world.engine.write({
    steps: [{ statement: { text, values: [] }, expect: 'any' }],
    status: 200,
    answer: null,
  })
  assert.deepEqual(outcome.kind === 'done' && outcome.rows.flat(), [expected])
  assert.deepEqual(await world.rows(text), [expected])
})
