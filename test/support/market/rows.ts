/** What is on the market before anybody writes, in a store in development as in the worlds of tests; and made-up rows of any number. */
import type { RowsByEntity, Seed } from 'duet'
import { fold } from 'duet/commands'

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

const categories = ['lighting', 'kitchen', 'office']

export const seed: Seed = {
  sizes: { users: 100, posts: 500, comments: 2000, products: 1000 },
  about: 'Everybody writes as many posts and comments.',
  check: ({ users = 0, posts = 0 }) =>
    posts > 0 && users === 0 ? '--posts needs --users above 0: a post has an author' : undefined,
  fill: async (put, { users = 0, posts = 0, comments = 0, products = 0 }) => {
    await put('user', users, index => {
      const email = `user.${index + 1}@example.org`
      return { name: `User ${index + 1}`, email, emailKey: fold(email) }
    })
    const content = 'Some words that a post has. '.repeat(20)
    await put('post', posts, index => ({
      title: `Post ${index + 1}`,
      content,
      authorId: 1 + (index % users),
    }))
    await put('comment', comments, index => ({
      text: `Comment ${index + 1}`,
      postId: 1 + (index % posts),
      authorId: 1 + (index % users),
    }))
    await put('product', products, index => {
      const name = `Thing ${index + 1}`
      const category = categories[index % categories.length] ?? ''
      return { name, nameKey: fold(name), category, price: 99 + 7 * index, stock: index % 9 }
    })
  },
}
