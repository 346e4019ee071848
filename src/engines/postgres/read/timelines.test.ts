import assert from 'node:assert/strict'
import { test } from 'node:test'
import { placeOf } from '#engines/postgres/read/position.ts'
import { standingOf } from '#engines/postgres/read/timelines.ts'

const beginnings = new Map([
  [1, null],
  [2, 0x100n],
  [4, 0x300n],
])
const standing = (position: string, current: number | undefined = 4) =>
  standingOf(placeOf(position), current, beginnings)

test('a place on the timeline of the primary is held, and one that names no timeline', () => {
  assert.equal(standing('4-0/999'), 'held')
  assert.equal(standing('0/999'), 'held')
})

test('a place on an older timeline is held up to where the next known one began, and lost beyond it', () => {
  assert.equal(standing('1-0/100'), 'held')
  assert.equal(standing('1-0/101'), 'lost')
  assert.equal(standing('2-0/300'), 'held')
  assert.equal(standing('2-0/301'), 'lost')
  assert.equal(standing('3-0/301'), 'lost')
})

test('nobody knows of a place on a newer timeline, or where a beginning was not seen, or before the primary was asked', () => {
  assert.equal(standing('5-0/1'), 'unknown')
  assert.equal(standingOf(placeOf('4-0/1'), 5, new Map([[5, null]])), 'unknown')
  assert.equal(standingOf(placeOf('1-0/1'), 2, new Map()), 'unknown')
  assert.equal(standingOf(placeOf('1-0/1'), undefined, new Map()), 'unknown')
})
