import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isMoment } from '#model/time.ts'

test('a moment is such a day with a time to the second or finer, in UTC', () => {
  const moments = ['T00:00:00Z', 'T23:59:59.999Z', 'T09:30:00.1Z', 'T09:30:00.123456789Z']
  const bad = [
    ...['', 'T09:30Z', 'T24:00:00Z', 'T09:60:00Z', 'T09:30:60Z', 'T09:30:00.Z', 'T09:30:00,1Z'],
    ...['T09:30:00', 'T09:30:00+00:00', 't09:30:00z', ' 09:30:00Z', 'T9:30:00Z', 'T09:30:00Z\n'],
  ]
  const all = [...moments, ...bad].map(time => `2024-02-29${time}`)
  assert.deepEqual(all.filter(isMoment), all.slice(0, moments.length))
  assert.equal(isMoment('2026-02-29T09:30:00Z'), false)
})
