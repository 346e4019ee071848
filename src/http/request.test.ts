import assert from 'node:assert/strict'
import { test } from 'node:test'
import { traceOf } from './request.ts'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const parentId = '00f067aa0ba902b7'

test('the trace and the parent are those of the header, and each request gets a span of its own', () => {
  const header = `00-${traceId}-${parentId}-01`
  const [one, other] = [traceOf(header), traceOf(header)]
  assert.deepEqual({ ...one, spanId: '' }, { traceId, parentId, spanId: '', flags: '01' })
  assert.match(one?.spanId ?? '', /^[\da-f]{16}$/)
  assert.notEqual(one?.spanId, other?.spanId)
})

test('a later version may have more behind a hyphen', () => {
  for (const header of [`01-${traceId}-${parentId}-00`, `cc-${traceId}-${parentId}-01-what-else`])
    assert.equal(traceOf(header)?.traceId, traceId)
})

const malformed = [
  '',
  '00',
  `00-${traceId}-${parentId}`,
  `00-${traceId}-${parentId}-`,
  `00-${traceId}-${parentId}-1`,
  `00-${traceId}-${parentId}-01-more`,
  `00-${traceId}-${parentId}-01.`,
  ` 00-${traceId}-${parentId}-01`,
  `01-${traceId}-${parentId}-01more`,
  `ff-${traceId}-${parentId}-01`,
  `0-${traceId}-${parentId}-01`,
  `00-${'0'.repeat(32)}-${parentId}-01`,
  `00-${traceId}-${'0'.repeat(16)}-01`,
  `00-${traceId.toUpperCase()}-${parentId}-01`,
  `00-${traceId.slice(1)}-${parentId}-01`,
  `00-${traceId}x-${parentId}-01`,
  `00-${traceId}-${parentId}-zz`,
  `00-${traceId}-${parentId}-01, 00-${traceId}-${parentId}-01`,
]

for (const header of malformed)
  test(`a traceparent of ${JSON.stringify(header)} is ignored`, () =>
    assert.equal(traceOf(header), undefined))
