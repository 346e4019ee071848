/** The books of a store: whether its orders, their records and the stock agree, counted from the file itself. */
import assert from 'node:assert/strict'
import { connect } from '#engines/sqlite/connection.ts'
import { transitions } from '#resources/order/entity.ts'
import type { SqlValue } from '#sql/sql.ts'

/** The rows of a statement, asked on a line of its own. */
export const rowsOf = (file: string, text: string): readonly (readonly SqlValue[])[] => {
  const connection = connect(file)
  try {
    return connection.query({ text, values: [] })
  } finally {
    connection.close()
  }
}

/** Orders that took one step of their life more than once. */
export const doubles = (file: string): readonly number[] =>
  rowsOf(
    file,
    `select distinct order_id from order_events
      group by order_id, from_status, to_status having count(*) > 1 order by 1`,
  ).map(([id]) => Number(id))

const legal = new Set([
  ' pending',
  ...Object.values(transitions).map(({ from, to }) => `${from} ${to}`),
])

/** Each order's record is one legal path that ends in the state that the order is in. */
const checkRecords = (file: string) => {
  const path = new Map<number, string>()
  const events = rowsOf(
    file,
    "select order_id, coalesce(from_status, ''), to_status from order_events order by id",
  )
  for (const [id, from, to] of events) {
    assert.ok(legal.has(`${from} ${to}`), `order ${id} went from ${from} to ${to}`)
    assert.equal(path.get(Number(id)) ?? '', from, `order ${id} skipped a step`)
    path.set(Number(id), String(to))
  }
  const orders = rowsOf(file, 'select id, status from orders order by id')
  assert.deepEqual(
    orders.map(([id, status]) => [Number(id), status]),
    [...path].sort(([a], [b]) => a - b),
  )
}

/** What is in stock and what orders hold come to what there was. */
const checkStock = (file: string, stock: ReadonlyMap<number, number>) => {
  for (const [id, all] of stock) {
    const [row] = rowsOf(
      file,
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

/** Fails where anything in the books is not so; `stock`: what there was of each product at first. */
export const checkBooks = (file: string, stock: ReadonlyMap<number, number> = new Map()): void => {
  assert.deepEqual(doubles(file), [])
  checkRecords(file)
  const unequal = `select o.id from orders as o where o.amount <>
    (select coalesce(sum(i.price * i.quantity), 0) from order_items as i where i.order_id = o.id)`
  assert.deepEqual(rowsOf(file, unequal), [])
  checkStock(file, stock)
  assert.deepEqual(rowsOf(file, 'pragma foreign_key_check'), [])
  assert.deepEqual(rowsOf(file, 'pragma integrity_check'), [['ok']])
}
