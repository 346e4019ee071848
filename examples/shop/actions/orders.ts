/** Buying takes pieces from the stock, and cancelling puts them back: all of it or nothing, however many ask at once. */
import { type Action, add, change, defineErrors, insert, result } from 'duet/actions'
import { int, signedIn, viewer } from 'duet/model'

export const errors = defineErrors({
  OUT_OF_STOCK: { status: 409, title: 'There are not so many pieces' },
  CANCELLED: { status: 409, title: 'The order is cancelled already' },
})

export const buy: Action = {
  method: 'POST',
  name: 'buy products',
  path: '/products/:id/buy',
  about: 'product',
  answers: 'order',
  rule: signedIn,
  when: { stock: { gte: 1 } },
  otherwise: errors.OUT_OF_STOCK,
  admin: { label: 'Buy' },
  input: { pieces: int({ min: 1, max: 1000, description: 'How many.' }) },
  graphql: true,
  described: {
    operationId: 'buyProduct',
    summary: 'Buy a product',
    errors: ['OUT_OF_STOCK'],
  },
  steps: ({ id, input: { pieces } }) => [
    change(
      'product',
      id,
      { stock: add(-Number(pieces)) },
      {
        name: 'bought',
        where: { stock: { gte: Number(pieces) } },
        otherwise: errors.OUT_OF_STOCK,
      },
    ),
    insert('order', {
      productId: id,
      customerId: viewer,
      pieces: Number(pieces),
      price: result('bought', 'price'),
    }),
  ],
}

export const cancel: Action = {
  method: 'POST',
  name: 'cancel orders',
  path: '/orders/:id/cancel',
  about: 'order',
  answers: 'order',
  rule: signedIn.where({ customerId: viewer }),
  when: { status: 'placed' },
  otherwise: errors.CANCELLED,
  admin: { label: 'Cancel', danger: true },
  graphql: true,
  described: { operationId: 'cancelOrder', summary: 'Cancel an order', errors: ['CANCELLED'] },
  steps: ({ id }) => [
    // The mail that `after.cancelled` of an order sends.
    change('order', id, { status: 'cancelled' }, { name: 'cancelled', after: 'cancelled' }),
    change('product', result('cancelled', 'productId'), {
      stock: add(result('cancelled', 'pieces')),
    }),
  ],
}
