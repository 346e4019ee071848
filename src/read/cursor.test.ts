import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { openCursor, sealCursor, sealOf } from '#read/cursor.ts'

const key = new Uint8Array(32).fill(7)
const encodeCursor = (of: Uint8Array, list: string, id: number) =>
  sealCursor(sealOf(of, list), [id])
const decodeCursor = (of: Uint8Array, list: string, cursor: string) =>
  openCursor(sealOf(of, list), cursor)?.[0]
const ids = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })

test('a cursor leads back to its id, in its own list', () => {
  fc.assert(
    fc.property(ids, fc.string(), (id, list) => {
      const cursor = encodeCursor(key, list, id)
      assert.match(cursor, /^[\w-]+$/)
      assert.equal(decodeCursor(key, list, cursor), id)
    }),
  )
})

test('a cursor is worth nothing in another list or another store [G10]', () => {
  const cursor = encodeCursor(key, '/posts', 5)
  assert.equal(decodeCursor(key, '/comments', cursor), undefined)
  assert.equal(decodeCursor(new Uint8Array(32).fill(8), '/posts', cursor), undefined)
})

test('a cursor with any one letter changed, added or taken away is worth nothing [G10]', () => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const isWorthless = (text: string) => assert.equal(decodeCursor(key, '/posts', text), undefined)
  let changes = 0
  for (const id of [1, 9, 12_345, 2 ** 31, Number.MAX_SAFE_INTEGER]) {
    const cursor = encodeCursor(key, '/posts', id)
    for (let place = 0; place < cursor.length; place++) {
      isWorthless(cursor.slice(0, place) + cursor.slice(place + 1))
      for (const letter of alphabet) {
        const changed = cursor.slice(0, place) + letter + cursor.slice(place + 1)
        if (changed === cursor) continue
        isWorthless(changed)
        changes++
      }
    }
    for (const tail of ['=', 'A', ' ', '.']) isWorthless(cursor + tail)
  }
  assert.ok(changes > 8000, `${changes}`)
})

test('no other text is a cursor', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.base64String()), text =>
      assert.equal(decodeCursor(key, '/posts', text), undefined),
    ),
    { numRuns: 2000 },
  )
})
