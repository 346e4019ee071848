/** Placing an order, and the steps of its life: each happens once, however many ask at the same moment. */
import { ApiError, type FieldFault } from '#errors.ts'
import { columnName, notFound, type Settings } from '#model/model.ts'
import { errors } from '#resources/errors.ts'
import { order as entity, orderEvent, orderItem, transitions } from '#resources/order/entity.ts'
import { type Items, parseItems } from '#resources/order/items.ts'
import type { Rows } from '#sql/engine.ts'
import { bind, comma, join, name, parameter, type Sql, sql } from '#sql/sql.ts'
import type { Action } from '#write/action.ts'
import { conditionOf, type GuardedStep, guarded, ready, type Writing } from '#write/derived.ts'
import { invalid, noMembers } from '#write/input.ts'

const orders = name(entity.table)
const items = name(orderItem.table)
const products = name('products')
const customers = name('customers')
const column = (field: string) => name(columnName(field))

/** The row that an earlier step of the same command returned. */
const resultOf = (step: number): Sql => parameter({ kind: 'result', step, column: 0 })

const logged = (
  writing: Writing,
  id: Sql,
  now: number,
  from: string | null,
  to: string,
): GuardedStep => ({
  step: {
    statement: ready(
      sql`insert into ${name(orderEvent.table)} (${join(['orderId', 'at', 'byUser', 'fromStatus', 'toStatus'].map(column), comma)})
        values (${id}, ${bind(now)}, ${bind(writing.viewer.id)}, ${bind(from)}, ${bind(to)}) returning ${name('id')}`,
      writing,
    ),
    expect: 'row',
  },
})

/** The items as a table `i` of a `with`. */
const asked = (given: Items, { dialect }: Writing): Sql => {
  const row = ({ productId, quantity }: Items[number], index: number) =>
    sql`(${dialect.typed(bind(index), 'int')}, ${dialect.typed(bind(productId), 'id')}, ${dialect.typed(bind(quantity), 'int')})`
  return sql`with ${name('i')} (${name('position')}, ${name('product_id')}, ${name('quantity')}) as (values ${join(given.map(row), comma)})`
}

/** What is wrong with the products of an order: unknown ones are the input's fault, short ones a conflict. */
const lacking = (given: Items, rows: Rows): ApiError => {
  const known = new Map(
    rows.map(([id, name, stock]) => [Number(id), { name: String(name), stock: Number(stock) }]),
  )
  const unknown: FieldFault[] = []
  const short: FieldFault[] = []
  for (const [index, { productId, quantity }] of given.entries()) {
    const field = `items.${index}.productId`
    const product = known.get(productId)
    if (!product)
      unknown.push({ field, message: `names product ${productId}, which does not exist` })
    else if (product.stock < quantity)
      short.push({
        field,
        message: `product ${productId} (${product.name}) has ${product.stock} in stock, ${quantity} are asked`,
      })
  }
  if (unknown.length > 0) return invalid(unknown)
  return new ApiError(
    errors.OUT_OF_STOCK,
    short.map(({ message }) => message).join('; ') || 'There is not enough in stock',
    { details: short },
  )
}

const taken = (writing: Writing, given: Items): readonly GuardedStep[] => {
  const ids = join(
    given.map(({ productId }) => bind(productId)),
    comma,
  )
  const explain = ready(
    sql`select ${name('id')}, ${name('name')}, ${name('stock')} from ${products} where ${name('id')} in (${ids})`,
    writing,
  )
  // In the order of their ids, so that two orders for the same products never wait for each other in a circle.
  const sorted = given.toSorted((a, b) => a.productId - b.productId)
  return sorted.map(({ productId, quantity }) => ({
    step: {
      statement: ready(
        sql`update ${products} set ${name('stock')} = ${name('stock')} - ${bind(quantity)}, ${name('revision')} = ${name('revision')} + 1
          where ${name('id')} = ${bind(productId)} and ${name('stock')} >= ${bind(quantity)} returning ${name('id')}`,
        writing,
      ),
      expect: 'row',
      explain,
    },
    refused: rows => lacking(given, rows),
  }))
}

const largest = Number.MAX_SAFE_INTEGER

