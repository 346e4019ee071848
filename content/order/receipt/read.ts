/** The receipt of an order that was paid: as JSON, or as a page to print. */

import { ApiError, notFound } from 'duet/actions'
import {
  type ExtraRoute,
  header,
  type Item,
  type JsonSchema,
  jsonTypesOf,
  type Mount,
  oneRow,
  type Prepared,
  pathId,
  preferred,
  prepareFor,
  type RestHandler,
  type Role,
  read,
  readOptionsOf,
  represent,
} from 'duet/routes'
import { versions } from '../../versions.ts'
import { order } from '../entity.ts'
import { receiptPage, receiptPolicy } from './page.ts'

/** The number of an order's receipt: `R-000123`, longer when the id is. */
const receiptNumber = (order: number): string => `R-${String(order).padStart(6, '0')}`

const fields = (...names: readonly string[]): Item[] =>
  names.map(field => ({ kind: 'field', key: field, field }))

const relation = (name: string, items: readonly Item[]): Item => ({
  kind: 'relation',
  key: name,
  relation: name,
  page: null,
  items,
})

const members: readonly Item[] = [
  { kind: 'field', key: 'orderId', field: 'id' },
  relation('customer', fields('id', 'name', 'email')),
  relation('items', fields('productId', 'name', 'quantity', 'price')),
  ...fields('amount', 'currency', 'paidAt', 'refundedAt'),
]

/** The status is read beside the receipt, not in it: it decides whether there is one. */
const selection = {
  encoding: 'rest',
  roots: [oneRow('order', members), oneRow('order', fields('status'))],
} as const

const forms = [...jsonTypesOf(versions), 'text/html']

/** Answers with the receipt in the form that the caller prefers; one read gives it and the state of the order. */
const serve = ({ core, edge }: Mount): RestHandler => {
  const preparedFor = new Map<Role, Prepared>()
  return async (c, viewer, named) => {
    const prepared = preparedFor.getOrInsertComputed(viewer.role, role =>
      prepareFor(core, selection, role),
    )
    const id = pathId(c, 'id', 'order')
    const [found, state] = await read(
      core.reader,
      prepared,
      [viewer.id, id],
      readOptionsOf(edge, c, viewer),
    )
    if (!found || found.text === 'null') throw notFound('order', id)
    const { status }: { readonly status?: string } = JSON.parse(state?.text ?? '{}')
    if (status !== 'paid' && status !== 'refunded') {
      const remedy = status === 'pending' ? 'pay it first' : 'only what was paid has a receipt'
      throw new ApiError(
        'NOT_FOUND',
        `Receipt ${receiptNumber(id)} not found; order ${id} is ${status}: ${remedy}`,
      )
    }
    // Put in as text, so that no amount goes through a floating-point number.
    const text = `{"number":"${receiptNumber(id)}",${found.text.slice(1)}`
    if (preferred(header(c, 'accept') ?? '', forms) !== 'text/html')
      return represent(c, edge, text, { named, isPublic: false })
    const page = receiptPage(text, core.model.settings.currency.digits)
    const type = 'text/html; charset=utf-8'
    const reply = represent(c, edge, page, { named, isPublic: false, type })
    return { ...reply, headers: { ...reply.headers, ...receiptPolicy } }
  }
}

const id = { type: 'integer', format: 'int64', minimum: 1 }
const text = { type: 'string' }
const amount = { type: 'number', minimum: 0 }
const time = { type: ['string', 'null'], format: 'date-time' }
const object = (properties: JsonSchema) => {
  return { type: 'object', required: Object.keys(properties), properties }
}

/** A receipt in JSON, as documents describe it, with an example. */
const jsonForm = {
  schema: object({
    number: { ...text, description: 'Such as R-000123.' },
    orderId: id,
    customer: object({ id, name: text, email: { type: ['string', 'null'] } }),
    items: {
      type: 'array',
      items: object({ productId: id, name: text, quantity: id, price: amount }),
    },
    amount,
    currency: { ...text, description: 'ISO 4217 code.' },
    paidAt: time,
    refundedAt: time,
  }),
  example: {
    number: 'R-000001',
    orderId: 1,
    customer: { id: 1, name: 'Ada Okafor', email: 'ada@example.org' },
    items: [{ productId: 1, name: 'Oak desk lamp', quantity: 2, price: 79.9 }],
    amount: 159.8,
    currency: 'USD',
    paidAt: '2026-01-06T09:30:00.000Z',
    refundedAt: null,
  },
}

/** `GET /orders/{id}/receipt`. */
export const receiptRead: ExtraRoute = {
  method: 'GET',
  path: '/orders/:id/receipt',
  described: {
    rule: order.policy.read,
    operationId: 'getOrderReceipt',
    summary: 'Get the receipt of an order',
    description: 'An order that is paid or refunded has one; as JSON, or as a page to print.',
    forms: { 'application/json': jsonForm, 'text/html': { schema: text } },
  },
  serve,
}
