/** Placing an order, and its transitions: each happens once, however many requests come at the same moment. */
import {
  type Action,
  ApiError,
  change,
  clipped,
  comma,
  commandOf,
  type FieldFault,
  type GuardedStep,
  goneViewer,
  insert,
  invalid,
  join,
  preparedCommand,
  type Rows,
  reportOf,
  result,
  type SqlValue,
  sql,
} from 'duet/actions'
import { errors } from '../errors.ts'
import { order as entity, transitions } from './entity.ts'
import { type Items, itemsBody, parseItems } from './items.ts'

/**
 * The error for the products of an order, refused at the step of that product: unknown ones are a fault of the input, too
 * few in stock a conflict.
 */
const shortage = (items: Items, refusedId: number, rows: Rows): ApiError => {
  const known = new Map(
    rows.map(([id, name, stock]) => [Number(id), { name: String(name), stock: Number(stock) }]),
  )
  const unknown: FieldFault[] = []
  const short: FieldFault[] = []
  for (const [index, { productId, quantity }] of items.entries()) {
    const field = `items.${index}.productId`
    const product = known.get(productId)
    if (!product)
      unknown.push({ field, message: `names product ${productId}, which does not exist` })
    // The rows lack the pieces that earlier steps took; these are of lower ids, and there was enough of them.
    else if (productId >= refusedId && product.stock < quantity)
      short.push({
        field,
        message: `product ${productId} (${clipped(product.name, 100)}) has ${product.stock} in stock, ${quantity} are asked`,
      })
  }
  if (unknown.length > 0) return invalid(unknown)
  const details = reportOf(short)
  return new ApiError(
    errors.OUT_OF_STOCK,
    details.map(({ message }) => message).join('; ') || 'There is not enough in stock',
    { details },
  )
}

const largestAmount = Number.MAX_SAFE_INTEGER

/** Places an order in one transaction: customer, stock, order, items and the record of it. */
const place: Action = {
  method: 'POST',
  name: 'place orders',
  rule: entity.policy.create,
  path: '/orders',
  about: null,
  answers: 'order',
  described: {
    operationId: 'placeOrder',
    summary: 'Place an order',
    description: 'The stock is taken at once, of all items or of none.',
    body: { 'application/json': itemsBody },
    success: { 201: 'The order, pending.' },
    errors: [errors.OUT_OF_STOCK.code],
  },
  precheck: writing =>
    commandOf(writing, { name: 'precheck place order', asSelf: true, steps: [] }),
  command: (writing, { body, now }) => {
    const items = parseItems(body)
    const { viewer, model } = writing
    const { typed } = writing.dialect
    // Taken in the order of their ids, two orders for the same products cannot deadlock.
    const taken = items
      .map((item, position) => ({ ...item, position }))
      .toSorted((a, b) => a.productId - b.productId)
    // All that orders of so many items differ in: their statements are made once.
    const values = new Map<string, SqlValue>([
      ['user', viewer.id],
      ['now', now],
    ])
    for (const [at, item] of taken.entries())
      for (const [key, value] of Object.entries(item)) values.set(`${key} ${at}`, value)

    return preparedCommand(writing, `place an order of ${items.length}`, values, own => {
      const user = own('user')
      // A user becomes a customer by the first order.
      const customer: GuardedStep = {
        sql: sql`insert into customers (name, email, created_at, user_id)
          select name, email, ${typed(own('now'), 'time')}, id from users where id = ${user}
          and not exists (select 1 from customers where user_id = ${user})
          on conflict (user_id) do nothing returning id`,
        expect: 'any',
      }

      const ids = taken.map((_, at) => own(`productId ${at}`))
      const explain = sql`select id, name, stock from products where id in (${join(ids, comma)})`
      const stock = taken.map(({ productId }, at) => {
        const quantity = own(`quantity ${at}`)
        return {
          sql: sql`update products set stock = stock - ${quantity}, revision = revision + 1
            where id = ${own(`productId ${at}`)} and stock >= ${quantity} returning id`,
          explain,
          refused: (rows: Rows) => shortage(items, productId, rows),
        }
      })

      const rows = taken.map(
        (_, at) =>
          sql`(${typed(own(`position ${at}`), 'int')}, ${typed(own(`productId ${at}`), 'id')}, ${typed(own(`quantity ${at}`), 'int')})`,
      )
      const table = sql`with i (position, product_id, quantity) as (values ${join(rows, comma)})`
      const sum = sql`select sum(p.price * i.quantity) as amount from i join products as p on p.id = i.product_id`
      const order: GuardedStep = {
        name: 'order',
        sql: sql`${table}
          insert into orders (status, amount, currency, customer_id, created_at)
          select 'pending', t.amount, ${typed(model.settings.currency.code, 'text')}, c.id, ${typed(own('now'), 'time')}
          from (${sum}) as t, customers as c
          where c.user_id = ${user} and t.amount <= ${largestAmount} returning id`,
        // If the user was deleted meanwhile, the customer is nobody's any more.
        explain: sql`select id from customers where user_id = ${user}`,
        refused: rows =>
          rows.length === 0
            ? goneViewer(writing)
            : invalid([{ field: 'items', message: 'come to more than an order can be' }]),
      }
      const lines: GuardedStep = {
        sql: sql`${table}
          insert into order_items (order_id, product_id, name, quantity, price)
          select ${typed(result('order'), 'id')}, p.id, p.name, i.quantity, p.price
          from i join products as p on p.id = i.product_id order by i.position`,
        expect: 'any',
      }

      const placed: GuardedStep = {
        sql: sql`insert into order_events (order_id, at, by_user, from_status, to_status)
          values (${result('order')}, ${own('now')}, ${user}, null, 'pending') returning id`,
      }

      return {
        name: 'place order',
        asSelf: true,
        steps: [customer, ...stock, order, lines, placed],
        makes: 'order',
        status: 201,
      }
    })
  },
}

