/** `duet seed`: made-up content of any size, the same for the same numbers, skewed as real content is. */

import { inserter, inTransaction, isEmpty } from '#cli/fill.ts'
import { progress } from '#cli/progress.ts'
import { modelOf, openForFilling } from '#cli/store.ts'
import { type CliCommand, readArgs, UsageError, wholeOption } from '#cli/usage.ts'
import { type Random, randomFrom, seedWords } from '#cli/words.ts'
import { loadConfig } from '#config.ts'
import { entityOf } from '#model/model.ts'
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

type Put = (values: ReadonlyMap<string, SqlValue>) => number

const rowOf = (values: Readonly<Record<string, SqlValue>>) => new Map(Object.entries(values))

const times = (label: string, count: number, one: (index: number) => void) => {
  if (count === 0) return
  const shown = progress(label, count)
  for (let index = 0; index < count; index++) {
    one(index)
    shown.step()
  }
  shown.done()
}

const seedPeople = (put: Put, random: Random, count: number) =>
  times('users', count, index => {
    const name = seedWords.name(random)
    const email = `${name.toLowerCase().replaceAll(' ', '.')}.${index + 1}@example.org`
    const age = random() < 0.2 ? null : 16 + Math.floor(random() * 70)
    const role = index === 0 ? 'admin' : 'user'
    put(rowOf({ name, email, age, role, createdAt: epoch + index * minute, emailKey: fold(email) }))
  })

const seedPosts = (put: Put, random: Random, { posts, users }: Sizes): Uint32Array => {
  const authors = new Uint32Array(posts)
  times('posts', posts, index => {
    const authorId = 1 + skewed(random, users)
    authors[index] = authorId
    const title = seedWords.title(random)
    put(
      rowOf({
        title,
        content: seedWords.paragraph(random, 40 + Math.floor(random() * 120)),
        authorId,
        createdAt: epoch + index * minute,
      }),
    )
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
  times('comments', comments, index => {
    const postId = order[skewed(random, order.length)] ?? 1
    const authorId = 1 + skewed(random, users)
    put(
      rowOf({
        text: seedWords.paragraph(random, 1 + Math.floor(random() * 10)),
        postId,
        authorId,
        createdAt: epoch + index * minute,
      }),
    )
  })
}

const seedProducts = (put: Put, random: Random, count: number) =>
  times('products', count, index => {
    const name = seedWords.product(random)
    const category = seedWords.category(random)
    const price = 99 + Math.floor(random() ** 3 * 200_000)
    const stock = random() < 0.1 ? 0 : Math.floor(random() * 500)
    const image = random() < 0.5 ? `https://images.example.org/products/${index + 1}.jpg` : null
    put(
      rowOf({
        name,
        category,
        price,
        stock,
        image,
        createdAt: epoch + index * minute,
        nameKey: fold(name),
      }),
    )
  })

const checkSizes = ({ users, posts, comments }: Sizes) => {
  if (posts > 0 && users === 0)
    throw new UsageError('--posts needs --users above 0: a post has an author')
  if (comments > 0 && posts === 0)
    throw new UsageError('--comments needs --posts above 0: a comment stands below a post')
}

const run = async (args: readonly string[]): Promise<void> => {
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
  const config = loadConfig(process.env)
  const model = modelOf(config)
  const connection = openForFilling(config)
  try {
    if (!isEmpty(connection, model.entities))
      throw new Error(`${config.file} has content already; seed fills an empty store only`)
    const put = (entity: string): Put => inserter(connection, entityOf(model, entity))
    const random = randomFrom(20_240_101)
    inTransaction(connection, () => {
      seedPeople(put('user'), random, sizes.users)
      const authors = seedPosts(put('post'), random, sizes)
      seedComments(put('comment'), random, sizes, authors)
      seedProducts(put('product'), random, sizes.products)
    })
    connection.run('pragma optimize = 0x10002')
  } finally {
    connection.close()
  }
}

export const seed: CliCommand = {
  name: 'seed',
  about: 'fill an empty store with made-up content',
  help,
  run,
}
