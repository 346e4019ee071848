import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { clipped } from './text.ts'

const bytes = (text: string) => Buffer.byteLength(JSON.stringify(text)) - 2

test('a text of so many bytes stays as it is, and one more byte is cut off', () => {
  assert.equal(clipped('x'.repeat(100), 100), 'x'.repeat(100))
  assert.equal(clipped('x'.repeat(101), 100), `${'x'.repeat(97)}…`)
  assert.equal(clipped('\u0001'.repeat(16), 96), '\u0001'.repeat(16))
  assert.equal(clipped('\u0001'.repeat(17), 96), `${'\u0001'.repeat(15)}…`)
})

test('no text is longer than it may be, and none ends with half a character', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('a', '"', '\u0001', 'é', '€', '😀'), maxLength: 200 }),
      fc.integer({ min: 20, max: 120 }),
      (text, most) => {
        const cut = clipped(text, most)
        assert.ok(bytes(cut) <= most)
        assert.ok(cut.isWellFormed())
        assert.ok(cut === text || text.startsWith(cut.slice(0, -1)))
        assert.equal(cut === text, bytes(text) <= most)
      },
    ),
  )
})
