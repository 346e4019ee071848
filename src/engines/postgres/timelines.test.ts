import assert from 'node:assert/strict'
import { test } from 'node:test'
import { logPositionOf, positionStatusOf, type Timeline } from '#engines/postgres/timelines.ts'

const timeline = (system: string, number: number, began: bigint | null): Timeline => ({
  system,
  number,
  began,
})

const promoted = [timeline('a', 1, null), timeline('a', 2, 0x100n), timeline('a', 4, 0x300n)]
const here = { number: 4, system: 'a', earlier: 0 }
const positionStatus = (position: string, at = here, recorded = promoted) =>
  positionStatusOf(logPositionOf(position), at, recorded)

test('a position on the timeline of the primary is held, and one that names no timeline', () => {
  assert.equal(positionStatus('4-0/999'), 'held')
  assert.equal(positionStatus('0/999'), 'held')
})

test('a position on an older timeline is held up to where the next known one began, and lost beyond it', () => {
  assert.equal(positionStatus('1-0/100'), 'held')
  assert.equal(positionStatus('1-0/101'), 'lost')
  assert.equal(positionStatus('2-0/300'), 'held')
  assert.equal(positionStatus('2-0/301'), 'lost')
  assert.equal(positionStatus('3-0/301'), 'lost')
})

test('nobody knows of a position on a newer timeline, or where a beginning was not seen, or before the primary was asked', () => {
  assert.equal(positionStatus('5-0/1'), 'unknown')
  const unseen = [timeline('a', 5, null)]
  assert.equal(positionStatus('4-0/1', { ...here, number: 5 }, unseen), 'unknown')
  assert.equal(positionStatus('1-0/1', { ...here, number: 2 }, []), 'unknown')
  assert.equal(positionStatusOf(logPositionOf('1-0/1'), undefined, []), 'unknown')
})

const moved = [...promoted, timeline('b', 5, 0x400n), timeline('b', 6, 0x50n)]
const there = { number: 6, system: 'b', earlier: 4 }

test('a position in the log of an earlier system is held up to where that was left, whatever the log of the next one says [B12]', () => {
  assert.equal(positionStatus('4-0/400', there, moved), 'held')
  assert.equal(positionStatus('4-0/401', there, moved), 'lost')
  assert.equal(positionStatus('1-0/100', there, moved), 'held')
  assert.equal(positionStatus('2-0/301', there, moved), 'lost')
  assert.equal(positionStatus('5-0/50', there, moved), 'held')
  assert.equal(positionStatus('5-0/51', there, moved), 'lost')
})

test('nobody knows of a position that may be of either of two systems [B12]', () => {
  const mixed = [timeline('a', 1, null), timeline('b', 1, null)]
  const unsaid = { number: 1, system: 'b', earlier: 0 }
  assert.equal(positionStatus('1-0/1', unsaid, mixed), 'unknown')
  assert.equal(positionStatus('1-0/1', unsaid, [timeline('b', 1, null)]), 'held')
})
