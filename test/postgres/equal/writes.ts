/** Generated writes in the REST API: good and bad values, tags, keys used again, by every kind of viewer. */
import { life, sealToken } from '#content/user/verify-email/token.ts'
import type { Draw } from '../../operations.ts'
import { idAt, keys } from './content.ts'
import { type Asked, type Memory, tagsOf } from './memory.ts'
import { emailOf, idText, names, odd, type Viewer, viewerOf } from './values.ts'

type Make = (draw: Draw, memory: Memory) => Asked
type Members = Readonly<Record<string, unknown>>

/** The members, now and then with one left out, too many, or odd. */
const spoilt = (draw: Draw, members: Members): Members => {
  const { of, chance } = draw
  if (chance(75)) return members
  const key = of(...Object.keys(members))
  if (chance(20)) return Object.fromEntries(Object.entries(members).filter(([k]) => k !== key))
  if (chance(15))
    return { ...members, [of('id', 'role', 'status', 'revision', 'x', '__proto__')]: odd(draw) }
  return { ...members, [key]: odd(draw) }
}

/** Some of the members. */
const some = ({ chance }: Draw, members: Members): Members =>
  Object.fromEntries(Object.entries(members).filter(() => chance(50)))

const bodyText = ({ of, chance }: Draw, body: unknown): string | Uint8Array<ArrayBuffer> => {
  const text = JSON.stringify(body)
  if (chance(97)) return text
  return of<string | Uint8Array<ArrayBuffer>>(
    ...['', '{', 'null', '[]', '"x"', `${text}x`, '{"name":"a","name":"b"}', '[[[[[[]]]]]]'],
    new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
  )
}

/** A request with a body; a POST has a key now and then. */
const sent = (
  draw: Draw,
  memory: Memory,
  asked: { kind: string; line: string; as: Viewer; body?: unknown },
): Asked => {
  const { of, chance } = draw
  const [method, path = ''] = asked.line.split(' ')
  const json = asked.body !== undefined
  const headers = {
    ...(json && {
      'Content-Type': chance(98)
        ? 'application/json'
        : of('text/plain', 'application/merge-patch+json'),
    }),
    ...(method === 'POST' &&
      chance(18) && {
        'Idempotency-Key': chance(8)
          ? of('"a b"', 'é', '')
          : of(`k${memory.now}`, `"k${memory.now}"`),
      }),
    ...(/PUT|PATCH|DELETE/.test(method ?? '') &&
      chance(30) && { 'If-Match': tagsOf(draw, memory, path) }),
  }
  return {
    ...asked,
    headers,
    ...(json ? { body: bodyText(draw, asked.body) } : { body: undefined }),
  } as Asked
}

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

const admin = (draw: Draw): Viewer => (draw.chance(80) ? 1 : viewerOf(draw))
/** The user of that id, most of the time. */
const selfOr = (draw: Draw, id: string): Viewer =>
  draw.chance(70) && /^\d{1,4}$/.test(id) && id !== '0' && id[0] !== '0'
    ? Number(id)
    : viewerOf(draw)

/** A user's id; that of the admin who does most is spared. */
const someone = (draw: Draw, { highest }: Memory): string =>
  idText(draw, highest.users).replace(/^1$/, '2')

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

const itemsOf = (draw: Draw, memory: Memory): unknown => {
  const { of, upTo, chance } = draw
  const { products } = memory.highest
  const item = () => ({
    productId: upTo(chance(80) ? 30 : products, 1),
    quantity: chance(80) ? 1 : of(2, 3, 10, 1000),
  })
  if (chance(5)) return odd(draw)
  if (chance(4))
    return Array.from({ length: of(0, 99, 100, 101) }, (_, n) => ({
      productId: idAt(n),
      quantity: 1,
    }))
  const items: unknown[] = Array.from({ length: of(1, 1, 2, 3) }, item)
  if (chance(6)) items.push(items[0])
  if (chance(6))
    items.push({
      productId: of<unknown>(0, 8, 99_999, 2 ** 31, 2 ** 53 - 1, 2 ** 53, 1e300, '1'),
      quantity: 1,
    })
  if (chance(6)) items.push({ productId: 1, quantity: odd(draw) })
  return items
}

const placeOrder: Make = (draw, memory) =>
  sent(draw, memory, {
    kind: 'place order',
    line: 'POST /api/orders',
    as: viewerOf(draw),
    body: spoilt(draw, { items: itemsOf(draw, memory) }),
  })

const step: Make = (draw, memory) => {
  const id = draw.chance(60)
    ? String(Math.max(1, memory.highest.orders - draw.upTo(9)))
    : idText(draw, memory.highest.orders)
  const action = draw.of('pay', 'pay', 'cancel', 'refund')
  return sent(draw, memory, {
    kind: action,
    line: `POST /api/orders/${id}/${action}`,
    as: draw.of<Viewer>(1, viewerOf(draw)),
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

const pictures = [
  '89504e470d0a1a0a0000000d49484452',
  'ffd8ffe000104a464946',
  '474946383961010001008000',
  '00',
  '',
  '3c7376673e',
]

/** A token for the address that a user has from the start, now and then an old one. */
const tokenFor = ({ chance }: Draw, { now }: Memory, id: number): string => {
  const email = id === 1 ? 'ada@example.org' : `${(id - 1) % 5 === 0 ? 'U' : 'u'}${id}@example.org`
  const madeAt = chance(10) ? now - life : now - 1000
  return sealToken(keys.mail, { id, name: '', email }, madeAt)
}

const account: Make = (draw, memory) => {
  const { of, chance, upTo } = draw
  const id = idText(draw, memory.highest.users)
  const picture = new Uint8Array(Buffer.from(of(...pictures) + '00ff'.repeat(upTo(40)), 'hex'))
  const put = () => ({
    ...sent(draw, memory, {
      kind: 'put avatar',
      line: `PUT /api/users/${id}/avatar`,
      as: selfOr(draw, id),
    }),
    body: picture,
  })
  return of<() => Asked>(
    put,
    put,
    () =>
      sent(draw, memory, {
        kind: 'delete avatar',
        line: `DELETE /api/users/${id}/avatar`,
        as: selfOr(draw, id),
      }),
    () =>
      sent(draw, memory, {
        kind: 'verify',
        line: `POST /api/users/${id}/verify-email`,
        as: chance(50) ? 1 : selfOr(draw, id),
        ...(chance(30) && { body: of<unknown>({ token: 'x' }, { token: odd(draw) }, {}) }),
      }),
    () =>
      sent(draw, memory, {
        kind: 'verify by token',
        line: `POST /api/users/${id}/verify-email`,
        as: selfOr(draw, id),
        body: { token: tokenFor(draw, memory, Number(id)) },
      }),
    () =>
      sent(draw, memory, {
        kind: 'promote',
        line: `POST /api/users/${chance(30) ? id : upTo(60, 50)}/actions/promote-to-admin`,
        as: admin(draw),
        ...(chance(10) && { body: { a: 1 } }),
      }),
  )()
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
