/** Generated writes of orders. */
import type { Draw } from '#test/operations.ts'
import { idText, odd, type Viewer, viewerOf } from '#test/support/drawn-values.ts'
import { idAt } from './content.ts'
import type { Memory } from './memory.ts'
import { type Make, sent, spoilt } from './sent.ts'

const itemsOf = (draw: Draw, memory: Memory): unknown => {
  const { of, upTo, chance } = draw
  const { products } = memory.highest
  const item = () => ({
    productId: upTo(chance(80) ? 30 : products, 1),
    quantity: chance(80) ? 1 : of(2, 3, 10, 1000),
  })
  if (chance(5)) return odd(draw)
  if (chance(4))
    return Array.from({ length: of(0, 99, 100, 101) }, (_, n) => ({
      productId: idAt(n),
      quantity: 1,
    }))
  const items: unknown[] = Array.from({ length: of(1, 1, 2, 3) }, item)
  if (chance(6)) items.push(items[0])
  if (chance(6))
    items.push({
      productId: of<unknown>(0, 8, 99_999, 2 ** 31, 2 ** 53 - 1, 2 ** 53, 1e300, '1'),
      quantity: 1,
    })
  if (chance(6)) items.push({ productId: 1, quantity: odd(draw) })
  return items
}

/** An order that is placed. */
export const placeOrder: Make = (draw, memory) =>
  sent(draw, memory, {
    kind: 'place order',
    line: 'POST /api/orders',
    as: viewerOf(draw),
    body: spoilt(draw, { items: itemsOf(draw, memory) }),
  })

/** An order that goes on. */
export const step: Make = (draw, memory) => {
  const id = draw.chance(60)
    ? String(Math.max(1, memory.highest.orders - draw.upTo(9)))
    : idText(draw, memory.highest.orders)
  const action = draw.of('pay', 'pay', 'cancel', 'refund')
  return sent(draw, memory, {
    kind: action,
    line: `POST /api/orders/${id}/${action}`,
    as: draw.of<Viewer>(1, viewerOf(draw)),
    ...(draw.chance(5) && { body: draw.of({}, { a: 1 }) }),
  })
}
