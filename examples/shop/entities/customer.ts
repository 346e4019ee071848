/** Customers: the viewers' entity, so a token speaks for one of its rows. They sign up by signing in, and each sees only their own. */
import {
  anyone,
  choice,
  email,
  entity,
  flag,
  folded,
  many,
  nobody,
  signedIn,
  text,
  viewer,
} from 'duet/model'
import { keeper, roles } from '../roles.ts'

const self = signedIn.where({ id: viewer })

export const customer = entity({
  fields: {
    name: text({
      max: 100,
      trimmed: true,
      settableBy: anyone,
      description: 'What they are called.',
    }),
    email: email({ settableBy: anyone, description: 'Where a code to sign in is mailed.' }),
    emailKey: folded('email', { unique: 'CONFLICT' }),
    emailVerified: flag({
      initial: { value: 0 },
      resetBy: 'email',
      settableBy: nobody,
      description: 'Whether the address was proved to be theirs.',
    }),
    role: choice(roles.names, {
      initial: { value: roles.default },
      settableBy: keeper,
      description: 'What they may do.',
    }),
  },
  relations: { orders: many('order', 'customerId', { description: 'What they bought.' }) },
  policy: { read: self, create: anyone, update: self },
})
