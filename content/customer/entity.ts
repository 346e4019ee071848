/** Everything the service knows about a customer: a person who ordered, with the name used at the first order. */
import {
  created,
  email,
  entity,
  fixed,
  id,
  internal,
  many,
  reference,
  self,
  text,
} from 'duet/model'

export const customer = entity({
  description: 'A person who ordered something; stays when their user goes.',
  fields: {
    id: id(),
    name: text({ ...fixed, max: 200, trimmed: true, description: 'Name at the first order.' }),
    email: email({ ...fixed, nullable: true, description: 'Email address at the first order.' }),
    createdAt: created(),
    userId: reference('user', {
      ...internal,
      nullable: true,
      unique: 'CONFLICT',
      onDelete: 'set null',
    }),
  },
  relations: { orders: many('order', 'customerId', { graphql: false }) },
  policy: { read: self('userId') },
  links: { self: '/customers/{id}', orders: '/customers/{id}/orders' },
  rest: { list: false, one: true, listing: { paging: 'cursor', limit: 20 } },
  graphql: { type: false },
})
