/** What is on the market before anybody writes; a store in development begins with it, and so do the worlds of tests. */
import type { RowsByEntity } from 'duet'

/** People: 1 Ada (admin), 2 Ben, 3 Cleo, 4 Dan (suspended). Ben wrote posts 1 to 3, Cleo 4. */
export const rows: RowsByEntity = {
  user: [
    { name: 'Ada', email: 'ada@example.org', age: 36, role: 'admin', emailVerified: true },
    { name: 'Ben', email: 'ben@example.org', age: 28, emailVerified: true },
    { name: 'Cleo', email: 'Cleo@Example.org' },
    { name: 'Dan', email: 'dan@example.org', age: 28, status: 'suspended' },
  ],
  post: [
    { authorId: 2, title: 'First', content: 'one' },
    { authorId: 2, title: 'Second', content: 'two' },
    { authorId: 2, title: 'Third', content: 'three' },
    { authorId: 3, title: 'Fourth', content: 'four' },
  ],
  comment: [
    { postId: 1, authorId: 3, text: 'a' },
    { postId: 1, authorId: 1, text: 'b' },
    { postId: 4, authorId: 2, text: 'c' },
  ],
  like: [
    { userId: 2, commentId: 1 },
    { userId: 3, commentId: 1 },
  ],
  product: [
    { name: 'Desk lamp', category: 'lighting', price: 79.9, stock: 12 },
    { name: 'Lantern', category: 'lighting', price: 14.5, stock: 0 },
    { name: 'Notebook', category: 'office', price: 9.95, stock: 230 },
    { name: 'CAFÉ bowl 100%', category: 'kitchen', price: 14.5, stock: 31 },
    {
      name: 'Snow_globe',
      category: 'decor',
      price: 14.5,
      stock: 3,
      image: 'https://images.example.org/globe.jpg',
    },
  ],
}
