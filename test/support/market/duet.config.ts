/** A content for the tests of the machine that need people, rows below rows, money and a list with filters: a market and what is said on it. */
import { defineContent, defineModel, defineVersions, oneOf, setting, whole } from 'duet'
import { type Action, change, defineErrors, insert, remove, type Services } from 'duet/actions'
import {
  anyone,
  choice,
  created,
  defineRoles,
  email,
  entity,
  fixed,
  flag,
  folded,
  id,
  int,
  internal,
  many,
  money,
  one,
  reference,
  revision,
  self,
  signedIn,
  text,
  webUrl,
  whileOpen,
  withRole,
} from 'duet/model'
import { rows, seed } from './rows.ts'

const roles = defineRoles({ names: ['user', 'admin'], default: 'user', superuser: 'admin' })
const admin = withRole(roles, 'admin')
const forAdmins = { settableBy: admin, readableBy: signedIn, graphql: 'hidden' } as const
const errors = defineErrors({ EMAIL_TAKEN: { status: 409, title: 'This address is in use' } })

const welcome = (
  { id, name, email }: Readonly<Record<string, unknown>>,
  { mail, publicUrl }: Services,
  signal: AbortSignal,
): Promise<void> =>
  mail.send(
    {
      recipient: Number(id),
      address: String(email),
      compose: () => ({
        to: { name: String(name), address: String(email) },
        subject: 'Welcome',
        text: `You are at ${publicUrl()}/api/users/${id}\n`,
        html: '<p>Welcome</p>',
      }),
    },
    signal,
  )

export const versions = defineVersions({
  1: { lists: 'by paging', errors: 'error', isStrict: false, isMarked: false },
  2: {},
})

/** Tokens speak for them; a suspended one may not write, and one who signs up gets a message. */
const user = entity({
  fields: {
    id: id(),
    name: text({ max: 200, trimmed: true }),
    email: email({ readableBy: signedIn, settableBy: anyone }),
    age: int({ min: 0, max: 150, nullable: true, readableBy: signedIn, settableBy: anyone }),
    role: choice(roles.names, { ...forAdmins, initial: { value: roles.default } }),
    status: choice(['active', 'suspended'], { ...forAdmins, initial: { value: 'active' } }),
    emailVerified: flag({
      ...fixed,
      initial: { value: 0 },
      resetBy: 'email',
      readableBy: signedIn,
      graphql: 'hidden',
    }),
    createdAt: created({ readableBy: signedIn, graphql: 'hidden' }),
    emailKey: folded('email', { unique: errors.EMAIL_TAKEN }),
    revision: revision(),
  },
  relations: { posts: many('post', 'authorId') },
  policy: {
    read: anyone,
    enter: signedIn,
    create: whileOpen('signup'),
    update: self('id'),
    delete: self('id'),
  },
  links: {},
  rest: {
    list: true,
    one: true,
    selectable: true,
    writes: ['create', 'replace', 'update', 'delete'],
    listing: {
      paging: 'page',
      limit: 10,
      sort: { style: 'field and order', fields: ['id', 'name', 'email', 'age', 'createdAt'] },
      filters: { role: { kind: 'equals', field: 'role' } },
    },
  },
  graphql: { paged: true, mutations: ['create', 'update', 'delete'] },
  counted: ['role', 'status'],
  after: {
    create: {
      fields: ['name', 'email'],
      run: welcome,
    },
  },
})

const post = entity({
  fields: {
    id: id(),
    title: text({ max: 200, trimmed: true }),
    content: text({ max: 100_000 }),
    authorId: reference('user', { onDelete: 'cascade', graphql: 'input' }),
    createdAt: created(),
    revision: revision(),
  },
  relations: { author: one('user', 'authorId'), comments: many('comment', 'postId') },
  policy: {
    read: anyone,
    create: self('authorId'),
    update: self('authorId'),
    delete: self('authorId'),
  },
  links: {},
  rest: {
    list: true,
    one: true,
    listing: { paging: 'cursor', limit: 20 },
    writes: ['update', 'delete'],
    nested: ['one', 'create'],
  },
  graphql: { filters: ['authorId'], mutations: ['create'] },
})

