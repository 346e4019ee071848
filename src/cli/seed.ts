/** `duet seed`: made-up content of any size, the same for the same numbers, skewed as real content is. */

import { isEmpty, manyInserter } from '#cli/fill.ts'
import { progress } from '#cli/progress.ts'
import { type Line, modelOf, openForFilling, storeOf } from '#cli/store.ts'
import { type CliCommand, readArgs, UsageError, wholeOption } from '#cli/usage.ts'
import { type Random, randomFrom, seedWords } from '#cli/words.ts'
import { loadConfig } from '#config.ts'
import { entityOf, type Model } from '#model/model.ts'
import { fold } from '#model/text.ts'
import type { SqlValue } from '#sql/sql.ts'

const help = `Usage: duet seed [--users N] [--posts N] [--comments N] [--products N]

Fills an empty store with made-up content: the same numbers give the same content.
A few users write most posts and comments, and get most comments. Without numbers: 100 users,
500 posts, 2000 comments and 1000 products.`

/** When the made-up content begins; a row a minute from then on. */
const epoch = Date.UTC(2024, 0, 1)
const minute = 60_000

/** An index below `size`, low ones far more often: the share of the first x is the cube root of x. */
const skewed = (random: Random, size: number): number => Math.floor(size * random() ** 3)

/** Posts in the order of their authors: popular authors' posts come first, and get most of the comments. */
const byAuthor = (authors: Uint32Array, users: number): Uint32Array => {
  const starts = new Uint32Array(users + 1)
  for (const author of authors) starts[author] = (starts[author] ?? 0) + 1
  for (let user = 1; user <= users; user++)
    starts[user] = (starts[user] ?? 0) + (starts[user - 1] ?? 0)
  const order = new Uint32Array(authors.length)
  for (const [index, author] of authors.entries()) {
    const place = starts[author - 1] ?? 0
    order[place] = index + 1
    starts[author - 1] = place + 1
  }
  return order
}

type Sizes = {
  readonly users: number
  readonly posts: number
  readonly comments: number
  readonly products: number
}

type RowAt = (index: number) => Readonly<Record<string, SqlValue>>

/** Puts so many rows into a table, each as `rowAt` makes it from its number, counted from 0. */
type Put = (label: string, count: number, rowAt: RowAt) => Promise<void>

/** So many rows are made before they are put in. */
const atOnce = 500

// Rows name each other by these ids, and what a table gives by itself may begin above 1 where it had rows before.
const putFor = (line: Line, model: Model, name: string): Put => {
  const put = manyInserter(line, entityOf(model, name))
  return async (label, count, rowAt) => {
    if (count === 0) return
    const shown = progress(label, count)
    for (let from = 0; from < count; from += atOnce) {
      const length = Math.min(atOnce, count - from)
      const rows = Array.from({ length }, (_, offset) => {
        const index = from + offset
        const given = { id: index + 1, createdAt: epoch + index * minute, ...rowAt(index) }
        return new Map<string, SqlValue>(Object.entries(given))
      })
      await put(rows)
      shown.step(length)
    }
    shown.done()
  }
}

const seedPeople = (put: Put, random: Random, count: number) =>
  put('users', count, index => {
    const name = seedWords.name(random)
    const email = `${name.toLowerCase().replaceAll(' ', '.')}.${index + 1}@example.org`
    const age = random() < 0.2 ? null : 16 + Math.floor(random() * 70)
    const role = index === 0 ? 'admin' : 'user'
    return { name, email, age, role, emailKey: fold(email) }
  })

const seedPosts = async (put: Put, random: Random, { posts, users }: Sizes) => {
  const authors = new Uint32Array(posts)
  await put('posts', posts, index => {
    const authorId = 1 + skewed(random, users)
    authors[index] = authorId
    const title = seedWords.title(random)
    const content = seedWords.paragraph(random, 40 + Math.floor(random() * 120))
    return { title, content, authorId }
  })
  return authors
}

const seedComments = (
  put: Put,
  random: Random,
  { comments, users }: Sizes,
  authors: Uint32Array,
) => {
  const order = byAuthor(authors, users)
  return put('comments', comments, () => {
    const postId = order[skewed(random, order.length)] ?? 1
    const authorId = 1 + skewed(random, users)
    const text = seedWords.paragraph(random, 1 + Math.floor(random() * 10))
    return { text, postId, authorId }
  })
}

const seedProducts = (put: Put, random: Random, count: number) =>
  put('products', count, index => {
    const name = seedWords.product(random)
    const category = seedWords.category(random)
    const price = 99 + Math.floor(random() ** 3 * 200_000)
    const stock = random() < 0.1 ? 0 : Math.floor(random() * 500)
    const image = random() < 0.5 ? `https://images.example.org/products/${index + 1}.jpg` : null
    return { name, category, price, stock, image, nameKey: fold(name) }
  })

const checkSizes = ({ users, posts, comments }: Sizes) => {
  if (posts > 0 && users === 0)
    throw new UsageError('--posts needs --users above 0: a post has an author')
  if (comments > 0 && posts === 0)
    throw new UsageError('--comments needs --posts above 0: a comment stands below a post')
}

const seedAll = async (line: Line, model: Model, sizes: Sizes): Promise<void> => {
  const put = (name: string): Put => putFor(line, model, name)
  const random = randomFrom(20_240_101)
  await seedPeople(put('user'), random, sizes.users)
  const authors = await seedPosts(put('post'), random, sizes)
  await seedComments(put('comment'), random, sizes, authors)
  await seedProducts(put('product'), random, sizes.products)
  const seeded = ['user', 'post', 'comment', 'product']
  await line.session.settleIds(seeded.map(name => entityOf(model, name).table))
}

const askedSizes = (args: readonly string[]): Sizes => {
  const number = { type: 'string' } as const
  const { values } = readArgs(
    args,
    { users: number, posts: number, comments: number, products: number },
    0,
  )
  const isPlain = Object.keys(values).length === 0
  const usual = (count: number) => (isPlain ? count : 0)
  const sizes: Sizes = {
    users: wholeOption('users', values.users, usual(100)),
    posts: wholeOption('posts', values.posts, usual(500)),
    comments: wholeOption('comments', values.comments, usual(2000)),
    products: wholeOption('products', values.products, usual(1000)),
  }
  checkSizes(sizes)
  return sizes
}

const run = async (args: readonly string[]): Promise<void> => {
  const sizes = askedSizes(args)
  const config = loadConfig(process.env)
  const model = modelOf(config)
  const store = await storeOf(config)
  const line = await openForFilling(store)
  const { session } = line
  try {
    await session.transaction(async () => {
      if (!(await isEmpty(line, model.entities)))
        throw new Error(`${store.place} has content already; seed fills an empty store only`)
      await seedAll(line, model, sizes)
    })
    await session.analyze()
  } finally {
    await session.close()
  }
}

export const seed: CliCommand = { help, run }
