/** A shop: products with a stock, and the orders of customers. */
import { defineContent, defineModel } from 'duet'
import { buy, cancel, errors } from './actions/orders.ts'
import { customer } from './entities/customer.ts'
import { order } from './entities/order.ts'
import { product } from './entities/product.ts'
import { roles } from './roles.ts'

export default defineContent({
  entities: defineModel({ customer, product, order }),
  viewers: { entity: 'customer', roles },
  people: true,
  actions: [buy, cancel],
  errors,
  // Every amount is in this currency.
  currency: () => 'EUR',
  demo: async () => (await import('./demo.ts')).demo,
  migrations: new URL('./migrations/', import.meta.url),
  examples: {
    graphql: '{ products(limit: 3) { name price stock } }',
    rest: '/products?q=cup',
    withToken: { graphql: '{ orders { pieces total product { name } } }', rest: '/orders' },
  },
})
