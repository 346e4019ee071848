/** Which form a caller prefers, by its `Accept`. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { preferred } from '#http/accept.ts'

test('a header that refuses everything prefers nothing', () => {
  assert.equal(preferred('text/html;q=0, */*;q=0', ['text/html', 'application/json']), undefined)
  assert.equal(preferred('', ['text/html']), undefined)
})

test('the most specific range decides, and a broken weight counts as none', () => {
  const forms = ['text/html', 'application/json'] as const
  assert.equal(preferred('*/*, text/html;q=0', forms), 'application/json')
  assert.equal(preferred('application/*;q=0.9, text/html;q=0.1', forms), 'application/json')
  assert.equal(preferred('text/html;q=x, APPLICATION/JSON;q=0.1', forms), 'application/json')
  assert.equal(
    preferred('text/html; charset=utf-8; Q=0.5, application/json;q=0.4', forms),
    'text/html',
  )
})
