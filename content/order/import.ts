/** One order of an import: its items, the amount they come to, its state with its times, and the record of both. */
import { isObject } from '#base/object.ts'
import { dangling, orTaken } from '#cli/transfer/rows-in.ts'
import { transitions } from '#content/order/entity.ts'
import { listMember, noItem, repeated } from '#content/order/items.ts'
import type { ContentStore, PutRow, TransferKind } from '#content.ts'
import type { FieldFault } from '#errors.ts'
import { entityOf, type Model } from '#model/model.ts'
import { formatMinor } from '#model/money.ts'
import { inserter } from '#serve/insert.ts'
import { ask } from '#serve/store.ts'
import { type SqlValue, sql } from '#sql/sql.ts'
import { checkInput, type InputContext, type Values } from '#write/input.ts'

type GivenRow = Readonly<Record<string, unknown>>
type StateChange = (typeof transitions)[keyof typeof transitions]
type CheckedRow = { readonly values: Values; readonly faults: readonly FieldFault[] }

const steps: readonly StateChange[] = Object.values(transitions)

/** The steps that lead from a new order to that state. */
const stepsTo = (status: SqlValue | undefined): readonly StateChange[] => {
  const last = steps.find(({ to }) => to === status)
  return last ? [...stepsTo(last.from), last] : []
}

/** The state of an order, where the row does not give it: from its times, or paid where it has none of them. */
const statusOf = (row: GivenRow): string =>
  steps.toReversed().find(({ at }) => row[at] != null)?.to ?? 'paid'

/** An order's times must be those of the steps to its state, no fewer and no more. */
const timeFaults = (values: Values): readonly FieldFault[] => {
  const status = values.get('status')
  const taken = stepsTo(status)
  return steps.flatMap(step => {
    const isGiven = values.get(step.at) != null
    if (isGiven === taken.includes(step)) return []
    const message = isGiven ? 'must not be given' : 'is required'
    return [{ field: step.at, message: `${message} where status is ${status}` }]
  })
}

/** The name and the price of a product. */
const productOf = async (store: ContentStore, id: unknown) => {
  // The id is not checked yet, and a failing statement would end the transaction.
  if (!Number.isSafeInteger(id)) return undefined
  const [row] = await ask(store, sql`select name, price from products where id = ${id as number}`)
  return row
}

/** Checks items one by one; members that an item leaves out come from the product. */
const itemCheck = (store: ContentStore, use: InputContext) => {
  const entity = entityOf(store.model, 'orderItem')
  return async (item: unknown, at: string): Promise<CheckedRow> => {
    if (!isObject(item)) return { values: new Map(), faults: [{ field: at, message: noItem }] }
    const product = await productOf(store, item.productId)
    const [name = '', price = 0] = product ?? []
    // The order's id is known only when the order is in.
    const given = {
      orderId: 0,
      ...(item.name === undefined && { name }),
      ...(item.price === undefined && { price }),
    }
    const { values, faults } = checkInput(entity, item, { ...use, given, what: 'order item' })
    const isUnknown =
      !product && values.has('productId') && (item.name === undefined || item.price === undefined)
    const unknown = {
      field: 'productId',
      message: `names product ${item.productId}, which does not exist: import it first, or give name and price`,
    }
    return {
      values,
      faults: (isUnknown ? [...faults, unknown] : faults).map(({ field, message }) => ({
        field: `${at}.${field}`,
        message,
      })),
    }
  }
}

type CheckedItems = { readonly lines: readonly Values[]; readonly faults: readonly FieldFault[] }

const linesOf = async (
  items: unknown,
  check: (item: unknown, at: string) => Promise<CheckedRow>,
): Promise<CheckedItems> => {
  const list = listMember(items)
  if ('fault' in list) return { lines: [], faults: [{ field: 'items', message: list.fault }] }
  const checked = await Promise.all(list.value.map((item, index) => check(item, `items.${index}`)))
  const lines = checked.map(({ values }) => values)
  const again = repeated(lines.map(line => line.get('productId')))
  return { lines, faults: [...checked.flatMap(({ faults }) => faults), ...again] }
}

