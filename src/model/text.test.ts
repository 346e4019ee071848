import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { codePoints, fold, isEmail, isStorable } from '#model/text.ts'

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
    const cases = [fold(letter), letter.toUpperCase(), letter.toLowerCase()]
    if (cases.some(text => fold(text) !== fold(letter))) wrong.push(point.toString(16))
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
    ...['a@é.de', 'a@b.ſſ', 'a@b.cd\n', '"a"@b.cd', 'a@[127.0.0.1]', 'a,b@c.de', '<a@b.cd>'],
  ]
  assert.deepEqual([...good, ...bad].filter(isEmail), good)
})
