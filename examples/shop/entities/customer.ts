/** Customers: the viewers' entity, so a token speaks for one of its rows. Each sees only their own. */
import { entity, many, signedIn, text, viewer } from 'duet/model'
import { keeper } from '../roles.ts'

const self = signedIn.where({ id: viewer })

export const customer = entity({
  fields: { name: text({ max: 100, trimmed: true, description: 'What they are called.' }) },
  relations: { orders: many('order', 'customerId', { description: 'What they bought.' }) },
  policy: { read: self, create: keeper, update: self },
})
