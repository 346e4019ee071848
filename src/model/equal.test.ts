import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Compared, comparedWith } from '#model/equal.ts'
import type { Scalar } from '#model/field.ts'

const rows: readonly (readonly [Scalar, string, Compared])[] = [
  ['id', '7', { value: 7 }],
  ['id', 'abc', { value: 0 }],
  ['text', 'Été', { value: 'Été' }],
  ['text', 'a\0', { value: null }],
  ['int', '-3', { value: -3 }],
  ['int', '1.5', { fault: 'must be a whole number' }],
  ['int', '', { fault: 'must be a whole number' }],
  ['money', '19.99', { value: 1999 }],
  ['money', '19.999', { value: null }],
  ['money', '1e300', { value: null }],
  ['money', 'much', { fault: 'must be a number' }],
  ['time', '1970-01-01T00:00:00.001Z', { value: 1 }],
  ['time', 'today', { fault: 'must be an ISO 8601 time in UTC, such as 2026-01-31T09:30:00.000Z' }],
  ['flag', 'true', { value: 1 }],
  ['flag', 'false', { value: 0 }],
  ['flag', '1', { fault: 'must be true or false' }],
  ['bytes', 'x', { fault: 'cannot be compared' }],
]
for (const [scalar, text, compared] of rows)
  test(`${JSON.stringify(text)} beside a field of kind ${scalar} is ${JSON.stringify(compared)}`, () => {
    assert.deepEqual(comparedWith(scalar, text, 2), compared)
  })