const sumOf = (lines: readonly Values[]): bigint =>
  lines.reduce(
    (sum, line) =>
      sum + BigInt(line.get('price') as number) * BigInt(line.get('quantity') as number),
    0n,
  )

/** The faults of a row whose amount or currency differs from what the store computes. */
const moneyFaults = (row: GivenRow, sum: bigint, model: Model): readonly FieldFault[] => {
  const { code, digits } = model.settings.currency
  const faults: FieldFault[] = []
  if (sum > BigInt(Number.MAX_SAFE_INTEGER))
    faults.push({ field: 'items', message: 'come to more than an order can be' })
  const amount = formatMinor(Number(sum), digits)
  // Compared as a JSON number, the form in which a file has it.
  if (row.amount !== undefined && row.amount !== Number(amount))
    faults.push({ field: 'amount', message: `must be ${amount}, the sum of the items` })
  if (row.currency !== undefined && row.currency !== code)
    faults.push({ field: 'currency', message: `must be ${code}, the currency of the store` })
  return faults
}

/** The events of an order, as far as its times tell; the users who did them are unknown. */
const eventsOf = (order: Values): readonly Values[] => {
  const made = { from: null, to: 'pending', at: 'createdAt' }
  return [made, ...stepsTo(order.get('status'))].map(
    ({ from, to, at }) =>
      new Map<string, SqlValue>([
        ['at', order.get(at) ?? null],
        ['fromStatus', from],
        ['toStatus', to],
      ]),
  )
}

/** Puts in past orders; they take nothing from the stock, which is today's. */
const orderRows = (store: ContentStore, use: InputContext): PutRow => {
  const { model } = store
  const entity = entityOf(model, 'order')
  const putOrder = inserter(store, entity)
  const putItem = inserter(store, entityOf(model, 'orderItem'))
  const putEvent = inserter(store, entityOf(model, 'orderEvent'))
  const checkItem = itemCheck(store, use)

  const checkOrder = ({ items, amount, currency, ...row }: GivenRow, sum: bigint): CheckedRow => {
    const status = statusOf(row)
    const given = { amount: Number(sum), currency: model.settings.currency.code, status }
    const checked = checkInput(entity, row, { ...use, given })
    const values = new Map(checked.values)
    if (row.status === undefined && status !== 'cancelled' && values.get('paidAt') === null)
      values.set('paidAt', values.get('createdAt') ?? null)
    const isWhole = checked.faults.length === 0
    return { values, faults: isWhole ? timeFaults(values) : checked.faults }
  }

  return async row => {
    const { lines, faults: wrongItems } = await linesOf(row.items, checkItem)
    const sum = wrongItems.length === 0 ? sumOf(lines) : 0n
    const { values, faults: wrong } = checkOrder(row, sum)
    const money = wrongItems.length === 0 ? moneyFaults(row, sum, model) : []
    const faults = [...wrong, ...wrongItems, ...money]
    if (faults.length > 0) return faults
    const missing = await dangling(store, entity, values)
    if (missing.length > 0) return missing
    return orTaken(store, entity, async () => {
      const orderId = await putOrder(values)
      const below = (row: Values) => new Map(row).set('orderId', orderId)
      for (const item of lines) await putItem(below(item))
      for (const event of eventsOf(values)) await putEvent(below(event))
    })
  }
}

export const orderKind: Partial<TransferKind> = {
  foreign: { orderedAt: 'createdAt', shippedAt: null },
  rows: orderRows,
  help: `Orders: {id, customerId, status, items: [{productId, quantity, price, name}], createdAt,
paidAt, cancelledAt, refundedAt}. The amount is computed; a given amount must agree, a
given currency must be the store's. An item without price or name has the product's.
An order without status is one of the past: paid when it was made, unless its times tell
another state. The stock stays as it is. In CSV, items are one cell of JSON.`,
}