/** The steps that place an order; `first` is the number of steps before them in the command. */
const placed = (
  writing: Writing,
  given: Items,
  now: number,
  settings: Settings,
  first: number,
): readonly GuardedStep[] => {
  const viewer = bind(writing.viewer.id)
  const customer = sql`insert into ${customers} (${join(['name', 'email', 'createdAt', 'userId'].map(column), comma)})
    select ${name('name')}, ${name('email')}, ${writing.dialect.typed(bind(now), 'time')}, ${name('id')} from ${name('users')}
    where ${name('id')} = ${viewer} on conflict (${column('userId')}) do nothing returning ${name('id')}`
  const stock = taken(writing, given)
  const sum = sql`select sum(p.price * i.quantity) from ${name('i')} as i join ${products} as p on p.id = i.product_id`
  const order = sql`${asked(given, writing)}
    insert into ${orders} (${join(['status', 'amount', 'currency', 'customerId', 'createdAt'].map(column), comma)})
    select 'pending', (${sum}), ${writing.dialect.typed(bind(settings.currency.code), 'text')}, c.id, ${writing.dialect.typed(bind(now), 'time')}
    from ${customers} as c where c.user_id = ${viewer} and (${sum}) <= ${bind(largest)} returning ${name('id')}`
  const id = resultOf(first + 1 + stock.length)
  const lines = sql`${asked(given, writing)}
    insert into ${items} (${join(['orderId', 'productId', 'name', 'quantity', 'price'].map(column), comma)})
    select ${writing.dialect.typed(id, 'id')}, p.id, p.name, i.quantity, p.price
    from ${name('i')} as i join ${products} as p on p.id = i.product_id order by i.position`
  return [
    { step: { statement: ready(customer, writing), expect: 'any' } },
    ...stock,
    {
      step: { statement: ready(order, writing), expect: 'row' },
      refused: () => invalid([{ field: 'items', message: 'come to more than an order can be' }]),
    },
    { step: { statement: ready(lines, writing), expect: 'any' } },
    logged(writing, id, now, null, 'pending'),
  ]
}

const placing: Action = {
  method: 'POST',
  name: 'place orders',
  rule: entity.policy.create,
  path: '/orders',
  about: null,
  answers: 'order',
  command: (writing, { body, now }) => {
    const given = parseItems(body)
    // The check of who asks comes before them: whoever orders has a token.
    const steps = placed(writing, given, now, writing.model.settings, 1)
    return guarded(writing, true, 'place order', steps, { status: 201, makes: given.length + 1 })
  },
}

const allowedIn = (status: string): string => {
  const actions = Object.entries(transitions).flatMap(([action, { from }]) =>
    from === status ? [action] : [],
  )
  return actions.length === 0 ? 'nothing more' : actions.join(' or ')
}

const restocked = (writing: Writing, id: number): GuardedStep => {
  // An import may list a product twice, and an update takes just one row for each that it changes.
  const listed = sql`(select product_id, sum(quantity) as quantity from ${items}
    where order_id = ${bind(id)} group by product_id)`
  return {
    step: {
      statement: ready(
        sql`update ${products} set ${name('stock')} = case when ${name('stock')} > 2147483647 - l.quantity then 2147483647 else ${name('stock')} + l.quantity end,
          ${name('revision')} = ${name('revision')} + 1
        from ${listed} as l where l.product_id = products.id returning products.id`,
        writing,
      ),
      expect: 'any',
    },
  }
}

const transition = (action: keyof typeof transitions): Action => {
  const { from, to, at, restocks } = transitions[action]
  return {
    method: 'POST',
    name: `${action} orders`,
    rule: entity.policy.update,
    path: `/orders/:id/${action}`,
    about: 'order',
    answers: 'order',
    standing: (writing, id) => {
      const mine = conditionOf(writing, 'order', entity.policy.update)
      const own = sql`select ${name('id')} from ${orders} where ${name('id')} = ${bind(id)} and ${mine}`
      const step = { statement: ready(own, writing), expect: 'row' } as const
      return guarded(writing, false, 'look at order', [
        { step, refused: () => notFound('order', id) },
      ])
    },
    command: (writing, { id, body, now }) => {
      noMembers(body)
      const mine = conditionOf(writing, 'order', entity.policy.update)
      const change = sql`update ${orders} set ${name('status')} = ${bind(to)}, ${column(at)} = ${bind(now)},
          ${name('revision')} = ${name('revision')} + 1
        where ${name('id')} = ${bind(id)} and ${name('status')} = ${bind(from)} and ${mine} returning ${name('id')}`
      const explain = sql`select ${name('status')} from ${orders} where ${name('id')} = ${bind(id)} and ${mine}`
      const refused = (rows: Rows) => {
        const status = rows[0]?.[0]
        // Somebody else's order is not there for him.
        if (status == null) return notFound('order', id)
        return new ApiError(
          errors.INVALID_STATE,
          `Order ${id} is ${status}, which allows ${allowedIn(String(status))}; ${action} needs it to be ${from}`,
        )
      }
      const steps: GuardedStep[] = [
        {
          step: {
            statement: ready(change, writing),
            expect: 'row',
            explain: ready(explain, writing),
          },
          refused,
        },
        ...(restocks ? [restocked(writing, id)] : []),
        logged(writing, bind(id), now, from, to),
      ]
      return guarded(writing, false, `${action} order`, steps, { makes: 0 })
    },
  }
}

export const orderActions: readonly Action[] = [
  placing,
  ...(['cancel', 'pay', 'refund'] as const).map(transition),
]
