/** Everything the service knows about an order, its items, and the record of what happened to it. */
import {
  choice,
  created,
  entity,
  fixed,
  id,
  int,
  internal,
  many,
  money,
  one,
  reference,
  revision,
  self,
  signedIn,
  text,
  time,
} from 'duet/model'

/** The states of an order, and what each allows. */
export const transitions = {
  pay: { from: 'pending', to: 'paid', at: 'paidAt', restocks: false },
  cancel: { from: 'pending', to: 'cancelled', at: 'cancelledAt', restocks: true },
  refund: { from: 'paid', to: 'refunded', at: 'refundedAt', restocks: true },
} as const

const statuses = ['pending', 'paid', 'cancelled', 'refunded'] as const

const moment = (description: string) => time({ ...fixed, nullable: true, description })

const link = {
  self: '/orders/{id}',
  // The specification's table shows its method, so this link carries it.
  customer: { href: '/customers/{customerId}', method: 'GET' },
  receipt: '/orders/{id}/receipt',
}
const post = (action: string) => ({ href: `/orders/{id}/${action}`, method: 'POST' })

export const order = entity({
  description: 'What a customer bought.',
  fields: {
    id: id(),
    status: choice(statuses, { ...fixed, initial: { value: 'pending' } }),
    amount: money({ ...fixed, max: Number.MAX_SAFE_INTEGER, description: 'The sum of its items.' }),
    currency: text({ ...fixed, max: 3, description: 'ISO 4217 code.' }),
    customerId: reference('customer', { ...fixed, onDelete: 'restrict' }),
    createdAt: created(),
    paidAt: moment('When it was paid.'),
    cancelledAt: moment('When it was cancelled.'),
    refundedAt: moment('When it was refunded.'),
    revision: revision(),
  },
  relations: {
    customer: one('customer', 'customerId', { graphql: false }),
    items: many('orderItem', 'orderId', { graphql: false, rest: false, oldestFirst: true }),
  },
  policy: { read: self('customer.userId'), create: signedIn, update: self('customer.userId') },
  linksBy: {
    by: 'status',
    cases: {
      pending: {
        self: link.self,
        cancel: post('cancel'),
        pay: post('pay'),
        customer: link.customer,
      },
      paid: { self: link.self, refund: post('refund'), receipt: link.receipt },
      cancelled: { self: link.self, customer: link.customer },
      refunded: { self: link.self, receipt: link.receipt },
    },
  },
  rest: {
    list: true,
    one: true,
    embedded: { items: { after: 'customerId' } },
    listing: {
      paging: 'cursor',
      limit: 20,
      filters: {
        status: { kind: 'equals', field: 'status' },
        customerId: { kind: 'equals', field: 'customerId' },
      },
    },
  },
  graphql: { type: false },
  admin: { group: 'Shop', charts: [{ group: 'createdAt', sum: 'amount' }, { group: 'status' }] },
  indexes: [['status'], ['createdAt']],
})

export const orderItem = entity({
  description: 'So many of a product in an order, as it was called and priced then.',
  fields: {
    id: id(internal),
    orderId: reference('order', { ...internal, onDelete: 'cascade' }),
    // It is no reference: the product may be deleted, and the order stays as it was.
    productId: int({ ...fixed, min: 1, max: Number.MAX_SAFE_INTEGER, description: 'The product.' }),
    name: text({ ...fixed, max: 200, description: "The product's name at the time." }),
    quantity: int({ ...fixed, min: 1, max: 1000, description: 'How many.' }),
    price: money({ ...fixed, max: 999_999_999.99, description: 'Price of one at the time.' }),
  },
  relations: { order: one('order', 'orderId', { graphql: false }) },
  policy: { read: self('order.customer.userId') },
  rest: { list: false, one: false, listing: { paging: 'cursor', limit: 20 } },
  graphql: { type: false },
  indexes: [['productId']],
})

export const orderEvent = entity({
  description: 'A step in the life of an order: who did it, when, from which state to which.',
  fields: {
    id: id(internal),
    orderId: reference('order', { ...internal, onDelete: 'restrict' }),
    at: time(internal),
    // It is no reference, since the record outlives the user.
    byUser: int({ ...internal, min: 1, max: Number.MAX_SAFE_INTEGER, nullable: true }),
    fromStatus: text({ ...internal, max: 20, nullable: true }),
    toStatus: text({ ...internal, max: 20 }),
  },
  policy: {},
  rest: { list: false, one: false, listing: { paging: 'cursor', limit: 20 } },
  graphql: { type: false },
  appendOnly: true,
})
