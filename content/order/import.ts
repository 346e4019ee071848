/** One order of an import: its items, the amount they come to, its state with its times, and the record of both. */

import type { ContentStore, PutRow, TransferKind } from 'duet'
import { type FieldFault, isObject, type SqlValue, sql } from 'duet/actions'
import {
  ask,
  checkInput,
  dangling,
  entityOf,
  formatMinor,
  type InputContext,
  inserter,
  orTaken,
  type Values,
} from 'duet/commands'
import { transitions } from './entity.ts'
import { listMember, noItem, repeated } from './items.ts'

type StateChange = (typeof transitions)[keyof typeof transitions]
type CheckedRow = { readonly values: Values; readonly faults: readonly FieldFault[] }

const steps: readonly StateChange[] = Object.values(transitions)

/** The steps that lead from a new order to that state. */
const stepsTo = (status: SqlValue | undefined): readonly StateChange[] => {
  const last = steps.find(({ to }) => to === status)
  return last ? [...stepsTo(last.from), last] : []
}

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

/** Checks an item; members that it leaves out come from the product. */
const checkItem = async (
  store: ContentStore,
  use: InputContext,
  item: unknown,
  at: string,
): Promise<CheckedRow> => {
  if (!isObject(item)) return { values: new Map(), faults: [{ field: at, message: noItem }] }
  const { productId } = item
  // The id is not checked yet, and a failing statement would end the transaction.
  const [product] = Number.isSafeInteger(productId)
    ? await ask(store, sql`select name, price from products where id = ${productId as number}`)
    : []
  const [name = '', price = 0] = product ?? []
  const left = {
    ...(item.name === undefined && { name }),
    ...(item.price === undefined && { price }),
  }
  // The order's id is known only when the order is in.
  const given = { orderId: 0, ...left }
  const entity = entityOf(store.model, 'orderItem')
  const checked = checkInput(entity, item, { ...use, given, what: 'order item' })
  const faults = [...checked.faults]
  if (!product && checked.values.has('productId') && Object.keys(left).length > 0)
    faults.push({
      field: 'productId',
      message: `names product ${productId}, which does not exist: import it first, or give name and price`,
    })
  return {
    values: checked.values,
    faults: faults.map(({ field, message }) => ({ field: `${at}.${field}`, message })),
  }
}

/** Puts in past orders; they take nothing from the stock, which is today's. */
const orderRows = (store: ContentStore, use: InputContext): PutRow => {
  const { model } = store
  const { code, digits } = model.settings.currency
  const entity = entityOf(model, 'order')
  const putOrder = inserter(store, entity)
  const putItem = inserter(store, entityOf(model, 'orderItem'))
  const putEvent = inserter(store, entityOf(model, 'orderEvent'))

  return async ({ items, amount, currency, ...row }) => {
    const list = listMember(items)
    const isList = !('fault' in list)
    const checks = (isList ? list.value : []).map((item, index) =>
      checkItem(store, use, item, `items.${index}`),
    )
    const checkedItems = await Promise.all(checks)
    const lines = checkedItems.map(({ values }) => values)
    const wrongItems = isList
      ? [
          ...checkedItems.flatMap(({ faults }) => faults),
          ...repeated(lines.map(line => line.get('productId'))),
        ]
      : [{ field: 'items', message: list.fault }]
    const areRight = wrongItems.length === 0
    const sum = (areRight ? lines : []).reduce(
      (all, line) =>
        all + BigInt(line.get('price') as number) * BigInt(line.get('quantity') as number),
      0n,
    )

    // A row that does not give its state has that of its times, or is paid if it has none of them.
    const status = steps.toReversed().find(({ at }) => row[at] != null)?.to ?? 'paid'
    const given = { amount: Number(sum), currency: code, status }
    const checked = checkInput(entity, row, { ...use, given })
    const values = new Map(checked.values)
    if (row.status === undefined && status !== 'cancelled' && values.get('paidAt') === null)
      values.set('paidAt', values.get('createdAt') ?? null)
    const faults = [
      ...(checked.faults.length === 0 ? timeFaults(values) : checked.faults),
      ...wrongItems,
    ]

    const computed = formatMinor(Number(sum), digits)
    if (areRight && sum > BigInt(Number.MAX_SAFE_INTEGER))
      faults.push({ field: 'items', message: 'come to more than an order can be' })
    // Compared as a JSON number, the form in which a file has it.
    if (areRight && amount !== undefined && amount !== Number(computed))
      faults.push({ field: 'amount', message: `must be ${computed}, the sum of the items` })
    if (areRight && currency !== undefined && currency !== code)
      faults.push({ field: 'currency', message: `must be ${code}, the currency of the store` })
    if (faults.length > 0) return faults

    const missing = await dangling(store, entity, values)
    if (missing.length > 0) return missing
    return orTaken(store, entity, async () => {
      const orderId = await putOrder(values)
      const below = (row: Values) => new Map(row).set('orderId', orderId)
      for (const item of lines) await putItem(below(item))
      // Only the events that the times tell are known, and not who did them.
      const made = { from: null, to: 'pending', at: 'createdAt' }
      for (const { from, to, at } of [made, ...stepsTo(values.get('status'))]) {
        const event = { at: values.get(at) ?? null, fromStatus: from, toStatus: to }
        await putEvent(below(new Map(Object.entries(event))))
      }
    })
  }
}

/** Orders as a kind of rows that `import` reads. */
export const orderKind: Partial<TransferKind> = {
  foreign: { orderedAt: 'createdAt', shippedAt: null },
  rows: orderRows,
  help: `Orders: {id, customerId, status, items: [{productId, quantity, price, name}], createdAt,
paidAt, cancelledAt, refundedAt}. The amount is computed; a given amount must agree, a
given currency must be the store's. An item without price or name has the product's.
An order without status is one of the past: paid when it was made, unless its times tell
another state. The stock stays as it is. In CSV, items are one cell of JSON.`,
}
