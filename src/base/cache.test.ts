import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lru } from './cache.ts'

const kept = <Value>(cache: ReturnType<typeof lru<Value>>, keys: string) =>
  [...keys].filter(key => cache.get(key) !== undefined).join('')

const roomFor = (budget: number) => {
  let taken = 0
  return {
    budget,
    taken: () => taken,
    take: (weight: number) => {
      if (taken + weight > budget) return false
      taken += weight
      return true
    },
    give: (weight: number) => {
      taken -= weight
    },
  }
}

test('a full cache drops the value that was used least recently', () => {
  const cache = lru<number>(3)
  for (const key of 'abc') cache.set(key, 1)
  cache.get('a')
  cache.set('d', 1)
  assert.equal(kept(cache, 'abcd'), 'acd')
})

test('values weigh as much as all may, and one more drops the oldest that stand in its way', () => {
  const cache = lru<number>(100, roomFor(10))
  cache.set('a', 1, 4)
  cache.set('b', 1, 6)
  assert.equal(kept(cache, 'ab'), 'ab')
  cache.set('c', 1, 1)
  assert.equal(kept(cache, 'abc'), 'bc')
  cache.set('d', 1, 10)
  assert.equal(kept(cache, 'abcd'), 'd')
  assert.equal(cache.size(), 1)
})

test('a value that weighs more than all may is given back and not kept, and nothing is dropped for it', () => {
  const cache = lru<number>(100, roomFor(10))
  cache.set('a', 1, 10)
  assert.equal(cache.set('b', 2, 11), 2)
  assert.equal(kept(cache, 'ab'), 'a')
})

test('a value that is set again weighs once', () => {
  const cache = lru<number>(100, roomFor(10))
  for (const value of [1, 2, 3]) cache.set('a', value, 5)
  cache.set('b', 1, 5)
  assert.equal(kept(cache, 'ab'), 'ab')
  assert.equal(cache.get('a'), 3)
})

test('what a cache drops gives its room back, and where others have all of it nothing is kept', () => {
  const room = roomFor(10)
  const cache = lru<number>(2, room)
  for (const key of 'abc') cache.set(key, 1, 3)
  assert.equal(room.taken(), 6)
  assert.equal(room.take(4), true)
  assert.equal(cache.set('d', 2, 7), 2)
  assert.equal(cache.size(), 0)
  assert.equal(room.taken(), 4)
})
