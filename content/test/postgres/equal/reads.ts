/** Generated reads: lists with all that they take, one thing by its id, and what is made of many. */
import type { Draw } from '#test/operations.ts'
import { idText, needles, numberText, viewerOf } from '#test/support/drawn-values.ts'
import { type Asked, type Memory, tagsOf } from './memory.ts'

type Make = (draw: Draw, memory: Memory) => Asked

const written = (parameters: readonly (readonly [string, string])[]): string => {
  const text = parameters.map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join('&')
  return text === '' ? '' : `?${text}`
}

const fieldsOf = ({ of }: Draw, own: readonly string[]): string =>
  of(
    'id',
    own.join(),
    own.toReversed().join(),
    `${of(...own)},${of(...own)}`,
    '',
    'nothing',
    'id,,',
  )

const pagesBy = ({ of, chance, ...draw }: Draw) => {
  const number = () => numberText({ of, chance, ...draw })
  return [
    ...(chance(65) ? [['limit', number()] as const] : []),
    ...(chance(40) ? [['page', number()] as const] : []),
    ...(chance(25) ? [['offset', number()] as const] : []),
    ...(chance(4) ? [['limit', '2'] as const] : []),
    ...(chance(4) ? [['cursor', of('', 'abc', 'A'.repeat(24), '%00')] as const] : []),
  ]
}

const list = (path: string, draw: Draw, memory: Memory, own: Parameters<typeof written>[0]) => {
  const line = `GET /api/${path}${written([...own, ...pagesBy(draw)])}`
  const match = draw.chance(10) ? tagsOf(draw, memory, line.slice(4)) : undefined
  return {
    kind: `list ${path.replace(/\/[^/]+\//, '/{}/')}`,
    line,
    as: viewerOf(draw),
    ...(match !== undefined && { headers: { 'If-None-Match': match } }),
  }
}

const productMembers = ['id', 'name', 'category', 'price', 'stock', 'image', 'created_at'] as const
const userMembers = ['id', 'name', 'email', 'age', 'role', 'status', 'createdAt'] as const

const prices = ['0', '0.01', '14.5', '14.50', '14.505', '-0.005', '1e2', 'abc', '', '999999999.99']
const beyond = [
  '9223372036854775807',
  '92233720368547758.08',
  '-9'.padEnd(30, '9'),
  '.5',
  '5.',
  '١',
]

const products: Make = (draw, memory) => {
  const { of, chance } = draw
  const sort = of(
    'price',
    '-price',
    'name',
    '-name',
    'created_at',
    'price,-name',
    '-name,price',
    'x',
  )
  return list('products', draw, memory, [
    ...(chance(60) ? [['sort', sort] as const] : []),
    ...(chance(50) ? [['search', of(...needles)] as const] : []),
    ...(chance(25)
      ? [['category', of('kitchen', 'KÜCHE', 'küche', '台所', '100%', "o'", '', 'x')] as const]
      : []),
    ...(chance(25) ? [['min_price', of(...prices, ...beyond)] as const] : []),
    ...(chance(20) ? [['max_price', of(...prices, ...beyond)] as const] : []),
    ...(chance(20) ? [['in_stock', of('true', 'false', '')] as const] : []),
    ...(chance(20) ? [['fields', fieldsOf(draw, productMembers)] as const] : []),
  ])
}

const users: Make = (draw, memory) => {
  const { of, chance } = draw
  return list('users', draw, memory, [
    ...(chance(70) ? [['sort', of(...userMembers, 'x')] as const] : []),
    ...(chance(60) ? [['order', of('asc', 'desc', 'desc', 'up')] as const] : []),
    ...(chance(20) ? [['role', of('admin', 'user', 'USER', '', "'")] as const] : []),
    ...(chance(20) ? [['status', of('active', 'suspended', '%', '\0')] as const] : []),
    ...(chance(20) ? [['fields', fieldsOf(draw, userMembers)] as const] : []),
  ])
}

