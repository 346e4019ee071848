/** A few rows for an empty development store. */
import type { RowsByEntity } from 'duet'

export const demo: RowsByEntity = {
  customer: [
    { name: 'Ada', email: 'ada@example.org', role: 'keeper' },
    { name: 'Grace', email: 'grace@example.org' },
  ],
  product: [
    { name: 'Tea pot', price: 24.5, stock: 12 },
    { name: 'Cup', price: 4.75, stock: 80 },
    { name: 'Crème brûlée torch', price: 39, stock: 1 },
  ],
  order: [
    { customerId: 1, productId: 2, pieces: 6, price: 4.75 },
    { customerId: 2, productId: 1, pieces: 1, price: 24.5 },
  ],
}
