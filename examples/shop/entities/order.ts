/** Orders, each of some pieces of one product. Nobody creates one but the action that takes the stock. */
import {
  choice,
  computed,
  created,
  entity,
  fixed,
  int,
  money,
  one,
  reference,
  signedIn,
  viewer,
} from 'duet/model'
import { mailed, regrets, thanks } from '../mails.ts'

export const order = entity({
  fields: {
    customerId: reference('customer', { onDelete: 'cascade', ...fixed, initial: 'viewer' }),
    productId: reference('product', { onDelete: 'restrict' }),
    pieces: int({ min: 1, max: 1000, description: 'How many.' }),
    price: money({ max: 1_000_000, description: 'The price of one piece when it was bought.' }),
    total: computed({
      as: money({ max: 1_000_000_000, description: 'The price of all pieces.' }),
      from: { times: ['price', 'pieces'] },
    }),
    status: choice(['placed', 'cancelled'], { ...fixed, initial: { value: 'placed' } }),
    createdAt: created(),
  },
  relations: {
    customer: one('customer', 'customerId', { description: 'Who bought it.' }),
    product: one('product', 'productId', { description: 'What was bought.' }),
  },
  policy: { read: signedIn.where({ customerId: viewer }) },
  after: {
    create: { fields: mailed, run: thanks },
    cancelled: { fields: mailed, run: regrets },
  },
})
