/** Names that are hard to search, what a search of them means, and random searches. */
import fc from 'fast-check'

export const words = [
  ...['Desk lamp', 'LANTERN', 'lantern', 'Café', 'CAFÉ BOWL', 'cafe', 'cafe\u0301', 'Straße'],
  ...['STRASSE', 'Σίσυφος', 'ΣΊΣΥΦΟΣ', 'İstanbul', 'ısı', 'ИЗБА', 'изба', 'ǅungla', 'ﬁn', 'FIN'],
  ...['100%', '100', '%', '%%%', '_', '___', 'snow_globe', 'snowXglobe', 'a\\b', '\\', "it's", '"'],
  ...['"quoted" text', 'a AND b', 'a OR NOT b', 'NEAR(a b)', 'name_key:x', '*', 'lam*', '^lamp'],
  ...['(', 'a-b', 'a+b', '張偉', '张伟的灯', '😀', '😀😀😀 face', '👩‍👩‍👧', 'K', 'Å', 'ſ', 'ß'],
  ...['tab\tname', 'line\nname', 'x\u0001y', 'e\u0301\u0302', '\ufeffbom', 'null', '0', 'ÄÖÜ äöü'],
  'long and longer '.repeat(12).trim(),
]

/** Case taken out of each code point by itself, and letters composed in one way; accents stay. The large ß becomes the small one first, which becomes `ss` as it does by itself. */
export const folded = (text: string) =>
  [...text.normalize('NFD')]
    .map(point => point.toLowerCase().toUpperCase().toLowerCase())
    .join('')
    .normalize('NFC')

const letters = [...new Set(words.flatMap(word => [...word]))].filter(letter => letter !== '\0')
const piece = fc
  .tuple(fc.constantFrom(...words), fc.nat(12), fc.integer({ min: 1, max: 6 }))
  .map(([word, start, length]) => [...word].slice(start, start + length).join(''))
const anyLetters = fc.array(fc.constantFrom(...letters), { minLength: 1, maxLength: 4 })
/** Searches of one letter or more, most of them of parts of the names. */
export const needles = fc
  .oneof(
    piece,
    anyLetters.map(list => list.join('')),
    fc.string({ unit: 'grapheme', maxLength: 4 }),
  )
  .chain(text => fc.constantFrom(text, text.toUpperCase(), text.toLowerCase()))
  .filter(text => text !== '' && !text.includes('\0'))
