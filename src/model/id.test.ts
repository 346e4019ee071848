import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseId } from '#model/id.ts'

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
  test(`${JSON.stringify(text)} is the id of nothing`, () => {
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
