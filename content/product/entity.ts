/** Everything the service knows about a product. */

import { anyone, created, entity, folded, id, int, money, revision, text, webUrl } from 'duet/model'
import { admin } from '../roles.ts'

export const product = entity({
  description: 'Something that is for sale.',
  fields: {
    id: id(),
    name: text({ max: 200, trimmed: true, description: 'Name, 1 to 200 characters.' }),
    category: text({ max: 100, trimmed: true, description: 'Category, 1 to 100 characters.' }),
    price: money({ max: 999_999_999.99, description: "Price in the store's currency." }),
    stock: int({
      min: 0,
      max: 2_147_483_647,
      initial: { value: 0 },
      description: 'How many are there; above zero is in stock.',
    }),
    image: webUrl({ nullable: true, description: 'URL of a picture, http or https.' }),
    createdAt: created({ until: { 1: { name: 'created_at' } } }),
    nameKey: folded('name', { indexed: true }),
    revision: revision(),
  },
  policy: { read: anyone, create: admin, update: admin, delete: admin },
  rest: {
    list: true,
    one: true,
    selectable: true,
    writes: ['create', 'replace', 'update', 'delete'],
    listing: {
      paging: 'page or offset',
      limit: 20,
      sort: {
        style: 'signed list',
        fields: ['price', '-price', 'name', '-name', 'createdAt', { by: '-createdAt', since: 2 }],
      },
      filters: {
        category: { kind: 'equals', field: 'category' },
        min_price: { kind: 'at least', field: 'price' },
        max_price: { kind: 'at most', field: 'price' },
        in_stock: { kind: 'above zero', field: 'stock' },
        search: { kind: 'contains', field: 'nameKey' },
      },
    },
  },
  graphql: { type: false },
  admin: { group: 'Shop', charts: [{ group: 'category' }, { group: 'category', sum: 'stock' }] },
  counted: ['category'],
  indexes: [['category'], ['category', 'price'], ['category', '-price']],
})
