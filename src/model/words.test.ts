/** How texts are cut into words, of what is kept and of what callers search for. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keptWords, searchedWords } from './words.ts'

const cases: readonly (readonly [what: string, text: string, words: string])[] = [
  ['case and accents', 'Crème BRÛLÉE e\u0301', 'creme brulee e'],
  ['letters that fold to several', 'Straße STRASSE ﬁn ½ Ⅷ', 'strasse fin 1 2 viii'],
  ['signs within words', "well-known don't AT&T 3.14 C++ _x_", 'well known don t at 3 14 c x'],
  ['an address', 'ada.lovelace@example.com', 'ada lovelace example com'],
  ['no spaces between words', '東京都に住む人 iPhone手机', '東京 都 に 住む 人 iphone 手机'],
  ['Thai', 'สวัสดีชาวโลก', 'สวัสดี ชาว โลก'],
  ['Hebrew and Arabic with points', 'שָׁלוֹם مُحَمَّد أحمد ـتـ', 'שלום محمد احمد ت'],
  ['marks that are vowels', 'हिन्दी की', 'हिन्दी की'],
  ['emoji, alone and joined', '👩‍🍳🍕 ❤️ ❤ 🇩🇪🇫🇷 👍🏽', '👩 🍳 🍕 ❤ 🇩🇪 🇫🇷 👍'],
  ['what nobody sees', 'co\u00adop می\u200cخواهم a\u200bb', 'coop میخواهم a b'],
  ['NUL and half a character', 'a\0b \ud83d c', 'a b c'],
  ['what is no word', ' \' " * ( ) \\ \u0301 -- ', ''],
  ['a word twice', 'Lyon, lyon', 'lyon'],
  [
    'a very long word',
    `${'x'.repeat(70)} ${'𝔊'.repeat(70)}`,
    `${'x'.repeat(64)} ${'g'.repeat(64)}`,
  ],
]

for (const [what, text, words] of cases)
  test(`words: ${what}`, () => {
    assert.equal(keptWords(text), words)
    assert.equal(keptWords(words), words)
  })

test('a search has each word once, but the last, which may go on', () => {
  assert.deepEqual(searchedWords('the Crème of the crè'), { value: 'the creme of cre' })
  assert.deepEqual(searchedWords('the the'), { value: 'the the' })
  assert.deepEqual(searchedWords(' ?! '), { value: '' })
  const many = Array.from({ length: 13 }, (_, at) => `w${at}`).join(' ')
  assert.deepEqual(searchedWords(many), { fault: 'has 13 words, and at most 12 are taken' })
  assert.deepEqual(searchedWords('x'.repeat(501)), { fault: 'must be at most 500 characters' })
})

test('of a very long text the first words are kept, in little time', () => {
  const began = process.cpuUsage()
  const texts = {
    latin: Array.from({ length: 200_000 }, (_, at) => `w${at}`).join(' '),
    han: Array.from({ length: 300_000 }, (_, at) =>
      String.fromCodePoint(0x4e00 + (at % 20_000)),
    ).join(''),
    marks: Array.from({ length: 300_000 }, (_, at) => (at % 2 ? '\u0323' : '\u0301')).join(''),
    phrases: '\ufdfa'.repeat(300_000),
  }
  for (const text of Object.values(texts)) assert.ok(Buffer.byteLength(keptWords(text)) <= 131_072)
  assert.match(keptWords(texts.latin), /^w0 w1 .* w9999 /)
  // Quadratic work takes minutes.
  const { user } = process.cpuUsage(began)
  assert.ok(user < 5_000_000, `${user} µs`)
})
