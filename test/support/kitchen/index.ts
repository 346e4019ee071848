/**
 * A content whose cooks come from an identity provider: tokens name them by their subjects. And one of the same store without any
 * users.
 */
import { defineContent, defineModel, oneOf, setting, type Viewers, whole } from 'duet'
import {
  anyone,
  choice,
  created,
  defineRoles,
  email,
  entity,
  fixed,
  flag,
  id,
  many,
  one,
  reference,
  revision,
  self,
  signedIn,
  subject,
  text,
  viewer,
  whileOpen,
  withRole,
} from 'duet/model'

/** The first of several roles of a token counts. */
export const roles = defineRoles({
  names: ['chef', 'taster', 'cook'],
  default: 'cook',
  superuser: 'chef',
})

const cook = entity({
  description: 'Somebody who cooks.',
  fields: {
    id: id(),
    subject: subject(),
    name: text({ max: 40, trimmed: true }),
    email: email({ nullable: true, unique: 'CONFLICT', ...fixed, readableBy: signedIn }),
    state: choice(['in', 'out'], { initial: { value: 'in' }, settableBy: withRole(roles, 'chef') }),
    createdAt: created(),
    revision: revision(),
  },
  relations: { dishes: many('dish', 'cookId') },
  policy: {
    read: signedIn,
    create: whileOpen('joining'),
    update: self('id'),
    delete: self('id'),
  },
  rest: {
    list: true,
    one: true,
    writes: ['create', 'update', 'delete'],
    listing: { paging: 'page', limit: 20 },
  },
  graphql: { mutations: ['create', 'update', 'delete'] },
})

/** Each cook sees its own dishes, and those that other cooks share. */
const dish = entity({
  description: 'What somebody cooked.',
  fields: {
    id: id(),
    title: text({ max: 80 }),
    isShared: flag({ initial: { value: 0 } }),
    cookId: reference('cook', { onDelete: 'cascade', initial: 'viewer', ...fixed }),
    createdAt: created(),
    revision: revision(),
  },
  relations: { cook: one('cook', 'cookId') },
  policy: {
    read: [self('cookId'), signedIn.where({ isShared: true, not: { cookId: viewer } })],
    create: self('cookId'),
    update: self('cookId'),
    delete: self('cookId'),
  },
  rest: {
    list: true,
    one: true,
    writes: ['create', 'replace', 'update', 'delete'],
    listing: { paging: 'page', limit: 20 },
  },
  graphql: { mutations: ['create', 'update', 'delete'] },
})

/** What is in the larder is nobody's. */
const spice = entity({
  description: 'A spice of the house.',
  fields: { id: id(), name: text({ max: 40 }), createdAt: created(), revision: revision() },
  policy: { read: anyone, create: signedIn, update: signedIn },
  rest: {
    list: true,
    one: true,
    writes: ['create', 'update'],
    listing: { paging: 'page', limit: 20 },
  },
  graphql: { mutations: ['create', 'update'] },
})

/** Whose tokens they are, as Keycloak writes them; `viewers` of a test may say it otherwise. */
const viewers = {
  entity: 'cook',
  blocked: { field: 'state', value: 'out' },
  by: 'subject',
  signUp: { name: 'name', email: 'email' },
  roleFrom: {
    claim: ['realm_access', 'roles'],
    map: { 'head-chef': 'chef', tasters: 'taster', cooks: 'cook' },
    otherwise: 'cook',
  },
  roles,
} as const satisfies Viewers

const settings = {
  DUET_JOINING: setting(
    oneOf(['open', 'closed'], 'must be open or closed'),
    'open',
    'Whether new cooks may come',
  ),
  DUET_JOINING_RATE: setting(whole(1, 1000), '20', 'New cooks of one address in a minute'),
} as const

const common = {
  migrations: new URL('./migrations/', import.meta.url),
  examples: {
    graphql: '{ spices(limit: 3) { name } }',
    rest: '/spices',
    withToken: { graphql: '{ cooks { name } }', rest: '/cooks' },
  },
}

/** The kitchen with these viewers. */
const kitchenOf = (viewers: Viewers) =>
  defineContent({
    entities: defineModel({ cook, dish, spice }),
    viewers,
    settings,
    switches: ({ DUET_JOINING }) => ({ joining: DUET_JOINING === 'open' }),
    creationRates: ({ DUET_JOINING_RATE }) => ({ cook: DUET_JOINING_RATE }),
    demo: async () => ({
      cook: [
        { name: 'Ada', subject: 'idp|1', email: 'ada@example.org' },
        { name: 'Ben', subject: 'idp|2', email: 'ben@example.org' },
      ],
      dish: [
        { title: 'Soup', cookId: 1 },
        { title: 'Pie', cookId: 2 },
      ],
      spice: [{ name: 'Salt' }],
    }),
    ...common,
  })

export const kitchen = kitchenOf(viewers)

/** A content that names no viewers: programs alone have tokens. */
export const larder = defineContent({ entities: defineModel({ spice }), ...common })
