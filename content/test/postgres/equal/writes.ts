/** Generated writes in the REST API: good and bad values, tags, keys used again, by every kind of viewer. */
import type { Draw } from '#test/operations.ts'
import { emailOf, idText, names, type Viewer, viewerOf } from '#test/support/drawn-values.ts'
import { account } from './account-writes.ts'
import type { Asked } from './memory.ts'
import { placeOrder, step } from './order-writes.ts'
import { admin, type Make, type Members, selfOr, sent, some, someone, spoilt } from './sent.ts'

const userMembers = (draw: Draw): Members => ({
  name: draw.of(...names),
  email: emailOf(draw),
  ...(draw.chance(50) && { age: draw.of(null, 0, 28, 150, 151, -1) }),
  ...(draw.chance(6) && { role: draw.of('user', 'admin', 'x') }),
  ...(draw.chance(6) && { status: draw.of('active', 'suspended') }),
})

const productMembers = (draw: Draw): Members => ({
  name: draw.of(...names),
  category: draw.of('kitchen', 'KÜCHE', '台所', 'c'.repeat(100), ' x '),
  price: draw.chance(90)
    ? draw.of(0, 0.1, 14.5, 0.29, 999_999_999.99)
    : draw.of(1_000_000_000, 0.001),
  ...(draw.chance(60) && {
    stock: draw.chance(90) ? draw.of(0, 1, 5, 2_147_483_647) : draw.of(2_147_483_648, -1),
  }),
  ...(draw.chance(40) && {
    image: draw.of(
      null,
      'https://é.example.org/x?%00',
      'http://x',
      draw.chance(20) ? 'ftp://x' : null,
    ),
  }),
})

const create: Make = (draw, memory) => {
  const { users, posts } = memory.highest
  const userId = draw.of('2', '3', '4', idText(draw, users))
  const postId = draw.of('1', '2', idText(draw, posts))
  const post = { title: draw.of(...names), content: `${draw.of(...names)}\n` }
  return draw.of<() => Asked>(
    () =>
      sent(draw, memory, {
        kind: 'create user',
        line: 'POST /api/users',
        as: viewerOf(draw),
        body: spoilt(draw, userMembers(draw)),
      }),
    () =>
      sent(draw, memory, {
        kind: 'create product',
        line: 'POST /api/products',
        as: admin(draw),
        body: spoilt(draw, productMembers(draw)),
      }),
    () =>
      sent(draw, memory, {
        kind: 'create post',
        line: `POST /api/users/${userId}/posts`,
        as: selfOr(draw, userId),
        body: spoilt(draw, post),
      }),
    () =>
      sent(draw, memory, {
        kind: 'create comment',
        line: `POST /api/posts/${postId}/comments`,
        as: viewerOf(draw),
        body: spoilt(draw, { text: draw.of(...names) }),
      }),
  )()
}

const change: Make = (draw, memory) => {
  const { posts, products } = memory.highest
  const [userId, postId] = [someone(draw, memory), idText(draw, posts)]
  const productId = idText(draw, products)
  const part = (members: Members) =>
    spoilt(draw, some(draw, { ...members, ...(draw.chance(5) && { x: 1 }) }))
  const post = { title: draw.of(...names), content: draw.of(...names) }
  return draw.of<() => Asked>(
    () =>
      sent(draw, memory, {
        kind: 'replace user',
        line: `PUT /api/users/${userId}`,
        as: selfOr(draw, userId),
        body: spoilt(draw, userMembers(draw)),
      }),
    () =>
      sent(draw, memory, {
        kind: 'update user',
        line: `PATCH /api/users/${userId}`,
        as: selfOr(draw, userId),
        body: part(userMembers(draw)),
      }),
    () =>
      sent(draw, memory, {
        kind: 'update post',
        line: `PATCH /api/posts/${postId}`,
        as: draw.of<Viewer>(1, 2, viewerOf(draw)),
        body: part(post),
      }),
    () =>
      sent(draw, memory, {
        kind: 'replace product',
        line: `PUT /api/products/${productId}`,
        as: admin(draw),
        body: spoilt(draw, productMembers(draw)),
      }),
    () =>
      sent(draw, memory, {
        kind: 'update product',
        line: `PATCH /api/products/${productId}`,
        as: admin(draw),
        body: part(productMembers(draw)),
      }),
  )()
}

const remove: Make = (draw, memory) => {
  const { posts, products, comments } = memory.highest
  // The content is limited.
  const rare = draw.chance(15)
  const path = draw.of(
    ...(rare ? [`users/${someone(draw, memory)}`, `posts/${idText(draw, posts)}`] : []),
    `products/${draw.upTo(products + 60, products - 30)}`,
    `posts/${draw.upTo(posts + 40, posts - 20)}`,
    `posts/${draw.of('1', idText(draw, posts))}/comments/${idText(draw, comments)}`,
    'products/9223372036854775808',
  )
  return sent(draw, memory, {
    kind: `delete ${path.split('/')[0]}`,
    line: `DELETE /api/${path}`,
    as: draw.of<Viewer>(1, 2, viewerOf(draw)),
  })
}

const like: Make = (draw, memory) => {
  const id = idText(draw, draw.chance(50) ? 12 : memory.highest.comments)
  const method = draw.chance(60) ? 'POST' : 'DELETE'
  return sent(draw, memory, {
    kind: `${method} like`,
    line: `${method} /api/comments/${id}/likes`,
    as: viewerOf(draw),
    ...(draw.chance(5) && { body: draw.of({}, { a: 1 }) }),
  })
}

/** A request that had a key, sent again: the same, with another body, by another. */
const again: Make = (draw, memory) => {
  const { keyed } = memory
  const known = keyed[draw.upTo(Math.max(keyed.length - 1, 0))]
  if (!known) return placeOrder(draw, memory)
  const kind = 'key again'
  if (draw.chance(60)) return { ...known, kind }
  if (draw.chance(40)) return { ...known, kind, as: viewerOf(draw) }
  return {
    ...known,
    kind,
    body: JSON.stringify(draw.of<unknown>({}, userMembers(draw), { query: '{ users { id } }' })),
  }
}

/** What is written, each with its weight. */
export const writes: readonly (readonly [number, Make])[] = [
  [10, create],
  [9, change],
  [3, remove],
  [4, like],
  [6, placeOrder],
  [5, step],
  [4, again],
  [5, account],
]
