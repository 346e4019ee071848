/** Invariants of a store: its orders, their records and the stock agree, read directly from the database. */
import assert from 'node:assert/strict'
import { transitions } from '#content/order/entity.ts'
import { type Look, onPostgres } from '#test/stores.ts'

/** Orders that took one step of their life more than once. */
export const doubles = async (rows: Look): Promise<readonly number[]> => {
  const found = await rows(
    `select distinct order_id from order_events
      group by order_id, from_status, to_status having count(*) > 1 order by 1`,
  )
  return found.map(([id]) => Number(id))
}

const legal = new Set([
  ' pending',
  ...Object.values(transitions).map(({ from, to }) => `${from} ${to}`),
])

/** Each order's record is one legal path that ends in the state that the order is in. */
const checkRecords = async (rows: Look) => {
  const path = new Map<number, string>()
  const events = await rows(
    "select order_id, coalesce(from_status, ''), to_status from order_events order by id",
  )
  for (const [id, from, to] of events) {
    assert.ok(legal.has(`${from} ${to}`), `order ${id} went from ${from} to ${to}`)
    assert.equal(path.get(Number(id)) ?? '', from, `order ${id} skipped a step`)
    path.set(Number(id), String(to))
  }
  const orders = await rows('select id, status from orders order by id')
  assert.deepEqual(
    orders.map(([id, status]) => [Number(id), status]),
    [...path].sort(([a], [b]) => a - b),
  )
}

/** What is in stock and what orders hold come to what there was. */
const checkStock = async (rows: Look, stock: Stock) => {
  for (const [id, all] of stock) {
    const [row] = await rows(
      `select stock, (select coalesce(sum(i.quantity), 0) from order_items as i
          join orders as o on o.id = i.order_id
          where i.product_id = p.id and o.status in ('pending', 'paid'))
        from products as p where p.id = ${id}`,
    )
    const [left = -1, held = 0] = (row ?? []).map(Number)
    assert.ok(left >= 0, `product ${id} has ${left} in stock`)
    assert.equal(left + held, all, `product ${id}: ${left} in stock and ${held} ordered of ${all}`)
  }
}

/** What there was of each product at first. */
type Stock = ReadonlyMap<number, number>

/** Fails where an invariant does not hold, on either engine. */
export const checkOrders = async (rows: Look, stock: Stock = new Map()): Promise<void> => {
  assert.deepEqual(await doubles(rows), [])
  await checkRecords(rows)
  const unequal = `select o.id from orders as o where o.amount <>
    (select coalesce(sum(i.price * i.quantity), 0) from order_items as i where i.order_id = o.id)`
  assert.deepEqual(await rows(unequal), [])
  await checkStock(rows, stock)
}

/** Fails where an invariant does not hold, or the file of the store is damaged. */
export const checkInvariants = async (rows: Look, stock?: Stock): Promise<void> => {
  await checkOrders(rows, stock)
  if (onPostgres) return
  assert.deepEqual(await rows('pragma foreign_key_check'), [])
  assert.deepEqual(await rows('pragma integrity_check'), [['ok']])
}
