/** The content service: users, posts, comments, likes, products, customers and orders. */

import { defineContent, defineModel, oneOf, setting, whole } from 'duet'
import { comment } from './comment/entity.ts'
import { customer } from './customer/entity.ts'
import { errors } from './errors.ts'
import { examples } from './examples.ts'
import { likeActions } from './like/actions.ts'
import { like } from './like/entity.ts'
import { orderActions } from './order/actions.ts'
import { order, orderEvent, orderItem } from './order/entity.ts'
import { orderKind } from './order/import.ts'
import { post } from './post/entity.ts'
import { product } from './product/entity.ts'
import { roles } from './roles.ts'
import { promote } from './user/actions.ts'
import { avatarActions } from './user/avatar/actions.ts'
import { user } from './user/entity.ts'
import { verifyEmail } from './user/verify-email/actions.ts'
import { versions } from './versions.ts'

export const entities = defineModel({
  user,
  post,
  comment,
  like,
  product,
  customer,
  order,
  orderItem,
  orderEvent,
})

/** The settings of the content, beside those of the machine. */
const settings = {
  DUET_SIGNUP: setting(
    oneOf(['open', 'closed'], 'must be open or closed'),
    'open',
    'Whether anonymous may create users',
  ),
  DUET_SIGNUP_RATE: setting(
    whole(1, 1_000_000),
    '20',
    'Most sign-ups of one caller in a minute, refused and repeated ones too, those of an admin apart; off with DUET_RATE_LIMIT=0',
  ),
  DUET_CURRENCY: setting(
    oneOf(Intl.supportedValuesOf('currency'), 'must be an ISO 4217 code, such as USD'),
    'USD',
    'Currency of all prices of the store; once it has some, only one with as many decimals',
  ),
} as const

const content = defineContent({
  entities,
  // A token speaks for a user; a suspended one may read and not write.
  viewers: { entity: 'user', blocked: { field: 'status', value: 'suspended' }, roles },
  people: true,
  license: { name: 'MIT', identifier: 'MIT' },
  versions,
  actions: [...likeActions, ...orderActions, ...avatarActions, verifyEmail, promote],
  served: async () => (await import('./served.ts')).served,
  errors,
  // The specification has them as strings.
  graphqlStrings: true,
  settings,
  creationRates: ({ DUET_SIGNUP_RATE }) => ({ user: DUET_SIGNUP_RATE }),
  switches: ({ DUET_SIGNUP }) => ({ signup: DUET_SIGNUP === 'open' }),
  currency: ({ DUET_CURRENCY }) => DUET_CURRENCY,
  migrations: new URL('./migrations/', import.meta.url),
  demo: async () => (await import('./seed/demo.ts')).demo,
  seed: async () => (await import('./seed/seed.ts')).seed,
  transfer: {
    customer: {
      also: ['userId'],
      foreign: { code: null, company: null, country: null },
      help: `Customers: {id, name, email, createdAt, userId}; email and userId may be absent.
Other programs' code, company and country, and an order's shippedAt, are not kept; orderedAt is
its createdAt.`,
    },
    order: orderKind,
  },
  commands: {
    user: {
      about: 'add a user, such as the first admin',
      load: () => import('./user/add.ts'),
    },
  },
  examples,
})

export default content
