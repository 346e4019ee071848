/** Made-up content of any size, skewed as real content is. */
import type { PutMany, Seed, Sizes } from '#cli/row-sources.ts'
import { type Random, randomFrom, seedWords } from '#content/seed/words.ts'
import { fold } from '#model/values.ts'

/** An index below `size`, low ones far more often: the share of the first x is the cube root of x. */
const skewed = (random: Random, size: number): number => Math.floor(size * random() ** 3)

/** Posts in the order of their authors: popular authors' posts come first, and get most of the comments. */
const byAuthor = (authors: Uint32Array, users: number): Uint32Array => {
  const starts = new Uint32Array(users + 1)
  for (const author of authors) starts[author] = (starts[author] ?? 0) + 1
  for (let user = 1; user <= users; user++)
    starts[user] = (starts[user] ?? 0) + (starts[user - 1] ?? 0)
  const sorted = new Uint32Array(authors.length)
  for (const [index, author] of authors.entries()) {
    const next = starts[author - 1] ?? 0
    sorted[next] = index + 1
    starts[author - 1] = next + 1
  }
  return sorted
}

const seedUsers = (put: PutMany, random: Random, count: number) =>
  put('user', count, index => {
    const name = seedWords.name(random)
    const email = `${name.toLowerCase().replaceAll(' ', '.')}.${index + 1}@example.org`
    const age = random() < 0.2 ? null : 16 + Math.floor(random() * 70)
    const role = index === 0 ? 'admin' : 'user'
    return { name, email, age, role, emailKey: fold(email) }
  })

/** Gives the author of each post. */
const seedPosts = async (put: PutMany, random: Random, posts: number, users: number) => {
  const authors = new Uint32Array(posts)
  await put('post', posts, index => {
    const authorId = 1 + skewed(random, users)
    authors[index] = authorId
    const title = seedWords.title(random)
    const content = seedWords.paragraph(random, 40 + Math.floor(random() * 120))
    return { title, content, authorId }
  })
  return authors
}

const seedComments = (
  put: PutMany,
  random: Random,
  comments: number,
  users: number,
  authors: Uint32Array,
) => {
  const posts = byAuthor(authors, users)
  return put('comment', comments, () => {
    const postId = posts[skewed(random, posts.length)] ?? 1
    const authorId = 1 + skewed(random, users)
    const text = seedWords.paragraph(random, 1 + Math.floor(random() * 10))
    return { text, postId, authorId }
  })
}

const seedProducts = (put: PutMany, random: Random, count: number) =>
  put('product', count, index => {
    const name = seedWords.product(random)
    const category = seedWords.category(random)
    const price = 99 + Math.floor(random() ** 3 * 200_000)
    const stock = random() < 0.1 ? 0 : Math.floor(random() * 500)
    const image = random() < 0.5 ? `https://images.example.org/products/${index + 1}.jpg` : null
    return { name, category, price, stock, image, nameKey: fold(name) }
  })

const check = ({ users = 0, posts = 0, comments = 0 }: Sizes): string | undefined => {
  if (posts > 0 && users === 0) return '--posts needs --users above 0: a post has an author'
  if (comments > 0 && posts === 0)
    return '--comments needs --posts above 0: a comment stands below a post'
  return undefined
}

export const seed: Seed = {
  sizes: { users: 100, posts: 500, comments: 2000, products: 1000 },
  about: 'A few users write most posts and comments, and get most comments.',
  check,
  fill: async (put, { users = 0, posts = 0, comments = 0, products = 0 }) => {
    const random = randomFrom(20_240_101)
    await seedUsers(put, random, users)
    const authors = await seedPosts(put, random, posts, users)
    await seedComments(put, random, comments, users, authors)
    await seedProducts(put, random, products)
  },
}