const comment = entity({
  fields: {
    id: id(),
    text: text({ max: 10_000 }),
    postId: reference('post', { onDelete: 'cascade', graphql: 'hidden' }),
    authorId: reference('user', {
      onDelete: 'cascade',
      ...fixed,
      initial: 'viewer',
      graphql: 'hidden',
    }),
    createdAt: created({ graphql: 'hidden' }),
    revision: revision(),
  },
  relations: {
    author: one('user', 'authorId'),
    post: one('post', 'postId', { graphql: false }),
    likes: many('like', 'commentId', { graphql: false }),
  },
  policy: { read: anyone, create: signedIn, delete: self('authorId', 'post.authorId') },
  links: {},
  rest: {
    list: false,
    one: true,
    listing: { paging: 'cursor', limit: 20 },
    nested: ['one', 'create', 'delete'],
  },
  graphql: { roots: false },
})

const like = entity({
  fields: {
    id: id(internal),
    userId: reference('user', { onDelete: 'cascade', ...fixed, initial: 'viewer' }),
    commentId: reference('comment', { onDelete: 'cascade' }),
    createdAt: created(),
  },
  policy: { read: anyone, create: signedIn, delete: self('userId') },
  rest: { list: false, one: false, listing: { paging: 'cursor', limit: 20 } },
  graphql: { type: false },
  sets: [['userId', 'commentId']],
})

/** REST alone has them. */
const product = entity({
  fields: {
    id: id(),
    name: text({ max: 200, trimmed: true }),
    category: text({ max: 100, trimmed: true }),
    price: money({ max: 999_999_999.99 }),
    stock: int({ min: 0, max: 2_147_483_647, initial: { value: 0 } }),
    image: webUrl({ nullable: true }),
    createdAt: created({ until: { 1: { name: 'created_at' } } }),
    nameKey: folded('name', { indexed: true }),
    revision: revision(),
  },
  policy: { read: anyone, create: admin, update: admin, delete: admin },
  links: {},
  rest: {
    list: true,
    one: true,
    selectable: true,
    writes: ['create', 'replace', 'update', 'delete'],
    listing: {
      paging: 'page or offset',
      limit: 20,
      sort: { style: 'signed list', fields: ['price', '-price', 'name', '-name', 'createdAt'] },
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
  counted: ['category'],
  indexes: [['category'], ['category', 'price'], ['category', '-price']],
})

/** Liking a comment and taking it back, which may be repeated; what an admin alone may do. */
const actions: readonly Action[] = [
  {
    method: 'POST',
    name: 'like comments',
    rule: signedIn,
    path: '/comments/:id/likes',
    about: 'comment',
    answers: 'like',
    described: { operationId: 'likeComment', summary: 'Like a comment' },
    steps: ({ id, viewer }) => [insert('like', { userId: viewer, commentId: id }, { once: true })],
  },
  {
    method: 'DELETE',
    name: 'unlike comments',
    rule: signedIn,
    path: '/comments/:id/likes',
    about: 'comment',
    answers: null,
    described: { operationId: 'unlikeComment', summary: 'Take a like back' },
    steps: ({ id, viewer }) => [remove('like', { where: { userId: viewer, commentId: id } })],
  },
  {
    method: 'POST',
    name: 'restock products',
    rule: admin,
    path: '/products/:id/restock',
    about: 'product',
    answers: 'product',
    described: { operationId: 'restockProduct', summary: 'Have ten of a product' },
    steps: ({ id }) => [change('product', id, { stock: 10 })],
  },
]

export const entities = defineModel({ user, post, comment, like, product })

export default defineContent({
  title: 'Market',
  entities,
  viewers: { entity: 'user', blocked: { field: 'status', value: 'suspended' }, roles },
  versions,
  actions,
  errors,
  graphqlStrings: true,
  settings: {
    DUET_SIGNUP_RATE: setting(whole(1, 1_000_000), '20', 'Most sign-ups of one caller in a minute'),
    DUET_SIGNUP: setting(
      oneOf(['open', 'closed'], 'must be open or closed'),
      'open',
      'Whether anonymous may create users',
    ),
    DUET_CURRENCY: setting(
      oneOf(Intl.supportedValuesOf('currency'), 'must be an ISO 4217 code, such as USD'),
      'USD',
      'Currency of all prices of the store',
    ),
  },
  creationRates: ({ DUET_SIGNUP_RATE }) => ({ user: DUET_SIGNUP_RATE }),
  switches: ({ DUET_SIGNUP }) => ({ signup: DUET_SIGNUP === 'open' }),
  currency: ({ DUET_CURRENCY }) => DUET_CURRENCY,
  migrations: new URL('./migrations/', import.meta.url),
  demo: async () => rows,
  seed: async () => seed,
  examples: {
    graphql: '{ posts(limit: 3) { id title } }',
    rest: '/products?sort=-price',
    withToken: { graphql: '{ users(limit: 3) { id name } }', rest: '/users' },
  },
})
