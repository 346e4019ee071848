/** Files to import, and rows of each kind for them. */
import assert from 'node:assert/strict'
import { command } from '#test/commands.ts'
import type { Settings } from '#test/duet.ts'

/** What can be imported, in this order. */
export const kinds = [
  'users',
  'posts',
  'comments',
  'likes',
  'products',
  'customers',
  'orders',
] as const
export type Kind = (typeof kinds)[number]
/** Imports a file, which must be without fault. */
export const importing = async (settings: Settings, kind: Kind, path: string) => {
  const ended = await command(['import', kind, path], settings)
  assert.equal(ended.code, 0, ended.stderr)
  return ended
}

/** A moment, that of the minute. */
export const time = (minute: number) =>
  new Date(Date.UTC(2025, 2, 1, 12, minute, 7, 89)).toISOString()

/** Users with what is hard to keep. */
export const odd = [
  'a, "b", \'c\'\nnew line',
  'line ends \r\n of \r three \n kinds',
  ' outer space ',
  '👩‍🚀 emoji 🎉, שלום, e\u0301, \u2028 and \u00a0',
  '"',
  '=1+1',
  '007',
  'true',
  '\\n \t {"json": [1]}',
  'null',
]

/** Rows of each kind. */
export const world: Record<Kind, readonly object[]> = {
  users: [
    { id: 3, name: 'Ada', email: 'Ada@Example.org', age: 0, role: 'admin', emailVerified: true },
    { id: 8, name: "O'Brien, Ben", email: 'ben@example.org', createdAt: time(1) },
    { id: 9, name: '"Q" 🎉', email: 'q@example.org', age: 150, status: 'suspended' },
  ],
  posts: odd.map((content, index) => ({
    id: 10 + index,
    authorId: index % 2 === 0 ? 3 : 8,
    title: content.replace(/\s+/g, ' '),
    content,
    createdAt: time(index),
  })),
  comments: odd.map((text, index) => ({ id: 100 + index, postId: 10, authorId: 9, text })),
  likes: [
    { userId: 9, commentId: 104 },
    { userId: 3, commentId: 100, createdAt: time(3) },
  ],
  products: [
    { id: 5, name: 'Lamp, "large"\n2', category: 'light', price: 19.99, stock: 4 },
    { id: 6, name: '7', category: '8', price: 0.1, image: 'https://example.org/a.jpg?b=1,2' },
    { id: 7, name: 'Much', category: 'x', price: 999_999_999.99, stock: 2_147_483_647 },
  ],
  customers: [
    { id: 1, name: 'Old, friend', createdAt: time(0) },
    { id: 2, name: 'Ada', email: 'ada@example.org', userId: 3 },
  ],
  orders: [
    {
      id: 50,
      customerId: 1,
      items: [
        { productId: 5, quantity: 3 },
        { productId: 6, quantity: 1, price: 0.2, name: 'Was "cheap", 🎉\n' },
      ],
      createdAt: time(1),
    },
    {
      id: 51,
      customerId: 2,
      status: 'pending',
      items: [{ productId: 999, quantity: 1000, price: 0, name: 'Gone' }],
    },
    {
      id: 52,
      customerId: 2,
      status: 'refunded',
      items: [{ productId: 7, quantity: 1000 }],
      createdAt: time(1),
      paidAt: time(2),
      refundedAt: time(3),
    },
    {
      id: 53,
      customerId: 2,
      status: 'cancelled',
      items: [{ productId: 5, quantity: 1 }],
      createdAt: time(1),
      cancelledAt: time(4),
    },
  ],
}
