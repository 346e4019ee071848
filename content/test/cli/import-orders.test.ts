/** Orders that are imported: their states, their faults, and those of other shops. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { command } from '#test/commands.ts'
import { folderOf } from '#test/duet.ts'
import { sqliteTest as it } from '#test/stores.ts'
import { filesIn } from '#test/support/transfer-files.ts'
import { importing, time, world } from './transfers.ts'

const { folder, freshStore } = folderOf('import-orders')
const { fileOf } = filesIn(folder)

const shop = async () => {
  const { rows, settings } = await freshStore()
  await importing(settings, 'products', fileOf(world.products))
  await importing(settings, 'customers', fileOf([{ id: 1, name: 'C' }]))
  return { rows, settings }
}

test('an imported order without status was paid when it was made, is recorded, and takes no stock', async () => {
  const { rows: kept, settings } = await shop()
  const items = [{ productId: 5, quantity: 3 }]
  await importing(settings, 'orders', fileOf([{ id: 4, customerId: 1, items, createdAt: time(5) }]))
  const at = Date.parse(time(5))
  assert.deepEqual(await kept('select status, amount, currency, created_at, paid_at from orders'), [
    ['paid', 5997, 'USD', at, at],
  ])
  assert.deepEqual(await kept('select name, quantity, price from order_items'), [
    ['Lamp, "large"\n2', 3, 1999],
  ])
  assert.deepEqual(
    await kept(
      'select order_id, at, by_user, from_status, to_status from order_events order by id',
    ),
    [
      [4, at, null, null, 'pending'],
      [4, at, null, 'pending', 'paid'],
    ],
  )
  assert.deepEqual(await kept('select stock from products where id = 5'), [[4]])
})

test('an order without status is in the state that its times imply', async () => {
  const { rows: kept, settings } = await shop()
  const order = { customerId: 1, items: [{ productId: 5, quantity: 1 }], createdAt: time(1) }
  const rows = [
    { ...order, paidAt: time(2) },
    { ...order, cancelledAt: time(2) },
    { ...order, refundedAt: time(2) },
  ]
  await importing(settings, 'orders', fileOf(rows))
  assert.deepEqual(await kept('select status, paid_at from orders order by id'), [
    ['paid', Date.parse(time(2))],
    ['cancelled', null],
    ['refunded', Date.parse(time(1))],
  ])
})

it('each fault of an order is named by its line and member, and nothing is imported', async () => {
  const { rows: kept, settings } = await shop()
  const items = [{ productId: 5, quantity: 1 }]
  const rows: readonly (readonly [object, ...string[]])[] = [
    [{ customerId: 1, items }],
    [{ customerId: 2, items }, 'customerId names customer 2, which does not exist'],
    [{ customerId: 1 }, 'items is required'],
    [{ customerId: 1, items: [] }, 'items must be a list of 1 to 100 items'],
    [{ customerId: 1, items: [7] }, 'items.0 must be an object with productId and quantity'],
    [
      { customerId: 1, items: [{ productId: 5 }, { quantity: 1001, productId: 6, colour: 1 }] },
      'items.0.quantity is required',
      'items.1.quantity must be a whole number from 1 to 1000',
      'items.1.colour is not a member of an order item',
    ],
    [
      { customerId: 1, items: [{ productId: 99, quantity: 1, price: 1 }] },
      'items.0.productId names product 99, which does not exist: import it first, or give name and price',
    ],
    [{ customerId: 1, items: [...items, ...items] }, 'items.1.productId names product 5 again'],
    [
      { customerId: 1, items: [{ productId: 5, quantity: 1, price: 1.999 }] },
      'items.0.price must have at most 2 decimals, as USD has',
    ],
    [{ customerId: 1, items, amount: 20 }, 'amount must be 19.99, the sum of the items'],
    [{ customerId: 1, items, currency: 'EUR' }, 'currency must be USD, the currency of the store'],
    [
      { customerId: 1, items, status: 'shipped' },
      'status must be one of pending, paid, cancelled, refunded',
    ],
    [
      { customerId: 1, items, status: 'refunded', refundedAt: time(1) },
      'paidAt is required where status is refunded',
    ],
    [
      { customerId: 1, items, status: 'pending', paidAt: time(1) },
      'paidAt must not be given where status is pending',
    ],
    [{ customerId: 1, items, note: 'x' }, 'note is not a member of an order'],
    [{ customerId: 1, items, revision: 4 }, 'revision is not a member of an order'],
    [
      { customerId: 1, items, createdAt: time(1), orderedAt: time(1) },
      'orderedAt stands for createdAt, which is given too',
    ],
  ]
  const path = fileOf(rows.map(([row]) => row))
  const { code, stderr } = await command(['import', 'orders', path], settings)
  assert.equal(code, 1)
  const told = stderr.split('\n').filter(line => line.startsWith(path))
  const expected = rows.flatMap(([, ...faults], index) =>
    faults.map(fault => `${path}:${index + 1}: ${fault}`),
  )
  assert.deepEqual(told, expected)
  for (const table of ['orders', 'order_items', 'order_events'])
    assert.deepEqual(await kept(`select count(*) from ${table}`), [[0]])
})

it('known members of other shops are renamed or left out, and one line says so', async () => {
  const { rows: kept, settings } = await shop()
  const people = await importing(
    settings,
    'customers',
    fileOf('id,code,name,company,country\n9,ALF,Maria,"A, B",Germany\n', 'csv'),
  )
  assert.match(people.stderr, /^.*: not kept: code, company, country$/m)
  assert.deepEqual(await kept('select name, email from customers where id = 9'), [['Maria', null]])
  const items = '"[{""productId"":5,""quantity"":2,""price"":1.5}]"'
  const orders = await importing(
    settings,
    'orders',
    fileOf(`id,customerId,orderedAt,shippedAt,items\n7,9,${time(1)},${time(2)},${items}\n`, 'csv'),
  )
  assert.match(orders.stderr, /^.*: orderedAt is kept as createdAt; not kept: shippedAt$/m)
  assert.deepEqual(await kept('select created_at, amount from orders'), [
    [Date.parse(time(1)), 300],
  ])
  const { code, stderr } = await command(
    ['import', 'customers', fileOf([{ name: 'X', phone: '1' }])],
    settings,
  )
  assert.equal(code, 1)
  assert.match(stderr, /:1: phone is not a member of a customer$/m)
})

it('CSV: items that are no JSON, and a user twice among customers, are reported', async () => {
  const { settings } = await shop()
  await importing(settings, 'users', fileOf(world.users))
  const orders = fileOf('customerId,items\n1,2x of 5\n', 'csv')
  const wrong = await command(['import', 'orders', orders], settings)
  assert.match(wrong.stderr, /:2: items must be a list of 1 to 100 items$/m)
  const customers = fileOf('name,userId\nA,3\nB,3\nC,77\n', 'csv')
  const twice = await command(['import', 'customers', customers], settings)
  assert.match(twice.stderr, /:3: userId is in use already$/m)
  assert.match(twice.stderr, /:4: userId names user 77, which does not exist$/m)
})
