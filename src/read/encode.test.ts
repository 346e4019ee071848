import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { formatMinor } from '#model/money.ts'
import { anyCharacter } from '../../test/support/characters.ts'
import { encoders, isoTime, orNull, quote } from './stitch.ts'

test('a quoted text is what JSON.stringify makes of it', () => {
  const odd = fc.constantFrom(
    '"',
    '\\',
    '\n',
    '\0',
    '\u001f',
    '\u007f',
    '\u2028',
    '\ud800',
    '😀',
    'é',
  )
  const texts = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.string({ unit: 'grapheme' }),
    fc.array(fc.oneof(odd, fc.string()), { maxLength: 8 }).map(parts => parts.join('')),
  )
  fc.assert(
    fc.property(texts, text => assert.equal(quote(text), JSON.stringify(text))),
    { numRuns: 2000 },
  )
})

const decimals: readonly (readonly [number, number, string])[] = [
  [0, 2, '0'],
  [1, 2, '0.01'],
  [10, 2, '0.1'],
  [99, 2, '0.99'],
  [100, 2, '1'],
  [1999, 2, '19.99'],
  [1990, 2, '19.9'],
  [-5, 2, '-0.05'],
  [-1250, 2, '-12.5'],
  [99_999_999_999, 2, '999999999.99'],
  [1999, 0, '1999'],
  [1, 3, '0.001'],
  [1_500, 3, '1.5'],
  [9_007_199_254_740_991, 2, '90071992547409.91'],
  [9_007_199_254_740_991, 0, '9007199254740991'],
]
for (const [minor, digits, shown] of decimals)
  test(`${minor} minor units of a currency with ${digits} decimals are ${shown}`, () => {
    assert.equal(formatMinor(minor, digits), shown)
  })

test('every amount that may be stored is shown as the JSON number a person would write', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 99_999_999_999 }), minor => {
      const shown = formatMinor(minor, 2)
      assert.match(shown, /^(0|[1-9]\d*)(\.\d?[1-9])?$/)
      // The number that a client parses is the nearest to the exact amount, and prints the same.
      assert.equal(String(JSON.parse(shown)), shown)
      assert.equal(Math.round(JSON.parse(shown) * 100), minor)
    }),
    { numRuns: 2000 },
  )
})

test('a moment is ISO 8601 in UTC with milliseconds, at both ends of what may be stored', () => {
  assert.equal(isoTime(Date.UTC(2026, 0, 31, 9, 30)), '2026-01-31T09:30:00.000Z')
  assert.equal(isoTime(0), '1970-01-01T00:00:00.000Z')
  assert.equal(isoTime(-1), '1969-12-31T23:59:59.999Z')
  assert.equal(isoTime(Date.UTC(9999, 11, 31, 23, 59, 59, 999)), '9999-12-31T23:59:59.999Z')
})

test('ids are strings in GraphQL and numbers in REST; the other scalars are alike in both', () => {
  const rest = encoders('rest', 2)
  const graphql = encoders('graphql', 2)
  const id = { scalar: 'id' } as const
  assert.equal(rest(id)(9_007_199_254_740_991), '9007199254740991')
  assert.equal(graphql(id)(9_007_199_254_740_991), '"9007199254740991"')
  const values = {
    text: 'a"b',
    int: -3,
    money: 1999,
    date: '2026-01-31',
    time: 0,
    flag: 1,
  } as const
  for (const [scalar, value] of Object.entries(values) as [keyof typeof values, string | number][])
    assert.equal(rest({ scalar })(value), graphql({ scalar })(value))
  assert.equal(rest({ scalar: 'flag' })(1), 'true')
  assert.equal(rest({ scalar: 'flag' })(0), 'false')
  assert.equal(rest({ scalar: 'decimal', scale: 3 })(-1250), '-1.25')
})

test('null is null, whatever the scalar', () => {
  for (const scalar of ['id', 'text', 'int', 'money', 'decimal', 'date', 'time', 'flag'] as const)
    assert.equal(orNull(encoders('graphql', 2)({ scalar }))(null), 'null')
})
