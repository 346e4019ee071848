/** The products of the tests of filters, and which of them a condition keeps. */

/** Names of products. */
export const words = [
  ...['Desk lamp', 'LANTERN', 'lantern', 'Café', 'CAFÉ BOWL', 'cafe', 'cafe\u0301', 'Straße'],
  ...['STRASSE', 'Σίσυφος', 'ΣΊΣΥΦΟΣ', 'İstanbul', 'ısı', 'ИЗБА', 'изба', 'ǅungla', 'ﬁn', 'FIN'],
  ...['100%', '100', '%', '%%%', '_', '___', 'snow_globe', 'snowXglobe', 'a\\b', '\\', "it's", '"'],
  ...['"quoted" text', 'a AND b', 'a OR NOT b', 'NEAR(a b)', 'name_key:x', '*', 'lam*', '^lamp'],
  ...['(', 'a-b', 'a+b', '張偉', '张伟的灯', '😀', '😀😀😀 face', '👩‍👩‍👧', 'K', 'Å', 'ſ', 'ß'],
  ...['tab\tname', 'line\nname', 'x\u0001y', 'e\u0301\u0302', '\ufeffbom', 'null', '0', 'ÄÖÜ äöü'],
]
const prices = [0, 0.01, 0.99, 1, 1.01, 9.99, 10, 14.5, 14.5, 999_999_999.99]

/** Categories of products. */
export const categories = ['lighting', 'Lighting', 'a b', "o'clock", '%', 'café']

const product = words.map((name, index) => ({
  name,
  category: categories[index % categories.length],
  price: prices[index % prices.length] ?? 0,
  stock: index % 3,
}))

/** The store of the tests of filters. */
export const rows = {
  user: [
    { name: 'Ada', email: 'ada@example.org', role: 'admin' },
    { name: 'Ben', email: 'ben@example.org' },
    { name: 'Cleo', email: 'cleo@example.org', status: 'suspended' },
    { name: 'Dan', email: 'dan@example.org', role: 'admin', status: 'suspended' },
  ],
  product,
}

export type Thing = (typeof product)[number] & { id: number }

/** The products as they are kept. */
export const things: Thing[] = product.map((row, index) => ({
  ...row,
  name: row.name.trim(),
  id: index + 1,
}))

/** The ids of products for which it holds. */
export const where = (condition: (thing: Thing) => boolean) =>
  things.filter(condition).map(({ id }) => id)

/** Case taken out of each code point by itself; accents stay. The large ß becomes the small one first, which becomes `ss` as it does by itself. */
export const folded = (text: string) =>
  [...text].map(point => point.toLowerCase().toUpperCase().toLowerCase()).join('')

/** The ids of products whose name has this, without regard to case. */
export const contains = (needle: string) =>
  where(({ name }) => folded(name).includes(folded(needle)))
