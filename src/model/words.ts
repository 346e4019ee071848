/** Texts as they are searched: folded, and cut into words. What is kept of a row and what a caller looks for go the same way. */
import { columnName } from '#model/names.ts'
import { codePoints, decomposed, fold, marks } from '#model/values.ts'

/**
 * How words are cut by this release. Where they begin in scripts without spaces, and what is a letter, is said by ICU, so that words
 * of another one may be other words.
 */
export const wordsCut = `1, ICU ${process.versions.icu}`

/**
 * How much of a text is kept: the beginnings of its words; the first characters, and fewer in scripts without spaces, which take ten times
 * as long; and what leaves room for the words of other fields in the megabyte that PostgreSQL indexes of a row.
 */
const longestWord = 64
const mostCharacters = 100_000
const mostSpaceless = 30_000
const mostBytes = 131_072

/** The most fields that are searched in an entity: as many as fit in that megabyte. */
export const mostSearched = 7

/** The most words of a query, and its most characters. */
const mostWords = 12
const longestQuery = 500

/** Cuts texts without spaces; made when first needed. It is not of the environment's own language, on which no store must depend. */
let segmenter: Intl.Segmenter | undefined

// biome-ignore lint/suspicious/noControlCharactersInRegex: the range of ASCII begins with control characters.
const ascii = /^[\u0000-\u007f]*$/
/** Vowel points of Hebrew and Arabic and the stretched line, which are left out where people write for each other. */
const points =
  /[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed]/g
/** Where lines may be broken, and what nobody sees: soft hyphens, joiners, directions, the forms of emoji. */
const breaks = /\u200b/g
const unseen = /\p{Default_Ignorable_Code_Point}/gu
const letters = /[\p{L}\p{N}\p{M}]+/gu
/** Scripts that put no spaces between words. */
const spaceless =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u
/** A flag, any other emoji, or a word: nothing else is in an index, so that both engines need to split at spaces only. */
const word = /\p{RI}{2}|\p{Extended_Pictographic}|[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu

const withoutMarks = (text: string): string =>
  decomposed(text, 'NFKD').slice(0, mostCharacters).replace(marks, '').replace(points, '')

/** The words of a text in their order, folded: without case and accents, and apart at everything that is no letter, digit or emoji. */
const wordsIn = (whole: string): readonly string[] => {
  const text = whole.slice(0, mostCharacters)
  if (ascii.test(text)) return text.toLowerCase().match(/[a-z0-9]+/g) ?? []
  const seen = decomposed(text, 'NFC').replace(breaks, ' ').replace(unseen, '')
  // Cut before they are folded: dictionaries know words as they are written.
  let left = mostSpaceless
  const apart = !spaceless.test(seen)
    ? seen
    : seen.replace(letters, run => {
        if (!spaceless.test(run)) return run
        segmenter ??= new Intl.Segmenter('en', { granularity: 'word' })
        const some = run.slice(0, left)
        left -= some.length
        return Array.from(segmenter.segment(some), ({ segment }) => segment).join(' ')
      })
  return (
    withoutMarks(fold(withoutMarks(apart)))
      .normalize('NFC')
      .match(word) ?? []
  )
}

const cutOff = (word: string): string =>
  word.length <= longestWord ? word : Array.from(word).slice(0, longestWord).join('')

/** What is kept of a text to be searched: each of its words once, with spaces between them; of a very long one the first. */
export const keptWords = (text: string): string => {
  const kept = new Set<string>()
  let bytes = 0
  for (const found of wordsIn(text)) {
    const own = cutOff(found)
    if (kept.has(own)) continue
    bytes += Buffer.byteLength(own) + 1
    if (bytes > mostBytes) break
    kept.add(own)
  }
  return [...kept].join(' ')
}

/**
 * What a caller searches for, as both engines take it: its words with spaces between them, of which the last is the beginning of one;
 * empty if it has none, and then nothing is looked for.
 */
export const searchedWords = (
  text: string,
): { readonly value: string } | { readonly fault: string } => {
  if (codePoints(text) > longestQuery)
    return { fault: `must be at most ${longestQuery} characters` }
  const words = wordsIn(text).map(cutOff)
  const last = words.pop()
  if (last === undefined) return { value: '' }
  const all = [...new Set(words), last]
  return all.length > mostWords
    ? { fault: `has ${all.length} words, and at most ${mostWords} are taken` }
    : { value: all.join(' ') }
}

/** The field that has the words of another one. */
export const wordsKey = (key: string): string => `${key}Words`

/** The field that has another one composed, which is unique for it. */
export const nfcKey = (key: string): string => `${key}Nfc`

/** An index that finds rows by the texts of some columns: by any part of one column's text, or by the words of several. */
export type SearchIndex = {
  readonly name: string
  readonly table: string
  readonly columns: readonly string[]
  readonly by: 'trigrams' | 'words'
}

/** The index that finds any part of a folded column's text. */
export const containsIndex = (table: string, column: string): SearchIndex => ({
  name: `${table}_${column}_search`,
  table,
  columns: [column],
  by: 'trigrams',
})

/** The weights of the texts that are searched, by their fields. */
type Searched = { readonly search: Readonly<Record<string, number>> }

/** The index of an entity's words; undefined if it is not searched. Other texts have another name, so that a draft makes it anew. */
export const wordsIndex = ({
  table,
  search,
}: Searched & { readonly table: string }): SearchIndex | undefined => {
  const keys = Object.keys(search).sort()
  const name = [table, ...keys.map(columnName), 'words_search'].join('_')
  const columns = keys.map(key => columnName(wordsKey(key)))
  return keys.length === 0 ? undefined : { name, table, columns, by: 'words' }
}

/** The fields with the words of an entity, each with what a word in it counts for, the weightiest first. */
export const weightsOf = ({ search }: Searched) =>
  Object.entries(search)
    .map(([key, weight]) => ({ field: wordsKey(key), weight }))
    .sort((a, b) => b.weight - a.weight)

type Copy = {
  readonly accents: 'ignored' | undefined
  readonly copied?: 'words' | 'nfc' | undefined
}

/**
 * A text as a copy has it: without case, and if it ignores accents without those, so that `é` and `e` fold alike; its words; or only
 * composed, so that it is one text with those that are canonically equivalent (Unicode, section 3.7).
 */
export const foldedAs = ({ accents, copied }: Copy, text: string): string => {
  if (copied === 'words') return keptWords(text)
  // What is unique is short, so that no run of marks is cut off.
  if (copied === 'nfc') return text.normalize('NFC')
  return fold(accents ? decomposed(text, 'NFD').replace(marks, '').normalize('NFC') : text)
}
