/** The products of the tests of filters, and which of them a condition keeps. */
import { folded, words } from './searches.ts'

const prices = [0, 0.01, 0.99, 1, 1.01, 9.99, 10, 14.5, 14.5, 999_999_999.99]

/** Categories of products. */
export const categories = ['lighting', 'Lighting', 'a b', "o'clock", '%', 'café']

const product = words.map((name, index) => ({
  name,
  category: categories[index % categories.length],
  price: prices[index % prices.length] ?? 0,
  stock: index % 3,
}))

/** The store of the tests of filters. */
export const rows = {
  user: [
    { name: 'Ada', email: 'ada@example.org', role: 'admin' },
    { name: 'Ben', email: 'ben@example.org' },
    { name: 'Cleo', email: 'cleo@example.org', status: 'suspended' },
    { name: 'Dan', email: 'dan@example.org', role: 'admin', status: 'suspended' },
  ],
  product,
}

export type Thing = (typeof product)[number] & { id: number }

/** The products as they are kept. */
export const things: Thing[] = product.map((row, index) => ({
  ...row,
  name: row.name.trim(),
  id: index + 1,
}))

/** The ids of products for which it holds. */
export const where = (condition: (thing: Thing) => boolean) =>
  things.filter(condition).map(({ id }) => id)

/** The ids of products whose name has this, without regard to case. */
export const contains = (needle: string) =>
  where(({ name }) => folded(name).includes(folded(needle)))