/** Puts the items of an order back into the stock. */
const restockStep = (id: number): GuardedStep => ({
  // An import may list a product twice, and an update joins each row with one other only.
  sql: sql`update products set stock = case when stock > 2147483647 - r.quantity then 2147483647 else stock + r.quantity end,
      revision = revision + 1
    from (select product_id, sum(quantity) as quantity from order_items
      where order_id = ${id} group by product_id) as r
    where r.product_id = products.id returning products.id`,
  expect: 'any',
})

/** The action that moves an order from one state to the next. */
const transition = (action: keyof typeof transitions): Action => {
  const { from, to, at, restocks } = transitions[action]
  const refused = (id: number, status: unknown): ApiError => {
    const allowed = Object.entries(transitions).flatMap(([other, { from }]) =>
      from === status ? [other] : [],
    )
    return new ApiError(
      errors.INVALID_STATE,
      `Order ${id} is ${status}, which allows ${allowed.join(' or ') || 'nothing more'}; ${action} needs it to be ${from}`,
    )
  }
  return {
    method: 'POST',
    name: `${action} orders`,
    rule: entity.policy.update,
    when: { status: from },
    otherwise: { find: ['id', 'status'], error: ({ id, status }) => refused(Number(id), status) },
    admin: {
      label: `${action.charAt(0).toUpperCase()}${action.slice(1)}`,
      danger: action !== 'pay',
    },
    path: `/orders/:id/${action}`,
    about: 'order',
    answers: 'order',
    described: {
      operationId: `${action}Order`,
      summary: `${action.charAt(0).toUpperCase()}${action.slice(1)} an order`,
      description: `The order must be ${from} and is ${to} then${restocks ? '; its items go back into the stock' : ''}.`,
      errors: [errors.INVALID_STATE.code],
    },
    steps: ({ id, viewer, now }) => [
      change('order', id, { status: to, [at]: now }),
      ...(restocks ? [restockStep(id)] : []),
      insert('orderEvent', {
        orderId: id,
        at: now,
        byUser: viewer.id,
        fromStatus: from,
        toStatus: to,
      }),
    ],
  }
}

export const orderActions: readonly Action[] = [
  place,
  ...(['cancel', 'pay', 'refund'] as const).map(transition),
]
