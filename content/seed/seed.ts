/** Made-up content of any size, skewed as real content is, from a generator that gives the same for the same seed. */
import type { Seed } from 'duet'
import { fold } from 'duet/commands'

/** A number from 0 up to 1. */
export type Random = () => number

/** The mulberry32 generator: small, fast, and the same everywhere. */
export const randomFrom = (seed: number): Random => {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

const list = (words: string): readonly string[] => words.split(' ')

const given = list(
  'Ada Ben Chloe Dario Elif Farid Greta Hana Ivo Jun Kofi Lena Mina Nils Odile Pavel Quinn Rosa Sami Tove Uma Vera Wim Xenia Yara Zoe',
)
const family = list(
  'Abara Berg Castro Dubois Eriksen Ferrari Garcia Haddad Ito Jansen Kaya Lindt Moreau Novak Okafor Petrov Quist Rossi Sato Tanaka Ueda Vogel Weber Xu Yilmaz Zeman',
)
const nouns = list(
  'garden river kitchen window letter market engine bridge forest harbour library mountain notebook orchestra pencil station summer teacher village winter',
)
const verbs = list(
  'builds carries draws finds gathers hears keeps learns makes notices opens paints reads sees tells understands visits writes',
)
const adjectives = list(
  'amber brisk calm deep eager faint gentle hollow iron jolly keen light mellow narrow open plain quiet round soft tall',
)
const materials = list('oak steel linen cork glass wool clay copper bamboo leather')
const things = list(
  'lamp chair kettle basket shelf blanket clock mirror bowl jacket backpack teapot frame stool vase',
)
const categories = list(
  'lighting furniture kitchen storage textiles decor outdoor travel office toys books garden',
)

const pick = (random: Random, from: readonly string[]): string =>
  from[Math.floor(random() * from.length)] ?? ''
const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

const sentence = (random: Random): string =>
  capital(
    `the ${pick(random, adjectives)} ${pick(random, nouns)} ${pick(random, verbs)} a ${pick(random, adjectives)} ${pick(random, nouns)}`,
  )

/** Sentences of about as many words. */
const paragraph = (random: Random, words: number): string => {
  const sentences: string[] = []
  for (let count = 0; count < words; count += 7) sentences.push(`${sentence(random)}.`)
  return sentences.join(' ')
}

/** An index below `size`, low ones far more often: the share of the first x is the cube root of x. */
const skewed = (random: Random, size: number): number => Math.floor(size * random() ** 3)

/** What `duet seed` writes: users, posts, comments and products, as many as are asked for. */
export const seed: Seed = {
  sizes: { users: 100, posts: 500, comments: 2000, products: 1000 },
  about: 'A few users write most posts and comments, and get most comments.',
  check: ({ users = 0, posts = 0, comments = 0 }) => {
    if (posts > 0 && users === 0) return '--posts needs --users above 0: a post has an author'
    if (comments > 0 && posts === 0)
      return '--comments needs --posts above 0: a comment stands below a post'
    return undefined
  },
  fill: async (put, { users = 0, posts = 0, comments = 0, products = 0 }) => {
    const random = randomFrom(20_240_101)

    await put('user', users, index => {
      const name = `${pick(random, given)} ${pick(random, family)}`
      const email = `${name.toLowerCase().replaceAll(' ', '.')}.${index + 1}@example.org`
      const age = random() < 0.2 ? null : 16 + Math.floor(random() * 70)
      const role = index === 0 ? 'admin' : 'user'
      return { name, email, age, role, emailKey: fold(email) }
    })

    const authors = new Uint32Array(posts)
    await put('post', posts, index => {
      const authorId = 1 + skewed(random, users)
      authors[index] = authorId
      const title = sentence(random)
      const content = paragraph(random, 40 + Math.floor(random() * 120))
      return { title, content, authorId }
    })

    // Posts in the order of their authors: popular authors' posts come first, and get most of the comments.
    const authorOf = (post: number) => authors[post - 1] ?? 0
    const commented = authors
      .map((_, index) => index + 1)
      .sort((one, other) => authorOf(one) - authorOf(other) || one - other)
    await put('comment', comments, () => {
      const postId = commented[skewed(random, commented.length)] ?? 1
      const authorId = 1 + skewed(random, users)
      const text = paragraph(random, 1 + Math.floor(random() * 10))
      return { text, postId, authorId }
    })

    await put('product', products, index => {
      const kind = capital(pick(random, adjectives))
      const thing = `${pick(random, materials)} ${pick(random, things)}`
      const name = `${kind} ${thing} ${100 + Math.floor(random() * 900)}`
      // A few categories hold most products.
      const category = categories[Math.floor(categories.length * random() ** 2)] ?? ''
      const price = 99 + Math.floor(random() ** 3 * 200_000)
      const stock = random() < 0.1 ? 0 : Math.floor(random() * 500)
      const image = random() < 0.5 ? `https://images.example.org/products/${index + 1}.jpg` : null
      return { name, category, price, stock, image, nameKey: fold(name) }
    })
  },
}
