/** Texts, ids and moments as callers write them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { foldedAs } from '#model/words.ts'
import {
  type ComparedValue,
  codePoints,
  comparedMoment,
  comparedWith,
  fold,
  isEmail,
  isMoment,
  isStorable,
  notATime,
  parseId,
  parseMoment,
  type Scalar,
} from './values.ts'

const words = fc.oneof(
  fc.string(),
  fc.string({ unit: 'grapheme' }),
  fc.string({
    unit: fc.constantFrom(
      'É',
      'é',
      'e',
      'ß',
      'ẞ',
      'ſ',
      'İ',
      'ı',
      'Σ',
      'σ',
      'ς',
      'K',
      'k',
      'ﬁ',
      '𐐀',
      '𐐨',
    ),
  }),
)

test('folding folds what is folded already to itself', () => {
  fc.assert(
    fc.property(words, text => assert.equal(fold(fold(text)), fold(text))),
    { numRuns: 3000 },
  )
})

test('every single code point folds like its cases, and what it folds to folds to itself', () => {
  const wrong: string[] = []
  for (let point = 0; point <= 0x10ffff; point++) {
    if (point >= 0xd800 && point <= 0xdfff) continue
    const letter = String.fromCodePoint(point)
    const folded = fold(letter)
    const cases = [folded, letter.toUpperCase(), letter.toLowerCase()]
    if (cases.some(text => text !== letter && fold(text) !== folded)) wrong.push(point.toString(16))
  }
  assert.deepEqual(wrong, [])
})

test('a text folds like its upper and its lower case', () => {
  for (const text of ['Ärger', 'ÉCOLE', 'straSSe', 'ΟΔΟΣ', 'Привет', 'Ǆ', '𐐀𐐨']) {
    const letters = [...text]
    assert.equal(fold(letters.map(l => l.toUpperCase()).join('')), fold(text), text)
    assert.equal(fold(letters.map(l => l.toLowerCase()).join('')), fold(text), text)
  }
})

test('case goes and accents stay', () => {
  assert.equal(fold('É'), fold('é'))
  assert.notEqual(fold('é'), fold('e'))
})

test('texts fold alike if they are a canonical caseless match, and by nothing else of their form', () => {
  const loose = (text: string) => foldedAs({ accents: undefined }, text)
  for (const [one, other] of [
    ['Cafe\u0301', 'CAFÉ'],
    ['\u1e9b\u0323', '\u1e61\u0323'],
    ['q\u0307\u0323', 'Q\u0323\u0307'],
    ['\u212b', 'å'],
    ['\u2126', 'ω'],
    ['가', '\u1100\u1161'],
    ['\u0345\u0301α', '\u0345\u0301Α'],
    ['\u1fb3', 'α\u0345'],
    ['\u01f0', 'J\u030c'],
    ['Straße', 'STRASSE'],
  ] as const)
    assert.equal(loose(one), loose(other), `${one} ${other}`)
  for (const [one, other] of [
    ['ﬁ', 'fl'],
    ['ａ', 'a'],
    ['²', '2'],
    ['café', 'cafe'],
  ] as const)
    assert.notEqual(loose(one), loose(other))
  fc.assert(
    fc.property(words, text => {
      for (const form of ['NFC', 'NFD'] as const)
        assert.equal(fold(text.normalize(form)), fold(text))
    }),
  )
})

test('a copy that ignores accents folds letters with and without them alike, and keeps letters that only look so', () => {
  const ignoring = { accents: 'ignored' } as const
  assert.equal(foldedAs(ignoring, 'CRÈME brûlée, Ởl'), 'creme brulee, ol')
  assert.equal(foldedAs(ignoring, 'Cafe\u0301'), 'cafe')
  assert.equal(foldedAs(ignoring, '한국 ø ł が'), '한국 ø ł が')
  assert.equal(foldedAs({ accents: undefined }, 'É'), 'é')
})

test('a letter folds alike whatever stands beside it, so a part of a text folds to a part of it', () => {
  fc.assert(
    fc.property(words, words, (a, b) => assert.equal(fold(a + b), fold(a) + fold(b))),
    { numRuns: 2000 },
  )
})

test('the length of a text is its code points', () => {
  assert.equal(codePoints(''), 0)
  assert.equal(codePoints('é'), 1)
  assert.equal(codePoints('e\u0301'), 2)
  assert.equal(codePoints('😀'), 1)
  assert.equal(codePoints('👩‍👩‍👧'), 5)
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), text =>
      assert.equal(codePoints(text), [...text].length),
    ),
  )
})

test('NUL and lone surrogates cannot be stored, all other text can', () => {
  for (const text of ['a\0b', '\ud800', 'a\udc00', '\udc00\ud800'])
    assert.equal(isStorable(text), false)
  for (const text of ['', 'a', '\u0001', '\uffff', '😀', '\ufeff'])
    assert.equal(isStorable(text), true)
})

test('an email address has a name of ASCII letters, digits and a few signs, and a domain with a dot', () => {
  const good = ["o'brien@a-b.example", 'a.b+c_d-e@x.y.zz', '1@2.org', "'a@b.cd", 'A@B.CD']
  const bad = [
    ...['a', '@b.cd', 'a@', 'a@b', 'a@b.c', 'a@.cd', 'a@b..cd', 'a@-b.cd', 'a@b.c1', 'a@b.cd.'],
    ...['.a@b.cd', 'a.@b.cd', 'a..b@c.de', "a'@b.cd", 'a b@c.de', 'a@b c.de', 'a@b@c.de', 'é@b.cd'],
    ...['', ' ', '@', 'a@@b.co', 'a@b,co', 'Name <a@b.co>', 'mailto:a@b.co', 'a@b.co\nBcc: x@y.zz'],
    ...['a@b.co,c@d.ee', '\ud800@b.co', 'a@b.co\0'],
    ...['a@é.de', 'a@b.ſſ', 'a@b.cd\n', '"a"@b.cd', 'a@[127.0.0.1]', 'a,b@c.de', '<a@b.cd>'],
  ]
  assert.deepEqual([...good, ...bad].filter(isEmail), good)
})

test('every id has one spelling, and is read back from it', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), id =>
      assert.equal(parseId(String(id)), id),
    ),
  )
})

test('the largest id is the last whole number that every client can hold', () => {
  assert.equal(parseId('9007199254740991'), 9_007_199_254_740_991)
  assert.equal(parseId('9007199254740992'), undefined)
})

for (const text of [
  '',
  '0',
  '-1',
  '+1',
  '01',
  '007',
  '1.0',
  '1.5',
  '1e3',
  ' 1',
  '1 ',
  '0x1',
  'abc',
  '١',
  '99999999999999999999',
  '1\n',
])
  test(`${JSON.stringify(text)} is the id of nothing [G8]`, () => {
    assert.equal(parseId(text), undefined)
  })

test('a text names an id just when that id is written so', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[0-9+\-. e]{1,18}$/)), text => {
      const id = parseId(text)
      if (id !== undefined) assert.equal(String(id), text)
    }),
    { numRuns: 2000 },
  )
})

test('a moment is such a day with a time to the second or finer, in UTC or with its offset', () => {
  const moments = {
    'T00:00:00Z': '2024-02-29T00:00:00.000Z',
    'T23:59:59.999Z': '2024-02-29T23:59:59.999Z',
    'T09:30:00.1Z': '2024-02-29T09:30:00.100Z',
    'T09:30:00.123956789Z': '2024-02-29T09:30:00.123Z',
    'T09:30:00+00:00': '2024-02-29T09:30:00.000Z',
    'T09:30:00-00:00': '2024-02-29T09:30:00.000Z',
    'T00:30:00.5+01:00': '2024-02-28T23:30:00.500Z',
    'T23:30:00-23:59': '2024-03-01T23:29:00.000Z',
    't09:30:00z': '2024-02-29T09:30:00.000Z',
    'T05:30:00+05:45': '2024-02-28T23:45:00.000Z',
  }
  for (const [text, at] of Object.entries(moments)) {
    const moment = parseMoment(`2024-02-29${text}`)
    assert.equal(moment && new Date(moment.at).toISOString(), at, text)
  }
  for (const text of [
    ...['', 'T09:30Z', 'T24:00:00Z', 'T09:60:00Z', 'T09:30:60Z', 'T09:30:00.Z', 'T09:30:00,1Z'],
    ...['T09:30:00', 'T09:30:00+0100', 'T09:30:00+01', 'T09:30:00+24:00', 'T09:30:00+01:60'],
    ...[' 09:30:00Z', 'T9:30:00Z', 'T09:30:00Z\n', 'T09:30:00\u221201:00', 'T09:30:00+1:00'],
  ])
    assert.equal(isMoment(`2024-02-29${text}`), false, text)
  assert.equal(isMoment('2026-02-29T09:30:00Z'), false)
})

test('a moment is in a year of four digits in UTC', () => {
  assert.equal(parseMoment('0000-01-01T00:00:00Z')?.at, Date.parse('0000-01-01T00:00:00Z'))
  assert.equal(parseMoment('9999-12-31T23:59:59.999Z')?.at, 253_402_300_799_999)
  assert.equal(parseMoment('0000-01-01T00:00:00+00:01'), undefined)
  assert.equal(parseMoment('9999-12-31T23:59:59.999-00:01'), undefined)
})

test('a moment is compared exactly, and a day is its beginning', () => {
  const at = Date.parse('2026-01-31T00:00:00Z')
  assert.equal(comparedMoment('2026-01-31'), at)
  assert.equal(comparedMoment('2026-01-31T00:00:00.000000Z'), at)
  assert.equal(comparedMoment('2026-01-31T00:00:00.0009Z'), at + 0.5)
  assert.equal(comparedMoment('2026-01-31T01:00:00.0000000001+01:00'), at + 0.5)
  assert.equal(comparedMoment('1969-12-31T23:59:59.9999Z'), -0.5)
  assert.equal(comparedMoment('2026-02-30'), undefined)
})

const rows: readonly (readonly [Scalar, string, ComparedValue])[] = [
  ['id', '7', { value: 7 }],
  ['id', 'abc', { value: 0 }],
  ['text', 'Été', { value: 'Été' }],
  ['text', 'a\0', { value: null }],
  ['int', '-3', { value: -3 }],
  ['int', '1.5', { fault: 'must be a whole number' }],
  ['int', '', { fault: 'must be a whole number' }],
  ['money', '19.99', { value: 1999 }],
  ['money', '19.999', { value: 1999.5 }],
  ['money', '1e300', { value: Number.POSITIVE_INFINITY }],
  ['money', 'much', { fault: 'must be a number' }],
  ['decimal', '-1.25', { value: -1.5 }],
  ['decimal', '-3', { value: -3 }],
  ['date', '2026-02-28', { value: '2026-02-28' }],
  ['date', '2026-02-30', { fault: 'must be a day, such as 2026-01-31' }],
  ['time', '1970-01-01T00:00:00.001Z', { value: 1 }],
  ['time', '1970-01-01', { value: 0 }],
  ['time', 'today', { fault: notATime }],
  ['flag', 'true', { value: 1 }],
  ['flag', 'false', { value: 0 }],
  ['flag', '1', { fault: 'must be true or false' }],
  ['bytes', 'x', { fault: 'cannot be compared' }],
]
for (const [scalar, text, compared] of rows)
  test(`${JSON.stringify(text)} beside a field of kind ${scalar} is ${JSON.stringify(compared)}`, () => {
    assert.deepEqual(comparedWith({ scalar }, text, 2), compared)
  })
