/** Products, which everybody sees and keepers keep. */
import { anyone, created, entity, folded, int, money, slug, text } from 'duet/model'
import { keeper } from '../roles.ts'

export const product = entity({
  fields: {
    name: text({ max: 100, trimmed: true, description: 'What it is called.' }),
    slug: slug({ from: 'name', description: 'Its words for addresses.' }),
    price: money({ max: 1_000_000, description: 'The price of one piece.' }),
    stock: int({ min: 0, max: 1_000_000, description: 'How many pieces there are.' }),
    createdAt: created(),
    nameKey: folded('name', { accents: 'ignored' }),
  },
  policy: { read: anyone, create: keeper, update: keeper },
})
