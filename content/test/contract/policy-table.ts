/** Who asks in the tests of the policy, the things that they ask for, and every operation of both APIs with what each viewer gets. */
import assert from 'node:assert/strict'
import type { Answered, World } from '../world.ts'

/** `self` owns the scene, `ghost` is a token whose user is gone, `suspended` owns the scene and may not write. */
export const viewers = ['anonymous', 'self', 'other', 'admin', 'ghost', 'suspended'] as const
export type ViewerName = (typeof viewers)[number]

/** The things of a case, which all belong to the same user. */
export type Scene = {
  readonly user: number
  readonly post: number
  readonly comment: number
  readonly product: number
  readonly order: number
  readonly customer: number
}

/** The first bytes of a PNG, enough to recognise it. */
const picture = new Uint8Array(Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1'))

/** The users by which viewers ask that own nothing of the scene. */
export const ids = { admin: 1, other: 3, ghost: 999_999 }
let count = 0

/** Makes a scene in the world. */
export const sceneIn = async (
  world: World,
  isSuspended: boolean,
  isPaid = false,
): Promise<Scene> => {
  const make = async (as: number, path: string, body: unknown): Promise<number> => {
    const { status, json } = await world.ask(`POST /api${path}`, { as, body })
    assert.equal(status, 201)
    return json.id
  }
  const email = `owner${++count}@example.org`
  const user = await make(1, '/users', { name: 'Owner', email })
  const post = await make(user, `/users/${user}/posts`, { title: 't', content: 'c' })
  const comment = await make(user, `/posts/${post}/comments`, { text: 't' })
  const product = await make(1, '/products', { name: 'p', category: 'c', price: 1, stock: 9 })
  const order = await make(user, '/orders', { items: [{ productId: product, quantity: 1 }] })
  const { customerId: customer } = (await world.ask(`GET /api/orders/${order}`, { as: 1 })).json
  if (isPaid) await world.ask(`POST /api/orders/${order}/pay`, { as: 1 })
  await world.ask(`PUT /api/users/${user}/avatar`, { as: 1, raw: picture })
  if (isSuspended)
    await world.ask(`PATCH /api/users/${user}`, { as: 1, body: { status: 'suspended' } })
  return { user, post, comment, product, order, customer }
}

/** An address that no user has. */
export const newEmail = () => `new${++count}@example.org`
/** The body of a product. */
export const product = () => ({ name: 'p', category: 'c', price: 2 })

/** What GraphQL says of an operation. */
export type Code = 'ok' | 'UNAUTHENTICATED' | 'FORBIDDEN'

/** The code of the error that GraphQL answers, `ok` where there is none. */
export const codeOf = ({ json }: Answered): Code => json.errors?.[0].extensions.code ?? 'ok'

/** The rows of the scene, and how many others there are, to check that a refusal changed nothing. */
export const contentOf = (
  { rows }: World,
  { user, post, comment, product, order, customer }: Scene,
): Promise<unknown> =>
  Promise.all([
    rows('select * from users where id = ?1', user),
    rows('select * from posts where author_id = ?1', user),
    rows('select * from comments where post_id = ?1', post),
    rows('select * from likes where comment_id = ?1', comment),
    rows('select * from products where id = ?1', product),
    rows('select * from orders where id = ?1', order),
    rows('select * from customers where id = ?1', customer),
    ...['users', 'posts', 'comments', 'likes', 'products', 'orders'].map(table =>
      rows(`select count(*), max(id) from ${table}`),
    ),
  ])

type Verdicts<V> = readonly [anonymous: V, self: V, other: V, admin: V, ghost: V, suspended: V]

export type RestRow = {
  /** The rule of the model that decides, as `entity.operation`. */
  readonly rule: string
  readonly verdicts: Verdicts<number>
  readonly path: (scene: Scene) => string
  readonly body?: (scene: Scene) => unknown
  /** A body that is no JSON. */
  readonly raw?: Uint8Array<ArrayBuffer> | ''
  readonly headers?: Readonly<Record<string, string>>
}

const everybody: Verdicts<number> = [200, 200, 200, 200, 200, 200]
const signedIn: Verdicts<number> = [401, 200, 200, 200, 200, 200]

/** What each viewer gets of REST, by operation. */
export const rest: Readonly<Record<string, RestRow>> = {
  'GET /users': { rule: 'user.enter', verdicts: signedIn, path: () => '/users' },
  'GET /users/aggregate': {
    rule: 'user.enter',
    verdicts: signedIn,
    path: () => '/v2/users/aggregate',
  },
  'GET /users/:id': { rule: 'user.enter', verdicts: signedIn, path: s => `/users/${s.user}` },
  'POST /users': {
    rule: 'user.create',
    verdicts: [201, 201, 201, 201, 201, 403],
    path: () => '/users',
    body: () => ({ name: 'n', email: newEmail() }),
  },
  'PUT /users/:id': {
    rule: 'user.update',
    verdicts: [401, 200, 403, 200, 403, 403],
    path: s => `/users/${s.user}`,
    body: () => ({ name: 'n', email: newEmail() }),
  },
  'PATCH /users/:id': {
    rule: 'user.update',
    verdicts: [401, 200, 403, 200, 403, 403],
    path: s => `/users/${s.user}`,
    body: () => ({ name: 'n' }),
  },
  'DELETE /users/:id': {
    rule: 'user.delete',
    verdicts: [401, 204, 403, 204, 403, 403],
    path: s => `/users/${s.user}`,
  },
  'GET /users/:id/avatar': {
    rule: 'user.read',
    verdicts: everybody,
    path: s => `/users/${s.user}/avatar`,
  },
  'POST /users/:id/verify-email': {
    rule: 'user.update',
    verdicts: [401, 202, 403, 200, 403, 403],
    path: s => `/users/${s.user}/verify-email`,
  },
  'POST /users/:id/actions/promote-to-admin': {
    rule: 'promote-to-admin',
    verdicts: [401, 403, 403, 200, 403, 403],
    path: s => `/users/${s.user}/actions/promote-to-admin`,
  },
  'PUT /users/:id/avatar': {
    rule: 'user.update',
    verdicts: [401, 204, 403, 204, 403, 403],
    path: s => `/users/${s.user}/avatar`,
    raw: picture,
  },
  'DELETE /users/:id/avatar': {
    rule: 'user.update',
    verdicts: [401, 204, 403, 204, 403, 403],
    path: s => `/users/${s.user}/avatar`,
  },
  'GET /users/:parentId/posts': {
    rule: 'post.read',
    verdicts: everybody,
    path: s => `/users/${s.user}/posts`,
  },
  'GET /users/:parentId/posts/:id': {
    rule: 'post.read',
    verdicts: everybody,
    path: s => `/users/${s.user}/posts/${s.post}`,
  },
  'POST /users/:parentId/posts': {
    rule: 'post.create',
    verdicts: [401, 201, 403, 201, 403, 403],
    path: s => `/users/${s.user}/posts`,
    body: () => ({ title: 't', content: 'c' }),
  },
  'GET /posts': { rule: 'post.read', verdicts: everybody, path: () => '/posts' },
  'GET /posts/aggregate': {
    rule: 'post.read',
    verdicts: everybody,
    path: () => '/v2/posts/aggregate',
  },
  'GET /posts/:id': { rule: 'post.read', verdicts: everybody, path: s => `/posts/${s.post}` },
  'PATCH /posts/:id': {
    rule: 'post.update',
    verdicts: [401, 200, 403, 200, 403, 403],
    path: s => `/posts/${s.post}`,
    body: () => ({ title: 'x' }),
  },
  'DELETE /posts/:id': {
    rule: 'post.delete',
    verdicts: [401, 204, 403, 204, 403, 403],
    path: s => `/posts/${s.post}`,
  },
  'GET /posts/:parentId/comments': {
    rule: 'comment.read',
    verdicts: everybody,
    path: s => `/posts/${s.post}/comments`,
  },
  'GET /posts/:parentId/comments/:id': {
    rule: 'comment.read',
    verdicts: everybody,
    path: s => `/posts/${s.post}/comments/${s.comment}`,
  },
  'POST /posts/:parentId/comments': {
    rule: 'comment.create',
    verdicts: [401, 201, 201, 201, 403, 403],
    path: s => `/posts/${s.post}/comments`,
    body: () => ({ text: 'x' }),
  },
  'DELETE /posts/:parentId/comments/:id': {
    rule: 'comment.delete',
    verdicts: [401, 204, 403, 204, 403, 403],
    path: s => `/posts/${s.post}/comments/${s.comment}`,
  },
  'GET /comments/:id': {
    rule: 'comment.read',
    verdicts: everybody,
    path: s => `/comments/${s.comment}`,
  },
  'GET /comments/:parentId/likes': {
    rule: 'like.read',
    verdicts: everybody,
    path: s => `/comments/${s.comment}/likes`,
  },
  'GET /orders': { rule: 'order.read', verdicts: signedIn, path: () => '/orders' },
  'GET /orders/aggregate': {
    rule: 'order.read',
    verdicts: signedIn,
    path: () => '/v2/orders/aggregate',
  },
  'GET /orders/:id': {
    rule: 'order.read',
    verdicts: [401, 200, 404, 200, 404, 200],
    path: s => `/orders/${s.order}`,
  },
  'GET /orders/:id/receipt': {
    rule: 'order.read',
    verdicts: [401, 200, 404, 200, 404, 200],
    path: s => `/orders/${s.order}/receipt`,
  },
  'POST /orders': {
    rule: 'order.create',
    verdicts: [401, 201, 201, 201, 403, 403],
    path: () => '/orders',
    body: s => ({ items: [{ productId: s.product, quantity: 1 }] }),
  },
  'POST /orders/:id/pay': {
    rule: 'order.update',
    verdicts: [401, 200, 404, 200, 404, 403],
    path: s => `/orders/${s.order}/pay`,
  },
  'POST /orders/:id/cancel': {
    rule: 'order.update',
    verdicts: [401, 200, 404, 200, 404, 403],
    path: s => `/orders/${s.order}/cancel`,
  },
  'POST /orders/:id/refund': {
    rule: 'order.update',
    verdicts: [401, 200, 404, 200, 404, 403],
    path: s => `/orders/${s.order}/refund`,
  },
  'POST /reports/generate': {
    rule: 'admin',
    verdicts: [401, 403, 403, 200, 403, 403],
    path: () => '/reports/generate',
    body: () => ({ type: 'users' }),
  },
  'GET /customers/:id': {
    rule: 'customer.read',
    verdicts: [401, 200, 404, 200, 404, 200],
    path: s => `/customers/${s.customer}`,
  },
  'GET /customers/:parentId/orders': {
    rule: 'order.read',
    verdicts: [401, 200, 404, 200, 404, 200],
    path: s => `/customers/${s.customer}/orders`,
  },
  'POST /comments/:id/likes': {
    rule: 'like.create',
    verdicts: [401, 201, 201, 201, 403, 403],
    path: s => `/comments/${s.comment}/likes`,
  },
  'DELETE /comments/:id/likes': {
    rule: 'like.delete',
    verdicts: [401, 204, 204, 204, 403, 403],
    path: s => `/comments/${s.comment}/likes`,
  },
  'GET /products': { rule: 'product.read', verdicts: everybody, path: () => '/products' },
  'GET /products/aggregate': {
    rule: 'product.read',
    verdicts: everybody,
    path: () => '/v2/products/aggregate',
  },
  'GET /products/:id': {
    rule: 'product.read',
    verdicts: everybody,
    path: s => `/products/${s.product}`,
  },
  'POST /products': {
    rule: 'product.create',
    verdicts: [401, 403, 403, 201, 403, 403],
    path: () => '/products',
    body: product,
  },
  'PUT /products/:id': {
    rule: 'product.update',
    verdicts: [401, 403, 403, 200, 403, 403],
    path: s => `/products/${s.product}`,
    body: product,
  },
  'PATCH /products/:id': {
    rule: 'product.update',
    verdicts: [401, 403, 403, 200, 403, 403],
    path: s => `/products/${s.product}`,
    body: () => ({ stock: 3 }),
  },
  'DELETE /products/:id': {
    rule: 'product.delete',
    verdicts: [401, 403, 403, 204, 403, 403],
    path: s => `/products/${s.product}`,
  },
}

type GraphqlRow = {
  readonly rule: string
  readonly verdicts: Verdicts<Code>
  readonly operation: (scene: Scene) => string
}

const ok: Verdicts<Code> = ['ok', 'ok', 'ok', 'ok', 'ok', 'ok']
const withToken: Verdicts<Code> = ['UNAUTHENTICATED', 'ok', 'ok', 'ok', 'ok', 'ok']
const own: Verdicts<Code> = ['UNAUTHENTICATED', 'ok', 'FORBIDDEN', 'ok', 'FORBIDDEN', 'FORBIDDEN']

/** What each viewer gets of GraphQL, by root field. */
export const graphql: Readonly<Record<string, GraphqlRow>> = {
  user: {
    rule: 'user.enter',
    verdicts: withToken,
    operation: s => `{ user(id: ${s.user}) { id } }`,
  },
  users: { rule: 'user.enter', verdicts: withToken, operation: () => '{ users { id } }' },
  post: { rule: 'post.read', verdicts: ok, operation: s => `{ post(id: ${s.post}) { id } }` },
  usersAggregate: {
    rule: 'user.enter',
    verdicts: withToken,
    operation: () => '{ usersAggregate { count } }',
  },
  postsAggregate: {
    rule: 'post.read',
    verdicts: ok,
    operation: () => '{ postsAggregate { count } }',
  },
  usersConnection: {
    rule: 'user.enter',
    verdicts: withToken,
    operation: () => '{ usersConnection(first: 1) { edges { cursor node { id } } } }',
  },
  postsConnection: {
    rule: 'post.read',
    verdicts: ok,
    operation: () => '{ postsConnection(last: 1) { totalCount pageInfo { endCursor } } }',
  },
  posts: {
    rule: 'post.read',
    verdicts: ok,
    operation: s => `{ posts(authorId: ${s.user}) { id } }`,
  },
  createUser: {
    rule: 'user.create',
    verdicts: ['ok', 'ok', 'ok', 'ok', 'ok', 'FORBIDDEN'],
    operation: () => `mutation { createUser(input: {name: "n", email: "${newEmail()}"}) { id } }`,
  },
  updateUser: {
    rule: 'user.update',
    verdicts: own,
    operation: s => `mutation { updateUser(id: ${s.user}, input: {name: "n"}) { id } }`,
  },
  deleteUser: {
    rule: 'user.delete',
    verdicts: own,
    operation: s => `mutation { deleteUser(id: ${s.user}) }`,
  },
  createPost: {
    rule: 'post.create',
    verdicts: own,
    operation: s =>
      `mutation { createPost(input: {title: "t", content: "c", authorId: ${s.user}}) { id } }`,
  },
}
