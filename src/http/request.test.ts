import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkUtf8, traceOf } from './request.ts'

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

test('a parameter in bytes that are no UTF-8 is refused, and the sign that stands for such in other texts is not, in a form as it is too', () => {
  const check = (query: string) => () =>
    checkUtf8(query, 'name', new URLSearchParams(query).get('name') ?? undefined)
  assert.throws(check('name=%ff'), { code: 'MALFORMED_REQUEST' })
  for (const query of ['name=a', 'name=%EF%bf%BD', 'name=\ufffd', 'other=%ff'])
    assert.doesNotThrow(check(query), query)
})
