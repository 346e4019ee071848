import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isReadBack } from './number.ts'

test('each number is read back as JSON writes it, and with zeros or an exponent more', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), number => {
      const text = JSON.stringify(number)
      assert.ok(isReadBack(text), text)
      assert.ok(isReadBack(number.toExponential()), number.toExponential())
      if (!text.includes('e')) assert.ok(isReadBack(`${text}${text.includes('.') ? '' : '.'}000`))
    }),
  )
})

test('a whole number is read back if it is written as it was sent', () => {
  fc.assert(
    fc.property(fc.bigInt(-(2n ** 60n), 2n ** 60n), number => {
      assert.equal(isReadBack(String(number)), String(Number(number)) === String(number))
    }),
  )
})

test('what no double has is not read back, nor is what is no number', () => {
  for (const text of [
    '1e400',
    '1e-400',
    '9007199254740990.9',
    '3.141592653589793238',
    '',
    'a',
    '1e',
  ])
    assert.equal(isReadBack(text), false, text)
  // As long as a body may be, in linear time.
  assert.equal(isReadBack(`1${'0'.repeat(1_000_000)}1`), false)
})
