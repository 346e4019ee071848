/** Words of made-up content, drawn from a generator that gives the same ones for the same seed. */

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

export const seedWords = {
  name: (random: Random): string => `${pick(random, given)} ${pick(random, family)}`,
  title: (random: Random): string => sentence(random),
  /** Sentences of about so many words. */
  paragraph: (random: Random, words: number): string => {
    const sentences: string[] = []
    for (let count = 0; count < words; count += 7) sentences.push(`${sentence(random)}.`)
    return sentences.join(' ')
  },
  product: (random: Random): string =>
    `${capital(pick(random, adjectives))} ${pick(random, materials)} ${pick(random, things)} ${100 + Math.floor(random() * 900)}`,
  /** A few categories hold most products. */
  category: (random: Random): string =>
    categories[Math.floor(categories.length * random() ** 2)] ?? '',
}