const orders: Make = (draw, memory) => {
  const { of, chance } = draw
  return list('orders', draw, memory, [
    ...(chance(30) ? [['status', of('pending', 'paid', 'refunded', 'x', '')] as const] : []),
    ...(chance(30)
      ? [['customerId', of('1', '2', '3', 'x', '', '1.0', '01', '9223372036854775808')] as const]
      : []),
  ])
}

const below: Make = (draw, memory) => {
  const { users, posts, comments } = memory.highest
  const path = draw.of(
    ...['posts', 'posts/1/comments', 'users/2/posts', 'comments/1/likes'],
    `users/${idText(draw, users)}/posts`,
    `posts/${idText(draw, posts)}/comments`,
    `comments/${idText(draw, comments)}/likes`,
    `customers/${idText(draw, 6)}/orders`,
  )
  return list(path, draw, memory, [])
}

/** The next page of a list, or the same once more with another number of things in it. */
const nextPage: Make = (draw, memory) => {
  const next = memory.pages.pop()
  if (!next) return below(draw, memory)
  return { kind: 'next page', ...next, ...(draw.chance(5) && { as: viewerOf(draw) }) }
}

const one: Make = (draw, memory) => {
  const { highest } = memory
  const id = (plural: keyof typeof highest) => idText(draw, highest[plural])
  const [kind, path] = draw.of(
    ['user', `users/${id('users')}`],
    ['post', `posts/${id('posts')}`],
    ['comment', `comments/${id('comments')}`],
    ['product', `products/${id('products')}`],
    ['order', `orders/${id('orders')}`],
    ['customer', `customers/${idText(draw, 9)}`],
    ['receipt', `orders/${id('orders')}/receipt`],
    ['avatar', `users/${id('users')}/avatar`],
    ['post of a user', `users/${draw.of('2', id('users'))}/posts/${id('posts')}`],
    ['comment of a post', `posts/1/comments/${4 * draw.upTo(90) + draw.upTo(1)}`],
  ) as readonly [string, string]
  const query = draw.chance(15)
    ? written([['fields', fieldsOf(draw, kind === 'product' ? productMembers : userMembers)]])
    : ''
  const line = `/api/${path}${query}`
  const headers = {
    ...(draw.chance(30) && { 'If-None-Match': tagsOf(draw, memory, line) }),
    ...(kind === 'receipt' && draw.chance(50) && { Accept: 'text/html' }),
  }
  const method = draw.chance(5) ? 'HEAD' : 'GET'
  return { kind: `one ${kind}`, line: `${method} ${line}`, as: viewerOf(draw), headers }
}

const spans = [
  ...[
    ['1969-06-01', '1970-06-01'],
    ['1969-12-31T12:00:00Z', '1970-01-02'],
    ['2024-02-01', '2024-03-01'],
  ],
  ...[
    ['2026-01-01', '2026-07-01'],
    ['0001-01-01', '0002-01-01'],
    ['1582-10-01', '1582-11-01'],
  ],
  ...[
    ['9999-01-01', '9999-12-31'],
    ['1970-01-01T00:00:00.001Z', '1970-01-01T00:00:00.002Z'],
  ],
  ...[
    ['0001-01-01', '9999-12-31'],
    ['2026-01-01', '1970-01-01'],
    ['2026-13-01', 'x'],
  ],
]

const report: Make = draw => {
  const { of, chance } = draw
  const [from, to] = of(...spans)
  const body = {
    type: of('sales', 'sales', 'content', 'users', chance(20) ? 'x' : 'content'),
    ...(chance(90) && { from }),
    ...(chance(90) && { to }),
    ...(chance(80) && { by: of('day', 'day', 'month', chance(20) ? 'year' : 'month') }),
  }
  return {
    kind: 'report',
    line: 'POST /api/reports/generate',
    as: chance(85) ? 1 : viewerOf(draw),
    headers: {
      'Content-Type': 'application/json',
      Accept: of('application/json', 'application/json', 'text/csv', 'image/svg+xml'),
    },
    body: JSON.stringify(body),
  }
}

/** What is read, each with its weight. */
export const reads: readonly (readonly [number, Make])[] = [
  [15, products],
  [9, users],
  [4, orders],
  [8, below],
  [10, nextPage],
  [16, one],
  [3, report],
]
